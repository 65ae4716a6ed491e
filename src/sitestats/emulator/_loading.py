"""Load page views and events: from files and mappings into the table of rows."""

from __future__ import annotations

import csv
import difflib
import gzip
import itertools
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from io import TextIOWrapper
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from ._access import host_name
from ._parameters import DEVICES, METADATA

if TYPE_CHECKING:
    import duckdb

Source: TypeAlias = "str | Path | Iterable[Mapping[str, object]]"
"""The source of rows: the path of a file, or mappings."""

# A time without a zone at its end is null.
_TIME: Final = (
    r"make_timestamp(epoch_us(TRY_CAST("
    r"regexp_extract({0}, '.*\d:\d.*(Z|[+-][\d:]+)$') AS TIMESTAMPTZ)))"
)
_BOOLEAN: Final = "TRY_CAST({0} AS BOOLEAN)"
_SECONDS: Final = "TRY_CAST({0} AS DOUBLE)"
# Known search engines and networks: one name for their hosts in every country.
_REFERRER: Final = r"""
nullif(regexp_replace(regexp_replace(regexp_replace(lower(regexp_extract(
    regexp_replace({0}, '^[A-Za-z][A-Za-z0-9+.-]*://', ''),
    '^[^/?#]*')), ':[0-9]+$', ''), '^www\.', ''),
    '^(google|bing|yahoo|duckduckgo|baidu|yandex|ecosia|facebook|twitter)'
    '\.[a-z]{{2,3}}(\.[a-z]{{2}})?$', '\1'), '')
"""

_CHECKED: Final = {
    "added_iso": _TIME,
    "is_unique": _BOOLEAN,
    "is_robot": _BOOLEAN,
    "duration_seconds": f"CASE WHEN {_SECONDS} BETWEEN 0 AND 1e12 THEN {_SECONDS} END",
    "device_type": f"CASE WHEN {{0}} IN {DEVICES} THEN {{0}} END",
}
"""SQL for the value of a cell, which is null where the cell is not valid."""
_STORED: Final = {
    "added_iso": "ts",
    "document_referrer": "referrer",
    "duration_seconds": "duration",
    "country_code": "country",
    **{
        name: name
        for name in (
            *("hostname", "datapoint", "path", "is_unique", "device_type"),
            *("utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"),
            *("browser_name", "os_name", "browser_version", "os_version"),
        )
    },
}
"""The columns that responses are computed from, each with its name in the table."""
_SQL_TYPES: Final = {"ts": "TIMESTAMP", "is_unique": "BOOLEAN", "duration": "DOUBLE"}
TABLE: Final = ", ".join(
    f"{name} {_SQL_TYPES.get(name, 'VARCHAR')}" for name in _STORED.values()
)
"""The columns of the table, in SQL."""


@attrs.frozen
class MetadataKey:
    """A metadata key, as filters name it, and the type of its stored values."""

    key: str
    type: str

    @classmethod
    def of(cls, column: str) -> MetadataKey:
        """Parse the column name ``metadata.<key>_<type>``.

        Raises:
            ValueError: The name has another form.
        """
        key, _, kind = column.removeprefix(METADATA).rpartition("_")
        # Keys are stored normalised: other characters become underscores.
        key = re.sub("[^a-zA-Z0-9]+", "_", key).strip("_")
        if not key or kind not in _TYPES:
            raise ValueError(
                f"{column!r}: name a metadata column metadata.<key>_<type>, "
                f"with one of the types {', '.join(_TYPES)}"
            )
        return cls(key, kind)

    @property
    def sql_type(self) -> str:
        """The DuckDB type of its column."""
        return _TYPES[self.type][0]

    def typed(self, text: str) -> str:
        """SQL for the stored value, null if it is not valid; *text* is SQL for text."""
        return _TYPES[self.type][1].format(text)


_TYPES: Final = {
    "text": ("VARCHAR", "{0}"),
    "int": ("DECIMAL(38, 9)", "TRY_CAST({0} AS DECIMAL(38, 9))"),
    "bool": ("BOOLEAN", _BOOLEAN),
    "date": ("TIMESTAMP", _TIME),
}
"""The types that metadata is stored as (section 4.3), in DuckDB and as SQL."""


def load(
    cursor: duckdb.DuckDBPyConnection,
    table: str,
    rows: Source,
    metadata: dict[MetadataKey, str],
    *,
    hostname: str | None,
    undated: datetime,
) -> list[str]:
    """Insert *rows*, except those of robots; returns their host names.

    Args:
        cursor: A cursor in a transaction, which an error rolls back.
        table: The table's full name.
        rows: A file, or mappings.
        metadata: The table's columns of metadata. New ones are added to it.
        hostname: The website of rows without one.
        undated: The time of rows without one.

    Raises:
        ValueError: A value, a column's name or the file's format is not valid.
        OSError: The file can't be read.
    """
    if isinstance(rows, (str, Path)):
        names = _stage_csv(cursor, Path(rows))
    else:
        names = _stage_rows(cursor, rows)
    keys = _metadata_keys(names)
    texts = {name: f"nullif(c{n}, '')" for n, name in enumerate(names)}
    checked = {
        name: _CHECKED[name].format(texts[name]) for name in _CHECKED.keys() & texts
    }
    checked |= {name: key.typed(texts[name]) for name, key in keys.items()}
    _check(cursor, texts, checked)
    values = {
        _STORED[name]: checked.get(name, texts[name]) for name in _STORED.keys() & texts
    }
    for name, key in keys.items():
        if key not in metadata:
            # Numbered, because names of DuckDB ignore case, and keys do not.
            metadata[key] = f"m{len(metadata)}"
            cursor.execute(
                f"ALTER TABLE {table} ADD COLUMN {metadata[key]} {key.sql_type}"
            )
        values[metadata[key]] = checked[name]
    hosts = _hosts(cursor, values.get("hostname", "NULL"), hostname)
    values |= {
        "ts": f"coalesce({values.get('ts', 'NULL')}, $undated)",
        "datapoint": f"lower(coalesce({values.get('datapoint', 'NULL')}, 'pageview'))",
        "hostname": "$hosts[list_position($written, "
        f"coalesce({values.get('hostname', 'NULL')}, ''))]",
    }
    if "referrer" in values:
        values["referrer"] = _REFERRER.format(values["referrer"])
    selected = ", ".join(f"{sql} AS {column}" for column, sql in values.items())
    cursor.execute(
        f"INSERT INTO {table} BY NAME SELECT {selected} FROM staged "
        f"WHERE NOT coalesce({checked.get('is_robot', 'false')}, false)",
        {
            "undated": undated.astimezone(UTC).replace(tzinfo=None),
            "written": list(hosts),
            "hosts": list(hosts.values()),
        },
    )
    return sorted({*hosts.values()})


