"""Type checks of the builder; read by type checkers, never run."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Literal, assert_type

import pandas as pd

from sitestats import Website, WebsiteSpec
from sitestats._common.fields import FieldName, is_field_name
from sitestats._query.builder import StatsQuery
from sitestats._query.rules import Filters


def every_step(query: StatsQuery) -> None:
    """Each step accepts what its documentation says, and returns a query."""
    assert_type(StatsQuery("example.com"), StatsQuery)
    assert_type(query.hostname, str)
    assert_type(query.fields("pages"), StatsQuery[Literal["pages"]])
    assert_type(query.fields("pages").last(days=3), StatsQuery[Literal["pages"]])
    assert_type(query.fields("pages").version(5), StatsQuery)
    assert_type(query.events("signup", "purchase"), StatsQuery)
    assert_type(query.all_events(), StatsQuery)
    assert_type(query.between("today-30d", date(2026, 3, 1)), StatsQuery)
    assert_type(query.between(None, datetime(2026, 3, 1, tzinfo=UTC)), StatsQuery)
    assert_type(query.last(days=30, today=True), StatsQuery)
    assert_type(query.last(months=18), StatsQuery)
    assert_type(query.since(date(2026, 3, 1)), StatsQuery)
    assert_type(query.on("yesterday"), StatsQuery)
    assert_type(query.during("2026-03"), StatsQuery)
    assert_type(query.during(2026), StatsQuery)
    assert_type(query.during(date(2026, 3, 5)), StatsQuery)
    assert_type(query.during(pd.Period("2026-03")), StatsQuery)
    assert_type(query.pinned(), StatsQuery)
    assert_type(query.pinned("UTC", now=datetime.now(UTC)), StatsQuery)
    assert_type(query.each("month"), tuple[StatsQuery, ...])
    assert_type(query.previous("year"), StatsQuery)
    assert_type(query.timezone("Europe/Amsterdam"), StatsQuery)
    assert_type(query.where(country="NL", pages=["/a*", "/b*"]), StatsQuery)
    assert_type(query.where(pages="/a*", device_type=None), StatsQuery)
    assert_type(query.where_metadata({"1st": 1}, plan="pro", paying=True), StatsQuery)
    assert_type(query.where_metadata(seen=datetime(2026, 3, 1, tzinfo=UTC)), StatsQuery)
    assert_type(query.where_metadata(plan=None, ratio=0.5), StatsQuery)
    assert_type(query.interval("week"), StatsQuery)
    assert_type(query.limit(100), StatsQuery)
    assert_type(query.path("/contact"), StatsQuery)
    assert_type(query.website("example.org"), StatsQuery)
    assert_type(query.version(5), StatsQuery)
    assert_type(query.info(wanted=True), StatsQuery)
    assert_type(query.extra_param("compare", 1), StatsQuery)
    assert_type(query.params(), dict[str, str])
    assert_type(query.url("https://stats.example.org"), str)
    assert_type(StatsQuery.from_url("https://stats.example.org/a.example"), StatsQuery)


def wrong_names(query: StatsQuery, names: list[str]) -> None:
    """A type checker finds a misspelt name."""
    query.fields("page_views")  # type: ignore[call-overload] # not a field
    query.fields(*names)  # type: ignore[call-overload] # any str
    query.interval("daily")  # type: ignore[arg-type] # not an interval
    query.where(countries="NL")  # type: ignore[call-arg] # not a filter
    query.where(country=5)  # type: ignore[arg-type] # not a str
    query.where_metadata(tags=["a"])  # type: ignore[arg-type] # a list
    query.each("hour")  # type: ignore[arg-type] # not a unit
    query.previous("day")  # type: ignore[arg-type] # not a unit before
    query.website(5)  # type: ignore[arg-type] # not a website
    query.limit("50")  # type: ignore[arg-type] # a str


def websites_of_a_list(query: StatsQuery, website: Website) -> None:
    """A website of the list is as good as its host name."""
    assert_type(StatsQuery(website), StatsQuery)
    assert_type(query.website(website), StatsQuery)
    assert_type(query.website(WebsiteSpec("example.com")), StatsQuery)


def names_from_outside(query: StatsQuery, names: list[str]) -> StatsQuery:
    """Names from outside are narrowed one by one."""
    known: list[FieldName] = [name for name in names if is_field_name(name)]
    return query.fields(*known)


def filters_from_outside(query: StatsQuery, filters: Filters) -> StatsQuery:
    """A dict of filters can be passed."""
    return query.where(**filters)
