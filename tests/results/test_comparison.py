"""Comparisons of one period with another."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from same_text import SameText
from sitestats import Entries, FieldNotRequestedError, ListEntry, QueryError, StatsQuery
from sitestats._results.comparison import changes_of
from sitestats.analysis import Change
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitestats import Client

QUERY = StatsQuery("semicomplete.com").fields("pageviews", "visitors", "pages")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of the demo's traffic."""
    with Emulator.demo().client() as client:
        yield client


def test_the_period_before(client: Client) -> None:
    """Both periods are requested, and their totals compared."""
    comparison = client.stats.compare(QUERY.last(days=2))
    before = client.stats.get(QUERY.between("today-4d", "today-3d"))
    assert comparison.before == before
    change = comparison.totals["pageviews"]
    assert (change.now, change.before) == (908, 678)
    assert change.absolute == 230
    assert change.percent == pytest.approx(33.923, abs=0.001)


def test_the_async_client_compares_too() -> None:
    """The async client gives the same comparison as the sync one."""
    emulator = Emulator.demo()

    async def compare() -> Any:
        async with emulator.async_client() as client:
            return await client.stats.compare(QUERY.last(days=2))

    assert asyncio.run(compare()).totals["pageviews"].before == 678


@pytest.mark.parametrize(
    ("against", "start", "end"),
    [
        ("previous_period", "today-6d", "today-4d"),
        ("previous_year", "today-368d", "today-366d"),
        (("2026-01-01", "2026-01-03"), "2026-01-01", "2026-01-03"),
        (QUERY.on("today-9d"), "today-9d", "today-9d"),
        ("2026-02", "2026-02-01", "2026-02-28"),
        (2025, "2025-01-01", "2025-12-31"),
    ],
    ids=["previous period", "previous year", "days", "query", "month", "year"],
)
def test_what_it_is_compared_with(
    client: Client, against: Any, start: str, end: str
) -> None:
    """Placeholders shift to placeholders; days and queries are accepted."""
    comparison = client.stats.compare(QUERY.last(days=3), against=against)
    params = comparison.before.query.params()
    assert (params["start"], params["end"]) == (start, end)


@pytest.mark.parametrize(
    ("query", "against"),
    [
        (QUERY, "previous_period"),
        (QUERY.between("2026-01-01", "yesterday"), "previous_period"),
        (QUERY.last(days=2), "previous_month"),
        (QUERY.last(days=2), 7),
        (QUERY.last(days=2), ("2026-01-01",)),
        (QUERY.last(days=2), "2026-13"),
        (QUERY.last(days=2), "previous_moth"),
    ],
    ids=[
        *("no period", "a date and a placeholder", "a relation", "a number"),
        *("one day", "no month", "another relation"),
    ],
)
def test_what_can_not_be_compared(
    query: StatsQuery, against: Any, same_text: SameText
) -> None:
    """An unknown period or an unknown relation is a QueryError."""
    emulator = Emulator.demo()
    with emulator.client() as client, pytest.raises(QueryError) as caught:
        client.stats.compare(query, against=against)
    same_text(caught.value)
    assert emulator.requests == ()


def listed(*entries: tuple[str, int], truncated: bool = False) -> Entries[ListEntry]:
    """A list of countries with these page views."""
    return Entries(
        [ListEntry(value, count, count) for value, count in entries],
        name="countries",
        entry_type=ListEntry,
        truncated=truncated,
    )


def test_what_became_of_each_entry() -> None:
    """Entries are up, down, the same, new or gone."""
    now = listed(("NL", 5), ("DE", 2), ("FR", 3), ("BE", 1))
    before = listed(("NL", 4), ("DE", 3), ("FR", 3), ("US", 9))
    changes = changes_of(now, before)
    assert {item.value: item.direction for item in changes} == {
        "NL": "up",
        "DE": "down",
        "FR": "same",
        "BE": "new",
        "US": "gone",
    }
    assert changes.of("gone")[0].pageviews == Change(0, 9)


