"""The formats of lists: names by line, CSV, TOML, JSON or a workbook of Excel."""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, repeat, zip_longest
from typing import Any, Final, TypeAlias, cast

import attrs

from sitestats._base.errors import Problem, warn
from sitestats._base.hostnames import normalise_hostname
from sitestats._base.text import shown, unmarked

from ._mistakes import problem, refuse
from ._workbooks import read_workbook

Row: TypeAlias = tuple[str, list[tuple[str | None, Any]]]
"""The place of a website, and its values by the list's own names. A problem is in place
of a value, or has no name if it is about the row."""
Cells: TypeAlias = tuple[str, Sequence[Any]]
"""The place of a row of a table, and its cells."""

OF_THE_SERVICE: Final = frozenset(
    ["hasssl", "hasscript", "ownhostname", "pageviews", "events", "extra", "problems"]
)
"""The columns of a saved list of websites that only the service decides."""
_TOML: Final = re.compile(r"\[+\s*[A-Za-z]|websites\s*=")
_SEPARATOR_LINE: Final = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
"""The line that tells Excel the separator."""
_SEPARATORS: Final = ",;\t|"
_COMMENT: Final = re.compile(r"(?:^|\s)#")
"""The beginning of a comment; a dashboard's address may have a ``#`` of its own."""
_ROWS_TO_HEADER: Final = 20
"""The rows among which the one with the names of the columns is looked for."""
_NO_VALUE: Final = re.compile(
    r"#(N/A|REF!|NAME\?|VALUE!|DIV/0!|NULL!|NUM!)|#{3,}|nan|<na>|n/a|null|none",
    re.IGNORECASE,
)
"""What spreadsheets, pandas and databases write where there is no value."""
_NO_HEADER: Final = (
    "the columns have no names: add a first row, such as hostname, timezone, label"
)
_SAVE: Final = "save it as UTF-8, in Excel as CSV UTF-8"
_UTF_16: Final = f"the file is UTF-16, such as Unicode Text: {_SAVE}"
_OTHER_FILES: Final = {
    b"\xd0\xcf\x11\xe0": "the file is an old workbook (.xls), or has a password: save "
    "it as .xlsx without a password, or as CSV UTF-8",
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
    b"\x1f\x8b": "the file is compressed: unpack it",
    b"PAR1": "the file is Parquet: save it as CSV UTF-8",
    b"%PDF": "the file is a PDF: save the list as .xlsx, or as CSV UTF-8",
}


def folded(name: str) -> str:
    """The name of a column without case, blanks and signs."""
    return "".join(filter(str.isalnum, name.casefold()))


def read_list(data: bytes, name: str, columns: Mapping[str, str]) -> Iterator[Row]:
    """The websites of a list, whatever its format is.

    Raises:
        InvalidInputError: It can't be understood.
    """
    hostname = folded(columns.get("hostname", "hostname"))
    # A workbook may come by a pipe, too.
    if data.startswith(b"PK\x03\x04"):
        return _table(read_workbook(data, name), hostname)
    text = _text(data, name)
    lines = [*io.StringIO(text, newline="")]
    content = Content.of(lines, hostname)
    if _TOML.match(content.first):
        return _tree(_parsed(tomllib.loads, text, "TOML", name), name)
    if content.first.startswith(("[", "{")):
        # Objects are read as pairs, since a key may be there twice.
        of_json = partial(json.loads, object_pairs_hook=tuple)
        return _tree(_parsed(of_json, text, "JSON", name), name)
    if content.first.startswith("<"):
        refuse(
            "the file is HTML or XML, whatever it is called: open it in a spreadsheet, "
            "and save it as .xlsx, or as CSV UTF-8",
            name,
        )
    if content.is_names:
        return _names(text, name)
    return _table(_csv(lines, content, name), hostname)


