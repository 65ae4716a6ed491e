"""Read rows from CSV files, JSON lines and mappings into a staging table."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from io import TextIOWrapper
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    import duckdb

BATCH: Final = 20_000
"""Rows in one statement; one statement for each row would take 80 times as long."""


def stage(
    cursor: duckdb.DuckDBPyConnection, rows: str | Path | Iterable[Mapping[str, object]]
) -> Iterator[list[str]]:
    """Fill the table ``staged``, once or in batches.

    Yields the names of the columns each time. In the table they are called
    ``c0``, ``c1`` and so on, and ``number`` counts the rows from 1. Empty
    texts are null.

    Raises:
        ValueError: A value or the file's format is invalid.
        OSError: The file can't be read.
    """
    if not isinstance(rows, (str, Path)):
        yield from _stage_rows(cursor, rows)
        return
    path = Path(rows)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    kind = suffixes[-2:-1] if packed else suffixes[-1:]
    if kind == [".csv"]:
        yield _stage_csv(cursor, path, packed=packed)
    elif kind in ([".jsonl"], [".ndjson"]):
        yield from _stage_rows(cursor, _json_lines(path, packed=packed))
    else:
        raise ValueError(
            f"{path.name}: give a .csv, .jsonl or .ndjson file, also with .gz"
        )


@contextmanager
def _text(path: Path, *, packed: bool) -> Generator[TextIOWrapper]:
    with (
        gzip.open(path) if packed else path.open("rb") as file,
        TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
    ):
        yield text


def _json_lines(path: Path, *, packed: bool) -> Iterator[Any]:
    with _text(path, packed=packed) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise ValueError(
                        f"{path.name}, line {number}: not JSON: {error}"
                    ) from None


def _stage_csv(
    cursor: duckdb.DuckDBPyConnection, path: Path, *, packed: bool
) -> list[str]:
    import duckdb

    with _text(path, packed=packed) as text:
        names = next(csv.reader(text), list[str]())
    if not names:
        raise ValueError(f"{path.name}: the first line must name the columns")
    if len(set(names)) < len(names):
        raise ValueError(f"{path.name} names a column twice")
    columns = {f"c{place}": "VARCHAR" for place in range(len(names))}
    try:
        # DuckDB reads the file, since Python would take four times as long.
        cursor.execute(
            "CREATE OR REPLACE TEMP TABLE staged AS "
            "SELECT row_number() OVER () AS number, * FROM read_csv($path, "
            "columns = $columns, header = true, delim = ',', quote = '\"', "
            "escape = '\"', nullstr = '', auto_detect = false, compression = $packed, "
            "hive_partitioning = false)",
            {
                # It reads the path as a pattern of many files, and "~" as the home.
                "path": re.sub(r"[\[*?]", r"[\g<0>]", str(path.absolute())),
                "columns": columns,
                "packed": "gzip" if packed else "none",
            },
        )
    # DuckDB before 1.4 raises a RuntimeError for a name that is not UTF-8.
    except (duckdb.Error, RuntimeError) as error:
        raise ValueError(f"{path.name}: {error}") from error
    return names


def _stage_rows(
    cursor: duckdb.DuckDBPyConnection, rows: Iterable[object]
) -> Iterator[list[str]]:
    rest = iter(rows)
    first = 1
    while batch := list(itertools.islice(rest, BATCH)):
        numbered = dict(enumerate(map(_mapping, batch), first))
        names = list(dict.fromkeys(itertools.chain.from_iterable(numbered.values())))
        columns = [
            json.dumps([_cell(row.get(name), name, n) for n, row in numbered.items()])
            for name in names
        ]
        # One JSON text a column: the fastest way that needs no other library.
        selected = "".join(
            f""", unnest(from_json(?, '["VARCHAR"]')) AS c{place}"""
            for place in range(len(names))
        )
        cursor.execute(
            "CREATE OR REPLACE TEMP TABLE staged AS "
            f"SELECT unnest(range({first}, {first + len(batch)})) AS number{selected}",
            columns,
        )
        yield names
        first += len(batch)


def _mapping(row: object) -> Mapping[str, object]:
    if not isinstance(row, Mapping):
        raise TypeError(f"a row is a mapping of columns to values, not {row!r}")
    return cast("Mapping[str, object]", row)


def _cell(value: object, name: str, number: int) -> str | None:
    """*value* as the raw export writes it."""
    if value is None:
        return None
    if isinstance(value, str):
        if not re.search("[\ud800-\udfff]", value):
            return value
    elif isinstance(value, bool):
        return "true" if value else "false"
    elif isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return str(value)
    elif isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).isoformat()
    raise ValueError(f"row {number}: {name} can't be {value!r}")
