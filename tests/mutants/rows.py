"""The mutants of the rows of docs/coverage.md: ``client.toml`` and ``emulator.toml``.

To add one, put a table at the end of its section::

    [[mutant]]
    row = "2.1 label: the user's text"
    name = "reads the label from another name"
    file = "_protocol/converter.py"
    old = '"label": None'
    new = '"labels": None'

It is killed when a test fails that the row names on this side. ``rows`` can name
several rows, each of which is tried. A row that names several tests needs a mutant for
each, with its ``test``. ``times`` tells how often *old* occurs, if not once; ``edits``
is a list of tables with ``file``, ``old``, ``new`` and ``times``, for several changes.
Choose an *old* that is short and will stay.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import attrs

from coverage_table import ROWS, Row, defined, names

from .machine import ROOT, Edit, Mutant

HERE: Final = Path(__file__).parent
SIDES: Final = ("client", "emulator")


@attrs.frozen
class Case:
    """A mutant, and the row of the table whose test must notice it."""

    row: str
    side: str
    mutant: Mutant


def cell(row: Row, side: str) -> list[str]:
    """The tests of *row* on one *side*; none where there is nothing to show."""
    return names(row.client if side == "client" else row.emulator)


@cache
def cases() -> tuple[Case, ...]:
    """Every mutant of the two files, once for each of its rows."""
    return tuple(case for side in SIDES for case in _of(side))


def _of(side: str) -> Iterator[Case]:
    rows = {row.name: row for row in ROWS}
    table = tomllib.loads((HERE / f"{side}.toml").read_text("utf-8"))
    for entry in table["mutant"]:
        for name in entry.get("rows") or [entry["row"]]:
            if name not in rows:
                raise KeyError(f"{side}.toml: docs/coverage.md has no row {name!r}")
            tests = cell(rows[name], side)
            if "test" in entry:
                tests = [test for test in tests if test == entry["test"]]
            if len(tests) != 1:
                raise KeyError(f"{side}.toml: name a test of {name!r} for {entry}")
            mutant = Mutant(
                f"{name}: {entry['name']}", tuple(_edits(entry)), (node_id(*tests),)
            )
            yield Case(name, side, mutant)


def _edits(entry: dict[str, Any]) -> Iterator[Edit]:
    for edit in entry.get("edits") or [entry]:
        yield Edit(edit["file"], edit["old"], edit["new"], edit.get("times", 1))


def node_id(test: str) -> str:
    """What pytest calls a test that the table calls ``file::test``."""
    (path,) = defined()[test]
    return f"{path.relative_to(ROOT)}::{test.partition('::')[2]}"
