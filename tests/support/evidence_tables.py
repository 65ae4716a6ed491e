"""Writes the results of runs into the tables of docs/evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs" / "evidence"


def as_table(rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown; the first row is its header."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]])


def write_block(name: str, text: str) -> None:
    """Put *text* between the two marks on the page of *name*."""
    page = PAGES / f"{name}.md"
    written, found = _between(name).subn(
        lambda match: f"{match[1]}\n{text.strip()}\n\n{match[3]}",
        page.read_text(encoding="utf-8"),
    )
    assert found == 1
    page.write_text(written, encoding="utf-8")


def read_rows(name: str) -> list[list[str]]:
    """The rows of all tables between the two marks of *name*, without headers."""
    match = _between(name).search((PAGES / f"{name}.md").read_text(encoding="utf-8"))
    assert match is not None
    tables = re.findall(r"(?:^\|.*\n)+", match[2] + "\n", re.MULTILINE)
    return [_cells(line) for one in tables for line in one.splitlines()[2:]]


def _between(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"(<!-- {name} -->\n)(.*?)\n*(<!-- end of {name} -->)", re.DOTALL
    )


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]
