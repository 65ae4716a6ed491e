"""Reference model: the emulator's numbers, computed from the rows in plain Python.

It is written anew, a row at a time; nothing of it is the emulator's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

Row = Mapping[str, Any]

UTM = ("utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term")
COLUMNS = (*UTM, "browser_name", "os_name", "device_type")
LISTS = {
    "pages": "path",
    "countries": "country_code",
    "referrers": "document_referrer",
    **{f"{column}s": column for column in COLUMNS},
}
FILTERS = {"page": "path", "pages": "path", "country": "country_code"}
FILTERS |= {"referrer": "document_referrer"} | {name: name for name in COLUMNS}
SITES = "google|bing|yahoo|duckduckgo|baidu|yandex|ecosia|facebook|twitter"


def value(row: Row, column: str) -> str | None:
    """The value of a row in a list; an empty cell is null."""
    text = row.get(column) or None
    if column == "document_referrer" and text:
        host = re.split("[/?#]", re.sub("^[A-Za-z][A-Za-z0-9+.-]*://", "", text))[0]
        host = re.sub("^www[.]", "", re.sub(":[0-9]+$", "", host.lower()))
        found = re.fullmatch(rf"({SITES})[.][a-z]{{2,3}}([.][a-z]{{2}})?", host)
        return found[1] if found else host or None
    return text


def true(cell: object) -> bool:
    """Whether a boolean cell is true."""
    return str(cell).lower() == "true"


@cache
def local(added: str, zone: str) -> datetime:
    """A moment as the clocks of *zone* show it."""
    return datetime.fromisoformat(added).astimezone(ZoneInfo(zone))


def within(rows: Iterable[Row], start: date, end: date, zone: str) -> list[Row]:
    """The rows of people, not robots, on days of a period."""
    return [
        row
        for row in rows
        if not true(row.get("is_robot"))
        and start <= local(row["added_iso"], zone).date() <= end
    ]


def passes(row: Row, name: str, wanted: str) -> bool:
    """Whether a row passes one filter that is not a metadata filter."""
    got = value(row, FILTERS[name])
    if got is None:
        return False
    if name == "country":
        got, wanted = got.upper(), wanted.upper()
    return any(
        got.startswith(text[:-1]) if text.endswith("*") else got == text
        for text in (wanted.split(",") if name == "pages" else [wanted])
    )


def is_view(row: Row) -> bool:
    """Whether it is a page view, and no event."""
    return (row.get("datapoint") or "pageview") == "pageview"


def views(rows: Iterable[Row]) -> list[Row]:
    """The page views among the rows."""
    return [row for row in rows if is_view(row)]


def seconds(rows: Iterable[Row]) -> float | None:
    """The median time on page."""
    cells = (row.get("duration_seconds") for row in rows)
    times = [float(cell) for cell in cells if cell and float(cell) >= 5]
    return median(times) if times else None


def unique(rows: list[Row]) -> int:
    """The visitors of page views, if nobody returns on another day."""
    return sum(true(row.get("is_unique")) for row in rows)


def returning(rows: list[Row], zone: str) -> int:
    """The visitors of page views, if those of each day return on the busiest one."""
    days: dict[date, list[Row]] = {}
    for row in rows:
        days.setdefault(local(row["added_iso"], zone).date(), []).append(row)
    return max(map(unique, days.values()), default=0)


Visitors = Callable[[list[Row]], int]


def totals(rows: list[Row], visitors: Visitors = unique) -> dict[str, int]:
    """Page views and visitors of page views."""
    return {"pageviews": len(rows), "visitors": visitors(rows)}


def entries(
    rows: list[Row], field: str, limit: int = 50, visitors: Visitors = unique
) -> list[dict[str, Any]]:
    """A list field with its medians."""
    groups: dict[str, list[Row]] = {}
    for row in views(rows):
        if name := value(row, LISTS[field]):
            groups.setdefault(name, []).append(row)
    found: list[dict[str, Any]] = [
        {"value": name, **totals(group, visitors), "seconds_on_page": seconds(group)}
        for name, group in groups.items()
    ]
    found.sort(key=lambda one: (-one["pageviews"], -one["visitors"], one["value"]))
    return found[:limit]


def events(rows: list[Row]) -> list[dict[str, Any]]:
    """All events, the most frequent first."""
    names = Counter(row["datapoint"].lower() for row in rows if not is_view(row))
    ordered = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    return [{"name": name, "total": total} for name, total in ordered]


STARTS: dict[str, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": lambda day: day - timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "year": lambda day: day.replace(month=1, day=1),
}


def histogram(
    rows: list[Row],
    start: date,
    end: date,
    zone: str,
    interval: str = "day",
    *,
    visitors: Visitors = unique,
) -> list[dict[str, Any]]:
    """One entry for each interval from *start* to *end*."""
    if interval == "hour":
        return hours(rows, start, end, zone)
    begin = STARTS[interval]
    days = [start + timedelta(days=n) for n in range((end - start).days + 1)]
    groups: dict[date, list[Row]] = {begin(day): [] for day in days}
    for row in views(rows):
        groups[begin(local(row["added_iso"], zone).date())].append(row)
    found: list[dict[str, Any]] = []
    for first, group in groups.items():
        year, week, _ = first.isocalendar()
        numbers = {"year": year, "week": week} if interval == "week" else {}
        found.append({"date": first.isoformat(), **numbers, **totals(group, visitors)})
    return found


def hours(rows: list[Row], start: date, end: date, zone: str) -> list[dict[str, Any]]:
    """One entry for each hour that the clocks of *zone* show, twice if shown twice.

    Only for zones whose offsets are whole hours.
    """
    groups: dict[datetime, list[Row]] = {}
    midnight = datetime(start.year, start.month, start.day, tzinfo=ZoneInfo(zone))
    moment = midnight.astimezone(UTC)
    while moment.astimezone(ZoneInfo(zone)).date() <= end:
        groups[moment] = []
        moment += timedelta(hours=1)
    for row in views(rows):
        added = local(row["added_iso"], "UTC")
        groups[added.replace(minute=0, second=0, microsecond=0)].append(row)
    return [
        {"date": wall.date().isoformat(), "hour": wall.hour, **totals(group)}
        for moment, group in groups.items()
        for wall in [moment.astimezone(ZoneInfo(zone))]
    ]