def _metadata_keys(names: Iterable[str]) -> dict[str, MetadataKey]:
    """The metadata columns among *names*, with their keys."""
    known = {*_STORED, *_CHECKED}
    filters = {stored: column for column, stored in _STORED.items()}
    found: dict[str, MetadataKey] = {}
    for name in names:
        if name.startswith(METADATA):
            found[name] = MetadataKey.of(name)
        elif name not in known:
            # Exports have columns that no response needs. Only a typing error and
            # the name of a filter are refused: the column would stay empty.
            near = difflib.get_close_matches(name.lower(), known, 1, cutoff=0.85)
            meant = filters.get(name, near[0] if near else None)
            if meant and meant not in names:
                raise ValueError(f"{name!r} is not a column: did you mean {meant!r}?")
    return found


def _check(
    cursor: duckdb.DuckDBPyConnection,
    texts: Mapping[str, str],
    checked: Mapping[str, str],
) -> None:
    """Raise a ValueError for the first value that is not valid in its column."""
    for name, value in checked.items():
        wrong = cursor.execute(
            f"SELECT number, {texts[name]} FROM staged WHERE {texts[name]} IS NOT NULL "
            f"AND {value} IS NULL ORDER BY number LIMIT 1"
        ).fetchone()
        if wrong is not None:
            raise ValueError(f"row {wrong[0]}: {name} can't be {wrong[1]!r}")


def _hosts(
    cursor: duckdb.DuckDBPyConnection, column: str, default: str | None
) -> dict[str, str]:
    """The host names in the rows, as they are written, each with its valid form."""
    hosts: dict[str, str] = {}
    for (written,) in cursor.execute(
        f"SELECT DISTINCT {column} FROM staged"
    ).fetchall():
        name = written or default
        if name is None:
            raise ValueError("a row has no hostname: add the column, or pass hostname=")
        hosts[written or ""] = host_name(name)
    return hosts


# --- files and mappings: each fills the table "staged" --------------------------------
#
# Its columns are c0, c1 and so on, and "number" counts the rows from 1. The functions
# return the names of the columns.


def _stage_csv(cursor: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    import duckdb

    if not re.search(r"\.csv(\.gz)?$", path.name, re.IGNORECASE):
        raise ValueError(f"{path.name}: give a .csv or .csv.gz file")
    packed = path.suffix.lower() == ".gz"
    with (
        gzip.open(path) if packed else path.open("rb") as file,
        TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
    ):
        names = next(csv.reader(text), list[str]())
    if not names:
        raise ValueError(f"{path.name}: the first line must name the columns")
    try:
        # DuckDB reads the file, since Python would take four times as long.
        cursor.execute(
            "CREATE OR REPLACE TEMP TABLE staged AS "
            "SELECT row_number() OVER () AS number, * FROM read_csv($path, "
            "columns = $columns, header = true, delim = ',', quote = '\"', "
            "escape = '\"', nullstr = '', auto_detect = false, compression = $packed, "
            "hive_partitioning = false)",
            {
                # DuckDB reads the path as a pattern of files, and "~" as the home.
                "path": re.sub(r"[\[*?]", r"[\g<0>]", str(path.absolute())),
                "columns": {f"c{place}": "VARCHAR" for place in range(len(names))},
                "packed": "gzip" if packed else "none",
            },
        )
    except duckdb.Error as error:
        raise ValueError(f"{path.name}: {error}") from error
    return names


def _stage_rows(
    cursor: duckdb.DuckDBPyConnection, rows: Iterable[Mapping[str, object]]
) -> list[str]:
    numbered = dict(enumerate(rows, 1))
    names = [*dict.fromkeys(itertools.chain(*numbered.values()))]
    columns = [
        json.dumps([_cell(row.get(name), name, n) for n, row in numbered.items()])
        for name in names
    ]
    # One JSON text per column is the fastest way without another library: a statement
    # for each row would take 80 times as long.
    selected = "".join(
        f""", unnest(from_json(?, '["VARCHAR"]')) AS c{place}"""
        for place in range(len(names))
    )
    cursor.execute(
        "CREATE OR REPLACE TEMP TABLE staged AS "
        f"SELECT unnest(range(1, {len(numbered) + 1})) AS number{selected}",
        columns,
    )
    return names


def _cell(value: object, name: str, number: int) -> str | None:
    """*value* as the raw export writes it."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return str(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).isoformat()
    if isinstance(value, str) and not re.search("[\ud800-\udfff]", value):
        return value
    raise ValueError(f"row {number}: {name} can't be {value!r}")
