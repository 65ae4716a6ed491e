"""Specifications from TOML, JSON and CSV, with errors that point at their place."""

from __future__ import annotations

import json
import os
import pathlib
import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn, cast

import attrs

from sitestats._errors import Problem, SpecError
from sitestats._wording import did_you_mean, shown

from ._cells import CellError, read_cells, separator_of
from ._places import Path, Places, json_places, toml_places
from ._specs import FIELDS, WebsiteSpec, check_field, duplicates

_RULE: Final = "website-file"
_WEBSITES: Final = "websites"
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_AT_LINE: Final = re.compile(r" \(at line (\d+), column (\d+)\)")
_AT_END: Final = " (at end of document)"


@attrs.frozen
class _Text:
    """A file's text, and how to name a place in it."""

    name: str
    text: str
    _starts: list[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        starts = [0, *(end.end() for end in _LINE_END.finditer(self.text))]
        object.__setattr__(self, "_starts", starts)

    def place(self, at: int) -> str:
        line = bisect_right(self._starts, at)
        return f"{self.name}:{line}:{at - self._starts[line - 1] + 1}"

    def offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column - 1

    def problem(self, message: str, at: int) -> Problem:
        return Problem(message, rule=_RULE, where=self.place(at))

    def refuse(self, message: str, at: int) -> NoReturn:
        raise SpecError([self.problem(message, at)]) from None


@attrs.frozen
class _Value:
    name: str
    value: Any
    name_at: int
    value_at: int


@attrs.frozen
class _Entry:
    """One website of a file, before its values are checked."""

    at: int
    values: list[_Value]


_Reader = Callable[[_Text, list[Problem]], list[_Entry]]


def load_specs(path: str | os.PathLike[str]) -> tuple[WebsiteSpec, ...]:
    """See ``WebsiteSpec.load``."""
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
    text = _Text(name, _decoded(name, pathlib.Path(name).read_bytes()))
    problems: list[Problem] = []
    try:
        entries = reader(text, problems)
    except RecursionError:
        text.refuse("the file is nested too deeply to be a list of websites", 0)
    specs = _specs(text, entries, problems)
    if problems:
        raise SpecError(sorted(problems, key=_place))
    return specs


def _place(problem: Problem) -> tuple[int, int]:
    _, line, column = problem.where.rsplit(":", 2)
    return int(line), int(column)


def _decoded(name: str, data: bytes) -> str:
    try:
        # Spreadsheets and some editors put a byte order mark in front.
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        _Text(name, before).refuse(
            f"the file is not in UTF-8 (byte 0x{data[error.start]:02x}): save it as "
            "UTF-8",
            len(before),
        )
    return text


# --- from the entries of a file to specifications ---------------------------------


def _specs(
    text: _Text, entries: list[_Entry], problems: list[Problem]
) -> tuple[WebsiteSpec, ...]:
    specs: list[WebsiteSpec] = []
    hostnames: list[tuple[str, str]] = []
    for entry in entries:
        checked: dict[str, Any] = {}
        for found in _checked(text, entry):
            if isinstance(found, Problem):
                problems.append(found)
                continue
            name, value, at = found
            checked[name] = value
            if name == "hostname":
                hostnames.append((value, text.place(at)))
        if "hostname" in checked and not problems:
            specs.append(WebsiteSpec(**checked))
    problems += duplicates(hostnames)
    return tuple(specs)


def _checked(text: _Text, entry: _Entry) -> Iterator[Problem | tuple[str, Any, int]]:
    """Each value of *entry* as it is kept, or its problem."""
    if not any(value.name == "hostname" for value in entry.values):
        yield text.problem("this website has no hostname: add one", entry.at)
    for value in entry.values:
        if value.name not in FIELDS:
            yield text.problem(
                f"{shown(value.name)} is nothing that a website has"
                f"{did_you_mean(value.name, FIELDS) or ': ' + ', '.join(FIELDS)}",
                value.name_at,
            )
            continue
        where = text.place(value.value_at)
        checked = check_field(value.name, value.value, where)
        yield (
            checked
            if isinstance(checked, Problem)
            else (value.name, checked, value.value_at)
        )


# --- TOML and JSON ----------------------------------------------------------------


def _read_toml(text: _Text, problems: list[Problem]) -> list[_Entry]:
    try:
        tree = tomllib.loads(text.text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = _AT_LINE.search(message)
        at = len(text.text)
        if found is not None:
            at = text.offset(int(found[1]), int(found[2]))
        text.refuse(
            f"not valid TOML: {_AT_LINE.sub('', message).removesuffix(_AT_END)}", at
        )
    return _tree_entries(text, tree, toml_places(text.text), problems)


def _read_json(text: _Text, problems: list[Problem]) -> list[_Entry]:
    try:
        tree: object = json.loads(text.text)
    except json.JSONDecodeError as error:
        text.refuse(f"not valid JSON: {error.msg}", error.pos)
    except ValueError as error:
        # Such as an integer of more digits than Python reads.
        text.refuse(f"not valid JSON: {error}", 0)
    places = json_places(text.text)
    problems += [
        text.problem(f"{shown(path[-1])} is given twice: leave one out", at)
        for path, at in places.repeated
    ]
    return _tree_entries(text, tree, places, problems)


def _tree_entries(
    text: _Text, tree: object, places: Places, problems: list[Problem]
) -> list[_Entry]:
    websites = tree
    path: Path = ()
    if isinstance(tree, dict):
        tree = cast("dict[str, object]", tree)
        problems += [
            text.problem(
                f"{shown(name)} is nothing that this file has"
                + (did_you_mean(name, [_WEBSITES]) or f": it has {_WEBSITES!r} alone"),
                places.keys.get((name,), places.values.get((name,), 0)),
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
            places.values.get(path, 0),
        )
    entries: list[_Entry] = []
    for index, website in enumerate(cast("list[object]", websites)):
        here = (*path, index)
        at = places.values.get(here, 0)
        if not isinstance(website, dict):
            problems.append(
                text.problem(
                    f"a website has a hostname and more; {shown(website)} has no "
                    "names: write hostname in front of it",
                    at,
                )
            )
            continue
        entries.append(
            _Entry(
                at,
                [
                    _Value(
                        name,
                        value,
                        places.keys.get((*here, name), at),
                        places.values.get((*here, name), at),
                    )
                    for name, value in cast("dict[str, object]", website).items()
                ],
            )
        )
    return entries


# --- CSV --------------------------------------------------------------------------

_TRUTHS: Final = {"true": True, "false": False}


def _read_csv(text: _Text, problems: list[Problem]) -> list[_Entry]:
    try:
        rows = list(read_cells(text.text, separator_of(text.text)))
    except CellError as error:
        text.refuse(str(error), error.at)
    if not rows:
        text.refuse(
            "the file is empty: its first line names the columns, such as "
            f"{','.join(FIELDS)}",
            0,
        )
    header, *lines = rows
    names = [cell.text for cell in header]
    for index, cell in enumerate(header):
        if cell.text not in FIELDS:
            problems.append(
                text.problem(
                    f"{shown(cell.text)} is no column of a list of websites"
                    f"{did_you_mean(cell.text, FIELDS) or ': ' + ', '.join(FIELDS)}",
                    cell.at,
                )
            )
        elif cell.text in names[:index]:
            problems.append(
                text.problem(f"the column {cell.text!r} is there twice", cell.at)
            )
    if "hostname" not in names:
        problems.append(
            text.problem("there is no column 'hostname': add one", header[0].at)
        )
    if problems:
        # Under wrong names every line would have a problem too.
        return []
    entries: list[_Entry] = []
    for line in lines:
        if len(line) > len(names):
            problems.append(
                text.problem(
                    f"the line has {len(line)} cells, and the first line names "
                    f"{len(names)} columns: put a cell that has the separator in it "
                    "in quotes",
                    line[len(names)].at,
                )
            )
            continue
        entries.append(
            _Entry(
                line[0].at,
                [
                    _Value(name, _cell_value(name, cell.text), cell.at, cell.at)
                    for name, cell in zip(names, line, strict=False)
                    if cell.text or name == "hostname"
                ],
            )
        )
    return entries


def _cell_value(name: str, text: str) -> object:
    return _TRUTHS.get(text.lower(), text) if name == "public" else text


_READERS: Final[dict[str, _Reader]] = {
    ".toml": _read_toml,
    ".json": _read_json,
    ".csv": _read_csv,
}
