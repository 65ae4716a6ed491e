"""Read a list of websites: names by line, CSV, TOML, JSON or a workbook of Excel."""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any, BinaryIO, Final, Literal, NoReturn, TypeAlias, cast, get_args

import attrs

from sitestats._common.errors import SpecError, warn
from sitestats._common.problems import Problem
from sitestats._common.settings import MIB
from sitestats._common.text import did_you_mean, shown

from ._checks import Listed, check_listed
from ._columns import Columns, NamedFields, check_columns, ignored_names
from ._csv import LINE_END, Value, file_problem
from ._encodings import ZIP, EncodingError, decode
from ._tables import csv_rows, first_cells, table_websites, xlsx_rows

Source: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, or a file that is open for reading bytes."""
InputFormat: TypeAlias = Literal["txt", "csv", "toml", "json", "xlsx"]
INPUT_FORMATS: Final[tuple[InputFormat, ...]] = get_args(InputFormat)
"""The formats of lists; each is also the extension of a name."""

_WEBSITES: Final = "websites"
_NOTHING: Final = "there are no websites in it"
_YAML: Final = (
    "YAML is not read: make JSON of it, such as with python3 -c 'import json, sys, "
    "yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)' < list.yaml > list.json"
)
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
_TOML_START: Final = re.compile(r"\[\[\s*websites\b|websites\s*=")
_GIVEN_TWICE: Final = object()
"""In place of a value of JSON whose key its object has twice."""


@attrs.frozen
class ListedHost:
    """A host name as it is written in a list of them: see ``read_host_list``."""

    text: str
    """The host name, unchecked; or the address of a dashboard."""
    where: str
    """Its place in the list, such as ``"hosts.txt:3"``."""


def read_host_list(
    path: Source,
    *,
    input_format: InputFormat | None = None,
    columns: Mapping[str, str] | None = None,
) -> list[ListedHost]:
    r"""Read the host names of a list of websites, to query each; none is checked.

    It reads every list that ``WebsiteSpec.load`` does. What a list has beside the host
    names is not looked at.

    Args:
        path: As for ``WebsiteSpec.load``.
        input_format: As for ``WebsiteSpec.load``.
        columns: As for ``WebsiteSpec.load``.

    Returns:
        The host names in the order of the list.

    Raises:
        SpecError: It can't be understood, or holds no host name.
        OSError: It can't be read.

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
    checked = check_columns(columns, ignore=True, fields=("hostname",))
    entries = _read(path, input_format, checked, [])
    hosts: list[ListedHost] = []
    problems: list[Problem] = []
    for entry in entries:
        problems += entry.problems
        host = entry.fields.get("hostname")
        if host is not None and isinstance(host.value, str):
            hosts.append(ListedHost(host.value, host.where))
        elif not entry.problems:
            where = entry.where if host is None else host.where
            message = (
                "this website has no hostname: add one"
                if host is None
                else f"a website's hostname is a text, not {shown(host.value)}"
            )
            problems.append(file_problem(message, where))
    if problems:
        raise SpecError(problems)
    return [host for host in hosts if host.text]


def load_specs(
    source: Source,
    *,
    input_format: InputFormat | None,
    columns: Mapping[str, str] | None,
    ignore_columns: bool,
    ignore_column: str | Iterable[str],
) -> list[dict[str, Any]]:
    """The fields of each website of a list; see ``WebsiteSpec.load``."""
    checked = check_columns(columns, ignore=ignore_columns, left_out=ignore_column)
    ignored: list[str] = []
    entries = _read(source, input_format, checked, ignored)
    websites, merged, problems = check_listed(entries, checked.name_of("hostname"))
    if problems:
        raise SpecError(problems)
    for note in [*ignored_names(ignored), *merged]:
        warn(f"{name_of(source)}: {note}")
    return websites


_LARGEST: Final = 64 * MIB