def _text(data: bytes, name: str) -> str:
    for beginning, message in _OTHER_FILES.items():
        if data.startswith(beginning):
            refuse(message, name)
    if b"\0" in data[:2]:
        refuse(_UTF_16, name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        refuse(f"the file is not UTF-8: {_SAVE}", name)


def _parsed(parse: Any, text: str, format_name: str, name: str) -> Any:
    try:
        return parse(text)
    except (RecursionError, ValueError) as error:
        message = f"not valid {format_name}: {error}"
        if str(error).startswith("Extra data"):
            message += ": put all objects into one list, in [ and ]"
        refuse(message, name)


def _names(text: str, name: str) -> Iterator[Row]:
    for number, line in enumerate(text.splitlines(), start=1):
        if host := _COMMENT.split(line, maxsplit=1)[0].strip():
            yield f"{name}:{number}", [("hostname", host)]


def _tree(tree: Any, name: str) -> Iterator[Row]:
    if isinstance(tree, (dict, tuple)):
        pairs = _pairs(tree)
        tree = pairs[0][1] if [key for key, _ in pairs] == ["websites"] else None
    if not isinstance(tree, list):
        refuse("the websites are a list, or the list 'websites' and no more", name)
    for index, website in enumerate(cast("Sequence[Any]", tree)):
        where = f"{name}: websites[{index}]"
        if isinstance(website, str):
            yield where, [("hostname", website)]
        elif isinstance(website, (dict, tuple)):
            yield where, _pairs(website)
        else:
            message = f"a website has fields, or is a host name, not {shown(website)}"
            yield where, [(None, problem(message, where))]


def _pairs(table: Any) -> list[tuple[str | None, Any]]:
    return [*(table.items() if isinstance(table, dict) else table)]


# --- CSV --------------------------------------------------------------------------


@attrs.frozen
class Content:
    """Where the content of a text begins, and how its cells are separated."""

    start: int
    """The index of the first line that is neither empty nor a comment."""
    first: str
    """This line, without blanks around it."""
    separator: str
    has_header: bool
    """Whether one of the first rows names the column of the host names."""

    @classmethod
    def of(cls, lines: Sequence[str], hostname: str) -> Content:
        """Look at the first *lines*."""
        separators, told = _SEPARATORS, False
        start, first = _first_line(lines, 0, hostname)
        if separator := _SEPARATOR_LINE.fullmatch(first.strip("\r\n")):
            separators, told = separator[1], True
            start, first = _first_line(lines, start + 1, hostname)
        widths = {
            separator: _width_of_header(lines, start, separator, hostname)
            for separator in separators
        }
        best = max(widths, key=lambda one: (widths[one], first.count(one)))
        return cls(start, first.strip(), best, has_header=told or widths[best] > 0)

    @property
    def is_names(self) -> bool:
        """Whether each line is a host name, rather than a row."""
        # A name in quotes is a cell.
        if self.has_header or "." not in self.first or self.first[0] == '"':
            return False
        line = _COMMENT.split(self.first, maxsplit=1)[0]
        # The address of a dashboard may have a separator.
        cells = [line] if "://" in line else line.split(self.separator)
        return len(cells) == 1 or not any(map(_is_host, cells))


def _first_line(lines: Sequence[str], start: int, hostname: str) -> tuple[int, str]:
    """The first line from *start* on that is not a comment, or that names the columns,
    and its index.
    """
    for index, line in enumerate(lines[start:], start):
        text = line.strip()
        cells = map(folded, re.split(f"[{_SEPARATORS}]", text))
        if text and (text[0] != "#" or hostname in cells):
            return index, line
    return 0, ""


def _reader(lines: Iterable[str], separator: str) -> Any:
    return csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)


def _width_of_header(
    lines: Sequence[str], start: int, separator: str, hostname: str
) -> int:
    """The cells of the row that names the columns, if they are separated so."""
    try:
        for row in islice(
            _reader(islice(lines, start, None), separator), _ROWS_TO_HEADER
        ):
            if hostname in map(folded, row):
                return len(row)
    except csv.Error:
        # It has other separators, or a mistake that is told when it is read.
        pass
    return 0


def _csv(lines: Sequence[str], content: Content, name: str) -> Iterator[Cells]:
    """The rows of CSV, without comments: lines with ``#`` and without a separator."""
    # The numbers of the lines stay.
    numbered = [*repeat("\n", content.start), *lines[content.start :]]
    reader = _reader(numbered, content.separator)
    try:
        for row in reader:
            number: int = reader.line_num
            where, line = f"{name}:{number}", numbered[number - 1].strip()
            # A quoted cell differs from the text of its line.
            if line != content.first and line[:1] == "#" == row[0][:1]:
                if "".join(row).strip() == line:
                    continue
                warn(f"{where}: the row counts: if it is a comment, leave it out")
            yield where, [*map(unmarked, row)]
    except csv.Error as error:
        refuse(f"not valid CSV: {error}", f"{name}:{reader.line_num}")


