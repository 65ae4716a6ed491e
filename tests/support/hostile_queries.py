"""Queries that break rules, or nearly: arguments for each step.

``HOSTILE`` has them by the rule that they are about. ``generated`` puts none,
one or several of them into a query that follows every rule.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

import attrs

from sitestats._common.fields import FIELDS
from sitestats._query.rules import FILTERS, INTERVALS

NOW: Final = datetime(2026, 3, 15, 12, 30, tzinfo=UTC)
NAIVE: Final = datetime(2026, 3, 1, 12)  # noqa: DTZ001 - it is to have no zone
TODAY: Final = NOW.date()
LONG: Final = "abcdefghijkl"
"""Twelve characters: the least that a contains search takes."""
ENDS: Final = ("start", "end")
ZONES: Final = ("UTC", "Europe/Amsterdam", "Pacific/Auckland", "Asia/Tokyo")
HALF: Final = "\ud800"
"""Half of a surrogate pair, which UTF-8 can't encode."""


@attrs.frozen
class Case:
    """Arguments for the steps of a query, valid or not."""

    hostname: str = "example.com"
    path: str | None = None
    fields: tuple[Any, ...] | None = ("pageviews",)
    events: tuple[Any, ...] | None = None
    """Names, or ``("*",)`` for all events."""
    start: Any = None
    end: Any = None
    last: tuple[Any, Any] | None = None
    """Whole days, and whether today is one of them; instead of start and end."""
    timezone: Any = None
    interval: Any = None
    limit: Any = None
    version: Any = 6
    info: Any = False
    filters: dict[str, Any] = attrs.field(factory=dict[str, Any])
    metadata: dict[Any, Any] = attrs.field(factory=dict[Any, Any])
    extra: dict[Any, Any] = attrs.field(factory=dict[Any, Any])
    twice: bool = False
    """Whether a parameter of the address comes twice."""
    has_key: bool = True


def altered(case: Case, **values: Any) -> Case:
    """*case* with other values."""
    return attrs.evolve(case, **values)


# -- hostile values, each by the rule that it is to break or nearly breaks

Spoil: TypeAlias = Callable[[random.Random, Case], Case]


def put(name: str, *values: Any) -> Spoil:
    """A case where one of *values* is in an argument."""
    return lambda rng, case: altered(case, **{name: rng.choice(values)})


def merge(name: str, *pairs: tuple[Any, Any]) -> Spoil:
    """A case where one of *pairs* is among those of a dictionary."""

    def spoil(rng: random.Random, case: Case) -> Case:
        key, value = rng.choice(pairs)
        return altered(case, **{name: {**getattr(case, name), key: value}})

    return spoil


def period(*pairs: tuple[Any, Any]) -> Spoil:
    """A case where one of *pairs* is the start and the end."""

    def spoil(rng: random.Random, case: Case) -> Case:
        start, end = rng.choice(pairs)
        return altered(case, start=start, end=end)

    return spoil


def both(*spoils: Spoil) -> Spoil:
    """Apply one change after the other."""

    def spoil(rng: random.Random, case: Case) -> Case:
        for one in spoils:
            case = one(rng, case)
        return case

    return spoil


TEXT_FILTERS: Final = [name for name in FILTERS if name not in {"page", "pages"}]
SEARCHES: Final = [
    ("page", f"*{LONG}*"),
    ("page", f"*/{LONG}/*"),
    ("page", "*äöüäöüäöüäöü*"),
    ("page", "*abc,def,ghi,*"),
    ("pages", f"*{LONG}*"),
    ("pages", [f"*{LONG}*"]),
]
search: Final = both(
    lambda _, case: altered(case, filters={}, path=None, events=None),
    put("fields", ("pageviews",), ("visitors", "histogram"), FIELDS[:3]),
    merge("filters", *SEARCHES),
)

