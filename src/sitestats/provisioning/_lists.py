"""Lists of websites in files: names by line, CSV, TOML, JSON or a workbook of Excel."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, TypeAlias, cast

import attrs

from sitestats._common.errors import Problem, SpecError, load_extra, warn
from sitestats._common.text import FORMULA, nearest, shown

Source: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, or a file that is open for reading bytes."""
Row: TypeAlias = tuple[str, list[tuple[str, Any]] | Problem]
"""The place of a website, and its values by the list's own names, or what is wrong."""

_FIELDS: Final = ("hostname", "timezone", "public", "label", "accept_differing")
_OF_THE_SERVICE: Final = frozenset(
    ("hasssl", "hasscript", "ownhostname", "pageviews", "events", "extra")
)
"""What only the service decides, in a list of its websites that was saved."""
_FLAGS: Final = {
    **dict.fromkeys(("true", "yes", "1"), True),
    **dict.fromkeys(("false", "no", "0"), False),
    # A spreadsheet writes the words of its own language.
    **dict.fromkeys(("wahr", "ja", "waar", "vrai", "oui", "verdadero", "vero"), True),
    **dict.fromkeys(("falsch", "nein", "onwaar", "nee", "faux", "non", "falso"), False),
}
_MARKED: Final = re.compile(rf"(^|;)'(?={FORMULA})")
"""The ``'`` that keeps a spreadsheet from running a text as a formula."""


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
    problems: list[Problem] = []
    for where, fields in load_fields(path, columns, ignore=None):
        if isinstance(fields, Problem):
            problems.append(fields)
        elif isinstance(host := fields.get("hostname"), str):
            hosts.append(ListedHost(host, where))
        else:
            problems.append(_problem(f"a host name is text, not {shown(host)}", where))
    if problems:
        raise SpecError(problems)
    return hosts


def load_fields(
    source: Source, columns: Mapping[str, str] | None, *, ignore: bool | None
) -> Iterator[tuple[str, dict[str, Any] | Problem]]:
    """The place of each website of a list, and its fields or what is wrong with it.

    With *ignore*, unknown columns are left out; with None, also those that resemble a
    field, and without a warning.

    Raises:
        SpecError: The list or its columns can't be understood, or it has no websites.
        OSError: It can't be read.
    """
    name = name_of(source)
    columns = dict(columns or {})
    rows = [*_read(source, columns)]
    if not rows:
        _refuse("the list has no websites", name)
    found = [values for _, values in rows if not isinstance(values, Problem)]
    names = dict.fromkeys(name for values in found for name, _ in values)
    known = _fields_of(names, columns, name, ignore=ignore) if found else {}
    for where, values in rows:
        if isinstance(values, Problem):
            yield where, values
            continue
        fields: dict[str, Any] = {}
        for column, value in values:
            field = known.get(column)
            if field in fields:
                message = f"two columns or keys are the {field}: leave one out"
                yield where, _problem(message, where)
                break
            if field is not None and value is not None:
                fields[field] = _as_field(field, value)
        else:
            yield where, fields


def _as_field(field: str, value: object) -> object:
    """A value as a specification has it: flags in words, without blanks around it."""
    if not isinstance(value, str) or field == "label":
        return value
    text = value.strip()
    is_flag = field in {"public", "accept_differing"}
    return _FLAGS.get(text.casefold(), text) if is_flag else text


def _fields_of(
    names: Iterable[str], columns: Mapping[str, str], where: str, *, ignore: bool | None
) -> dict[str, str]:
    """The field that each of the *names* in a list stands for, if any."""
    known = {_folded(field): field for field in _FIELDS} | {"ispublic": "public"}
    known = {key: field for key, field in known.items() if field not in columns}
    known |= {_folded(column): field for field, column in columns.items()}
    folded = {name: _folded(name) for name in names}
    understood = known.keys() | _OF_THE_SERVICE
    others = {name: key for name, key in folded.items() if key not in understood}
    found = {name: known[key] for name, key in folded.items() if key in known}
    missing = {*_FIELDS} - {*found.values()}
    wrong = [
        f"there is no column {shown(columns.get(field, field))}: add it, or map "
        "another one by columns="
        for field in ("hostname", *columns)
        if field in missing
    ]
    wrong += [
        f"{shown(one)} is not a field of a website" for one in {*columns} - {*_FIELDS}
    ]
    for name, key in others.items():
        meant = nearest(key, missing)
        if meant is not None and ignore is not None:
            wrong.append(
                f"{shown(name)} is not a field of a website (did you mean {meant!r}?): "
                "rename it, or map it by columns="
            )
        elif ignore is False:
            wrong.append(
                f"{shown(name)} is not a field of a website ({', '.join(_FIELDS)}): "
                "map it by columns=, or ignore it by ignore_columns=True"
            )
    if wrong:
        raise SpecError([_problem(text, where) for text in dict.fromkeys(wrong)])
    if others and ignore:
        warn(f"{where}: ignored columns: {', '.join(map(shown, others))}")
    return found