def test_an_entry_below_the_cut_is_not_called_gone() -> None:
    """An entry that a truncated list does not have is unknown, and not 0."""
    changes = changes_of(listed(("NL", 5), truncated=True), listed(("US", 9)))
    by_value = {item.value: item for item in changes}
    assert by_value["US"].direction == "unknown"
    assert by_value["US"].pageviews == Change(None, 9)
    assert by_value["NL"].direction == "new"
    assert changes.truncated


counts = st.dictionaries(st.sampled_from("ABCDEFG"), st.integers(0, 99))


@given(now=counts, before=counts)
def test_no_entry_is_lost_and_none_made_up(
    now: dict[str, int], before: dict[str, int]
) -> None:
    """Each entry of either list is in the changes once, with its own counts."""
    changes = changes_of(listed(*now.items()), listed(*before.items()))
    found = {
        item.value: (item.pageviews.now, item.pageviews.before) for item in changes
    }
    assert len(found) == len(changes)
    assert found == {
        value: (now.get(value, 0), before.get(value, 0)) for value in now | before
    }


@pytest.mark.parametrize(
    ("now", "before", "absolute", "percent"),
    [
        (3, 2, 1, 50.0),
        (3, 0, 3, None),
        (0, 4, -4, -100.0),
        (None, 4, None, None),
        (1e308, 0.5, 1e308, None),
    ],
)
def test_a_change(
    now: float | None, before: float, absolute: float | None, percent: float | None
) -> None:
    """A change has no percentage of 0 or an unknown count, nor one beyond floats."""
    change = Change(now, before)
    assert (change.absolute, change.percent) == (absolute, percent)


def test_a_field_that_was_not_requested(client: Client) -> None:
    """Comparing a list that was not requested is an error that names it."""
    comparison = client.stats.compare(QUERY.last(days=2))
    with pytest.raises(FieldNotRequestedError, match="countries"):
        comparison["countries"]
    assert list(comparison.lists) == ["pages"]


def marks(result: Any) -> set[str]:
    """In which of its forms *result* says that it is partial."""
    console = Console(file=io.StringIO(), width=80, _environ={})
    with console.capture() as capture:
        console.print(result)
    forms = {"html": result._repr_html_(), "rich": capture.get()}
    said = {name for name, text in forms.items() if "not over yet" in text}
    if "partial" in repr(result):
        said.add("repr")
    if any(result.to_polars()["partial"]):
        said.add("frame")
    return said


EVERYWHERE = {"html", "rich", "repr", "frame"}


@pytest.mark.parametrize("ongoing", ["now", "before"])
def test_a_partial_period_is_marked(client: Client, ongoing: str) -> None:
    """A comparison, and each of its lists, is marked partial in every form."""
    over = client.stats.compare(QUERY.last(days=2))
    assert not over.partial
    assert not marks(over) | marks(over["pages"]) | marks(over["pages"].of("up"))
    stats = attrs.evolve(getattr(over, ongoing), partial=True)
    comparison = attrs.evolve(over, **{ongoing: stats})
    assert comparison.partial
    pages = comparison["pages"]
    for result in (stats, comparison, pages, pages.of("up")):
        assert marks(result) == EVERYWHERE
    assert marks(pages.of()) == EVERYWHERE - {"frame"}


def test_frames_of_a_comparison(client: Client) -> None:
    """Totals and lists of a comparison become frames."""
    comparison = client.stats.compare(QUERY.last(days=2))
    totals = comparison.to_pandas()
    assert [name for name in totals if name.startswith("visitors")] == [
        *("visitors", "visitors_before", "visitors_change", "visitors_percent")
    ]
    assert str(totals["visitors_change"].dtype) == "int64"
    assert comparison.to_pandas("pages").shape[0] == len(comparison["pages"])
    pages = comparison["pages"].to_polars()
    assert pages.columns[:4] == [
        "value",
        "pageviews",
        "pageviews_before",
        "pageviews_change",
    ]
    assert pages.height == len(comparison["pages"])
