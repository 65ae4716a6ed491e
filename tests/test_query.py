"""The builder: queries as values."""

from __future__ import annotations

from sitestats._query import StatsQuery


def test_the_longest_chain_becomes_parameters() -> None:
    """Every step has its parameter, in the document's order."""
    query = (
        StatsQuery("example.com")
        .fields("visitors", "pageviews", "histogram", "pages")
        .between("today-30d", "yesterday")
        .timezone("Europe/Amsterdam")
        .where(country="NL", pages=["/blog*", "/docs*"])
        .where_metadata(plan="pro", paying=True)
        .events("signup", "purchase")
        .interval("week")
        .limit(100)
    )
    query.validate(has_key=False)
    assert query.params() == {
        "version": "6",
        "start": "today-30d",
        "end": "yesterday",
        "limit": "100",
        "timezone": "Europe/Amsterdam",
        "info": "false",
        "events": "signup,purchase",
        "interval": "week",
        "fields": "pageviews,visitors,histogram,pages",
        "pages": "/blog*,/docs*",
        "country": "NL",
        "metadata.paying": "true",
        "metadata.plan": "pro",
    }
    assert StatsQuery.from_url(query.url("https://x.example")) == query
