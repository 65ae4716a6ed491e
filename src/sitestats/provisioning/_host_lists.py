"""Read host names from a list: lines of text, CSV, JSON or TOML."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final, NoReturn, cast

import attrs

from sitestats._common.errors import SpecError, warn
from sitestats._common.problems import Problem
from sitestats._common.text import shown

from ._csv import CsvError, find_separator, read_cells
from ._encodings import EncodingError, decode
from ._files import Source, name_of, read_bytes

_COLUMN: Final = "hostname"
_RULE: Final = "host-list"
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_COMMENT: Final = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_COMMENT_AT_END: Final = re.compile(r"\s#.*")


@attrs.frozen
class ListedHost:
    """A host name as it is written in a list of them: see ``read_host_list``."""

    text: str
    """The host name, unchecked; or the address of a dashboard."""
    where: str
    """The file and the line, such as ``"hosts.txt:3"``."""


def read_host_list(source: Source) -> list[ListedHost]:
    r"""Read a list of websites, to query each of them; no host name is checked.

    A list is a host name in each line; CSV whose first line has a column
    ``hostname``; JSON such as ``websites list`` prints; or the JSON or TOML of
    specifications. Columns and fields beside the host name are not looked at, and so
    are empty lines and comments.

    There is a ``SiteStatsWarning`` where the encoding was guessed.

    Args:
        source: The file, or one that is open for reading bytes, such as
            ``sys.stdin.buffer``. By a name that ends in ``.toml`` it is TOML.

    Returns:
        The host names in the order of the list.

    Raises:
        SpecError: It is not text, or holds no host name.
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
    return parse_host_list(read_bytes(source), name_of(source))


def parse_host_list(data: bytes, name: str) -> list[ListedHost]:
    """The host names of a list with that content and name: see ``read_host_list``."""
    text = _decode(data, name)
    if name.lower().endswith(".toml"):
        found = list(_of_tree(_parse_toml(text, name), name))
    elif text.lstrip()[:1] in {"[", "{"}:
        found = list(_of_tree(_parse_json(text, name), name))
    else:
        text = _COMMENT.sub("", text)
        column = _column(text)
        found = list(
            _of_lines(text, name) if column is None else _of_csv(text, name, column)
        )
    if not found:
        _refuse("there is no host name in it", name)
    return found


def _decode(data: bytes, name: str) -> str:
    try:
        text, note = decode(data, from_spreadsheet=True)
    except EncodingError as error:
        line = 1 + len(_LINE_END.findall(error.before))
        _refuse(str(error), f"{name}:{line}")
    if note is not None:
        warn(f"{name}: {note}")
    return _LINE_END.sub("\n", text)


def _refuse(message: str, where: str) -> NoReturn:
    raise SpecError([Problem(message, rule=_RULE, where=where)]) from None


# --- lines and CSV ----------------------------------------------------------------


def _of_lines(text: str, name: str) -> Iterator[ListedHost]:
    for number, line in enumerate(text.split("\n"), start=1):
        host = _COMMENT_AT_END.sub("", line).strip()
        if host:
            yield ListedHost(host, f"{name}:{number}")


def _column(text: str) -> int | None:
    """The index of the column of host names; None where the first line names none."""
    first = text.lstrip("\n").partition("\n")[0]
    names = [cell.strip(' "').lower() for cell in first.split(find_separator(text))]
    return names.index(_COLUMN) if _COLUMN in names else None


def _of_csv(text: str, name: str, column: int) -> Iterator[ListedHost]:
    line, seen = 1, 0
    try:
        for number, row in enumerate(read_cells(text, find_separator(text))):
            line += text.count("\n", seen, row[0].offset)
            seen = row[0].offset
            if number and column < len(row) and row[column].text:
                yield ListedHost(row[column].text, f"{name}:{line}")
    except CsvError as error:
        line = 1 + text.count("\n", 0, error.offset)
        _refuse(str(error), f"{name}:{line}")


# --- JSON and TOML ----------------------------------------------------------------


def _parse_json(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        _refuse(f"not valid JSON: {error.msg}", f"{name}:{error.lineno}")
    except (ValueError, RecursionError):
        _refuse("not valid JSON", name)


def _parse_toml(text: str, name: str) -> object:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        _refuse(f"not valid TOML: {error}", name)


def _of_tree(tree: object, name: str) -> Iterator[ListedHost]:
    if isinstance(tree, dict):
        table = cast("dict[str, Any]", tree)
        # One object alone is a line of JSON lines with one website.
        tree = table.get("websites", [table])
    websites = cast("list[object]", tree) if isinstance(tree, list) else []
    for number, website in enumerate(websites):
        host: object = website
        if isinstance(website, dict):
            host = cast("dict[str, object]", website).get(_COLUMN)
        where = f"{name}: websites[{number}]"
        if not isinstance(host, str):
            _refuse(f"a website's {_COLUMN} is a text, not {shown(host)}", where)
        yield ListedHost(host, where)
