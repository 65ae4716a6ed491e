"""Load page views and events: from files and mappings into columns."""

from __future__ import annotations

import csv
import difflib
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeAlias

from ._access import host_name
from ._parameters import DEVICES, METADATA
from ._periods import micros

Columns: TypeAlias = "dict[str, list[Any]]"
"""The cells of rows, by column. A column of nulls may be missing."""
Convert: TypeAlias = Callable[[str], object]
"""Makes the value of a cell from its text, or raises one of ``INVALID``."""

# Decimal raises an ArithmeticError, and a time without a zone a TypeError.
INVALID: Final = (ValueError, LookupError, ArithmeticError, TypeError)
"""The errors of texts that are not valid."""


def _time(text: str) -> int:
    return micros(datetime.fromisoformat(text))


_BOOLEANS: Final = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}


def _boolean(text: str) -> bool:
    return _BOOLEANS[text.lower()]


def _number(text: str) -> Decimal:
    if not re.fullmatch(r"\s*[+-]?[0-9.]+\s*", text):
        raise ValueError(text)
    return Decimal(text)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= 1e12:  # noqa: PLR2004 - thirty thousand years
        raise ValueError(text)
    return seconds


_HOST: Final = re.compile(
    r"\A([a-z][a-z0-9+.-]*://)?(www\.)?(?P<host>[^/?#]*?)(:[0-9]+)?([/?#].*)?\Z",
    re.DOTALL,
)
# Known search engines and networks have one name for their hosts in every country.
_NETWORK: Final = re.compile(
    r"\A(google|bing|yahoo|duckduckgo|baidu|yandex|ecosia|facebook|twitter)"
    r"\.[a-z]{2,3}(\.[a-z]{2})?\Z"
)


def _referrer(text: str) -> str | None:
    host = _HOST.sub(r"\g<host>", text.lower())
    return _NETWORK.sub(r"\1", host) or None


_COLUMNS: Final[dict[str, tuple[str, Convert]]] = {
    "hostname": ("hostname", host_name),
    "added_iso": ("ts", _time),
    "datapoint": ("datapoint", str.lower),
    "is_unique": ("is_unique", _boolean),
    "is_robot": ("is_robot", _boolean),
    "duration_seconds": ("duration", _seconds),
    "device_type": ("device_type", {name: name for name in DEVICES}.__getitem__),
    "document_referrer": ("referrer", _referrer),
    "country_code": ("country", str),
    **{
        name: (name, str)
        for name in (
            *("path", "browser_name", "browser_version", "os_name", "os_version"),
            *("utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"),
        )
    },
}
"""The columns that are needed, each with its name in ``Columns``."""
TYPES: Final[dict[str, tuple[str, Convert]]] = {
    "text": (".*", str),
    "int": ("[-.0-9]+", _number),
    "bool": ("true|false", _boolean),
    "date": (r".*(Z|\+00:00)", _time),
}
"""The types that metadata is stored as (section 4.3), each with the form of a filter's
value that can be of the type."""


def read(
    rows: str | Path | Iterable[Mapping[str, object]],
    *,
    hostname: str | None,
    undated: datetime,
) -> Columns:
    """Read *rows*, also rows of robots.

    Args:
        rows: A file, or mappings.
        hostname: The website of rows without one.
        undated: The time of rows without one.

    Raises:
        ValueError: A value, a column's name or the file's format is not valid.
        OSError: The file can't be read.
    """
    texts = (
        _read_csv(Path(rows)) if isinstance(rows, (str, Path)) else _read_mappings(rows)
    )
    empty = [""] * len(next(iter(texts.values())))
    defaults = {
        "hostname": None if hostname is None else host_name(hostname),
        "added_iso": micros(undated),
        "datapoint": "pageview",
        "is_unique": False,
        "is_robot": False,
        "duration_seconds": 0.0,
    }
    needed = {**{name: _COLUMNS[name] for name in defaults}, **_needed(texts)}
    columns = {
        stored: _converted(name, texts.get(name, empty), convert, defaults.get(name))
        for name, (stored, convert) in needed.items()
    }
    if None in columns["hostname"]:
        raise ValueError("a row has no hostname: add the column, or pass hostname=")
    return columns


def _needed(names: Iterable[str]) -> dict[str, tuple[str, Convert]]:
    """The needed columns among *names*."""
    filters = {stored: name for name, (stored, _) in _COLUMNS.items()}
    columns: dict[str, tuple[str, Convert]] = {}
    for name in names:
        if name.startswith(METADATA):
            key, _, kind = name.removeprefix(METADATA).rpartition("_")
            # Keys are stored normalised: other characters become underscores.
            key = re.sub("[^a-zA-Z0-9]+", "_", key).strip("_")
            if not key or kind not in TYPES:
                raise ValueError(
                    f"{name!r}: name a metadata column metadata.<key>_<type>, "
                    f"with one of the types {', '.join(TYPES)}"
                )
            columns[name] = f"{METADATA}{key}_{kind}", TYPES[kind][1]
        elif name in _COLUMNS:
            columns[name] = _COLUMNS[name]
        else:
            # Exports have columns that no response needs. Only a typing error and
            # the name of a filter are refused: the column would stay empty.
            near = difflib.get_close_matches(name.lower(), _COLUMNS, 1, cutoff=0.85)
            meant = filters.get(name, near[0] if near else None)
            if meant and meant not in names:
                raise ValueError(f"{name!r} is not a column: did you mean {meant!r}?")
    return columns


def _converted(
    name: str, texts: list[str], convert: Convert, default: object
) -> list[object]:
    @cache  # Most texts are repeated.
    def value(text: str) -> object:
        try:
            return convert(text) if text else default
        except INVALID:
            row = texts.index(text) + 1
            raise ValueError(f"row {row}: {name} can't be {text!r}") from None

    return [*map(value, texts)]


# --- files and mappings: the texts of each column, and of one at least ----------------


def _read_csv(path: Path) -> dict[str, list[str]]:
    if not re.search(r"\.csv(\.gz)?$", path.name, re.IGNORECASE):
        raise ValueError(f"{path.name}: give a .csv or .csv.gz file")
    open_text = gzip.open if path.suffix.lower() == ".gz" else open
    cells: list[str] = []
    try:
        with open_text(path, "rt", encoding="utf-8-sig", newline="") as file:
            lines = filter(None, csv.reader(file, strict=True))
            names = next(lines, None)
            if names is None:
                raise ValueError(f"{path.name}: the first line must name the columns")
            for number, line in enumerate(lines, 1):
                if len(line) != len(names):
                    raise ValueError(
                        f"{path.name}: row {number} has {len(line)} cells, the first "
                        f"line {len(names)}"
                    )
                cells += line
    except (csv.Error, UnicodeError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path.name}: {error}") from error
    return {name: cells[place :: len(names)] for place, name in enumerate(names)}


def _read_mappings(rows: Iterable[Mapping[str, object]]) -> dict[str, list[str]]:
    numbered: dict[int, Any] = dict(enumerate(rows, 1))
    for number, row in numbered.items():
        if not isinstance(row, Mapping):
            raise TypeError(
                f"row {number} is {row!r}, not a mapping: give a list of mappings, as "
                "in load([{'path': '/'}])"
            )
    return {
        name: [_cell(row.get(name), name, number) for number, row in numbered.items()]
        for name in dict.fromkeys(chain(["hostname"], *numbered.values()))
    }


def _cell(value: object, name: str, number: int) -> str:
    """*value* as the raw export writes it."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return str(value).lower()
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.isoformat()
    raise ValueError(f"row {number}: {name} can't be {value!r}")
