"""Cases of the rules: queries that a rule accepts, refuses, or warns of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest

from same_text import SameText
from sitestats._common.errors import QueryError
from sitestats._common.fields import FIELDS
from sitestats._common.problems import Problem
from sitestats._protocol.requests import add_request, custom_request, jsonp_request
from sitestats._query.builder import StatsQuery, requested
from sitestats._query.rules import RULES

Step = Callable[[Any], StatsQuery]


PLUS_TWO = timezone(timedelta(hours=2))


LONG = "abcdefghijkl"
"""Twelve characters: the least that a contains search takes."""


class Plan(str, Enum):  # noqa: UP042 - as code from before StrEnum does it
    """A user's own subclass of str."""

    PRO = "pro"

    def __str__(self) -> str:
        return "not what is meant"


class FailingMapping(dict[str, str]):
    """A mapping that raises when it is read."""

    def items(self) -> Any:
        raise OSError


class BrokenDate(date):
    """A date whose day raises."""

    @property
    def day(self) -> int:
        raise OSError


class Broken:
    """A value that raises when it is shown, compared, tested or iterated over."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"__class__", "__dict__"}:
            return super().__getattribute__(name)
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError

    def __iter__(self) -> Any:
        raise RuntimeError


def failing() -> Iterator[str]:
    """An iterable of pages that raises."""
    yield "/a"
    raise OSError


def step(name: str, *args: Any, **kwargs: Any) -> Step:
    """A call of the step *name* with these arguments."""
    return lambda query: getattr(query, name)(*args, **kwargs)


# The names are written out here: each is a statement of the document.
ONE_OF_EACH = {
    "page": "/x",
    "pages": "/x",
    "country": "nl",
    "referrer": "x",
    "utm_source": "x",
    "utm_medium": "x",
    "utm_campaign": "x",
    "utm_content": "x",
    "utm_term": "x",
    "browser_name": "x",
    "os_name": "x",
    "device_type": "tv",
}


ACCEPTED: dict[str, tuple[Step, dict[str, str | None]]] = {
    # version
    "version 1": (lambda q: q.version(1), {"version": "1"}),
    "version 6": (lambda q: q.version(6), {"version": "6"}),
    "no version": (lambda q: q, {"version": "6"}),
    # fields
    "all fields": (
        lambda q: q.fields(*reversed(FIELDS)),
        {"fields": ",".join(FIELDS)},
    ),
    "a field twice": (
        lambda q: q.fields("visitors", "visitors"),
        {"fields": "visitors"},
    ),
    # start, end
    "dates as text": (
        lambda q: q.between("2026-03-01", "2026-03-31"),
        {"start": "2026-03-01", "end": "2026-03-31"},
    ),
    "dates": (
        lambda q: q.between(date(2026, 3, 1), date(2026, 3, 31)),
        {"start": "2026-03-01", "end": "2026-03-31"},
    ),
    "an early date": (lambda q: q.since(date(33, 4, 3)), {"start": "0033-04-03"}),
    "a leap day": (lambda q: q.on("2024-02-29"), {"end": "2024-02-29"}),
    "placeholders": (
        lambda q: q.between("today-30d", "yesterday"),
        {"start": "today-30d", "end": "yesterday"},
    ),
    "no days back": (lambda q: q.on("today-0d"), {"start": "today-0d"}),
    "many days back": (lambda q: q.since("today-99999d"), {"start": "today-99999d"}),
    "today": (lambda q: q.on("today"), {"start": "today", "end": "today"}),
    "a date to a placeholder": (
        lambda q: q.between("2999-01-01", "yesterday"),
        {"start": "2999-01-01", "end": "yesterday"},
    ),
    "a placeholder to a date": (
        lambda q: q.between("today", "1999-01-01"),
        {"start": "today", "end": "1999-01-01"},
    ),
    "start alone": (
        lambda q: q.between("today-7d"),
        {"start": "today-7d", "end": None},
    ),
    "end alone": (
        lambda q: q.between(None, "yesterday"),
        {"start": None, "end": "yesterday"},
    ),
    "naive midnight": (
        lambda q: q.on(datetime(2026, 3, 1)),  # noqa: DTZ001 - the point
        {"start": "2026-03-01"},
    ),
    "an aware datetime in the query's zone": (
        lambda q: q.on(datetime(2026, 3, 1, 23, 30, tzinfo=UTC)).timezone(
            "Europe/Amsterdam"
        ),
        {"start": "2026-03-02", "end": "2026-03-02"},
    ),
    "an aware datetime, zone first": (
        lambda q: q.timezone("America/New_York").on(
            datetime(2026, 3, 1, 1, tzinfo=PLUS_TWO)
        ),
        {"start": "2026-02-28"},
    ),
    "aware datetimes of one day, backwards": (
        lambda q: q.timezone("UTC").between(
            datetime(2026, 3, 1, 2, tzinfo=UTC), datetime(2026, 3, 1, 1, tzinfo=UTC)
        ),
        {"start": "2026-03-01", "end": "2026-03-01"},
    ),
    "30 days": (
        lambda q: q.last(days=30),
        {"start": "today-30d", "end": "yesterday"},
    ),
    "30 days with today": (
        lambda q: q.last(days=30, today=True),
        {"start": "today-29d", "end": "today"},
    ),
    "one day": (lambda q: q.last(1), {"start": "today-1d", "end": "yesterday"}),
    "one day, today": (
        lambda q: q.last(1, today=True),
        {"start": "today", "end": "today"},
    ),
    "since": (lambda q: q.since("2026-03-01"), {"start": "2026-03-01", "end": None}),
    # limit
    "limit 1": (lambda q: q.limit(1), {"limit": "1"}),
    "limit 1000": (lambda q: q.limit(1000), {"limit": "1000"}),
    "no limit": (lambda q: q, {"limit": None}),
    # timezone
    "a region and a city": (
        lambda q: q.timezone("Europe/Amsterdam"),
        {"timezone": "Europe/Amsterdam"},
    ),
    "three parts": (
        lambda q: q.timezone("America/Argentina/Buenos_Aires"),
        {"timezone": "America/Argentina/Buenos_Aires"},
    ),
    "UTC": (lambda q: q.timezone("UTC"), {"timezone": "UTC"}),
    # interval
    **{
        f"by {name}": (step("interval", name), {"interval": name})
        for name in ("hour", "day", "week", "month", "year")
    },
    # info
    "info": (lambda q: q.info(wanted=True), {"info": "true"}),
    "no info": (lambda q: q.info(wanted=True).info(wanted=False), {"info": "false"}),
    # filters
    **{
        f"filter {name}": (step("where", **{name: value}), {name: value})
        for name, value in ONE_OF_EACH.items()
    },
    **{
        f"filter {name} with a star at the end": (
            step("where", **{name: f"{value[0]}*"}),
            {name: f"{value[0]}*"},
        )
        for name, value in ONE_OF_EACH.items()
    },
    "a star alone": (lambda q: q.where(utm_source="*"), {"utm_source": "*"}),
    "a star alone for pages": (lambda q: q.where(pages="*"), {"pages": "*"}),
    **{
        f"device {name}": (
            step("where", device_type=name),
            {"device_type": name},
        )
        for name in ("mobile", "tablet", "desktop", "tv", "mob*", "tv*", "*")
    },
    "several pages": (
        lambda q: q.where(pages=["/a", "/b*"]),
        {"pages": "/a,/b*"},
    ),
    "pages from a generator": (
        lambda q: q.where(pages=(f"/{n}" for n in range(2))),
        {"pages": "/0,/1"},
    ),
    "one page of several": (lambda q: q.where(pages=("/a",)), {"pages": "/a"}),
    "page and pages": (
        lambda q: q.where(page="/a", pages=["/a", "/b"]),
        {"page": "/a", "pages": "/a,/b"},
    ),
    "a comma in page": (lambda q: q.where(page="/a,b"), {"page": "/a,b"}),
    "a comma in a referrer": (lambda q: q.where(referrer="a,b"), {"referrer": "a,b"}),
    "the root page": (lambda q: q.where(page="/"), {"page": "/"}),
    "a text that is an enum's": (
        lambda q: q.where(utm_term=Plan.PRO),
        {"utm_term": "pro"},
    ),
    "a filter not in ASCII": (lambda q: q.where(referrer="köln"), {"referrer": "köln"}),
    "a filter taken away": (
        lambda q: q.where(country="NL").where(country=None),
        {"country": None},
    ),
    "a filter taken away that was not there": (
        lambda q: q.where(country=None),
        {"country": None},
    ),
    # contains searches
    "a contains search in page": (
        lambda q: q.where(page=f"*{LONG}*"),
        {"page": f"*{LONG}*"},
    ),
    "a contains search in pages": (
        lambda q: q.where(pages=[f"*{LONG}*"]),
        {"pages": f"*{LONG}*"},
    ),
    "a contains search with slashes": (
        lambda q: q.where(pages="*/abc/def/ghi/jkl/*"),
        {"pages": "*/abc/def/ghi/jkl/*"},
    ),
    "a contains search with its three fields": (
        lambda q: q.where(pages=f"*{LONG}*").fields(
            "pageviews", "visitors", "histogram"
        ),
        {"fields": "pageviews,visitors,histogram"},
    ),
    "a contains search with other filters": (
        lambda q: q.where(pages=f"*{LONG}*", country="N*").where_metadata(a=1),
        {"country": "N*"},
    ),
    # metadata
    **{
        f"metadata {value!r}": (
            step("where_metadata", key=value),
            {"metadata.key": text},
        )
        for value, text in [
            ("pro", "pro"),
            ("", ""),
            ("Größe", "Größe"),
            ("a*b", "a*b"),
            ("a,b", "a,b"),
            (True, "true"),
            (False, "false"),
            (0, "0"),
            (-7, "-7"),
            (10**30, "1" + 30 * "0"),
            (1.5, "1.5"),
            (5.0, "5"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (1e-7, "0.0000001"),
            (1e22, "1" + 22 * "0"),
            (-2.5e-3, "-0.0025"),
            (datetime(2026, 3, 1, 1, tzinfo=PLUS_TWO), "2026-02-28T23:00:00Z"),
            (
                datetime(2026, 3, 1, 0, 0, 0, 120000, tzinfo=UTC),
                "2026-03-01T00:00:00.120Z",
            ),
            (
                datetime(2026, 3, 1, 0, 0, 0, 123456, tzinfo=UTC),
                "2026-03-01T00:00:00.123456Z",
            ),
            (datetime(33, 4, 3, 15, tzinfo=UTC), "0033-04-03T15:00:00Z"),
        ]
    },
    "metadata keys that Python has other uses for": (
        lambda q: q.where_metadata(
            {"1st": "a", "class": "b"}, self="c", mapping="d", more="e"
        ),
        {
            "metadata.1st": "a",
            "metadata.class": "b",
            "metadata.self": "c",
            "metadata.mapping": "d",
            "metadata.more": "e",
        },
    ),
    "metadata with capitals and edges": (
        lambda q: q.where_metadata(_A_1_=1),
        {"metadata._A_1_": "1"},
    ),
    "metadata taken away": (
        lambda q: q.where_metadata(a=1, b=2).where_metadata({"a": None}),
        {"metadata.a": None, "metadata.b": "2"},
    ),
    "metadata given twice in one call": (
        lambda q: q.where_metadata({"a": 1}, a=2),
        {"metadata.a": "2"},
    ),
    # events
    "events": (lambda q: q.events("signup", "buy now"), {"events": "signup,buy now"}),
    "an event twice": (lambda q: q.events("a", "b", "a"), {"events": "a,b"}),
    "all events": (lambda q: q.all_events(), {"events": "*"}),
    "events alone": (
        lambda _: StatsQuery("example.com").events("signup"),
        {"events": "signup", "fields": None},
    ),
    "nothing, in version 2": (
        lambda _: StatsQuery("example.com").version(2),
        {"version": "2"},
    ),
    # the escape hatch
    "another day": (
        lambda q: q.extra_param("start", "2026-W10"),
        {"start": "2026-W10"},
    ),
    "a new parameter": (
        lambda q: q.extra_param("compare", value=True),
        {"compare": "true"},
    ),
    "a new parameter that is empty": (
        lambda q: q.extra_param("compare", ""),
        {"compare": ""},
    ),
    "a new parameter taken away": (
        lambda q: q.extra_param("compare", 1).extra_param("compare", None),
        {"compare": None},
    ),
    "no version for the service": (
        lambda q: q.version(5).extra_param("version", None),
        {"version": "6"},
    ),
    "a new field": (
        lambda _: StatsQuery("example.com").extra_param("fields", "bounces"),
        {"fields": "bounces"},
    ),
    "another day before a moment": (
        lambda q: (
            q.between(None, datetime(2026, 3, 1, tzinfo=UTC))
            .timezone("UTC")
            .extra_param("start", "x")
        ),
        {"start": "x", "end": "2026-03-01"},
    ),
    "a moment before another day": (
        lambda q: (
            q.since(datetime(2026, 3, 1, tzinfo=UTC))
            .timezone("UTC")
            .extra_param("end", "1")
        ),
        {"start": "2026-03-01", "end": "1"},
    ),
    "hours in a version that is not a number": (
        lambda q: q.interval("hour").where_metadata(a=1).extra_param("version", "5"),
        {"version": "5"},
    ),
    "no new fields and no version": (
        lambda _: StatsQuery("example.com").extra_param("fields", ""),
        {"fields": ""},
    ),
    "events that are not judged": (
        lambda _: StatsQuery("example.com").extra_param("events", ""),
        {"events": ""},
    ),
    "a contains search that is not judged": (
        lambda q: q.fields("pages").extra_param("pages", "*a*"),
        {"pages": "*a*"},
    ),
    "a contains search of a new field": (
        lambda q: q.where(pages=f"*{LONG}*").extra_param("fields", "bounces"),
        {"fields": "bounces"},
    ),
    "hours in a version to come": (
        lambda q: q.interval("hour").where_metadata(a=1).extra_param("version", 7),
        {"version": "7"},
    ),
    "a page with its path in the address": (lambda q: q.path("/a"), {"page": None}),
    "a path with dots": (lambda q: q.path("/a..b/...c/..."), {}),
    "a path with a star": (lambda q: q.path(f"/*{LONG}*"), {}),
    "a path of two slashes": (lambda q: q.path("//"), {}),
}


REFUSED: dict[str, tuple[str, Step]] = {
    # A step's own arguments; cross-step rules are below.
    "host name with a scheme": ("hostname", lambda q: q.website("https://a.example")),
    "host name of another type": ("hostname", lambda q: q.website(None)),
    "a path without a slash": ("path-slash", lambda q: q.path("contact")),
    "an empty path": ("path-slash", lambda q: q.path("")),
    "an address as a path": ("path-slash", lambda q: q.path("https://a.example/b")),
    "no path": ("path-slash", lambda q: q.path(None)),
    "the root page": ("path-root", lambda q: q.path("/")),
    "two dots": ("path-dots", lambda q: q.path("/a/../b")),
    "two dots at the end": ("path-dots", lambda q: q.path("/a/..")),
    "two dots alone": ("path-dots", lambda q: q.path("/..")),
    "one dot": ("path-dots", lambda q: q.path("/./a")),
    "a line break in a path": ("path-control", lambda q: q.path("/a\r\n")),
    "null in a path": ("path-control", lambda q: q.path("/\x00")),
    "a C1 control in a path": ("path-control", lambda q: q.path("/\x9b")),
    **{
        f"version {value!r}": (
            "version-range",
            step("version", value),
        )
        for value in (0, 7, -1, True, "6", 6.0, None)
    },
    "version of many digits": ("version-range", lambda q: q.version(10**5000)),
    **{
        f"limit {value!r}": ("limit-range", step("limit", value))
        for value in (0, 1001, -1, True, False, "50", 50.0, None, [50])
    },
    "an unknown field": ("field-name", lambda q: q.fields("page_views")),
    "a field with a capital": ("field-name", lambda q: q.fields("Pages")),
    "fields with a comma": ("field-name", lambda q: q.fields("pages,visitors")),
    "fields in a list": ("field-name", lambda q: q.fields(["pages"])),
    "a field that is no text": ("field-name", lambda q: q.fields(None)),
    "no fields in the call": ("field-name", lambda q: q.fields()),
    "a day in another form": ("period-day", lambda q: q.on("01-03-2026")),
    "a day as one number": ("period-day", lambda q: q.on("20260301")),
    "a day of a week": ("period-day", lambda q: q.on("2026-W10-1")),
    "a day with digits of another script": (
        "period-day",
        lambda q: q.on("\uff12026-03-01"),
    ),
    "a moment as text": ("period-day", lambda q: q.on("2026-03-01T00:00:00Z")),
    "a day with a line break": ("period-day", lambda q: q.on("2026-03-01\n")),
    "an empty day": ("period-day", lambda q: q.since("")),
    "tomorrow": ("period-day", lambda q: q.on("tomorrow")),
    "Today": ("period-day", lambda q: q.on("Today")),
    "today and a space": ("period-day", lambda q: q.on("today ")),
    "today-1": ("period-day", lambda q: q.on("today-1")),
    "today-1w": ("period-day", lambda q: q.on("today-1w")),
    "today+1d": ("period-day", lambda q: q.on("today+1d")),
    "today-1days": ("period-day", lambda q: q.on("today-1days")),
    "today--1d": ("period-day", lambda q: q.on("today--1d")),
    "today-01d": ("period-day", lambda q: q.on("today-01d")),
    "today-100000d": ("period-day", lambda q: q.on("today-100000d")),
    "yesterday-1d": ("period-day", lambda q: q.on("yesterday-1d")),
    "a day of another type": ("period-day", lambda q: q.on(20260301)),
    "a broken day": ("period-day", lambda q: q.on(BrokenDate(2026, 3, 1))),
    "no day": ("period-day", lambda q: q.on(None)),
    "an impossible date": ("period-date", lambda q: q.on("2026-02-29")),
    "month 13": ("period-date", lambda q: q.on("2026-13-01")),
    "year 0": ("period-date", lambda q: q.on("0000-01-01")),
    "a naive datetime": (
        "period-naive",
        lambda q: q.on(datetime(2026, 3, 1, 12)),  # noqa: DTZ001 - the point
    ),
    "a naive datetime just after midnight": (
        "period-naive",
        lambda q: q.on(datetime(2026, 3, 1, 0, 0, 0, 1)),  # noqa: DTZ001 - the point
    ),
    "dates backwards": (
        "period-order",
        lambda q: q.between("2026-03-02", date(2026, 3, 1)),
    ),
    "placeholders backwards": (
        "period-order",
        lambda q: q.between("today", "yesterday"),
    ),
    "many days backwards": (
        "period-order",
        lambda q: q.between("today-9d", "today-10d"),
    ),
    **{
        f"last {value!r} days": ("period-days", step("last", value))
        for value in (0, -1, 100_000, True, "30", 1.0, None)
    },
    **{
        f"during {value!r}": ("period-unit", step("during", value))
        for value in (
            *("march", "26-03", "2026-3", "2026-Q5", "2026-w10", "2026-03 ", "2026-Q"),
            *(
                "today",
                "2026-03-05/2026-03-06",
                "2026-W10-1",
                "٢٠٢٦",
                "",
                7,
                2026.0,
                10_000,
                None,
            ),
            SimpleNamespace(start_time=1, end_time=2),
        )
    },
    **{
        f"{value!r}, which is not in the calendar": (
            "period-date",
            step("during", value),
        )
        for value in (
            *("2026-13", "2026-00", "2026-02-30", "0000", "0000-Q1", "2026-W00"),
            *("2026-W54", "2025-W53", "0000-W10", "9999-W52"),
        )
    },
    "during what raises": ("period-unit", lambda q: q.during(Broken())),
    "a query of two websites": (
        "hostname",
        lambda _: StatsQuery(["a.example", "b.example"]),  # type: ignore[arg-type]  # two
    ),
    "a month as a day": ("period-day", lambda q: q.on("2025-05")),
    "several pages as one": ("filter-text", step("where", page=["/a", "/b"])),
    "each of one website": ("hostname", lambda q: q.each(websites="example.org")),
    "each of no website": ("hostname", lambda q: q.each(websites=["b.example", 5])),
    "previous of another unit": ("period-unit", step("previous", "day")),
    "each with another unit": ("period-unit", lambda q: q.each("hour")),
    "each with no unit": ("period-unit", lambda q: q.each()),
    **{
        f"each month {name}": ("period-words", split)
        for name, split in {
            "of words": lambda q: q.last(days=30).each("month"),
            "of the default period": lambda q: q.each("month"),
            "up to today": lambda q: q.since("2026-01-01").each("month"),
            "of another word": lambda q: q.extra_param("start", "2026-W10").each(
                "month"
            ),
        }.items()
    },
    "each day from a date to a word": (
        "period-words",
        lambda q: q.between("2026-01-01", "yesterday").each("day"),
    ),
    "each day without a start": ("period-words", lambda q: q.each("day")),
    "each day backwards": (
        "period-order",
        lambda q: (
            q.extra_param("start", "2026-03-02")
            .extra_param("end", "2026-03-01")
            .each("day")
        ),
    ),
    "pinned without a zone": ("period-zone", lambda q: q.last(days=3).pinned()),
    "pinned in another zone": (
        "period-zone",
        lambda q: q.last(days=3).timezone("UTC").pinned("Asia/Tokyo"),
    ),
    "pinned in a zone that nobody knows": (
        "period-zone",
        lambda q: (
            q.last(days=3)
            .extra_param("timezone", "Moon/Crater")
            .pinned(now=datetime(2026, 3, 1, tzinfo=UTC))
        ),
    ),
    "pinned in no zone": ("timezone-name", lambda q: q.last(days=3).pinned("utc")),
    **{
        f"pinned at {now!r}": (
            "period-naive",
            lambda q, now=now: q.last(days=3).pinned("UTC", now),
        )
        for now in (
            *(datetime(2026, 3, 1), date(2026, 3, 1), "now", 0),  # noqa: DTZ001 - the point
        )
    },
    "pinned with another word": (
        "period-day",
        lambda q: q.extra_param("start", "2026-W10").pinned("UTC"),
    ),
    "pinned with no date": (
        "period-day",
        lambda q: q.extra_param("end", "2026-02-30").pinned("UTC"),
    ),
    "pinned to an end before the start": (
        "period-order",
        lambda q: q.since("2026-03-02").pinned("UTC", datetime(2026, 3, 1, tzinfo=UTC)),
    ),
    "pinned before the calendar": (
        "period-date",
        lambda q: q.last(days=99_999).pinned("UTC", datetime(273, 1, 1, tzinfo=UTC)),
    ),
    **{
        f"last with {given}": ("period-days", lambda q, given=given: q.last(**given))
        for given in (
            {"weeks": 0},
            {"months": 10_000},
            {"months": 1.5},
            {"days": 3, "months": 1},
            {"months": 1, "today": True},
        )
    },
    "last with another today": ("period-days", lambda q: q.last(7, today=1)),
    **{
        f"zone {value!r}": (
            "timezone-name",
            step("timezone", value),
        )
        for value in (
            "europe/amsterdam",
            "+02:00",
            "EST5EDT4",
            "UTC+3",
            "",
            "localtime",
            "posix/UTC",
            "Europe/Amsterdam ",
            "Europe",
            None,
            UTC,
        )
    },
    **{
        f"interval {value!r}": (
            "interval-name",
            step("interval", value),
        )
        for value in ("hours", "Day", "", "minute", None, 1)
    },
    "info as text": ("info-flag", lambda q: q.info("true")),
    "info as a number": ("info-flag", lambda q: q.info(1)),
    "an unknown filter": ("filter-name", lambda q: q.where(countries="NL")),
    "path as a filter": ("filter-name", lambda q: q.where(path="/a")),
    "self as a filter": ("filter-name", lambda q: q.where(self="NL")),
    "metadata as a filter": (
        "filter-name",
        lambda q: q.where(**{"metadata.plan": "pro"}),
    ),
    "an unknown filter taken away": ("filter-name", lambda q: q.where(plan=None)),
    "a filter that is a number": ("filter-text", lambda q: q.where(country=5)),
    "a filter that is a flag": ("filter-text", lambda q: q.where(country=True)),
    "a filter in a list": ("filter-text", lambda q: q.where(country=["NL"])),
    "a page in a list": ("filter-text", lambda q: q.where(page=["/a"])),
    "a filter of bytes": ("filter-text", lambda q: q.where(pages=b"/a")),
    "pages in a dict": ("filter-text", lambda q: q.where(pages={"/a": 1})),
    "pages as a number": ("filter-text", lambda q: q.where(pages=5)),
    "a page that is a number": ("filter-text", lambda q: q.where(pages=["/a", 5])),
    "pages that can't be read": ("filter-text", lambda q: q.where(pages=failing())),
    "an empty filter": ("filter-empty", lambda q: q.where(country="")),
    "an empty page": ("filter-empty", lambda q: q.where(pages="")),
    "an empty page of several": (
        "filter-empty",
        lambda q: q.where(pages=["/a", ""]),
    ),
    "no pages": ("filter-empty", lambda q: q.where(pages=[])),
    "a star in front": ("filter-star", lambda q: q.where(country="*L")),
    "a star inside": ("filter-star", lambda q: q.where(utm_term="a*b")),
    "two stars at the end": ("filter-star", lambda q: q.where(pages="/a**")),
    "a star in front of a page": ("filter-star", lambda q: q.where(page="*/a")),
    "a star inside one of pages": (
        "filter-star",
        lambda q: q.where(pages=["/a", "/b*/c"]),
    ),
    "a comma in pages": ("pages-comma", lambda q: q.where(pages="/a,/b")),
    "a comma in one of pages": (
        "pages-comma",
        lambda q: q.where(pages=["/a", "/b,c"]),
    ),
    **{
        f"device {value!r}": (
            "device-type",
            step("where", device_type=value),
        )
        for value in ("phone", "Mobile", "mobil", "phone*", "mobiles*", " tv")
    },
    "a contains search of a country": (
        "contains-filter",
        lambda q: q.where(country=f"*{LONG}*"),
    ),
    "a contains search of devices": (
        "contains-filter",
        lambda q: q.where(device_type="*mobile*"),
    ),
    "a contains search for two patterns": (
        "contains-one-pattern",
        lambda q: q.where(pages=[f"*{LONG}*", "/a"]),
    ),
    "a contains search twice": (
        "contains-one-pattern",
        lambda q: q.where(pages=[f"*{LONG}*", f"*{LONG}*"]),
    ),
    "a contains search with a star inside": (
        "contains-star",
        lambda q: q.where(pages=f"*{LONG}*{LONG}*"),
    ),
    "a contains search of 11": (
        "contains-length",
        lambda q: q.where(pages=f"*{LONG[1:]}*"),
    ),
    "a contains search of 11 and a slash": (
        "contains-length",
        lambda q: q.where(page=f"*/{LONG[1:]}/*"),
    ),
    "a contains search of slashes": (
        "contains-length",
        lambda q: q.where(pages=f"*{20 * '/'}*"),
    ),
    "two stars alone": ("contains-length", lambda q: q.where(pages="**")),
    "a metadata key with a hyphen": (
        "metadata-key",
        lambda q: q.where_metadata({"a-b": 1}),
    ),
    "an empty metadata key": ("metadata-key", lambda q: q.where_metadata({"": 1})),
    "a metadata key not in ASCII": (
        "metadata-key",
        lambda q: q.where_metadata(größe=1),
    ),
    "a metadata key with a line break": (
        "metadata-key",
        lambda q: q.where_metadata({"a\n": 1}),
    ),
    "a metadata key that is no text": (
        "metadata-key",
        lambda q: q.where_metadata({5: 1}),
    ),
    "a wrong metadata key taken away": (
        "metadata-key",
        lambda q: q.where_metadata({"a.b": None}),
    ),
    **{
        f"metadata {name}": (
            "metadata-value",
            step("where_metadata", a=value),
        )
        for name, value in {
            "nan": float("nan"),
            "inf": float("inf"),
            "-inf": float("-inf"),
            "of 5,000 digits": 10**5000,
            "of a list": ["a"],
            "of bytes": b"a",
            "of a date": date(2026, 3, 1),
            "of a naive datetime": datetime(2026, 3, 1),  # noqa: DTZ001 - the point
            "before the year 1": datetime.min.replace(tzinfo=PLUS_TWO),
            "of an object": object(),
            "of a broken object": Broken(),
        }.items()
    },
    "metadata that can't be read": (
        "metadata-value",
        lambda q: q.where_metadata(FailingMapping()),
    ),
    "metadata in a list": ("metadata-value", lambda q: q.where_metadata([("a", 1)])),
    "an event with a comma": ("event-name", lambda q: q.events("a,b")),
    "an event with a star": ("event-name", lambda q: q.events("a*")),
    "an empty event": ("event-name", lambda q: q.events("")),
    "events in a list": ("event-name", lambda q: q.events(["a"])),
    "no events in the call": ("event-name", lambda q: q.events()),
    "a star for all events": ("events-all", lambda q: q.events("*")),
    "names together with all": ("events-all", lambda q: q.events("a", "*")),
    "a parameter without a name": ("extra-name", lambda q: q.extra_param("", "a")),
    "a parameter named by a number": ("extra-name", lambda q: q.extra_param(5, "a")),
    "a parameter with a list": ("extra-value", lambda q: q.extra_param("a", ["b"])),
    "a parameter with nan": (
        "extra-value",
        lambda q: q.extra_param("a", float("nan")),
    ),
    "callback": ("callback-step", lambda q: q.extra_param("callback", "show")),
    "an address of another type": ("address", step("from_url", None)),
    "an address without a scheme": (
        "address",
        lambda _: StatsQuery.from_url("x.example/example.com"),
    ),
    "an address of another service": (
        "address",
        lambda _: StatsQuery.from_url("https://a.example/b.cd", "https://c.example"),
    ),
    "an address above the base": (
        "address",
        lambda _: StatsQuery.from_url("https://a.example/b.cd", "https://a.example/b"),
    ),
    "an address with broken UTF-8": (
        "address",
        lambda _: StatsQuery.from_url("https://a.example/b.cd?country=%ff"),
    ),
    "a wrong base address": (
        "address",
        lambda q: StatsQuery.from_url(q.url("https://a.example"), "a.example"),
    ),
    "a parameter that is there twice": (
        "address-once",
        lambda _: StatsQuery.from_url("https://a.example/b.cd?limit=1&limit=2"),
    ),
    **{
        f"half of a surrogate pair in {name}": ("text", build)
        for name, build in {
            "a path": step("path", "/\ud800"),
            "an event": step("events", "\ud800"),
            "a filter": step("where", country="\ud800"),
            "one of pages": step("where", pages=["/a", "\udfff"]),
            "metadata": step("where_metadata", a="\ud800"),
            "a parameter": step("extra_param", "a", "\ud800"),
            "a parameter's name": step("extra_param", "\ud800", "a"),
        }.items()
    },
}


def assert_helpful(problems: tuple[Problem, ...]) -> None:
    """Every problem is one short line that cites its section."""
    for problem in problems:
        assert problem.section == RULES[problem.rule].section
        assert problem.where
        assert str(problem).isprintable()
        assert not problem.message.endswith(".")
        assert len(problem.message) < 350


ACROSS: dict[str, tuple[set[str], Step]] = {
    "neither fields nor events": (
        {"fields-or-events"},
        lambda _: StatsQuery("example.com"),
    ),
    "neither fields nor events, version 3": (
        {"fields-or-events"},
        lambda _: StatsQuery("example.com").version(3),
    ),
    "hours before version 6": (
        {"interval-version"},
        lambda q: q.interval("hour").version(5),
    ),
    "metadata before version 6": (
        {"metadata-version"},
        lambda q: q.version(5).where_metadata(a=1),
    ),
    "both before version 6": (
        {"interval-version", "metadata-version"},
        lambda q: q.interval("hour").where_metadata(a=1).version(1),
    ),
    "an aware datetime without a zone": (
        {"period-zone"},
        lambda q: q.since(datetime(2026, 3, 1, tzinfo=UTC)),
    ),
    "an aware datetime outside the calendar": (
        {"period-zone"},
        lambda q: q.since(datetime.max.replace(tzinfo=UTC)).timezone("Asia/Tokyo"),
    ),
    "an aware datetime in a zone that is not known": (
        {"period-zone"},
        lambda q: q.since(datetime(2026, 3, 1, tzinfo=UTC)).extra_param(
            "timezone", "../Mars"
        ),
    ),
    "aware datetimes backwards": (
        {"period-order"},
        lambda q: q.between(
            datetime(2026, 3, 3, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
        ).timezone("UTC"),
    ),
    "an aware datetime and a date backwards": (
        {"period-order"},
        lambda q: q.between(
            datetime(2026, 3, 1, 23, tzinfo=UTC), "2026-03-01"
        ).timezone("Europe/Amsterdam"),
    ),
    "a path and a page": ({"path-or-page"}, lambda q: q.path("/a").where(page="/a")),
    "a path and pages": (
        {"path-or-page"},
        lambda q: q.where(pages=["/a", "/b"]).path("/a"),
    ),
    "a contains search and pages": (
        {"contains-one-pattern"},
        lambda q: q.where(page=f"*{LONG}*", pages=["/a", "/b"]),
    ),
    "an address that is too long": (
        {"address-length"},
        lambda q: q.events(*(f"event-{n:05}" for n in range(6000))),
    ),
    "all at once": (
        {"interval-version", "metadata-version", "path-or-page", "period-zone"},
        lambda q: (
            q.path("/a")
            .where(page="/b")
            .interval("hour")
            .where_metadata(a=1)
            .version(3)
            .since(datetime(2026, 3, 1, tzinfo=UTC))
        ),
    ),
}


# Each point of a contains search that spans steps, broken alone. The others are
# reported by where() at once, above.
POINTS: dict[str, tuple[str, Step]] = {
    "a second pattern": ("contains-one-pattern", lambda q: q.where(page="/a")),
    "a path": ("path-or-page", lambda q: q.path("/a")),
    "other fields": ("contains-fields", lambda q: q.fields("pageviews", "pages")),
    "events": ("contains-events", lambda q: q.events("signup")),
    "all events": ("contains-events", lambda q: q.all_events()),
    "no key": ("contains-key", lambda q: q),
}


WARNED = {
    "a type suffix": ("metadata-suffix", {"price_int": 5}, "'price' is probably"),
    "a star at the end": ("metadata-star", {"plan": "pro*"}, "literally"),
}


FILTERS_WARNED = {
    "a page without a slash": ("page-slash", {"page": "a b"}, "'/a b' is probably"),
    "one of several": ("page-slash", {"pages": ["/a", "b*"]}, r"'/b\*' is probably"),
    "a country's name": ("country-code", {"country": "Germany"}, "two letters"),
    "a country's code of three": ("country-code", {"country": "NLD*"}, "two letters"),
    "a referrer's address": (
        "referrer-normalized",
        {"referrer": "HTTPS://www.google.com"},
        "normalized",
    ),
    "a referrer's host": ("referrer-normalized", {"referrer": "www.a*"}, "normalized"),
}


WRONG: Any = [5]
"""A value that no checker knows to be of a wrong type."""


ELSEWHERE: dict[str, Callable[[], object]] = {
    "callback-name": lambda: jsonp_request(requested(StatsQuery("a.example")), "1"),
    "website-hostname": lambda: add_request(""),
    "website-timezone": lambda: add_request("a.example", timezone="utc"),
    "website-public": lambda: add_request("a.example", public=WRONG),
    "website-label": lambda: add_request("a.example", label=WRONG),
    "custom-method": lambda: custom_request("CONNECT", "/a"),
    "custom-path": lambda: custom_request("GET", "//a"),
    "custom-params": lambda: custom_request("GET", "/a", {"a": WRONG}),
    "custom-body": lambda: custom_request("POST", "/a", None, {1, 2}),
}


ADDRESSES_WARNED = {
    "address-parameter": "https://a.example/b.cd?compare=previous",
    "address-page": "https://a.example/b.cd/settings",
}


# The module that checks a rule, by how the rule's name begins; the longest counts.
CHECKED_IN: dict[str, str] = {
    "": "rules",
    "address": "urls",
    "callback": "values",
    "contains": "filters",
    "device": "filters",
    "event": "values",
    "extra": "values",
    "field": "values",
    "filter": "filters",
    "info": "values",
    "interval": "values",
    "limit": "values",
    "metadata": "filters",
    "pages": "filters",
    "path": "values",
    "period": "periods",
    "period-unit": "units",
    "period-words": "units",
    "timezone": "periods",
    "version": "values",
}


def refused_by(module: str) -> dict[str, Any]:
    """What *module* refuses at once, as arguments of ``parametrize``."""
    found = {
        name: (rule, build)
        for name, (rule, build) in REFUSED.items()
        if CHECKED_IN[max(filter(rule.startswith, CHECKED_IN), key=len)] == module
    }
    return {"argvalues": found.values(), "ids": found}


def assert_refused(rule: str, build: Step, same_text: SameText) -> None:
    """The step refuses it, citing the section."""
    with pytest.raises(QueryError) as caught:
        build(StatsQuery("example.com").fields("pageviews"))
    assert [problem.rule for problem in caught.value.problems] == [rule]
    assert_helpful(caught.value.problems)
    same_text(caught.value)
