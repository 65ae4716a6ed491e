"""Load website specifications from TOML, JSON and CSV files."""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Final,
    Generic,
    NoReturn,
    TypeAlias,
    TypeVar,
    cast,
)

import attrs

from sitestats._common.advice import Argument
from sitestats._common.errors import SpecError
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown

from ._checks import (
    FIELDS,
    FORMATS,
    MOST_SUGGESTIONS,
    RENAMED,
    Columns,
    Written,
    check_columns,
    check_field,
    ignored_names,
    merge_duplicates,
)
from ._csv import Cell, CsvError, find_separator, read_cells, without_text_mark
from ._encodings import EncodingError, decode
from ._positions import STRING, Path, Positions, json_positions, toml_positions

if TYPE_CHECKING:
    from ._specs import WebsiteSpec

SpecT = TypeVar("SpecT", bound="WebsiteSpec")
Source: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, or a file that is open for reading bytes."""

_RULE: Final = "website-file"
_WEBSITES: Final = "websites"
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_AT_LINE: Final = re.compile(r" \(at line (\d+), column (\d+)\)")
_NUMBER: Final = re.compile(rf"{STRING}|#[^\n]*|(?P<digits>[0-9][0-9_]*)")
"""A number; or what may have digits in it and is none."""
_AT_END: Final = " (at end of document)"


@attrs.frozen
class _Text:
    """A file's text, what was found in it, and how errors name a location in it."""

    name: str
    text: str
    columns: Columns = attrs.field(factory=Columns)
    problems: list[Problem] = attrs.field(factory=list[Problem])
    notes: list[str] = attrs.field(factory=list[str])

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

    def note(self, message: str) -> None:
        self.notes.append(f"{self.name}: {message}")

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


_Reader = Callable[[_Text], list[_Entry]]


@attrs.frozen
class Loaded(Generic[SpecT]):
    """The specifications of a file, and what its reader should know about them."""

    specs: tuple[SpecT, ...]
    notes: tuple[str, ...]
    """Such as the encoding, if that was a guess. Each begins with the file's name."""


def load_specs(
    source: Source,
    make: Callable[..., SpecT],
    *,
    input_format: str | None = None,
    columns: Mapping[str, str] | None = None,
    ignore_columns: bool = False,
) -> Loaded[SpecT]:
    """What *make* makes of each website in a file; see ``WebsiteSpec.load``."""
    checked_columns = check_columns(columns, ignore=ignore_columns)
    name = name_of(source)
    kind = _format_of(name, input_format)
    try:
        decoded, note = decode(read_bytes(source), from_spreadsheet=kind == "csv")
    except EncodingError as error:
        _Text(name, error.before).refuse(str(error), len(error.before))
    text = _Text(name, decoded, checked_columns)
    if note is not None:
        text.note(note)
    try:
        entries = _READERS[kind](text)
    except RecursionError:
        text.refuse("the file is nested too deeply to be a list of websites", 0)
    websites = _check_entries(text, entries)
    if text.problems:
        raise SpecError(sorted(text.problems, key=_line_and_column))
    return Loaded(tuple(make(**values) for values in websites), tuple(text.notes))


