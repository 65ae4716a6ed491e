"""Make the body of a response from given values, for unit tests: ``Stats.of``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict, cast

import msgspec

from sitestats._base.errors import InvalidInputError, Problem
from sitestats._base.fields import FIELD_ROWS, HISTOGRAM_COUNTS, TOTALS
from sitestats._base.text import did_you_mean
from sitestats._base.zones import find_zone
from sitestats._query.builder import parameters_of
from sitestats._query.periods import as_date
from sitestats._query.versions import DOCUMENTED_VERSIONS
from sitestats._results.entries import (
    Entry,
    EventCount,
    HistogramEntry,
    ListEntry,
    PageEntry,
    entry_class,
)

if TYPE_CHECKING:
    from sitestats._query.builder import StatsQuery
    from sitestats._query.requested import Parameters

Row: TypeAlias = tuple[str | None, int, int] | tuple[str | None, int, int, float | None]
"""Value, page views, visitors; and the seconds where the query requests them."""
ListRows: TypeAlias = Iterable[Row | ListEntry]
PageRows: TypeAlias = Iterable[Row | PageEntry]
HistogramRows: TypeAlias = Iterable[
    tuple[dt.date | dt.datetime | str, int, int] | HistogramEntry
]
EventRows: TypeAlias = Mapping[str, int] | Iterable[tuple[str, int] | EventCount]


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


_LAST: Final = dt.time(23, 59, 59, 999000)


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
        InvalidInputError: A value is missing, was not requested, or has another form.
    """
    parameters = parameters_of(query)
    zone = timezone or parameters.timezone or "UTC"
    first = first_day or as_date(parameters.params.get("start"))
    last = last_day or as_date(parameters.params.get("end"))
    if problems := [*_problems(parameters, values)]:
        raise InvalidInputError(problems)
    page = parameters.params.get("page", "*")
    try:
        return msgspec.json.encode(
            {
                "ok": True,
                "hostname": parameters.hostname,
                "path": parameters.path or ("*" if "*" in page else page),
                "version": parameters.version,
                "timezone": zone,
                "start": first and _moment(first, dt.time.min, zone),
                "end": last and _moment(last, _LAST, zone),
                **{
                    name: _field(name, values[name], parameters, zone)
                    for name in values
                },
            }
        )
    # The first day of the calendar begins before it in UTC, east of Greenwich.
    except (TypeError, ValueError, OverflowError) as error:
        message = f"no response has such a value: {error}"
        raise InvalidInputError([Problem(message, where="values")]) from None


def _problems(parameters: Parameters, names: Iterable[str]) -> Iterator[Problem]:
    if not parameters.has_documented_shape:
        versions = " and ".join(map(str, DOCUMENTED_VERSIONS))
        message = (
            f"Stats.of makes results of versions {versions}, whose form is documented"
        )
        yield Problem(message, where="version")
    for name in parameters.names:
        if name in FIELD_ROWS and name not in names:
            yield Problem(f"the query requests it: give {name}=…", where=name)
    for name in names:
        if name not in parameters.names:
            hint = did_you_mean(name, parameters.names)
            yield Problem(f"the query does not request it{hint}", where=name)


def _moment(day: dt.date, time: dt.time, zone: str) -> dt.datetime:
    return dt.datetime.combine(day, time, find_zone(zone) or dt.UTC).astimezone(dt.UTC)


def _field(name: str, value: Any, parameters: Parameters, zone: str) -> Any:
    """The value of a field as a response has it."""
    if name in TOTALS:
        return value
    rows = cast("Iterable[Any]", value)
    if isinstance(value, Mapping):
        rows = cast("Mapping[str, Any]", value).items()
    interval = parameters.interval
    columns: Sequence[str] = ("date", *HISTOGRAM_COUNTS)
    if name != "histogram":
        columns = entry_class(name, parameters.fields, interval).columns
    return [
        row if isinstance(row, Entry) else _entry(row, columns, interval, zone)
        for row in rows
    ]


def _entry(
    row: Any, columns: Sequence[str], interval: str | None, zone: str
) -> dict[str, Any]:
    cells = cast("Sequence[Any]", row) if isinstance(row, tuple) else ()
    if len(cells) != len(columns):
        raise ValueError(f"give a tuple of {', '.join(columns)}, not {row!r}")
    entry = dict(zip(columns, cells, strict=True))
    day = entry.get("date")
    if isinstance(day, dt.datetime):
        if day.tzinfo is not None:
            # The service has the hours of its zone.
            day = day.astimezone(find_zone(zone) or day.tzinfo)
        entry |= {"date": day.date(), "hour": day.hour}
    if interval == "week" and isinstance(day, dt.date):
        entry["year"], entry["week"], _ = day.isocalendar()
    return entry
