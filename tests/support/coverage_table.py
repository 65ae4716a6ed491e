"""Reads the table of docs/coverage.md, and finds the tests that it names."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import attrs

TESTS: Final = Path(__file__).parents[1]
PAGE: Final = TESTS.parent / "docs" / "coverage.md"


@attrs.frozen
class Row:
    """A statement of the document, with the tests of client and emulator."""

    section: str
    text: str
    rules: tuple[str, ...]
    client: str
    emulator: str

    @property
    def name(self) -> str:
        """The section and the statement: ``2.1 label: the user's text``."""
        return f"{self.section} {self.text}"

    @property
    def cells(self) -> tuple[str, str]:
        """The cells of the client and of the emulator."""
        return self.client, self.emulator

    @property
    def tests(self) -> list[str]:
        """The tests that the row names."""
        return [name for cell in self.cells for name in names(cell)]


def names(cell: str) -> list[str]:
    """The texts between backticks in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def read(page: str) -> list[Row]:
    """The rows of the tables below the sections' headings."""
    rows: list[Row] = []
    section = ""
    for line in page.splitlines():
        if heading := re.match(r"## (\S+) ", line):
            section = heading[1]
        elif line.startswith("| ") and not line.startswith(("| ---", "| The doc")):
            text, rules, client, emulator = line.strip("| ").split(" | ")
            rows.append(Row(section, text, tuple(names(rules)), client, emulator))
    return rows


@cache
def defined() -> dict[str, list[Path]]:
    """The files that define each test, by ``file::test``."""
    found: dict[str, list[Path]] = {}
    for path in TESTS.rglob("test_*.py"):
        for name in {
            node.name
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name.startswith("test_")
        }:
            file = path.relative_to(TESTS).with_suffix("").as_posix()
            found.setdefault(f"{file}::{name}", []).append(path)
    return found


ROWS: Final = read(PAGE.read_text("utf-8"))
