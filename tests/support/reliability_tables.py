"""Writes the results of runs into the tables of docs/reliability.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def as_table(rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown; the first row is its header."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]])


def write_block(name: str, text: str) -> None:
    """Put *text* between the two marks of *name*."""
    page, found = _between(name).subn(
        lambda match: f"{match[1]}\n{text.strip()}\n\n{match[3]}",
        PAGE.read_text(encoding="utf-8"),
    )
    assert found == 1
    PAGE.write_text(page, encoding="utf-8")


def read_rows(name: str) -> list[list[str]]:
    """The rows of all tables between the two marks of *name*, without headers."""
    match = _between(name).search(PAGE.read_text(encoding="utf-8"))
    assert match is not None
    tables = re.findall(r"(?:^\|.*\n)+", match[2] + "\n", re.MULTILINE)
    return [_cells(line) for one in tables for line in one.splitlines()[2:]]


def _between(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"(<!-- {name} -->\n)(.*?)\n*(<!-- end of {name} -->)", re.DOTALL
    )


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]