def name_of(source: Source) -> str:
    """What *source* is called in errors."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "name", "<file>"))


def read_bytes(source: Source) -> bytes:
    """The content of *source*.

    Raises:
        SpecError: It is open in text mode.
        OSError: It can't be read.
    """
    if isinstance(source, (str, os.PathLike)):
        return pathlib.Path(source).read_bytes()
    data = cast("object", source.read())
    if not isinstance(data, bytes):
        message = "a file that is open has to be open in binary mode"
        raise SpecError([Problem(message, rule=_RULE)])
    return data


def _format_of(name: str, given: str | None) -> str:
    if given is not None:
        if given in FORMATS:
            return given
        message = f"input_format=… is one of {', '.join(FORMATS)}, not {shown(given)}"
        raise SpecError([Problem(message, rule=_RULE)])
    suffix = pathlib.Path(name).suffix.lower().removeprefix(".")
    if suffix in FORMATS:
        return suffix
    message = (
        "websites are read from a file whose name ends in "
        f"{', '.join(f'.{one}' for one in FORMATS)}: rename it, or name its format "
        "with " + Argument("input_format", ...)
    )
    raise SpecError([Problem(message, rule=_RULE, where=name)])


def _line_and_column(problem: Problem) -> tuple[int, int]:
    _, line, column = problem.where.rsplit(":", 2)
    return int(line), int(column)


# --- check the entries of a file --------------------------------------------------


def _check_entries(text: _Text, entries: list[_Entry]) -> list[dict[str, Any]]:
    """The fields of each website; what is wrong goes to *problems*."""
    websites: list[Written] = []
    for entry in entries:
        checked: dict[str, Any] = {}
        suggest = len(text.problems) < MOST_SUGGESTIONS
        for found in _check_entry(text, entry, suggest=suggest):
            if isinstance(found, Problem):
                text.problems.append(found)
                continue
            value, checked_value, location = found
            checked[value.name] = checked_value
            if value.name == "hostname":
                websites.append(Written(checked, value.value, location))
    kept, merged, differing = merge_duplicates(websites)
    text.problems.extend(differing)
    if merged is not None:
        text.note(merged)
    return kept


def _check_entry(
    text: _Text, entry: _Entry, *, suggest: bool
) -> Iterator[Problem | tuple[_Value, object, str]]:
    """Each field of *entry* with its checked value and location, or its problem."""
    if not any(value.name == "hostname" for value in entry.values):
        yield text.problem(
            f"this website has no {text.columns.name_of('hostname')}: add one",
            entry.offset,
        )
    for value in entry.values:
        if value.name not in FIELDS:
            yield text.problem(
                f"{shown(value.name)} is not a field of a website"
                + text.columns.advice(value.name, suggest=suggest),
                value.name_offset,
            )
            continue
        location = text.location(value.value_offset)
        checked = check_field(value.name, value.value, location, suggest=suggest)
        yield (checked if isinstance(checked, Problem) else (value, checked, location))


# --- TOML and JSON ----------------------------------------------------------------


def _read_toml(text: _Text) -> list[_Entry]:
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
    return _tree_entries(text, tree, toml_positions(text.text))


def _read_json(text: _Text) -> list[_Entry]:
    try:
        tree: object = json.loads(text.text)
    except json.JSONDecodeError as error:
        text.refuse(f"not valid JSON: {error.msg}", error.pos)
    except ValueError:
        _refuse_long_number(text)
    positions = json_positions(text.text)
    text.problems.extend(
        text.problem(f"{shown(path[-1])} is given twice: leave one out", offset)
        for path, offset in positions.duplicate_keys
    )
    return _tree_entries(text, tree, positions)


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


def _tree_entries(text: _Text, tree: object, positions: Positions) -> list[_Entry]:
    websites = tree
    path: Path = ()
    if isinstance(tree, dict):
        tree = cast("dict[str, object]", tree)
        text.problems.extend(
            text.problem(
                f"{shown(name)} is not a key of a list of websites"
                + (did_you_mean(name, [_WEBSITES]) or f": it has {_WEBSITES!r} only"),
                positions.keys.get((name,), positions.values.get((name,), 0)),
            )
            for name in tree
            if name != _WEBSITES
        )
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
    ignored: dict[str, None] = {}
    for index, website in enumerate(cast("list[object]", websites)):
        here = (*path, index)
        start = positions.values.get(here, 0)
        if not isinstance(website, dict):
            text.problems.append(
                text.problem(
                    f"a website has named fields; {shown(website)} has no name: write "
                    "hostname in front of it",
                    start,
                )
            )
            continue
        website = cast("dict[str, object]", website)
        values: list[_Value] = []
        for name, field in text.columns.fields(website).items():
            offset = positions.keys.get((*here, name), start)
            if field is None:
                ignored.setdefault(name)
            elif any(value.name == field for value in values):
                message = f"{field} is given twice, under two names: leave one out"
                text.problems.append(text.problem(message, offset))
            else:
                value_offset = positions.values.get((*here, name), start)
                values.append(_Value(field, website[name], offset, value_offset))
        entries.append(_Entry(start, values))
    if (note := ignored_names(ignored)) is not None:
        text.note(note)
    return entries


# --- CSV --------------------------------------------------------------------------

_FLAGS: Final = {
    **dict.fromkeys(("true", "yes", "1"), True),
    **dict.fromkeys(("false", "no", "0"), False),
    # A spreadsheet writes the words of its own language.
    **dict.fromkeys(("wahr", "ja", "waar", "vrai", "oui", "verdadero", "vero"), True),
    **dict.fromkeys(("falsch", "nein", "onwaar", "nee", "faux", "non", "falso"), False),
}


def _read_csv(text: _Text) -> list[_Entry]:
    rows = read_cells(text.text, find_separator(text.text))
    try:
        return _csv_entries(text, rows)
    except CsvError as error:
        text.refuse(str(error), error.offset)


def _csv_entries(
    text: _Text,
    rows: Iterator[list[Cell]],
) -> list[_Entry]:
    header = next(rows, None)
    if header is None:
        text.refuse(
            "the file is empty: its first line names the columns, such as "
            f"{','.join(FIELDS)}",
            0,
        )
    while not header[-1].text:
        # A spreadsheet writes separators up to the widest row that there ever was.
        header.pop()
    fields = text.columns.fields(cell.text for cell in header)
    names = _column_fields(text, header, fields)
    if text.problems:
        # With wrong names every line would have a problem too.
        return []
    if (note := ignored_names(fields)) is not None:
        text.note(note)
    # The labels of a saved list are as the service has them.
    is_list = fields.get("is_public") == "public"
    entries: list[_Entry] = []
    for line in rows:
        if any(cell.text for cell in line[len(names) :]):
            message = (
                f"the line has {len(line)} cells, and the first line names "
                f"{len(names)} columns: put a cell that contains the separator in "
                "quotes"
            )
            text.problems.append(text.problem(message, line[len(names)].offset))
            continue
        values = [
            _Value(
                name,
                _cell_value(name, cell.text, is_list=is_list),
                cell.offset,
                cell.offset,
            )
            for name, cell in zip(names, line, strict=False)
            if name is not None and (cell.text or name == "hostname")
        ]
        entries.append(_Entry(line[0].offset, values))
    return entries


def _column_fields(
    text: _Text,
    header: list[Cell],
    fields: Mapping[str, str | None],
) -> list[str | None]:
    """The field that each column has; None for those that are left out."""
    names = [fields[cell.text] for cell in header]
    first: dict[str, str] = {}
    for cell, name in zip(header, names, strict=True):
        if name is None:
            continue
        if name not in FIELDS:
            suggest = len(text.problems) < MOST_SUGGESTIONS
            message = (
                f"{shown(cell.text)} is not a column of a list of websites"
                + text.columns.advice(cell.text, suggest=suggest)
            )
            text.problems.append(text.problem(message, cell.offset))
        elif name not in first:
            first[name] = cell.text
        else:
            other = first[name]
            message = (
                f"the column {shown(cell.text)} is given twice"
                if other == cell.text
                else f"the columns {shown(other)} and {shown(cell.text)} are both the "
                f"{name}: leave one out"
            )
            text.problems.append(text.problem(message, cell.offset))
    missing = [
        column
        for field in ("hostname", *text.columns.renamed)
        if (column := text.columns.name_of(field)) not in fields
    ]
    for column in dict.fromkeys(missing):
        message = (
            f"there is no column {shown(column)}: add one, or name the one that is "
            "meant with " + RENAMED
        )
        text.problems.append(text.problem(message, header[0].offset))
    return names


def _cell_value(name: str, text: str, *, is_list: bool) -> object:
    if name == "public":
        return _FLAGS.get(text.lower(), text)
    return text if is_list else without_text_mark(text)


_READERS: Final[dict[str, _Reader]] = {
    "toml": _read_toml,
    "json": _read_json,
    "csv": _read_csv,
}