def name_of(source: Source) -> str:
    """What *source* is called in errors."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "name", "<file>"))


def read_bytes(source: Source) -> bytes:
    """The content of *source*.

    Raises:
        SpecError: It is open in text mode, or endless.
        OSError: It can't be read.
    """
    if isinstance(source, (str, os.PathLike)):
        with pathlib.Path(source).open("rb") as file:
            return read_bytes(file)
    data = cast("object", source.read(_LARGEST + 1))
    if not isinstance(data, bytes):
        _refuse("a file that is open has to be open in binary mode")
    if len(data) > _LARGEST:
        _refuse(f"a list has no more than {_LARGEST // MIB} MiB", name_of(source))
    return data


def _refuse(message: str, where: str = "") -> NoReturn:
    raise SpecError([file_problem(message, where)]) from None


def _read(
    source: Source,
    input_format: InputFormat | None,
    columns: Columns,
    ignored: list[str],
) -> list[Listed]:
    """The websites of a list; *ignored* gets the names that are left out.

    There is a warning where the encoding was guessed.
    """
    name = name_of(source)
    suffix = pathlib.Path(name).suffix.lower().removeprefix(".")
    if input_format not in {None, *INPUT_FORMATS}:
        _refuse(
            f"input_format is one of {', '.join(INPUT_FORMATS)}, not "
            f"{shown(input_format)}"
        )
    if input_format is None and suffix in {"yaml", "yml"}:
        _refuse(_YAML, name)
    kind, data, notes = input_format or suffix, read_bytes(source), list[str]()
    if data.startswith(ZIP):
        entries = [
            *table_websites(
                xlsx_rows(data, name), name, columns, ignored, is_marked=False
            )
        ]
    else:
        try:
            text, notes = decode(data, guess=kind not in {"toml", "json"})
        except EncodingError as error:
            lines = LINE_END.split(error.before)
            _refuse(str(error), f"{name}:{len(lines)}:{len(lines[-1]) + 1}")
        if not text.strip():
            _refuse(_NOTHING, name)
        if input_format is None:
            kind = _format_of(text, suffix, columns)
        entries = [*_text_websites(kind, text, name, columns, ignored)]
    if not entries:
        _refuse(_NOTHING, name)
    for note in notes:
        warn(f"{name}: {note}")
    return entries


def _format_of(text: str, suffix: str, columns: Columns) -> str:
    """The format of a list by its content, where its name does not tell it."""
    if suffix in {"toml", "json"}:
        return suffix
    if suffix != "csv":
        lines = map(str.strip, LINE_END.split(text))
        first = next((line for line in lines if line and not line.startswith("#")), "")
        if _TOML_START.match(first):
            return "toml"
        if text.lstrip()[:1] in {"[", "{"}:
            return "json"
    names = first_cells(text)
    if "hostname" in columns.named(names).fields:
        return "csv"
    # A list of names alone may be called CSV too.
    is_name = "://" in names[0] or (len(names) == 1 and "." in names[0])
    return "txt" if is_name or (len(names) == 1 and suffix != "csv") else "csv"


def _text_websites(
    kind: str, text: str, name: str, columns: Columns, ignored: list[str]
) -> Iterator[Listed]:
    match kind:
        case "toml":
            tree = _parsed(tomllib.loads, text, name)
        case "json":
            parse = partial(json.loads, object_pairs_hook=_object)
            tree = _parsed(parse, text, name)
        case "csv":
            return table_websites(csv_rows(text, name), name, columns, ignored)
        case _:
            return _read_lines(text, name)
    return _tree_websites(tree, name, columns, ignored)


def _read_lines(text: str, name: str) -> Iterator[Listed]:
    for number, line in enumerate(LINE_END.split(text), start=1):
        if host := _COMMENT.sub("", line).strip():
            where = f"{name}:{number}"
            yield Listed(where, {"hostname": Value(host, where)})


def _parsed(parse: Callable[[str], object], text: str, name: str) -> object:
    try:
        return parse(text)
    except json.JSONDecodeError as error:
        _refuse(f"not valid JSON: {error.msg}", f"{name}:{error.lineno}:{error.colno}")
    except tomllib.TOMLDecodeError as error:
        _refuse(f"not valid TOML: {error}", name)
    except RecursionError:
        _refuse("the file is nested too deeply to be a list of websites", name)
    except ValueError:
        most = sys.get_int_max_str_digits()
        _refuse(f"a number has more than {most:,} digits", name)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        found[name] = _GIVEN_TWICE if name in found else value
    return found


def _tree_websites(
    tree: object, name: str, columns: Columns, ignored: list[str]
) -> Iterator[Listed]:
    websites = tree
    named = cache(columns.named)
    if isinstance(tree, dict):
        tree = cast("dict[str, object]", tree)
        for key in tree:
            if key != _WEBSITES:
                advice = (
                    did_you_mean(key, [_WEBSITES]) or f": it has {_WEBSITES!r} only"
                )
                message = f"{shown(key)} is not a key of a list of websites{advice}"
                yield Listed(name, problems=(file_problem(message, name),))
        if _WEBSITES not in tree:
            _refuse(
                f"{_NOTHING}: write a table [[websites]] for each in TOML, "
                'or {"websites": [{"hostname": …}, …]} in JSON',
                name,
            )
        websites = tree[_WEBSITES]
    if websites is _GIVEN_TWICE:
        _refuse(f"{_WEBSITES!r} is given twice: leave one out", name)
    if not isinstance(websites, list):
        _refuse(f"websites are a list, one entry for each, not {shown(websites)}", name)
    for index, website in enumerate(cast("list[object]", websites)):
        where = f"{name}: {_WEBSITES}[{index}]"
        if isinstance(website, str):
            yield Listed(where, {"hostname": Value(website, where)})
        elif isinstance(website, dict):
            fields = cast("dict[str, object]", website)
            yield _tree_website(fields, where, named(tuple(fields)), ignored)
        else:
            message = (
                f"a website has named fields, or is a host name, not {shown(website)}"
            )
            yield Listed(where, problems=(file_problem(message, where),))


def _tree_website(
    website: dict[str, object], where: str, named: NamedFields, ignored: list[str]
) -> Listed:
    ignored += named.ignored
    fields: dict[str, Value] = {}
    problems: list[Problem] = []
    for index, (name, value) in enumerate(website.items()):
        field, message = named.fields[index], named.wrong.get(index)
        place = f"{where}.{name}"
        if value is _GIVEN_TWICE:
            message = f"{shown(name)} is given twice: leave one out"
        elif field is not None:
            fields[field] = Value(value, place)
        if message is not None:
            problems.append(file_problem(message, place))
    return Listed(where, fields, tuple(problems))
