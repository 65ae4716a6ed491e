"""Links, anchors and file names in the texts lead to something that exists."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.once


ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = (".github", "docs", "examples", "src", "tests")
TEXTS: Final = sorted(
    path
    for found in (ROOT.glob("*.md"), *((ROOT / f).rglob("*.md") for f in FOLDERS))
    for path in found
    if "_build" not in path.parts
)
FENCED: Final = re.compile(r"^(`{3,}).*?^\1", re.MULTILINE | re.DOTALL)
LITERAL: Final = re.compile(r"(`+)(?P<inside>.+?)\1", re.DOTALL)
LINK: Final = re.compile(r"\[[^\[\]]*\]\((?P<inline>[^()\s]*(?:\([^()\s]*\))?)\)")
DEFINED: Final = re.compile(r"^\[[^\[\]]+\]: +(\S+)", re.MULTILINE)
BARE: Final = re.compile(r"<(https?:[^>\s]*)>")
HEADING: Final = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
INCLUDED: Final = re.compile(r"^`{3}\{include\} (\S+)$", re.MULTILINE)
NAMES_A_FILE: Final = re.compile(
    rf"(?:{'|'.join(map(re.escape, (*FOLDERS, '.ci')))})/[\w./-]+|[A-Z]+\.md"
    r"|\w+/\w+\.py"
)
MADE_WHEN_RUN: Final = {"docs/_build/html"}


def without_code(text: str) -> str:
    """*text* without its blocks of code, which may show links of their own."""
    return FENCED.sub("", text)


def links(text: str) -> list[str]:
    """Where the links of *text* lead."""
    prose = without_code(text)
    named = LITERAL.sub("", prose)
    return [
        *(match["inline"] for match in LINK.finditer(LITERAL.sub("code", prose))),
        *DEFINED.findall(named),
        *BARE.findall(named),
    ]


def slug(heading: str) -> str:
    """The anchor that a heading gets, on the site and where the file is looked at."""
    words = re.sub(r"[^\w\- ]", "", heading.lower())
    return words.replace(" ", "-")


@cache
def anchors(path: Path) -> frozenset[str]:
    """The anchors of a text's headings."""
    text = path.read_text("utf-8")
    included = INCLUDED.findall(text)
    return frozenset(map(slug, HEADING.findall(without_code(text)))).union(
        *(anchors((path.parent / name).resolve()) for name in included)
    )


def fault(link: str, source: Path) -> str | None:
    """What is wrong with a *link* in *source*; of another host, only its form."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        well_formed = re.fullmatch(r"https://[\w-]+(\.[\w-]+)+(/\S*[^\s.,;:])?/?", link)
        return None if well_formed else "not an address by https"
    target = source.parent / unquote(parts.path) if parts.path else source
    if not target.exists() or ROOT not in (target.resolve(), *target.resolve().parents):
        return "no such file"
    if parts.fragment and (
        target.suffix != ".md" or parts.fragment not in anchors(target)
    ):
        return "no such heading"
    return None


def test_every_link_leads_somewhere() -> None:
    """Links to files and headings exist; links to other hosts are well-formed."""
    assert len(TEXTS) >= 30
    found = [(path, link) for path in TEXTS for link in links(path.read_text("utf-8"))]
    assert len(found) >= 25
    assert [
        f"{path.relative_to(ROOT)}: {link}: {wrong}"
        for path, link in found
        if (wrong := fault(link, path))
    ] == []


def on_github(text: str) -> list[str]:
    """What GitHub would show of *text* as code or not at all, and says nothing of."""
    shown = ["a link without a text"] * len(re.findall(r"\[\]\(", without_code(text)))
    directives = re.findall(r"^(?:`{3,}|:{3,})\{([\w-]+)\}", text, re.MULTILINE)
    blocks = [name for name in directives if name != "doctest"]
    return shown + (blocks if '<p class="on-github">' not in text else [])


def test_every_page_reads_well_on_github() -> None:
    """Links have texts, and a page that only the site can show names what it shows."""
    pages = [path for path in TEXTS if "docs" in path.parts]
    assert len(pages) >= 30
    assert {
        path.relative_to(ROOT).as_posix(): found
        for path in pages
        if (found := on_github(path.read_text("utf-8")))
    } == {}


def test_every_file_that_is_named_is_there() -> None:
    """Every path that a text shows as code exists in the repository."""
    named = [
        (path, match["inside"])
        for path in TEXTS
        for match in LITERAL.finditer(without_code(path.read_text("utf-8")))
        if NAMES_A_FILE.fullmatch(match["inside"])
    ]
    assert len(named) >= 20
    assert [
        f"{path.relative_to(ROOT)}: {name}"
        for path, name in named
        if name not in MADE_WHEN_RUN
        and not any(
            (folder / name).exists() for folder in (ROOT, ROOT / "src/sitestats")
        )
    ] == []