HOSTILE: Final[dict[str, Spoil]] = {
    "hostname": put(
        "hostname",
        *("", ".", "localhost", "127.0.0.1", "example.com:80", "https://example.com"),
        *("exa mple.com", "example..com", "-.example.com", "[::1]"),
        *("example.com?a", "example.com#a", "a@example.com", "*.example.com", "%61.b"),
    ),
    "path-slash": put("path", "a", "contact/", "é", "\\a"),
    "path-root": put("path", "/"),
    "path-dots": put("path", "/..", "/.", "/a/../b", "/../api/websites", "/a/."),
    "path-nearly": put("path", "//", "/...", "/a..b", "/a.json", "/%2e", "/a?b#c"),
    "path-control": put("path", "/\n", "/a\x00", "/\x7f", "/a\x85b"),
    "version": put("version", 0, 7, -1, 1.5, *[True], "x", "", "06", "٣", 10**30),
    "version-types": put("version", "6", "5"),
    "limit": put(
        "limit", 0, 1001, -1, 1.5, *[True], "", "ten", "050", "+5", "\u0665", 10**30
    ),
    "limit-nearly": put("limit", 1, 1000, "50", "1000"),
    "timezone": put(
        "timezone",
        *(
            "",
            "utc",
            "europe/amsterdam",
            "EUROPE/AMSTERDAM",
            "Europe/Nowhere",
            "+02:00",
        ),
        *("localtime", "../UTC", "Europe", " UTC", "UTC ", "Europe/Amsterdam\n", 5),
    ),
    "timezone-nearly": put("timezone", "EST5EDT", "Etc/GMT+5", "GB", "Asia/Kolkata"),
    "interval": put("interval", "", "Day", "days", "minute", "hour ", "*", 5),
    "interval-version": both(put("interval", "hour"), put("version", 5, 4, 3, 2, 1, 6)),
    "info": put("info", "yes", "True", 1, 0, ""),
    "field-name": put(
        "fields",
        *((), ("",), ("Pages",), ("pageviews", ""), ("vistors",), ("*",), (" pages",)),
        *(("pages", "seconds"), ("page",), ("utm_source",), ("pages\n",), (5,)),
    ),
    "field-version": both(
        put("fields", ("Pages",), ("pageviews", "x")), put("version", 3, 2, 1)
    ),
    "field-commas": put("fields", ("pages,visitors",), ("pages,",), ("pages,visitor",)),
    "nothing requested": both(
        put("fields", None), put("events", None), put("version", 6, 5, 4, 3, 2, 1)
    ),
    "events alone": both(
        put("fields", None), put("events", ("a",), ("*",), ("é 日",), (" ",))
    ),
    "event-name": put(
        "events",
        *((), ("",), ("a", ""), ("a*",), ("**",), ("*a",), ("a,",), ("a,b",), (5,)),
    ),
    "events-all": put("events", ("a", "*"), ("*", "*"), ("*", "a"), ("*", "b")),
    **{
        f"period-day {name}": put(
            name,
            *("", "Today", "tomorrow", "today+1d", "today-1w", "today-d", "today--1d"),
            *("yesterday-1d", "2026-3-1", "20260301", "2026-03", "2026-W10", " today"),
            *("today-030d", "today-00d", "today-1d ", "today-٣d", "٢٠٢٦-03-01", 5),
            *("2026-03-01T00:00:00Z", "today-1.5d", "today-d1", "-1d", "now"),
            *("2026-02-30", "2025-02-29", "2026-13-01", "2026-00-10", "0000-01-01"),
        )
        for name in ("start", "end")
    },
    "period-date": put("start", "2026-02-30", "2025-02-29", "2026-04-31", "2026-01-32"),
    "period-nearly": put("start", "today-0d", "2024-02-29", "today-1d", "today-00d"),
    # A hundred thousand days, each an entry, would take most of the time.
    "period-far": both(
        put("start", "today-100000d", "today-99999d", "0001-01-01"),
        put("interval", "year"),
        put("version", 6),
    ),
    "period-farther": put("start", "today-9999999d", f"today-{'9' * 30}d"),
    "period-naive": put("start", NAIVE, NAIVE.replace(hour=0, minute=1)),
    "period-zone": both(
        put("start", NOW - timedelta(days=9), datetime(2026, 3, 1, tzinfo=UTC)),
        put("timezone", None, None, "Asia/Tokyo"),
    ),
    "period-order": period(
        ("2026-03-02", "2026-03-01"),
        ("today", "yesterday"),
        ("today-6d", "today-7d"),
        ("yesterday", "today-2d"),
        ("2026-03-01", "2026-03-01"),
        ("today-7d", "today-7d"),
    ),
    "period-today": period(
        ("2026-03-16", None),
        ("2026-03-15", None),
        (None, "2026-02-14"),
        (None, "2026-02-15"),
        (None, "today-29d"),
        ("2026-03-15", "yesterday"),
        ("today-3d", "2026-03-11"),
        ("today-3d", "2026-03-12"),
    ),
    "endless": both(
        put("start", "0001-01-01", "1500-01-01", "2004-03-01"),
        put("end", "9999-12-31", "9000-01-01"),
        put("interval", "hour", "day", "week", "year"),
        put("fields", ("histogram",), ("pageviews",)),
    ),
    "period-days": put(
        "last",
        *((0, False), (-1, False), (1.5, False), (True, False), (None, False)),
        *((0, True), (-1, True), ("x", True)),
    ),
    "period-days-far": both(
        put("last", (100_000, False), (99_999, True), (100_000, True)),
        put("interval", "year"),
        put("version", 6),
    ),
    "period-days-nearly": put("last", (1, False), (1, True), (30, False), (366, True)),
    "filter-name": merge(
        "filters",
        *(("countrys", "NL"), ("path", "/a"), ("Page", "/a"), ("utm", "x"), ("é", "x")),
        *(("metadata", "x"), ("event", "x"), ("fields[]", "x")),
    ),
    "filter-text": lambda rng, case: merge(
        "filters", (rng.choice(FILTERS), rng.choice([5, 1.5, *[True], b"a", {"a": 1}]))
    )(rng, case),
    "filter-empty": lambda rng, case: merge("filters", (rng.choice(FILTERS), ""))(
        rng, case
    ),
    "filter-star": lambda rng, case: merge(
        "filters",
        (rng.choice(FILTERS), rng.choice(["*a", "a*b", "a**", "a*b*", "*a*b", "**a"])),
    )(rng, case),
    "filter-nearly": lambda rng, case: merge(
        "filters",
        (rng.choice(TEXT_FILTERS[:-1]), rng.choice(["*", "a*", " ", ",", "%", "\x00"])),
    )(rng, case),
    "pages": merge(
        "filters",
        *(("pages", pages) for pages in ([], [""], ["/a", ""], ["/a", "*b"], [5])),
    ),
    "pages-comma": merge(
        "filters",
        *(("pages", pages) for pages in ("/a,/b", "/a,", ",", ["/a,/b", "/c"])),
        *(("pages", pages) for pages in ("/a*,/b", "/a,*b", ["/a*,/b*"], "/a,,/b")),
    ),
    "page-comma": merge("filters", ("page", "/a,b"), ("page", ","), ("page", "/a,b*")),
    "page-slash": merge(
        "filters", ("page", "contact"), ("pages", ["/", "a*"]), ("pages", "/a,b")
    ),
    "country-code": merge("filters", ("country", "Germany"), ("country", "NLD*")),
    "referrer-normalized": merge(
        "filters", ("referrer", "https://a.example"), ("referrer", "www.a.example*")
    ),
    "device-type": merge(
        "filters",
        *(
            ("device_type", kind)
            for kind in ("phone", "Mobile", "phone*", "tv ", "mobiles", "M*", "tab,")
        ),
    ),
    "device-nearly": merge(
        "filters",
        *(("device_type", kind) for kind in ("t*", "*", "desktop*", "tv*", "mobile")),
    ),
    "path-or-page": both(
        put("path", "/a", "/b/c"),
        merge("filters", ("page", "/a"), ("pages", ["/a", "/b"]), ("country", "NL")),
    ),
    "contains": search,
    "contains-filter": lambda rng, case: merge(
        "filters", (rng.choice(TEXT_FILTERS), rng.choice([f"*{LONG}*", "*mobile*"]))
    )(rng, case),
    "contains-key": both(search, put("has_key", *[False])),
    "contains-one-pattern": both(
        search,
        merge(
            "filters",
            *(("pages", [f"*{LONG}*", other]) for other in ("/a", f"*{LONG}*", "*")),
            *(("pages", ["/a", f"*{LONG}{LONG}*"]), ("page", "/a"), ("pages", "/a")),
        ),
    ),
    "contains-star": both(
        search,
        merge(
            "filters",
            *(("page", f"*{LONG}*{LONG}*"), ("pages", f"**{LONG}*")),
            *(("pages", f"*{LONG}**"), ("page", f"*{LONG[:6]}*{LONG[6:]}*")),
        ),
    ),
    "contains-length": both(
        search,
        merge(
            "filters",
            *(("page", pattern) for pattern in ("**", "***", f"*{LONG[1:]}*", "*/*")),
            *(("pages", f"*{'/' * 20}*"), ("page", f"*a/{LONG[2:]}/*")),
            # A star within does not count as one of the twelve.
            *(("page", "*abcde*fghijk*"), ("page", "*abcdef*ghijk*")),
        ),
    ),
    "contains-fields": both(
        search,
        put(
            "fields",
            *(("pages",), ("pageviews", "countries"), ("seconds_on_page",), None),
            FIELDS,
        ),
        put("version", 6, 6, 6, 2, 1),
    ),
    "contains-events": both(search, put("events", ("a",), ("*",))),
    "contains-path": both(search, put("path", "/a")),
    "metadata-key": merge(
        "metadata",
        *((key, "x") for key in ("a-b", "", "é", "a.b", "a b", "a\n", "*", "a,b", "٣")),
        (5, "x"),
    ),
    "metadata-nearly": merge(
        "metadata",
        *(("a", value) for value in ("", " ", "*", 5, -1.5, NOW, "2026", "é,")),
        *(("A_1", "x"), ("1st", "x"), ("_", "x"), ("class", "x")),
    ),
    "metadata-value": merge(
        "metadata",
        *(("a", value) for value in (float("nan"), float("-inf"), [1], TODAY)),
        ("a", NAIVE),
    ),
    "metadata-version": both(
        merge("metadata", ("plan", "pro")), put("version", 5, 4, 3, 2, 1, 6)
    ),
    "metadata-suffix": merge("metadata", ("plan_text", "pro"), ("a_int", 5)),
    "metadata-star": merge("metadata", ("plan", "pr*"), ("plan", "*")),
    "extra-name": merge("extra", ("", "x"), ("", "y")),
    "extra-value": merge("extra", ("x_a", [1]), ("x_a", float("nan")), ("x_a", b"a")),
    "extra-nearly": merge("extra", ("x_a", ""), ("limits", 0), ("é", True)),
    "callback-step": merge("extra", ("callback", "show"), ("callback", "$.a_1")),
    "address-once": put("twice", *[True]),
    "text": lambda rng, case: rng.choice(
        [
            put("events", (f"a{HALF}",)),
            put("path", f"/{HALF}"),
            merge("filters", ("country", HALF), ("page", f"/{HALF}*")),
            merge("filters", ("pages", ["/a", HALF])),
            merge("metadata", ("plan", HALF)),
            merge("extra", ("x_a", HALF), (f"x_{HALF}", "a")),
        ]
    )(rng, case),
}


