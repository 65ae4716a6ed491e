"""CONTRIBUTING.md names every file that a field, a filter or another addition needs."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src" / "sitestats"
SEARCHED: Final = (SOURCE, ROOT / "docs", ROOT / "examples")
"""Where files that name what was added are searched."""
ABOUT_ITSELF: Final = {"docs/contributing.md"}
SECTION: Final = "## Adding something"

# Whoever adds something changes the files that name each one that is there.
THERE: Final = {
    "a field": r"\bpageviews\b \bseconds_on_page\b \butm_contents\b \bhistogram\b",
    "a number": r"\bseconds_on_page\b class\sNumbers|:\sNumbers\b",
    "a list": r"\bcountries\b \butm_contents\b \bos_names\b \bdevice_types\b",
    "a filter": r"\bcountry\b \butm_content\b \bos_name\b \breferrer\b",
    "an endpoint": (
        # The request, the call of both clients, the result, and the address.
        r"\blist_request|run\(operations\.list_w|class\sWebsiteList|def\sread_websites"
        r"|/api/websites[`\"] "
        r"\badd_request|operations\.add_w|class\sAddedWebsite|def\sread_added"
        r"|/api/websites/add"
    ),
    "a failure of the emulator": r"\bcut_off\b \bgarbage\b \bdrip\b",
    "a format of the command": r"\bjsonl\b",
    "a destination": r"\bpostgres\b \bfilesystem\b",
    "a page": r"\bassistants\b \bevery-night\b \breports\b \blogging\b",
}
MORE: Final = {"a list": "a field"}
"""An addition that needs what another one needs, too."""


def path_of(name: str) -> Path:
    """The file: of the package, or of the repository."""
    return next((path for path in (SOURCE / name, ROOT / name) if path.exists()), ROOT)


def rows() -> dict[str, set[str]]:
    """The files that the table names, by what is added."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition(SECTION)[2].partition("\n## ")[0]
    row = re.compile(r"^\| (an? [\w ]+?)(?:, also)? \| (.+) \|$", re.MULTILINE)
    return {
        name: {*re.findall(r"`([\w/-]+\.\w+)`", cell)}
        for name, cell in row.findall(section)
    }


@cache
def texts() -> dict[str, str]:
    """The files of the package, the pages and the examples, by their names there."""
    paths = [path for folder in SEARCHED for path in folder.rglob("*")]
    kinds = {".py", ".toml", ".md", ".yml"}
    return {
        path.relative_to(SOURCE if SOURCE in path.parents else ROOT).as_posix(): (
            path.read_text("utf-8")
        )
        for path in paths
        if path.suffix in kinds and "_build" not in path.parts
    }


def with_all(patterns: str) -> set[str]:
    """The files in which each of the *patterns* is."""
    return {
        name
        for name, text in texts().items()
        if name not in ABOUT_ITSELF
        and all(re.search(pattern, text) for pattern in patterns.split())
    }


def test_every_file_of_the_table_exists() -> None:
    """A file that was renamed would send whoever adds something astray."""
    assert {*THERE, "a version", "a broken server", "a word of other tools"} <= {
        *rows()
    }
    named = {name for names in rows().values() for name in names}
    assert len(named) > 25
    assert {name for name in named if not path_of(name).is_file()} == set()


@pytest.mark.parametrize("added", THERE)
def test_the_table_has_each_file_that_names_all_that_is_there(added: str) -> None:
    """The files that name every list, filter, endpoint and so on are the ones that
    another one needs; the table has these, and no others beside tests.
    """
    table = rows()
    named = table[added] | table.get(MORE.get(added, ""), set())
    named = {name for name in named if not name.startswith("tests/")}
    assert with_all(THERE[added]) == named
