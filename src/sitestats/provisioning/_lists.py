"""Lists of websites in files: names by line, CSV, TOML, JSON or a workbook of Excel."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, TypeAlias, cast

import attrs

from sitestats._base.errors import InvalidInputError, Problem, load_extra, warn
from sitestats._base.text import counted, did_you_mean, shown, unmarked
from sitestats._query.rules import Problems

Source: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, or a file that is open for reading bytes."""
Row: TypeAlias = tuple[str, list[tuple[str | None, Any]]]
"""The place of a website, and its values by the list's own names. A problem is in place
of a value, or has no name if it is about the row."""

_FIELDS: Final = ("hostname", "timezone", "public", "label", "accept_differing")
_OF_THE_SERVICE: Final = frozenset(
    ("hasssl", "hasscript", "ownhostname", "pageviews", "events", "extra")
)
"""The columns of a saved list of websites that only the service decides."""
# Spreadsheets write true and false in the language of their user.
_WORDS: Final = {
    True: """true yes 1 wahr ja waar vrai oui verdadero sí si vero sì verdadeiro sim
    prawda tak pravda ano áno igaz igen sand sann sant tosi kyllä doğru evet adevărat
    da да так""",
    False: """false no 0 falsch nein onwaar nee faux non falso não nao fałsz nie
    nepravda ne hamis nem falsk usann falskt nej nei epätosi ei fals nu нет ні не
    yanlış yanliş hayır hayir""",  # noqa: RUF001 - Turkish
}
_FLAGS: Final = {word: flag for flag, text in _WORDS.items() for word in text.split()}
_IGNORE: Final = ", or ignore it by ignore_columns=True (--ignore-columns)"
_TOML: Final = re.compile(r"\[+\s*[A-Za-z]|websites\s*=")
_WRONG_CELLS: Final = {
    "merged": "the cell is merged with others: split them, and fill each one",
    "f": "the cell has a formula: paste its value in place of it",
    "e": "the cell has an error: correct it",
    "d": "a date or number may look otherwise: format the cell as text, and type it",
}


@attrs.frozen
class ListedHost:
    """A host name of a list: see ``read_host_list``."""

    text: str
    """The host name, unchecked; or the address of a dashboard."""
    where: str
    """Its place in the list, such as ``"hosts.txt:3"``."""


def read_host_list(
    path: Source, *, columns: Mapping[str, str] | None = None
) -> list[ListedHost]:
    r"""Read the host names of a list of websites, to query each of them.

    It reads the lists of ``WebsiteSpec.load``, with the same arguments and errors, and
    ignores other columns. The host names are not checked.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sitestats.provisioning import read_host_list
    >>> with TemporaryDirectory() as directory:
    ...     path = Path(directory, "hosts.txt")
    ...     _ = path.write_text("semicomplete.com\nblog.semicomplete.com  # mine\n")
    ...     hosts = read_host_list(path)
    >>> query = StatsQuery("semicomplete.com").fields("visitors").last(days=7)
    >>> queries = [query.website(host.text) for host in hosts]
    """
    columns = {"hostname": (columns or {}).get("hostname", "hostname")}
    hosts: list[ListedHost] = []
    with Problems() as problems:
        for where, fields in load_fields(path, columns, problems, ignore=None):
            if isinstance(host := fields.get("hostname"), str):
                hosts.append(ListedHost(host, where))
            else:
                problems.append(
                    _problem(f"a host name is text, not {shown(host)}", where)
                )
    return hosts


