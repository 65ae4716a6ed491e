"""Type checks of the builder; read by type checkers, never run."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Literal, assert_type, cast

import pandas as pd

from sitestats import FieldName, Filters, StatsQuery, Website, WebsiteSpec


def every_step(query: StatsQuery) -> None:
    """Each step accepts what its documentation says, and keeps the fields."""
    march = datetime(2026, 3, 1, tzinfo=UTC)
    pages = (
        StatsQuery("example.com")
        .fields("pages")
        .events("signup", "purchase")
        .all_events()
        .between("today-30d", date(2026, 3, 1))
        .between(None, march)
        .last(days=30, today=True)
        .last(months=18, now=march)
        .since(date(2026, 3, 1))
        .on("yesterday")
        .during(2026)
        .during(date(2026, 3, 5))
        .during(pd.Period("2026-03"))
        .during("last-month", now=march)
        .pinned(timezone="UTC", now=march)
        .previous("year")
        .timezone("Europe/Amsterdam")
        .where(country="NL", pages=["/a*", "/b*"])
        .where(pages="/a*", device_type=None)
        .where_metadata({"1st": 1}, plan="pro", paying=True)
        .where_metadata(seen=march, plan=None, ratio=0.5)
        .interval("week")
        .limit(100)
        .path("/contact")
        .website("example.org")
        .info()
    )
    assert_type(pages, StatsQuery[Literal["pages"]])
    assert_type(pages.each("month"), tuple[StatsQuery[Literal["pages"]], ...])
    assert_type(pages.version(5), StatsQuery)
    assert_type(pages.extra_param("compare", 1), StatsQuery)
    assert_type(StatsQuery("example.com"), StatsQuery)
    assert_type(StatsQuery.from_url("https://stats.example.org/a.example"), StatsQuery)
    assert_type(query.hostname, str)
    assert_type(query.params(), dict[str, str])
    assert_type(query.url("https://stats.example.org"), str)


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


def from_outside(
    query: StatsQuery, names: list[str], filters: Filters, website: Website
) -> StatsQuery:
    """Filters and websites are taken as they are, and names once they are cast."""
    known = cast("list[FieldName]", names)
    assert_type(StatsQuery(website), StatsQuery)
    query = query.website(website).website(WebsiteSpec("example.com"))
    return query.fields(*known).where(**filters)
