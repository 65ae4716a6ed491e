"""Load page views and events: from files and mappings into columns."""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from itertools import chain, repeat
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import attrs

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


@attrs.frozen
class Column:
    """A column of the raw export that numbers depend on."""

    stored: str
    """Its name in ``Columns``."""
    convert: Convert = str
    form: str = "give text"
    """What to type for a cell."""


_DEVICES: Final = {name: name for name in DEVICES}
_A_MOMENT: Final = "give ISO 8601 with a zone, such as 2026-03-10T12:00:00Z"
_A_FLAG: Final = "give true or false"


def _country(text: str) -> str:
    if not re.fullmatch("[A-Za-z][A-Za-z0-9]", text):
        raise ValueError(text)
    return text


def _path(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError(text)
    return text


_TEXTS: Final = (
    "path",
    "browser_name",
    "browser_version",
    "os_name",
    "os_version",
    "utm_source",
    "utm_medium",
    "utm_campaign",
    "utm_content",
    "utm_term",
)
"""The columns whose cells can be any text."""
COLUMNS: Final[dict[str, Column]] = {
    "hostname": Column("hostname", host_name, "give a host name such as example.com"),
    "added_iso": Column("ts", _time, _A_MOMENT),
    "datapoint": Column("datapoint", str.lower, "give the name of an event"),
    "is_unique": Column("is_unique", _boolean, _A_FLAG),
    "is_robot": Column("is_robot", _boolean, _A_FLAG),
    "duration_seconds": Column("duration", _seconds, "give seconds, 0 or more"),
    "device_type": Column(
        "device_type", _DEVICES.__getitem__, f"give one of {', '.join(DEVICES)}"
    ),
    "document_referrer": Column("referrer", _referrer),
    "country_code": Column("country", _country, "give two letters, such as NL"),
    **{name: Column(name) for name in _TEXTS},
}
"""The columns that numbers depend on, by their names in the raw export."""
_WITHOUT_NUMBERS: Final = frozenset({"query", "session_id"})
"""Columns of the raw export that no number depends on. Mappings may have them, too, so
that a row of an export is one that can be loaded."""
TYPES: Final[dict[str, tuple[str, Column]]] = {
    "text": (".*", Column("text")),
    "int": ("[-.0-9]+", Column("int", _number, "give a number")),
    "bool": ("true|false", Column("bool", _boolean, _A_FLAG)),
    "date": (r".*(Z|\+00:00)", Column("date", _time, _A_MOMENT)),
}
"""The types that metadata is stored as (section 4.3), each with the form of a filter's
value that can be of the type."""

_OTHER_WORDS: Final = {
    "added_iso": "added added_at created_at date datetime day time timestamp ts when",
    "browser_name": "browser browser_names browsers",
    "country_code": "countries country",
    "datapoint": "action event event_name events name",
    "device_type": "device device_name device_types devices",
    "document_referrer": "http_referrer referer referrer referrers",
    "duration_seconds": "duration seconds seconds_on_page time_on_page",
    "hostname": "domain host site website websites",
    "is_robot": "bot is_bot robot",
    "is_unique": "first_visit is_visitor new unique unique_visitor visitor visitors",
    "os_name": "operating_system os os_names platform system",
    "path": "page page_path pages pathname uri url",
    "utm_campaign": "campaign utm_campaigns",
    "utm_content": "content utm_contents",
    "utm_medium": "medium utm_mediums",
    "utm_source": "source utm_sources",
    "utm_term": "term utm_terms",
}
_MEANT: Final = {name: name for name in COLUMNS} | {
    word: name for name, words in _OTHER_WORDS.items() for word in words.split()
}
"""The columns, and words of filters, fields and other tools for one."""


_TYPED_PATH: Final = Column(
    "path", _path, "give what follows the host name, such as /blog/"
)
"""The path of a mapping: no filter of a page finds another one."""
_TEXT_ONLY: Final = frozenset({"datapoint", "document_referrer", *_TEXTS})
"""The columns of mappings that take text alone."""


@attrs.frozen
class Loaded:
    """What ``Emulator.load`` loaded, and what it left out."""

    rows: int
    """The number of page views and events."""
    robots: int
    """The number of rows of robots, which are left out."""
    left_out: tuple[str, ...]
    """The columns that are left out, because no number depends on them."""

    def __str__(self) -> str:
        text = f"{self.rows:,} rows loaded"
        if self.robots:
            text += f", {self.robots:,} of robots left out"
        if self.left_out:
            text += f", {len(self.left_out)} columns left out: "
            text += ", ".join(self.left_out)
        return text


def read(
    rows: str | Path | bytes | Iterable[Mapping[str, object]],
    *,
    hostname: str | None,
    undated: datetime,
) -> tuple[Columns, Loaded]:
    """Read *rows*, also rows of robots.

    Args:
        rows: The path of a file, the content of one, or mappings.
        hostname: The website of rows that name no website.
        undated: The time of rows that have no time.

    Raises:
        ValueError: A value, a column's name or the file's format is not valid.
        TypeError: A row is not a mapping.
        OSError: The file can't be read.
    """
    if isinstance(rows, (str, Path, bytes)):
        is_file, texts = True, _read_file(rows)
    else:
        is_file, texts = False, _read_mappings(rows)
    number = len(next(iter(texts.values())))
    empty = list(repeat("", number))
    defaults = {
        "hostname": None if hostname is None else host_name(hostname),
        "added_iso": micros(undated),
        "datapoint": "pageview",
        "is_unique": False,
        "is_robot": False,
        "duration_seconds": 0.0,
    }
    known = _known(texts, is_file=is_file)
    if "path" in known and not is_file:
        known["path"] = _TYPED_PATH
    needed = {**{name: COLUMNS[name] for name in defaults}, **known}
    columns: Columns = {}
    for name, column in needed.items():
        if column.stored in columns:
            raise ValueError(f"{name!r} is stored as {column.stored!r}, as another is")
        cells = texts.get(name, empty)
        columns[column.stored] = _converted(name, cells, column, defaults.get(name))
    if None in columns["hostname"]:
        raise ValueError("a row has no hostname: add the column, or pass hostname=")
    robots = sum(columns["is_robot"])
    left_out = tuple(name for name in texts if name not in known)
    return columns, Loaded(number - robots, robots, left_out)


def _known(names: Collection[str], *, is_file: bool) -> dict[str, Column]:
    """The columns among *names* that numbers depend on.

    Raises:
        ValueError: A name is not a column's, or stands for another one.
    """
    columns: dict[str, Column] = {}
    for name in names:
        if name in COLUMNS:
            columns[name] = COLUMNS[name]
        elif name.startswith(METADATA):
            columns[name] = _metadata_column(name)
        elif name not in _WITHOUT_NUMBERS:
            meant = _meant(name, least_alike=0.85 if is_file else 0.6)
            # The service's export has columns that are not documented. What looks like
            # a missing column is a mistake, because that column would stay empty.
            if not is_file or (meant is not None and meant not in names):
                known = "the columns are " + ", ".join(COLUMNS)
                advice = known if meant is None else f"did you mean {meant!r}?"
                raise ValueError(f"{name!r} is not a column: {advice}")
    if is_file and not columns:
        raise ValueError(
            "the first line has no known column, such as hostname, added_iso or path, "
            "with commas between them"
        )
    return columns


def _metadata_column(name: str) -> Column:
    key, _, kind = name.removeprefix(METADATA).rpartition("_")
    # Keys are stored normalised: other characters become underscores.
    key = re.sub("[^a-zA-Z0-9]+", "_", key).strip("_")
    if not key or kind not in TYPES:
        raise ValueError(
            f"{name!r}: name a metadata column metadata.<key>_<type>, with one of the "
            f"types {', '.join(TYPES)}"
        )
    _, column = TYPES[kind]
    return attrs.evolve(column, stored=f"{METADATA}{key}_{kind}")


def _meant(name: str, *, least_alike: float) -> str | None:
    """The column that *name* probably stands for."""
    word = re.sub("[^a-z0-9]+", "_", name.lower()).strip("_")
    if metadata := re.fullmatch("metadata(_(?P<key>.+))?", word):
        key = metadata["key"] or "<key>"
        is_typed = key.rpartition("_")[2] in TYPES
        return f"{METADATA}{key}" if is_typed else f"{METADATA}{key}_<type>"
    near = difflib.get_close_matches(word, _MEANT, 1, cutoff=least_alike)
    return _MEANT[near[0]] if near else None


def _converted(
    name: str, texts: list[str], column: Column, default: object
) -> list[Any]:
    @cache  # Most texts are repeated.
    def value(text: str) -> object:
        try:
            return column.convert(text) if text else default
        except INVALID:
            row = texts.index(text) + 1
            message = f"row {row}: {name} can't be {text!r}: {column.form}"
            raise ValueError(message) from None

    return [*map(value, texts)]


# --- files and mappings: the texts of each column, and of one at least ----------------


def _read_file(file: str | Path | bytes) -> dict[str, list[str]]:
    if isinstance(file, bytes):
        return _read_csv("the body", io.BytesIO(file))
    path = Path(file)
    if not re.search(r"\.csv(\.gz)?$", path.name, re.IGNORECASE):
        raise ValueError(f"{path.name}: give a .csv or .csv.gz file")
    with path.open("rb") as opened:
        return _read_csv(path.name, opened)


_GZIP: Final = b"\x1f\x8b"
"""How compressed data begins; no header of a CSV file does."""


def _read_csv(name: str, file: BinaryIO) -> dict[str, list[str]]:
    is_compressed = file.read(2) == _GZIP
    file.seek(0)
    plain: Any = gzip.GzipFile(fileobj=file) if is_compressed else file
    cells: list[str] = []
    try:
        with io.TextIOWrapper(plain, encoding="utf-8-sig", newline="") as text:
            lines = filter(None, csv.reader(text, strict=True))
            names = next(lines, None)
            if names is None:
                raise ValueError(f"{name}: the first line must name the columns")
            twice = [column for column, count in Counter(names).items() if count > 1]
            if twice:
                raise ValueError(f"{name}: the first line has {twice[0]!r} twice")
            for number, line in enumerate(lines, 1):
                if len(line) != len(names):
                    raise ValueError(
                        f"{name}: row {number} has {len(line)} cells, the first line "
                        f"{len(names)}"
                    )
                cells += line
    except (csv.Error, UnicodeError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{name}: {error}") from error
    return {column: cells[place :: len(names)] for place, column in enumerate(names)}


def _read_mappings(rows: Iterable[Mapping[str, object]]) -> dict[str, list[str]]:
    numbered: dict[int, Any] = dict(enumerate(rows, 1))
    for number, row in numbered.items():
        if not isinstance(row, Mapping):
            raise TypeError(
                f"row {number} is {row!r}, not a mapping: give a list of mappings, as "
                "in load([{'path': '/'}])"
            )
    names: dict[Any, None] = dict.fromkeys(chain(["hostname"], *numbered.values()))
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a column's name is text, not {name!r}")
    columns: dict[str, list[str]] = {}
    for name in names:
        cells = [row.get(name) for row in numbered.values()]
        # Most cells are text, for which no call is needed.
        columns[name] = [
            cell if isinstance(cell, str) else _cell(cell, name, number)
            for number, cell in enumerate(cells, 1)
        ]
    return columns


def _cell(value: object, name: str, number: int) -> str:
    """*value* as the raw export writes it."""
    if value is None:
        return ""
    if isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        # True as the name of an event, or as a path, is a mistake.
        if name not in _TEXT_ONLY:
            return str(value).lower()
    elif isinstance(value, datetime) and value.tzinfo is not None:
        return value.isoformat()
    form = f": {COLUMNS[name].form}" if name in COLUMNS else ""
    raise ValueError(f"row {number}: {name} can't be {value!r}{form}")