# --- tables -----------------------------------------------------------------------


def _table(rows: Iterable[Cells], hostname: str) -> Iterator[Row]:
    """The websites of a table, below the row that names its columns."""
    filled = [(where, cells) for where, cells in rows if any(map(_is_filled, cells))]
    at = _index_of_header(filled, hostname)
    if at is None:
        for where, cells in filled:
            name, *others = filter(_is_filled, cells)
            if others:
                refuse(_NO_HEADER, filled[0][0])
            yield where, [("hostname", name)]
        return
    # A cell that can't be read is the name of a column that nobody needs, by its place.
    header = [
        (cell.where if isinstance(cell, Problem) else str(cell)).strip()
        for cell in filled[at][1]
    ]
    if hostname in map(folded, header):
        _check_above(filled[:at])
    # Text that the service has is as it is; blanks that somebody typed are slips.
    is_saved = not OF_THE_SERVICE.isdisjoint(map(folded, header))
    below = filled[at + 1 :]
    is_numbered = _has_index(header, below)
    if is_numbered:
        place = filled[at][0].rpartition(":")[0]
        warn(f"{place}: the first column numbers the rows, and is left out")
    for where, cells in below:
        pairs = [*zip_longest(header, cells, fillvalue="")]
        if is_numbered:
            del pairs[0]
            if not any(_is_filled(cell) for _, cell in pairs):
                continue
        values: list[tuple[str | None, Any]] = [
            (key, _value(cell, where, is_saved=is_saved)) for key, cell in pairs if key
        ]
        nameless = [cell for key, cell in pairs if not key and _is_filled(cell)]
        if nameless:
            message = (
                f"no column has a name for {shown(nameless[0])}: name its column, or "
                "leave it out; a value with the separator needs quotes around it"
            )
            values = [(None, problem(message, where))]
        yield where, values


def _is_filled(cell: object) -> bool:
    return not isinstance(cell, str) or bool(cell.strip())


def _value(cell: Any, where: str, *, is_saved: bool) -> Any:
    """A cell of a table; an empty one, or one of blanks, is a value left out. What a
    tool wrote in place of a value is a ``Problem``: as a label, it would be for good.
    """
    if not isinstance(cell, str):
        return cell
    if is_saved:
        return cell or None
    text = cell.strip()
    if _NO_VALUE.fullmatch(text):
        return problem(f"{shown(text)} stands for no value: leave it out", where)
    if "\N{REPLACEMENT CHARACTER}" in text:
        return problem(f"letters of {shown(text)} were lost: type them again", where)
    return text or None


def _is_host(cell: object) -> bool:
    try:
        return bool(normalise_hostname(str(cell).strip()))
    except ValueError:
        return False


def _index_of_header(rows: Sequence[Cells], hostname: str) -> int | None:
    """The index of the row that names the columns, or that may do so under other names;
    None if the first row is a website.
    """
    for index, (_, cells) in enumerate(rows[:_ROWS_TO_HEADER]):
        if hostname in {folded(cell) for cell in cells if isinstance(cell, str)}:
            return index
    if not rows or any(map(_is_host, rows[0][1])):
        return None
    # A title is alone in its row, but for the cells that are merged with it.
    widths = [
        sum(_is_filled(cell) and not isinstance(cell, Problem) for cell in cells)
        for _, cells in rows[:_ROWS_TO_HEADER]
    ]
    return next((index for index, width in enumerate(widths) if width > 1), 0)


def _check_above(rows: Sequence[Cells]) -> None:
    """Warn of a title above the header, and refuse a website there."""
    for where, cells in rows:
        if any(map(_is_host, cells)):
            refuse(
                "the row is above the one that names the columns: move it below", where
            )
    if rows:
        first = next(filter(_is_filled, rows[0][1]))
        warn(f"{rows[0][0]}: what is above the header is left out: {shown(first)}")


def _has_index(header: Sequence[str], rows: Sequence[Cells]) -> bool:
    """Whether the first column numbers the rows, as pandas writes its index."""
    if not rows or header[0] or len(header) == 1:
        return False
    numbers = [str(cells[0]).strip() for _, cells in rows]
    return all(map(str.isdecimal, numbers)) and len({*numbers}) == len(numbers)
