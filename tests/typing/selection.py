"""Type checks of fields that were requested; read by type checkers, never run.

What mypy does not find, since it infers every name where a query has several, has a
comment of pyright alone.
"""

from __future__ import annotations

from typing import Any, Literal, assert_type

from sitestats import AsyncClient, Client, Outcomes, Stats, StatsQuery, Succeeded


def right(client: Client, some: bool) -> None:  # noqa: FBT001 - read, never called
    """What is requested can be read, however the query was made."""
    query = StatsQuery("example.com")
    query = query.fields("visitors", "pages").last(days=7).where(country="NL")
    stats = client.stats.get(query)
    _ = stats.visitors, stats.pages, stats.hostname, stats.events
    either = query if some else StatsQuery("example.com").fields("countries")
    many = [query, StatsQuery("b.example").fields("visitors")]
    for outcome in client.stats.get_many(many).collect():
        if outcome.error is None:
            _ = outcome.stats.visitors
    _ = client.stats.get(either).hostname
    for month in StatsQuery("example.com").fields("visitors").each("month"):
        assert_type(client.stats.get(month), Stats[Literal["visitors"]])


def unknown(client: Client, query: StatsQuery, stats: Stats) -> None:
    """Where nothing is known, everything can be read."""
    _ = stats.pages, client.stats.get(query).pages, stats.compare_to(stats).now.pages
    assert_type(client.stats.get(query), Stats)
    assert_type(client.stats.get(query.fields("pages").version(4)), Stats)
    assert_type(client.stats.get(query.fields("pages").extra_param("a", 1)), Stats)


def demanded(
    client: Client, stats: Stats[Literal["visitors", "pages"]], query: StatsQuery
) -> None:
    """A function may demand fields; a result with more has them too."""
    _ = stats.visitors, stats.pages

    def of_pages(given: Stats[Literal["pages"]]) -> None: ...

    of_pages(stats)
    of_pages(client.stats.get(query))
    visitors = client.stats.get(query.fields("visitors"))
    of_pages(visitors)  # type: ignore[arg-type]


async def wrong(client: Client, other: AsyncClient, query: StatsQuery) -> None:
    """A field that was not requested is found wherever the result is from."""
    asked = query.fields("visitors").last(days=7).timezone("UTC").limit(5)
    client.stats.get(asked).pages  # type: ignore[misc]  # noqa: B018
    (await other.stats.get(asked)).pages  # type: ignore[misc]  # noqa: B018
    client.stats.compare(asked).now.pages  # type: ignore[misc]  # noqa: B018
    outcomes = client.stats.get_many([asked]).collect()
    outcomes.succeeded[0].stats.pages  # type: ignore[misc]  # noqa: B018
    Stats.of(asked, visitors=1).pages  # type: ignore[misc]  # noqa: B018
    with client.stats.get_many(asked.each("day")) as stream:
        for outcome in stream:
            if outcome.error is None:
                outcome.stats.pages  # type: ignore[misc]  # noqa: B018
    assert_type(outcomes, Outcomes[Literal["visitors"]])
    assert_type(outcomes.succeeded[0], Succeeded[Literal["visitors"]])
    assert_type(query.fields("visitors"), StatsQuery[Literal["visitors"]])
    assert_type(query, StatsQuery[Any])
