"""The documentation knows the public names, and its examples are really run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

import sitestats
import sitestats.analysis
import sitestats.emulator
import sitestats.provisioning

ROOT: Final = Path(__file__).parent.parent
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
CODE: Final = re.compile(r"^`{3,}(?:python|\{doctest\})", re.MULTILINE)
PUBLIC: Final = (
    sitestats,
    sitestats.analysis,
    sitestats.emulator,
    sitestats.provisioning,
)
BEHIND_A_CLIENT: Final = {
    "sitestats._client.Statistics",
    "sitestats._client.Websites",
}
"""What is reached as ``client.stats`` and ``client.websites``, never by its name."""


def text_of(path: Path) -> str:
    """What stands in the file."""
    return path.read_text("utf-8")


def named(page: Path) -> str:
    """The page's name, as pytest writes it."""
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def examples() -> Counter[str]:
    """How many examples pytest finds in each file."""
    arguments = ["README.md", "docs", "src"]
    # As a program of its own, since the tests may run without the examples.
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return Counter(re.findall(r"^(\S+)::line:\d+", found.stdout, re.MULTILINE))


def test_examples_are_found(examples: Counter[str]) -> None:
    """A mistake in the setting up can't make all of them vanish unnoticed."""
    assert examples["README.md"] >= 1
    pages = [n for name, n in examples.items() if name.startswith("docs/")]
    assert sum(pages) >= 60
    modules = [n for name, n in examples.items() if name.startswith("src/")]
    assert sum(modules) >= 120


def test_every_page_with_code_is_run(examples: Counter[str]) -> None:
    """No page of the documentation shows Python that is not run."""
    with_code = [page for page in PAGES if CODE.search(text_of(page))]
    assert len(with_code) >= 5
    assert [page.name for page in with_code if not examples[named(page)]] == []


def explained() -> list[str]:
    """Every name that the reference explains."""
    pages = [page for page in PAGES if "reference" in named(page)]
    assert len(pages) >= 5
    return [
        name
        for page in pages
        for name in re.findall(r":: (sitestats[\w.]*)$", text_of(page), re.MULTILINE)
    ]


def public_names() -> set[str]:
    """Everything that users import, each by the shortest way to it."""
    return {
        f"{home.__name__}.{name}"
        for module in PUBLIC
        for name in module.__all__
        for home in (sitestats if name in sitestats.__all__ else module,)
    }


def test_the_reference_explains_what_is_public() -> None:
    """Every public name is explained once, and nothing that is no longer there."""
    public = public_names()
    assert len(public) >= 60
    assert Counter(explained()) == Counter(public | BEHIND_A_CLIENT)


def test_the_tree_of_errors_has_them_all() -> None:
    """The page on errors tells of each one below the one that it is a kind of."""
    rows = re.findall(r"^\| (· )?`(\w+)` \|", text_of(DOCS / "errors.md"), re.MULTILINE)
    errors = {
        name: value
        for name in sitestats.__all__
        if isinstance(value := getattr(sitestats, name), type)
        and issubclass(value, Exception)
        and not issubclass(value, Warning)
    }
    parent = sitestats.SiteStatsError
    for below, name in rows:
        error = errors.pop(name)
        kind = parent if below else sitestats.SiteStatsError
        assert error.__bases__[0] is kind
        parent = parent if below else error
    assert set(errors) == {"SiteStatsError"}
