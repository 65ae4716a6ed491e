"""Load website specifications from TOML, JSON and CSV files."""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final, NoReturn, TypeVar, cast

import attrs

from sitestats._common.errors import Problem, SpecError
from sitestats._common.text import did_you_mean, shown

from ._checks import FIELDS, check_field, find_duplicates, spec_fields
from ._csv import Cell, CsvError, find_separator, read_cells
from ._positions import STRING, Path, Positions, json_positions, toml_positions

SpecT = TypeVar("SpecT")

_RULE: Final = "website-file"
_WEBSITES: Final = "websites"
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_AT_LINE: Final = re.compile(r" \(at line (\d+), column (\d+)\)")
_NUMBER: Final = re.compile(rf"{STRING}|#[^\n]*|(?P<digits>[0-9][0-9_]*)")
"""A number; or what may have digits in it and is none."""
_AT_END: Final = " (at end of document)"


@attrs.frozen
class _Text:
    """A file's text, and how errors name a location in it."""

    name: str
    text: str

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(end.end() for end in _LINE_END.finditer(self.text))]

    def location(self, offset: int) -> str:
        """``file:line:column``, as editors and terminals link it."""
        line = bisect_right(self._starts, offset)
        return f"{self.name}:{line}:{offset - self._starts[line - 1] + 1}"

    def offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column - 1

    def problem(self, message: str, offset: int) -> Problem:
        return Problem(message, rule=_RULE, where=self.location(offset))

    def refuse(self, message: str, offset: int) -> NoReturn:
        raise SpecError([self.problem(message, offset)]) from None


@attrs.frozen
class _Value:
    """One field of a website, unchecked."""

    name: str
    value: Any
    name_offset: int
    value_offset: int


@attrs.frozen
class _Entry:
    """One website of a file, unchecked."""

    offset: int
    values: list[_Value]


_Reader = Callable[[_Text, list[Problem]], list[_Entry]]


def load_specs(
    path: str | os.PathLike[str], make: Callable[..., SpecT]
) -> tuple[SpecT, ...]:
    """What *make* makes of each website in a file; see ``WebsiteSpec.load``."""
    name = os.fspath(path)
    reader = _READERS.get(pathlib.Path(name).suffix.lower())
    if reader is None:
        raise SpecError(
            [
                Problem(
                    "websites are read from a file whose name ends in "
                    f"{', '.join(_READERS)}: rename it, or convert it",
                    rule=_RULE,
                    where=name,
                )
            ]
        )
    text = _Text(name, _decode(name, pathlib.Path(name).read_bytes()))
    problems: list[Problem] = []
    try:
        entries = reader(text, problems)
    except RecursionError:
        text.refuse("the file is nested too deeply to be a list of websites", 0)
    checked = _check_entries(text, entries, problems)
    if problems:
        raise SpecError(sorted(problems, key=_line_and_column))
    return tuple(make(**values) for values in checked)


def _line_and_column(problem: Problem) -> tuple[int, int]:
    _, line, column = problem.where.rsplit(":", 2)
    return int(line), int(column)


def _decode(name: str, data: bytes) -> str:
    try:
        # Spreadsheets and some editors begin with a byte order mark.
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # What it counts in begins after the mark.
        before = error.object[: error.start].decode()
        _Text(name, before).refuse(
            f"the file is not in UTF-8 (byte 0x{error.object[error.start]:02x}): save "
            "it as UTF-8",
            len(before),
        )
    return text


# --- check the entries of a file --------------------------------------------------


def _check_entries(
    text: _Text, entries: list[_Entry], problems: list[Problem]
) -> list[dict[str, Any]]:
    """The checked fields of each website; what is wrong goes to *problems*."""
    websites: list[dict[str, Any]] = []
    hostnames: list[tuple[str, str]] = []
    for entry in entries:
        checked: dict[str, Any] = {}
        for found in _check_entry(text, entry):
            if isinstance(found, Problem):
                problems.append(found)
                continue
            name, value, location = found
            checked[name] = value
            if name == "hostname":
                hostnames.append((value, location))
        websites.append(checked)
    problems += find_duplicates(hostnames)
    return websites


def _check_entry(
    text: _Text, entry: _Entry
) -> Iterator[Problem | tuple[str, Any, str]]:
    """Each field of *entry* with its value and location, or its problem."""
    if not any(value.name == "hostname" for value in entry.values):
        yield text.problem("this website has no hostname: add one", entry.offset)
    for value in entry.values:
        if value.name not in FIELDS:
            yield text.problem(
                f"{shown(value.name)} is not a field of a website"
                + _suggest_field(value.name),
                value.name_offset,
            )
            continue
        location = text.location(value.value_offset)
        checked = check_field(value.name, value.value, location)
        yield (
            checked if isinstance(checked, Problem) else (value.name, checked, location)
        )


def _suggest_field(name: str) -> str:
    return did_you_mean(name, FIELDS) or f": {', '.join(FIELDS)}"


# --- TOML and JSON ----------------------------------------------------------------