def _folded(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def name_of(source: Source) -> str:
    """What *source* is called in errors."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "name", "<file>"))


# --- formats ----------------------------------------------------------------------


def _read(source: Source, columns: Mapping[str, str]) -> Iterator[Row]:
    name = name_of(source)
    if isinstance(source, (str, os.PathLike)):
        data = Path(source).read_bytes()
    else:
        data = source.read()
    # A workbook comes by a pipe too.
    if data.startswith(b"PK\x03\x04"):
        return _table(_workbook(data, name))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        _refuse("the file is not in UTF-8: save it as UTF-8", name)
    kind = _kind(text, Path(name).suffix.lower().removeprefix("."), columns)
    if kind not in {"json", "toml", "csv", "txt"}:
        _refuse(f"{kind.upper()} can't be read: save the list as CSV or JSON", name)
    if kind in {"csv", "txt"}:
        return _table(_csv(text, name)) if kind == "csv" else _lines(text, name)
    try:
        tree: Any = json.loads(text) if kind == "json" else tomllib.loads(text)
    except (RecursionError, ValueError) as error:
        _refuse(f"not valid {kind.upper()}: {error}", name)
    return _tree(tree, name)


def _kind(text: str, suffix: str, columns: Mapping[str, str]) -> str:
    """The format of a list, by its name, else by its first line."""
    if suffix in {"json", "toml", "xls", "xlsx", "yaml", "yml"}:
        return suffix
    first = _first_line(text)
    cells = {_folded(cell) for cell in first.split(_separator(first))}
    if _folded(columns.get("hostname", "hostname")) in cells:
        return "csv"
    if first.startswith(("[[", "websites")):
        return "toml"
    if first.startswith(("[", "{")):
        return "json"
    # A list of names alone may be called CSV too.
    return "csv" if suffix == "csv" and (len(cells) > 1 or "." not in first) else "txt"


def _first_line(text: str) -> str:
    lines = map(str.strip, io.StringIO(text, newline=None))
    return next((line for line in lines if line and line[0] != "#"), "")


def _separator(first_line: str) -> str:
    return max(",;\t", key=first_line.count)


def _lines(text: str, name: str) -> Iterator[Row]:
    for number, line in enumerate(text.splitlines(), start=1):
        # An address of a dashboard may have a "#" of its own.
        if host := re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip():
            yield f"{name}:{number}", [("hostname", host)]


def _tree(tree: Any, name: str) -> Iterator[Row]:
    if isinstance(tree, dict):
        if [*cast("dict[str, Any]", tree)] != ["websites"]:
            _refuse(
                "write the websites as a list with the name 'websites', alone", name
            )
        tree = cast("dict[str, Any]", tree)["websites"]
    if not isinstance(tree, list):
        _refuse(f"the websites are a list, not {shown(cast('object', tree))}", name)
    for index, website in enumerate(cast("Sequence[Any]", tree)):
        where = f"{name}: websites[{index}]"
        if isinstance(website, str):
            yield where, [("hostname", website)]
        elif isinstance(website, dict):
            yield where, [*cast("dict[str, Any]", website).items()]
        else:
            message = f"a website has fields, or is a host name, not {shown(website)}"
            yield where, _problem(message, where)


def _csv(text: str, name: str) -> Iterator[tuple[str, list[str]]]:
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=_separator(_first_line(text)),
        skipinitialspace=True,
        strict=True,
    )
    try:
        for row in reader:
            yield (
                f"{name}:{reader.line_num}",
                [_MARKED.sub(r"\1", cell) for cell in row],
            )
    except csv.Error as error:
        _refuse(f"not valid CSV: {error}", f"{name}:{reader.line_num}")


def _workbook(data: bytes, name: str) -> Iterator[tuple[str, list[str]]]:
    openpyxl = load_extra("openpyxl", extra="excel")
    try:
        sheet = openpyxl.load_workbook(
            io.BytesIO(data), read_only=True, data_only=True
        ).worksheets[0]
        # A file may say less of itself than it has.
        sheet.reset_dimensions()
        rows: list[tuple[object, ...]] = [*sheet.iter_rows(values_only=True)]
    except Exception:  # noqa: BLE001 - what it raises depends on where a file is damaged
        _refuse("the file is not a workbook: save it again, or as CSV", name)
    for number, row in enumerate(rows, start=1):
        yield (
            f"{name}: {sheet.title}!{number}",
            ["" if value is None else str(value) for value in row],
        )


def _table(rows: Iterator[tuple[str, list[str]]]) -> Iterator[Row]:
    """The websites of a table whose first row names its columns; ``#`` is a comment."""
    filled = (
        (where, cells)
        for where, cells in rows
        if any(cells) and not cells[0].lstrip().startswith("#")
    )
    _, header = next(filled, ("", list[str]()))
    for where, cells in filled:
        pairs = [*zip_longest(header, cells[: len(header)], fillvalue="")]
        if any(cells[len(header) :]) or any(cell and not name for name, cell in pairs):
            message = (
                "the line has more cells than columns: put quotes around a value that "
                "contains the separator"
            )
            yield where, _problem(message, where)
        else:
            yield where, [(name, cell or None) for name, cell in pairs if name]


def _problem(message: str, where: str) -> Problem:
    return Problem(message, rule="website-file", where=where)


def _refuse(message: str, where: str) -> NoReturn:
    raise SpecError([_problem(message, where)]) from None
