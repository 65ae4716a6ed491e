"""Queries that follow every rule, for Hypothesis."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from hypothesis import strategies as st

from inside import (
    FIELDS,
    FILTERS,
    INTERVALS,
    LATEST_VERSION,
    WORDS,
    placeholder,
    zone_names,
)
from sitestats import StatsQuery

# The emulator gives at most 200,000 entries of a histogram, which are 547 years.
DATES = st.dates(date(1990, 1, 1), date(2050, 1, 1))
# What UTF-8 can encode.
TEXT = st.text(st.characters(codec="utf-8"))
SOME_TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
HOSTNAMES = st.from_regex(
    r"([a-z0-9]{1,5}[.-]){0,2}[a-z]{1,5}\.[a-z]{2,4}", fullmatch=True
)
PLACEHOLDERS = st.integers(0, 1_000)
PATHS = (
    st.lists(
        st.text(
            st.characters(
                codec="utf-8", exclude_categories=["Cc"], exclude_characters="*"
            ),
            max_size=6,
        ),
        min_size=1,
        max_size=3,
    )
    .map(lambda parts: "/" + "/".join(parts))
    .filter(lambda path: path != "/" and {".", ".."}.isdisjoint(path.split("/")))
)
# A value of a filter, without and with a star at its end.
PLAIN = SOME_TEXT.map(lambda text: text.replace("*", "x"))
PATTERNS = PLAIN | PLAIN.map("{}*".format) | st.just("*")
PAGES = PATTERNS.map(lambda text: text.replace(",", ";"))
CONTAINS = st.text("abcdefgh/é,", min_size=12, max_size=16).map(
    "*{}abcdefghijkl*".format
)
DEVICES = st.sampled_from(["mobile", "tablet", "desktop", "tv", "t*", "desk*", "*"])
KEYS = st.from_regex(r"[a-z0-9_]{0,4}[A-Z0-9]", fullmatch=True)
METADATA = (
    TEXT.filter(lambda text: not text.endswith("*"))
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.datetimes(timezones=st.just(UTC))
)
EVENTS = SOME_TEXT.map(lambda text: text.replace(",", "_").replace("*", "_"))
MOMENTS = st.datetimes(
    datetime(1900, 1, 1),  # noqa: DTZ001 - bounds are naive
    datetime(2100, 1, 1),  # noqa: DTZ001 - as above
    timezones=st.timezones(),
)


@st.composite
def periods(draw: st.DrawFn) -> tuple[Any, Any]:
    """A start and an end in order, either of which may be missing."""
    kind = draw(st.sampled_from(["dates", "placeholders", "mixed", "none"]))
    if kind == "dates":
        start, end = sorted([draw(DATES), draw(DATES)])
        return draw(st.sampled_from([(start, end), (start, None), (None, end)]))
    if kind == "placeholders":
        first, final = sorted([draw(PLACEHOLDERS), draw(PLACEHOLDERS)], reverse=True)
        return placeholder(first), placeholder(final)
    if kind == "mixed":
        some, other = draw(DATES), placeholder(draw(PLACEHOLDERS))
        return draw(st.sampled_from([(some, other), (other, some)]))
    return None, None


@st.composite
def queries(draw: st.DrawFn, *, contains: bool | None = None) -> StatsQuery:
    """A query that a client with a key may send."""
    query = StatsQuery(draw(HOSTNAMES))
    search = draw(st.booleans()) if contains is None else contains
    fields = FIELDS[:3] if search else FIELDS
    chosen = draw(st.lists(st.sampled_from(fields), unique=True))
    if chosen or search:
        query = query.fields(*(chosen or fields))
    if not search and (not chosen or draw(st.booleans())):
        names = draw(st.lists(EVENTS, max_size=3))
        query = query.events(*names) if names else query.all_events()
    query = query.between(*draw(periods()))
    if draw(st.booleans()):
        query = query.timezone(draw(st.sampled_from(sorted(zone_names()))))
        if draw(st.booleans()):
            query = query.since(draw(DATES))
        elif draw(st.booleans()):
            query = query.during(
                draw(st.sampled_from(sorted(WORDS))), now=draw(MOMENTS)
            )
    # The responses of version 2 always have the pages.
    old = [5, 4, 3, 1] if search else [5, 4, 3, 2, 1]
    versions = [*[LATEST_VERSION] * 3, *old]
    version = draw(st.sampled_from(versions))
    query = query.version(version).info(wanted=draw(st.booleans()))
    has_hours = version == LATEST_VERSION
    if has_hours:
        query = query.where_metadata(draw(st.dictionaries(KEYS, METADATA, max_size=2)))
    if draw(st.booleans()):
        intervals = INTERVALS if has_hours else INTERVALS[1:]
        query = query.interval(draw(st.sampled_from(intervals)))
    if draw(st.booleans()):
        query = query.limit(draw(st.integers(1, 1000)))
    query = _filtered(draw, query, search=search)
    if draw(st.booleans()):
        query = query.extra_param(draw(KEYS.map("x_{}".format)), draw(TEXT))
    return query


def _filtered(draw: st.DrawFn, query: StatsQuery, *, search: bool) -> StatsQuery:
    filters: dict[str, Any] = draw(
        st.dictionaries(st.sampled_from(FILTERS[2:-1]), PATTERNS, max_size=2)
    )
    if draw(st.booleans()):
        filters["device_type"] = draw(DEVICES)
    if search:
        if draw(st.booleans()):
            filters["page"] = draw(CONTAINS)
        else:
            filters["pages"] = draw(CONTAINS).replace(",", ";")
    else:
        kind = draw(st.sampled_from(["path", "page", "pages", "both", "none"]))
        if kind == "path":
            query = query.path(draw(PATHS))
        if kind in {"page", "both"}:
            filters["page"] = draw(PATTERNS)
        if kind in {"pages", "both"}:
            filters["pages"] = draw(st.lists(PAGES, min_size=1, max_size=3))
    return query.where(**filters)


def longest() -> StatsQuery:
    """A query with nearly every step."""
    return (
        StatsQuery("example.com")
        .fields("visitors", "pageviews", "histogram", "pages")
        .between("today-30d", "yesterday")
        .timezone("Europe/Amsterdam")
        .where(country="NL", pages=["/blog*", "/docs*"])
        .where_metadata(plan="pro", paying=True)
        .events("signup", "purchase")
        .interval("week")
        .limit(100)
        .extra_param("zoom", 2)
        .extra_param("also", "yes")
    )