def _read_toml(text: _Text, problems: list[Problem]) -> list[_Entry]:
    try:
        tree = tomllib.loads(text.text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = _AT_LINE.search(message)
        offset = len(text.text)
        if found is not None:
            offset = text.offset(int(found[1]), int(found[2]))
        text.refuse(
            f"not valid TOML: {_AT_LINE.sub('', message).removesuffix(_AT_END)}", offset
        )
    except ValueError:
        _refuse_long_number(text)
    return _tree_entries(text, tree, toml_positions(text.text), problems)


def _read_json(text: _Text, problems: list[Problem]) -> list[_Entry]:
    try:
        tree: object = json.loads(text.text)
    except json.JSONDecodeError as error:
        text.refuse(f"not valid JSON: {error.msg}", error.pos)
    except ValueError:
        _refuse_long_number(text)
    positions = json_positions(text.text)
    problems += [
        text.problem(f"{shown(path[-1])} is given twice: leave one out", offset)
        for path, offset in positions.duplicate_keys
    ]
    return _tree_entries(text, tree, positions, problems)


def _refuse_long_number(text: _Text) -> NoReturn:
    """Refuse the first number of more digits than Python reads.

    It is the one error of the two parsers that has no position.
    """
    limit = sys.get_int_max_str_digits()
    found = (
        match.start()
        for match in _NUMBER.finditer(text.text)
        if match["digits"] and len(match["digits"].replace("_", "")) > limit
    )
    text.refuse(f"a number has more than {limit:,} digits", next(found, 0))


def _tree_entries(
    text: _Text, tree: object, positions: Positions, problems: list[Problem]
) -> list[_Entry]:
    websites = tree
    path: Path = ()
    if isinstance(tree, dict):
        tree = cast("dict[str, object]", tree)
        problems += [
            text.problem(
                f"{shown(name)} is not a key of a list of websites"
                + (did_you_mean(name, [_WEBSITES]) or f": it has {_WEBSITES!r} only"),
                positions.keys.get((name,), positions.values.get((name,), 0)),
            )
            for name in tree
            if name != _WEBSITES
        ]
        if _WEBSITES not in tree:
            text.refuse(
                "there are no websites: write a table [[websites]] for each in TOML, "
                'or {"websites": [{"hostname": …}, …]} in JSON',
                0,
            )
        websites, path = tree[_WEBSITES], (_WEBSITES,)
    if not isinstance(websites, list):
        text.refuse(
            f"websites are a list, one entry for each, not {shown(websites)}",
            positions.values.get(path, 0),
        )
    entries: list[_Entry] = []
    for index, website in enumerate(cast("list[object]", websites)):
        here = (*path, index)
        start = positions.values.get(here, 0)
        if not isinstance(website, dict):
            problems.append(
                text.problem(
                    f"a website has named fields; {shown(website)} has no name: write "
                    "hostname in front of it",
                    start,
                )
            )
            continue
        website = cast("dict[str, object]", website)
        values = [
            _Value(
                field,
                website[name],
                positions.keys.get((*here, name), start),
                positions.values.get((*here, name), start),
            )
            for name, field in spec_fields(website).items()
            if field is not None
        ]
        entries.append(_Entry(start, values))
    return entries


# --- CSV --------------------------------------------------------------------------

_FLAGS: Final = {"true": True, "false": False}


def _read_csv(text: _Text, problems: list[Problem]) -> list[_Entry]:
    try:
        rows = list(read_cells(text.text, find_separator(text.text)))
    except CsvError as error:
        text.refuse(str(error), error.offset)
    if not rows:
        text.refuse(
            "the file is empty: its first line names the columns, such as "
            f"{','.join(FIELDS)}",
            0,
        )
    header, *lines = rows
    names = _column_fields(text, header, problems)
    if problems:
        # With wrong names every line would have a problem too.
        return []
    entries: list[_Entry] = []
    for line in lines:
        if len(line) > len(names):
            message = (
                f"the line has {len(line)} cells, and the first line names "
                f"{len(names)} columns: put a cell that contains the separator in "
                "quotes"
            )
            problems.append(text.problem(message, line[len(names)].offset))
            continue
        values = [
            _Value(name, _cell_value(name, cell.text), cell.offset, cell.offset)
            for name, cell in zip(names, line, strict=False)
            if name is not None and (cell.text or name == "hostname")
        ]
        entries.append(_Entry(line[0].offset, values))
    return entries


def _column_fields(
    text: _Text, header: list[Cell], problems: list[Problem]
) -> list[str | None]:
    """The field that each column has; None for those of a saved list alone."""
    fields = spec_fields(cell.text for cell in header)
    names = [fields[cell.text] for cell in header]
    for index, (cell, name) in enumerate(zip(header, names, strict=True)):
        if name is None:
            continue
        if name not in FIELDS:
            message = (
                f"{shown(cell.text)} is not a column of a list of websites"
                + _suggest_field(cell.text)
            )
            problems.append(text.problem(message, cell.offset))
        elif name in names[:index]:
            message = f"the column {cell.text!r} is given twice"
            problems.append(text.problem(message, cell.offset))
    if "hostname" not in names:
        message = "there is no column 'hostname': add one"
        problems.append(text.problem(message, header[0].offset))
    return names


def _cell_value(name: str, text: str) -> object:
    return _FLAGS.get(text.lower(), text) if name == "public" else text


_READERS: Final[dict[str, _Reader]] = {
    ".toml": _read_toml,
    ".json": _read_json,
    ".csv": _read_csv,
}
