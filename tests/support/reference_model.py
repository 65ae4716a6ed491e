"""Reference model: the emulator's numbers, computed from the rows in plain Python.

It is written anew, a row at a time, without a database; nothing of it is the
emulator's.
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

LISTS = {
    "pages": "path",
    "countries": "country_code",
    "referrers": "document_referrer",
    "utm_sources": "utm_source",
    "utm_mediums": "utm_medium",
    "utm_campaigns": "utm_campaign",
    "utm_contents": "utm_content",
    "utm_terms": "utm_term",
    "browser_names": "browser_name",
    "os_names": "os_name",
    "device_types": "device_type",
}
FILTERS = {
    "page": "path",
    "pages": "path",
    "country": "country_code",
    "referrer": "document_referrer",
    "utm_source": "utm_source",
    "utm_medium": "utm_medium",
    "utm_campaign": "utm_campaign",
    "utm_content": "utm_content",
    "utm_term": "utm_term",
    "browser_name": "browser_name",
    "os_name": "os_name",
    "device_type": "device_type",
}
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


def local(row: Row, zone: str) -> datetime:
    """The local time of a row in *zone*."""
    return _local(row["added_iso"], zone)


@cache
def _local(added: str, zone: str) -> datetime:
    return datetime.fromisoformat(added).astimezone(ZoneInfo(zone))


def within(rows: Iterable[Row], start: date, end: date, zone: str) -> list[Row]:
    """The rows of people, not robots, on days of a period."""
    return [
        row
        for row in rows
        if not true(row.get("is_robot")) and start <= local(row, zone).date() <= end
    ]


def passes(row: Row, name: str, wanted: str) -> bool:
    """Whether a row passes one filter that is no metadata filter."""
    got = value(row, FILTERS[name])
    if got is None:
        return False
    for text in wanted.split(",") if name == "pages" else [wanted]:
        one, other = got, text
        if name == "country":
            one, other = one.upper(), other.upper()
        if other.startswith("*") and len(other) > 1:
            good = other[1:-1] in one
        elif other.endswith("*"):
            good = one.startswith(other[:-1])
        else:
            good = one == other
        if good:
            return True
    return False


def views(rows: Iterable[Row]) -> list[Row]:
    """The page views among the rows."""
    return [row for row in rows if (row.get("datapoint") or "pageview") == "pageview"]


def seconds(rows: Iterable[Row]) -> float | None:
    """The median time on page."""
    cells = (row.get("duration_seconds") for row in rows)
    times = [float(cell) for cell in cells if cell and float(cell) >= 5]
    return median(times) if times else None


def totals(rows: list[Row]) -> dict[str, int]:
    """Page views and visitors of page views."""
    return {
        "pageviews": len(rows),
        "visitors": sum(true(row.get("is_unique")) for row in rows),
    }


def entries(
    rows: list[Row], field: str, limit: int = 50, *, null: bool = False
) -> list[dict[str, Any]]:
    """A list field with its medians; with *null* also what has no value."""
    groups: dict[str | None, list[Row]] = {}
    for row in views(rows):
        groups.setdefault(value(row, LISTS[field]), []).append(row)
    if not null or field not in {"countries", "referrers"}:
        groups.pop(None, None)
    found: list[dict[str, Any]] = [
        {"value": name, **totals(group), "seconds_on_page": seconds(group)}
        for name, group in groups.items()
    ]
    found.sort(
        key=lambda entry: (
            -entry["pageviews"],
            -entry["visitors"],
            entry["value"] is None,
            entry["value"] or "",
        )
    )
    return found[:limit]


def events(rows: list[Row]) -> list[dict[str, Any]]:
    """All events, the most frequent first."""
    names = Counter(
        row["datapoint"].lower()
        for row in rows
        if (row.get("datapoint") or "pageview") != "pageview"
    )
    ordered = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    return [{"name": name, "total": total} for name, total in ordered]


def monday(day: date) -> date:
    """The Monday of the week of *day*."""
    return day - timedelta(days=day.weekday())


STARTS: dict[str, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": monday,
    "month": lambda day: day.replace(day=1),
    "year": lambda day: day.replace(month=1, day=1),
}


def histogram(
    rows: list[Row], start: date, end: date, zone: str, interval: str = "day"
) -> list[dict[str, Any]]:
    """One entry for each interval from *start* to *end*."""
    if interval == "hour":
        return hours(rows, start, end, zone)
    begin = STARTS[interval]
    days = [start + timedelta(days=n) for n in range((end - start).days + 1)]
    found: list[dict[str, Any]] = []
    dated = [(begin(local(row, zone).date()), row) for row in views(rows)]
    for first in dict.fromkeys(begin(day) for day in days):
        group = [row for day, row in dated if day == first]
        entry: dict[str, Any] = {"date": first.isoformat()}
        if interval == "week":
            year, week, _ = first.isocalendar()
            entry |= {"year": year, "week": week}
        found.append(entry | totals(group))
    return found


def hours(rows: list[Row], start: date, end: date, zone: str) -> list[dict[str, Any]]:
    """One entry for each hour that the clocks of *zone* show, twice if shown twice.

    Only for zones whose offsets are whole hours.
    """
    tz = ZoneInfo(zone)
    moment = datetime(start.year, start.month, start.day, tzinfo=tz).astimezone(UTC)
    found: list[dict[str, Any]] = []
    timed = [(datetime.fromisoformat(row["added_iso"]), row) for row in views(rows)]
    while (wall := moment.astimezone(tz)).date() <= end:
        end_of_hour = moment + timedelta(hours=1)
        group = [row for added, row in timed if moment <= added < end_of_hour]
        entry = {"date": wall.date().isoformat(), "hour": wall.hour}
        found.append(entry | totals(group))
        moment = end_of_hour
    return found
