"""Make the body of a response from given values, for unit tests: ``Stats.of``."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict, cast

from sitestats._common.errors import QueryError
from sitestats._common.fields import FIELDS, TOTALS
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown
from sitestats._common.zones import find_zone
from sitestats._query.builder import requested
from sitestats._query.periods import as_date
from sitestats._query.rules import LATEST_SHAPE

from .entries import Entry, EventCount, ListEntry, PageEntry, entry_class
from .histogram import HistogramEntry

if TYPE_CHECKING:
    from sitestats._query.builder import StatsQuery
    from sitestats._query.requested import Requested

Row: TypeAlias = (
    "tuple[str | None, int, int] | tuple[str | None, int, int, float | None]"
)
"""Value, page views, visitors; and the seconds where the query requests them."""
ListRows: TypeAlias = "Iterable[Row | ListEntry]"
PageRows: TypeAlias = "Iterable[Row | PageEntry]"
HistogramRows: TypeAlias = (
    "Iterable[tuple[dt.date | dt.datetime | str, int, int] | HistogramEntry]"
)
EventRows: TypeAlias = "Mapping[str, int] | Iterable[tuple[str, int] | EventCount]"


class StatsValues(TypedDict, total=False):
    """The values of a result by the names of what was requested."""

    pageviews: int
    visitors: int
    histogram: HistogramRows
    pages: PageRows
    countries: ListRows
    referrers: ListRows
    utm_sources: ListRows
    utm_mediums: ListRows
    utm_campaigns: ListRows
    utm_contents: ListRows
    utm_terms: ListRows
    browser_names: ListRows
    os_names: ListRows
    device_types: ListRows
    seconds_on_page: float | None
    events: EventRows


_BUCKET: Final = ("date", "pageviews", "visitors")
_KNOWN: Final = (*FIELDS, "events")


def body_of(
    query: StatsQuery,
    values: Mapping[str, Any],
    *,
    timezone: str | None,
    first_day: dt.date | None,
    last_day: dt.date | None,
) -> bytes:
    """The body of a response to *query* with *values*.

    Raises:
        QueryError: A value is missing, was not requested, or has another form.
    """
    wanted = requested(query)
    zone = timezone or wanted.timezone or "UTC"
    timed = "seconds_on_page" in wanted.fields
    fields: dict[str, Any] = {
        name: _field(name, value, wanted.interval, zone, timed=timed)
        for name, value in values.items()
        if name in _KNOWN
    }
    problems = [*_problems(wanted, values.keys(), fields.get("events", []))]
    first = first_day or as_date(wanted.checked("start"))
    last = last_day or as_date(wanted.checked("end"))
    if first and last and first > last:
        message = f"{first} is after the last day, {last}"
        problems.append(Problem(message, where="first_day"))
    if problems:
        raise QueryError(problems)
    page = wanted.params.get("page", "*")
    try:
        data: dict[str, Any] = {
            "ok": True,
            "hostname": wanted.hostname,
            "path": wanted.path or ("*" if "*" in page else page),
            "version": wanted.version,
            "timezone": zone,
            "start": first and _moment(first, dt.time.min, zone),
            "end": last and _moment(last, _LAST, zone),
            **fields,
        }
        return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
    # The first day of the calendar begins before it in UTC, east of Greenwich.
    except (TypeError, ValueError, OverflowError) as error:
        problem = Problem(f"a value can't be in JSON: {error}", where="values")
    raise QueryError([problem])


_LAST: Final = dt.time(23, 59, 59, 999000)


def _moment(day: dt.date, time: dt.time, zone: str) -> str:
    there = dt.datetime.combine(day, time, find_zone(zone) or dt.UTC)
    utc = there.astimezone(dt.UTC)
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _problems(
    wanted: Requested, names: Collection[str], events: Iterable[Mapping[str, Any]]
) -> Iterator[Problem]:
    if wanted.version < LATEST_SHAPE:
        message = "Stats.of makes results of versions 5 and 6, whose form is documented"
        yield Problem(message, where="version")
    requested = [name for name in wanted.fields if name in _KNOWN]
    if wanted.events is not None:
        requested.append("events")
    for name in requested:
        if name not in names:
            yield Problem(f"the query requests it: give {name}=…", where=name)
    counted = {str(event.get("name")).lower() for event in events}
    for name in wanted.events or ():
        if wanted.events != "*" and "events" in names and name.lower() not in counted:
            yield Problem(f"the query requests the event {shown(name)}", where="events")
    for name in names:
        if name not in _KNOWN:
            message = f"{shown(name)} is no field{did_you_mean(name, _KNOWN)}"
            yield Problem(message, where=name)
        elif name not in requested:
            yield Problem(
                "the query does not request it: add it there, or leave it out here",
                where=name,
            )


def _field(
    name: str, value: object, interval: str | None, zone: str, *, timed: bool
) -> object:
    """The value of a field as a response has it."""
    if name in TOTALS:
        return value
    if isinstance(value, Mapping):
        value = cast("Mapping[str, object]", value).items()
    if not isinstance(value, Iterable):
        raise QueryError([Problem(f"give entries, not {shown(value)}", where=name)])
    rows = enumerate(cast("Iterable[object]", value))
    if name == "histogram":
        return [_bucket(row, interval, zone, f"{name}[{n}]") for n, row in rows]
    columns = entry_class(name, timed=timed).columns
    return [_entry(row, columns, f"{name}[{n}]") for n, row in rows]


def _entry(row: object, columns: Sequence[str], where: str) -> dict[str, Any]:
    if isinstance(row, Entry):
        return {name: row.get(name) for name in columns}
    if not isinstance(row, tuple):
        raise _no_entry(shown(row), columns, where)
    cells = cast("tuple[object, ...]", row)
    if len(cells) != len(columns):
        raise _no_entry(f"one of {len(cells)}", columns, where)
    return dict(zip(columns, cells, strict=True))


def _no_entry(given: str, columns: Sequence[str], where: str) -> QueryError:
    what = f"a tuple of {', '.join(columns[:-1])} and {columns[-1]}"
    return QueryError([Problem(f"give {what}, not {given}", where=where)])


def _bucket(row: object, interval: str | None, zone: str, where: str) -> dict[str, Any]:
    if isinstance(row, HistogramEntry):
        names = (*_BUCKET, "hour", "year", "week")
        found = {name: row.get(name) for name in names}
        day = found["date"]
    else:
        found = _entry(row, _BUCKET, where)
        day = found["date"]
        if isinstance(day, dt.datetime):
            if day.tzinfo is not None:
                # The service has the hours of its zone.
                day = day.astimezone(find_zone(zone) or day.tzinfo)
            found |= {"date": day.date(), "hour": day.hour}
        if isinstance(day, dt.date) and interval == "week":
            found["year"], found["week"], _ = day.isocalendar()
    if isinstance(day, dt.date):
        found["date"] = found["date"].isoformat()
    return {name: value for name, value in found.items() if value is not None}
