"""Right and wrong code, as five type checkers read it; never run.

A checker has to find an error in each line with the comment "wrong", but for the
checkers that are named behind "not", and no error anywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from sitestats import (
    AsyncClient,
    Client,
    Entries,
    Outcome,
    Outcomes,
    PageEntry,
    Stats,
    StatsQuery,
    Website,
)

NAME: Final = "visitors"
NAMES: Final = ("visitors", "pages")


def of_one_field(client: Client, some: StatsQuery) -> None:
    """The fields of a query are those of its result, through all steps."""
    query = StatsQuery("a.example").fields("visitors").last(days=7).limit(5)
    stats = client.stats.get(query)
    print(stats.visitors, stats.hostname, stats.events)
    print(stats.pages)  # wrong
    print(client.stats.get(some).pages)
    for month in query.each("month"):
        print(client.stats.get(month).visitors)
        print(client.stats.get(month).pages)  # wrong
    print(client.stats.compare(query).now.pages)  # wrong
    print(Stats.of(query, visitors=3).pages)  # wrong


async def awaited(client: AsyncClient) -> None:
    """An awaited result has its fields, too."""
    stats = await client.stats.get(StatsQuery("a.example").fields("visitors"))
    print(stats.visitors)
    print(stats.pages)  # wrong


def of_several_fields(client: Client) -> None:
    """Of several names, mypy takes all."""
    stats = client.stats.get(StatsQuery("a.example").fields("visitors", "pages"))
    print(stats.visitors, stats.pages)
    print(stats.countries)  # wrong, not mypy


def names(query: StatsQuery) -> None:
    """A constant of names is ``Final``; a misspelt name is found."""
    query.fields(NAME)
    query.fields(*NAMES)
    query.fields("visitrs")  # wrong
    query.interval("daily")  # wrong
    query.where(country="NL")
    query.where(countries="NL")  # wrong, not ty


def outcomes(client: Client, outcome: Outcome[Literal["visitors"]]) -> None:
    """An outcome names its fields, and an error tells whether there are any."""
    if outcome.error is None:
        print(outcome.stats.visitors)
        print(outcome.stats.pages)  # wrong
    query = StatsQuery("a.example").fields("visitors")
    collected = client.stats.get_many([query]).collect()
    known: Outcomes[Literal["visitors"]] = collected
    print(known.succeeded[0].stats.visitors)
    print(known.succeeded[0].stats.pages)  # wrong
    one: Outcome = known[0]
    print(one.result())


def sequences(client: Client, stats: Stats) -> None:
    """Lists are sequences, and a slice is a list of the same class."""
    rows: Sequence[PageEntry] = stats.pages
    sites: Sequence[Website] = client.websites.list()
    few: Entries[PageEntry] = stats.pages[:3]
    print(rows[0].value, sites[0].hostname, few.truncated, stats.pages.index(rows[0]))
    wrong: Sequence[Website] = stats.pages  # wrong
    print(wrong)


def demanded(client: Client) -> None:
    """A function may demand fields; a result with more has them too."""

    def of_pages(stats: Stats[Literal["pages"]]) -> None:
        print(stats.pages)

    query = StatsQuery("a.example")
    of_pages(client.stats.get(query))
    of_pages(client.stats.get(query.fields("pages", "visitors")))
    visitors = client.stats.get(query.fields("visitors"))
    of_pages(visitors)  # wrong
