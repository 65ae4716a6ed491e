"""The reference names every public name, and every example is run."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

import sitestats
import sitestats.analysis
import sitestats.conformance
import sitestats.emulator
import sitestats.provisioning
import sitestats.types

# Not in every environment, and the reference has its names.
sitestats_warehouse = pytest.importorskip("sitestats.warehouse", exc_type=ImportError)


ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
PUBLIC: Final = (
    sitestats,
    sitestats.analysis,
    sitestats.conformance,
    sitestats.emulator,
    sitestats.provisioning,
    sitestats.types,
    sitestats_warehouse,
)


def text_of(path: Path) -> str:
    """The content of the file."""
    return path.read_text("utf-8")


def named(page: Path) -> str:
    """The page's name, as pytest writes it."""
    return page.relative_to(ROOT).as_posix()


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
    """Everything that users import, with the module that they import it from."""
    names = {
        f"{one.__name__}.{name}"
        for one in PUBLIC
        for name in getattr(one, "__all__", vars(one))
        # Pytest adds names that are none to modules beside a plugin.
        if name.isidentifier() and not name.startswith("_")
    }
    return names - {one.__name__ for one in PUBLIC}


def test_the_reference_explains_what_is_public() -> None:
    """The reference lists every public name once, and no other."""
    public = public_names()
    assert len(public) >= 60
    assert Counter(explained()) == Counter(public)


def test_the_tree_of_errors_has_them_all() -> None:
    """The page on errors lists each error below its base class."""
    rows = re.findall(
        r"^\| (·\s)?`(\w+)` \|", text_of(DOCS / "errors.md"), re.MULTILINE
    )
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


def test_the_words_of_the_search_lead_to_pages() -> None:
    """A page that was renamed would lose the words that a search finds it by."""
    code = ast.parse(text_of(DOCS / "conf.py"))
    assigned = (one for one in code.body if isinstance(one, ast.Assign))
    words = next(one for one in assigned if ast.unparse(one.targets[0]) == "KEYWORDS")
    named = ast.literal_eval(words.value)
    assert len(named) > 10
    assert {name for name in named if not (DOCS / f"{name}.md").exists()} == set()


def test_every_example_is_in_the_list() -> None:
    """The list of examples has every program, notebook and other file, and no more."""
    folder = ROOT / "examples"
    files = [*folder.glob("*.*"), *folder.glob("*/*.ipynb")]
    programs = [path for path in files if path.name != "README.md"]
    assert len(programs) >= 10
    listed = re.findall(
        r"^\| \[`(\S+)`\]\(./\1\) \|", text_of(folder / "README.md"), re.MULTILINE
    )
    assert sorted(listed) == sorted(p.relative_to(folder).as_posix() for p in programs)