def ordinary(rng: random.Random) -> Case:
    """A case that breaks no rule."""
    version = rng.choice([6, 6, 6, 5, 4, 3, 2, 1])
    fields = tuple(rng.sample(FIELDS, rng.choice([1, 1, 2, 3, 15])))
    filters: dict[str, Any] = {
        name: rng.choice(["NL", "a*", "é, b", "*", "%_'\""])
        for name in rng.sample(TEXT_FILTERS[:-1], rng.choice([0, 0, 1, 2]))
    }
    if rng.random() < 0.3:
        filters["page"] = rng.choice(["/", "/blog*", "/a,b", "*", "blog"])
    if rng.random() < 0.3:
        filters["pages"] = rng.choice([["/", "/blog*"], "/blog", ["*"], ["/a"] * 3])
    days = sorted(rng.choices(range(60), k=2), reverse=True)
    start, end = rng.choice(
        [
            (None, None),
            (f"today-{days[0]}d", f"today-{days[1]}d"),
            tuple(TODAY - timedelta(days=day) for day in days),
            tuple((TODAY - timedelta(days=day)).isoformat() for day in days),
            (f"today-{days[0]}d", TODAY - timedelta(days=days[1])),
        ]
    )
    metadata: dict[Any, Any] = {}
    if version == 6 and rng.random() < 0.3:
        metadata = {"plan": rng.choice(["pro", True, 5, NOW])}
    return Case(
        fields=fields,
        events=rng.choice([None, None, ("*",), ("a", "b c"), ("É",)]),
        start=start,
        end=end,
        timezone=rng.choice([None, *ZONES]),
        interval=rng.choice([None, *INTERVALS[version < 6 :]]),
        limit=rng.choice([None, 1, 50, 1000]),
        version=version,
        info=rng.choice([True, False]),
        filters=filters,
        metadata=metadata,
        hostname=rng.choice(["example.com", "Example.COM", "example.com."]),
        has_key=rng.random() < 0.8,
    )


def generated(number: int, seed: int) -> Iterator[Case]:
    """Cases that break no rule, one, or several."""
    rng = random.Random(seed)
    names = list(HOSTILE)
    for place in range(number):
        case = Case() if rng.random() < 0.5 else ordinary(rng)
        spoils = rng.choices((0, 1, 2, 3), (2, 10, 6, 2))[0]
        # Every kind comes in turn, so that none is left to chance.
        chosen = [names[place % len(names)], *rng.choices(names, k=2)][:spoils]
        for name in chosen:
            case = HOSTILE[name](rng, case)
        yield case
