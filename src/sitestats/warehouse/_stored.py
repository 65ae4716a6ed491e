"""What the destination has: rows of its tables, counted and summed there."""

from __future__ import annotations

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from sitestats._base.fields import COUNTS

from ._days import DAYS, Reading, Sums
from ._destinations import destination_of
from ._tables import ALL_LISTS, COLUMNS, EMPTY

if TYPE_CHECKING:
    from dlt import Pipeline

Found: TypeAlias = Mapping[str, Mapping[dt.date, Sums | None]]
"""The sums of each day, by host names; None where they are not known."""

_MOST_NAMES: Final = 100
"""With more host names than these, a query is for all."""


def readings_in(
    pipeline: Pipeline, days: Mapping[str, list[dt.date]]
) -> Mapping[str, Mapping[dt.date, Reading]]:
    """What was read of *days*, by host names, if the table of days has it."""
    wanted = {name: {*each} for name, each in days.items()}
    first = min(min(each) for each in wanted.values())
    last = max(max(each) for each in wanted.values())
    where, values = "first_day BETWEEN %s AND %s", list[Any]([first, last])
    if len(wanted) <= _MOST_NAMES:
        places = ", ".join("%s" for _ in wanted)
        where += f" AND hostname IN ({places})"
        values += [*wanted]
    found: defaultdict[str, dict[dt.date, Reading]] = defaultdict(dict)
    for name, day, reading in _readings(pipeline, where=where, values=values):
        if day in wanted.get(name, ()):
            found[name][day] = reading
    return found


def sums_of(pipeline: Pipeline, table: str) -> Found:
    """What *table* has of each website and day."""
    counted = [name for name in (*COUNTS, "total") if name in COLUMNS[table]]
    if table in ALL_LISTS:
        counted = counted[:1]
    sums = [f"sum({name})" for name in counted]
    names = ("hostname", "first_day", "count(*)", *sums)
    found: defaultdict[str, dict[dt.date, Sums]] = defaultdict(dict)
    group = "GROUP BY hostname, first_day"
    for name, day, *numbers in _select(pipeline, table, names, group=group):
        found[name][as_date(day)] = tuple(int(number or 0) for number in numbers)
    return found


def readings_of(pipeline: Pipeline, lists: Sequence[str]) -> Mapping[str, Found]:
    """What was read of each website and day, by tables, as ``sums_of`` gives it."""
    found: dict[str, Any] = {name: defaultdict(dict) for name in (DAYS, *lists)}
    for name, day, reading in _readings(pipeline):
        for table, days in found.items():
            # A list that could not be read is read again anyway.
            days[name][day] = reading.get(table)
    return found


def _readings(
    pipeline: Pipeline, **conditions: Any
) -> Iterator[tuple[str, dt.date, Reading]]:
    names = ("hostname", "first_day", "as_read")
    for name, day, text in _select(pipeline, DAYS, names, **conditions):
        reading = {table: tuple(sums) for table, sums in json.loads(text).items()}
        yield name, as_date(day), reading


def as_date(value: Any) -> dt.date:
    """*value* of a column of days: some databases return a text, or a moment."""
    if isinstance(value, dt.datetime):
        return value.date()
    return value if isinstance(value, dt.date) else dt.date.fromisoformat(value)


def _select(
    pipeline: Pipeline,
    table: str,
    names: Sequence[str],
    *,
    where: str = "",
    values: Sequence[Any] = (),
    group: str = "",
) -> Iterable[Sequence[Any]]:
    """These columns of the rows of *table* that count; none if there is no table."""
    # Before the first load there is no schema.
    known = pipeline.default_schema.tables if pipeline.schema_names else {}
    if table not in known:
        return ()
    with pipeline.sql_client() as client:
        source = client.make_qualified_table_name(table)
        conditions = [where] if where else []
        if destination_of(pipeline).keeps_old_rows:
            newest = "max(read_at) OVER (PARTITION BY hostname, first_day)"
            source = f"(SELECT *, {newest} AS newest FROM {source}) AS latest"  # noqa: S608 - our own table
            conditions.append("read_at = newest")
        if "rank" in COLUMNS[table]:
            conditions.append(f"{client.escape_column_name('rank')} <> {EMPTY}")
        sql = f"SELECT {', '.join(names)} FROM {source}"  # noqa: S608 - as above
        if conditions:
            sql += f" WHERE {' AND '.join(conditions)}"
        return client.execute_sql(f"{sql} {group}", *values) or ()


def remove_from_coverage(pipeline: Pipeline, hostnames: Iterable[str]) -> None:
    """Remove these websites from the table ``coverage``."""
    if not destination_of(pipeline).keeps_old_rows:
        with pipeline.sql_client() as client:
            table = client.make_qualified_table_name("coverage")
            for name in hostnames:
                sql = f"DELETE FROM {table} WHERE hostname = %s"  # noqa: S608 - our own table
                client.execute_sql(sql, name)
        return
    # It takes a tenth of a second, and only Parquet files need it here.
    from pyarrow import parquet

    names, parquet = [*hostnames], cast("Any", parquet)
    files: Any = pipeline._fs_client()  # noqa: SLF001 - dlt has no other way to a file
    for path in files.list_table_files("coverage"):
        with files.fs_client.open(path, "rb") as file:
            rows = parquet.read_table(file)
        kept = rows.filter([name not in names for name in rows["hostname"].to_pylist()])
        if len(kept) == len(rows):
            continue
        # The view of a reader needs a file, even without rows, and always a whole one.
        new = f"{path}.new"
        with files.fs_client.open(new, "wb") as file:
            parquet.write_table(kept, file)
        files.fs_client.mv(new, path)
