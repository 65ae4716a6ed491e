"""Links, anchors and file names in the texts lead to something that exists."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

ROOT: Final = Path(__file__).parents[2]
TEXTS: Final = [
    *ROOT.glob("*.md"),
    *(ROOT / "examples").rglob("*.md"),
    *(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]
FENCED: Final = re.compile(r"^(`{3,}).*?^\1", re.MULTILINE | re.DOTALL)
LITERAL: Final = re.compile(r"(`+)(?P<inside>.+?)\1", re.DOTALL)
LINK: Final = re.compile(r"\[[^\[\]]+\]\(([^()\s]*(?:\([^()\s]*\))?)\)")
HEADING: Final = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
INCLUDED: Final = re.compile(r"^`{3}\{include\} (\S+)$", re.MULTILINE)
NAMES_A_FILE: Final = re.compile(
    r"(?:\.ci|\.github|docs|examples|src|tests)/[\w./-]+|[A-Z]+\.md|_?\w+/\w+\.py"
)
MADE_WHEN_RUN: Final = {"docs/_build/html"}


def prose(path: Path) -> str:
    """A text without its blocks of code, which may show links of their own."""
    return FENCED.sub("", path.read_text("utf-8"))


def links(path: Path) -> list[str]:
    """Where the links of a text lead."""
    return LINK.findall(LITERAL.sub("code", prose(path)))


@cache
def anchors(path: Path) -> frozenset[str]:
    """The anchors of a text's headings, as the site and GitHub make them."""
    words = (re.sub(r"[^\w\- ]", "", h.lower()) for h in HEADING.findall(prose(path)))
    included = INCLUDED.findall(path.read_text("utf-8"))
    return frozenset(one.replace(" ", "-") for one in words).union(
        *(anchors((path.parent / name).resolve()) for name in included)
    )


def leads_somewhere(link: str, source: Path) -> bool:
    """Whether the file and the heading are there; of another host, its form."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return bool(re.fullmatch(r"https://[\w-]+(\.[\w-]+)+(/\S*[^\s.,;:])?/?", link))
    target = (source.parent / unquote(parts.path) if parts.path else source).resolve()
    is_there = target.exists() and ROOT in (target, *target.parents)
    return is_there and (not parts.fragment or parts.fragment in anchors(target))


def test_every_link_leads_somewhere() -> None:
    """Links to files and headings exist; links to other hosts are well-formed."""
    found = [(path, link) for path in TEXTS for link in links(path)]
    assert len(found) > 100
    assert [
        f"{path.relative_to(ROOT)}: {link}"
        for path, link in found
        if not leads_somewhere(link, path)
    ] == []


def test_every_file_that_is_named_is_there() -> None:
    """Every path that a text shows as code exists in the repository."""
    named = {
        (path.name, match["inside"])
        for path in TEXTS
        for match in LITERAL.finditer(prose(path))
        if NAMES_A_FILE.fullmatch(match["inside"])
        and match["inside"] not in MADE_WHEN_RUN
    }
    assert len(named) > 20
    folders = (ROOT, ROOT / "src" / "sitestats")
    assert {
        (page, name)
        for page, name in named
        if not any((folder / name).exists() for folder in folders)
    } == set()


def test_the_readme_of_the_package() -> None:
    """A package index knows no repository: relative links are left out, or absolute."""
    script = runpy.run_path(str(ROOT / "docs/_extensions/package_readme.py"))
    readme = (ROOT / "README.md").read_text("utf-8")
    source = "https://git.example/owner/name"
    alone, linked = (
        script["readme_for_index"](readme, "1.2", address) for address in (None, source)
    )
    address = re.compile(r'\]\(([^)]+)\)|\bsrc(?:set)?="([^"]+)"')
    assert address.findall(alone) == []
    found = ["".join(one) for one in address.findall(linked)]
    assert len(found) == len(address.findall(readme))
    assert all(one.startswith(f"{source}/") and "/v1.2/" in one for one in found)