def load_fields(
    source: Source,
    columns: Mapping[str, str] | None,
    problems: list[Problem],
    *,
    ignore: bool | None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The place of each website of a list, and its fields; *problems* gets what is
    wrong with the others.

    With *ignore*, unknown columns are left out; with None, also those that resemble a
    field, and without a warning.

    Raises:
        InvalidInputError: The list or its columns can't be understood, or it has no
            websites.
        OSError: It can't be read.
    """
    if isinstance(source, str | os.PathLike):
        name, data = os.fspath(source), Path(source).read_bytes()
    else:
        # Other things have no read(), and files of text no bytes.
        name, data = (
            str(getattr(source, "name", "<file>")),
            getattr(source, "read", cast("Any", bool))(),
        )
    if not isinstance(data, bytes):
        _refuse("give a path, or a file that is open for bytes", name)
    columns = dict(columns or {})
    rows = [*_read(data, name, columns)]
    if not rows:
        _refuse("the list has no websites", name)
    names = dict.fromkeys(
        key for _, values in rows for key, _ in values if key is not None
    )
    known = names and _fields_of(names, columns, name, ignore=ignore)
    for where, values in rows:
        fields: dict[str, Any] = {}
        for column, value in values:
            field = "" if column is None else known.get(column)
            if field in fields:
                fields[field] = _problem(
                    f"two columns or keys are the {field}: leave one out", where
                )
            elif field is not None:
                fields[field] = _as_field(field, value)
        wrong = [value for value in fields.values() if isinstance(value, Problem)]
        problems += wrong
        if not wrong:
            yield where, {key: one for key, one in fields.items() if one is not None}


def _as_field(field: str, value: object) -> object:
    """A value as a specification has it: flags in words, without blanks around it."""
    if not isinstance(value, str) or field == "label":
        return value
    is_flag = field in {"public", "accept_differing"}
    text = value.strip()
    return _FLAGS.get(text.casefold(), text) if is_flag else text


def _fields_of(
    names: Iterable[str], columns: Mapping[str, str], where: str, *, ignore: bool | None
) -> dict[str, str]:
    """The field that each of the *names* in a list stands for, if any."""
    known = {_folded(field): field for field in _FIELDS} | {"ispublic": "public"}
    known = {key: field for key, field in known.items() if field not in columns}
    known |= {_folded(column): field for field, column in columns.items()}
    fields = {name: known[_folded(name)] for name in names if _folded(name) in known}
    others = [name for name in names if _folded(name) not in {*known, *_OF_THE_SERVICE}]
    missing = {*_FIELDS} - {*fields.values()}
    wrong = [
        f"there is no column {shown(columns.get(field, field))}: add it, or map "
        "another one by columns= (--column)"
        for field in ("hostname", *columns)
        if field in missing
    ]
    wrong += [
        f"{shown(key)} is not a field: columns= names the column of a field"
        for key in {*columns} - {*_FIELDS}
    ]
    for name in others:
        hint = did_you_mean(_folded(name), missing)
        if ignore is False or (hint and ignore):
            wrong.append(
                f"{shown(name)} is not a field of a website"
                + (hint or f" ({', '.join(_FIELDS)})")
                + ": map it by columns= (--column)"
                + ("" if hint else _IGNORE)
            )
    if wrong:
        raise InvalidInputError(
            [_problem(text, where) for text in dict.fromkeys(wrong)]
        )
    if others and ignore:
        warn(f"{where}: ignored columns: {', '.join(map(shown, others))}")
    return fields


def _folded(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


# --- formats ----------------------------------------------------------------------


def _read(data: bytes, name: str, columns: Mapping[str, str]) -> Iterator[Row]:
    # A workbook may come by a pipe, too.
    if data.startswith(b"PK\x03\x04"):
        return _table(_workbook(data, name))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        _refuse("the file is not UTF-8: save it as UTF-8, in Excel as CSV UTF-8", name)
    hostname = _folded(columns.get("hostname", "hostname"))
    lines = [*io.StringIO(text, newline="")]
    start = _first_line(lines, hostname)
    first = "".join(lines[start : start + 1]).strip()
    is_toml = _TOML.match(first)
    if is_toml or first.startswith(("[", "{")):
        # Objects are read as pairs, since a key of JSON may be there twice.
        of_json = partial(json.loads, object_pairs_hook=tuple)
        try:
            return _tree((tomllib.loads if is_toml else of_json)(text), name)
        except (RecursionError, ValueError) as error:
            _refuse(f"not valid {'TOML' if is_toml else 'JSON'}: {error}", name)
    if "." in first and hostname not in _names(first):
        return _lines(text, name)
    return _table(_csv(["\n"] * start + lines[start:], first, name))


def _first_line(lines: Iterable[str], hostname: str) -> int:
    """The index of the line that names the columns, or the first that is no comment."""
    for index, line in enumerate(map(str.strip, lines)):
        if line and (line[0] != "#" or hostname in _names(line)):
            return index
    return 0


def _names(line: str) -> set[str]:
    return {_folded(cell) for cell in line.split(_separator(line))}


def _separator(first_line: str) -> str:
    return max(",;\t", key=first_line.count)


def _lines(text: str, name: str) -> Iterator[Row]:
    for number, line in enumerate(text.splitlines(), start=1):
        # A dashboard's address may have a "#" of its own.
        if host := re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip():
            yield f"{name}:{number}", [("hostname", host)]


def _tree(tree: Any, name: str) -> Iterator[Row]:
    if isinstance(tree, (dict, tuple)):
        pairs = _pairs(tree)
        tree = pairs[0][1] if [key for key, _ in pairs] == ["websites"] else None
    if not isinstance(tree, list):
        _refuse("the websites are a list, or the list 'websites' and no more", name)
    for index, website in enumerate(cast("Sequence[Any]", tree)):
        where = f"{name}: websites[{index}]"
        if isinstance(website, str):
            yield where, [("hostname", website)]
        elif isinstance(website, (dict, tuple)):
            yield where, _pairs(website)
        else:
            message = f"a website has fields, or is a host name, not {shown(website)}"
            yield where, [(None, _problem(message, where))]


def _pairs(table: Any) -> list[tuple[str | None, Any]]:
    return [*(table.items() if isinstance(table, dict) else table)]


def _csv(
    lines: Sequence[str], header: str, name: str
) -> Iterator[tuple[str, list[str]]]:
    """The rows of CSV, without comments: lines with ``#`` and without a separator."""
    separator = _separator(header)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            where = f"{name}:{reader.line_num}"
            line = lines[reader.line_num - 1].strip()
            # A quoted cell differs from the text of its line.
            if line != header and line[:1] == "#" == row[0][:1]:
                if "".join(row).strip() == line:
                    continue
                warn(f"{where}: the row counts: if it is a comment, leave it out")
            yield where, [*map(unmarked, row)]
    except csv.Error as error:
        _refuse(f"not valid CSV: {error}", f"{name}:{reader.line_num}")


def _workbook(data: bytes, name: str) -> Iterator[tuple[str, list[Any]]]:
    """The rows of the first sheet of a workbook."""
    openpyxl = load_extra("openpyxl", extra="excel")
    try:
        # openpyxl warns of parts that it would not save, such as drop-down lists.
        with warnings.catch_warnings(action="ignore"):
            sheet, *others = openpyxl.load_workbook(io.BytesIO(data)).worksheets
    except Exception:  # noqa: BLE001 - what it raises depends on where a file is damaged
        _refuse("the file is not a workbook: save it again, or as CSV", name)
    where = f"{name}: {sheet.title}"
    if sheet.sheet_state != "visible":
        _refuse("the first sheet is hidden: show it, or move it to the end", where)
    if unread := [shown(other.title) for other in others if other.max_row > 1]:
        warn(f"{where} is the only sheet that is read, not {', '.join(unread)}")
    rows = [row for row in sheet if any(cell.value is not None for cell in row)]
    hidden = {number for number, row in sheet.row_dimensions.items() if row.hidden}
    if number := len(hidden & {row[0].row for row in rows}):
        warn(f"{where}: {counted(number, 'hidden row')} will count as the others do")
    sizes = sheet.column_dimensions.values()
    if any(size.hidden and size.min <= sheet.max_column for size in sizes):
        warn(f"{where}: hidden columns will count as the others do")
    for row in rows:
        yield f"{where}!{row[0].row}", [_cell(cell, where) for cell in row]


def _cell(cell: Any, where: str) -> Any:
    """The text or truth value that a cell of a workbook shows, or a ``Problem``."""
    value, kind = cell.value, cell.data_type
    # LibreOffice saves a value that it read as a truth value in this way.
    if kind == "f" and cell.value in ("=TRUE()", "=FALSE()"):
        return bool(cell.value == "=TRUE()")
    if kind == "n" and cell.value is not None:
        # Numbers with other formats, or with more digits, look otherwise.
        is_plain = cell.number_format in {"General", "0", "@"} and value % 1 == 0
        kind = "n" if is_plain and abs(value) < 10**11 else "d"
        value = f"{value:.0f}"
    is_merged = type(cell).__name__ == "MergedCell"
    if wrong := _WRONG_CELLS.get("merged" if is_merged else kind):
        return _problem(wrong, f"{where}!{cell.coordinate}")
    return value if kind == "b" or (value and value.strip()) else ""


def _table(rows: Iterable[tuple[str, Sequence[Any]]]) -> Iterator[Row]:
    """The websites of a table whose first row names its columns."""
    filled = ((where, row) for where, row in rows if any(cell != "" for cell in row))
    header = [*map(str, next(filled, ("", ()))[1])]
    for where, row in filled:
        pairs = [*zip_longest(header, row, fillvalue="")]
        values: list[tuple[str | None, Any]] = [
            (key, None if cell == "" else cell) for key, cell in pairs if key
        ]
        if any(cell and not key for key, cell in pairs):
            message = (
                "the line has more cells than the first one, which names the columns: "
                "put quotes around a value that contains the separator"
            )
            values = [(None, _problem(message, where))]
        yield where, values


def _problem(message: str, where: str) -> Problem:
    return Problem(message, rule="website-file", where=where)


def _refuse(message: str, where: str) -> NoReturn:
    raise InvalidInputError([_problem(message, where)]) from None
