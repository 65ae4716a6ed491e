"""What is stored and what is found: rules without a file, clocks or clients."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inside import HttpResponse, parameters_of
from query_strategies import queries
from sitestats import Stats, StatsQuery
from store.inside import StoreEntry, response_key, to_store

NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)
DAY = StatsQuery("example.com").fields("visitors").between("2026-05-01", "2026-05-09")
WORDS = StatsQuery("example.com").fields("visitors").timezone("UTC").last(days=3)


def response(
    moment: datetime | None = NOON, body: bytes = b"{}", status: int = 200
) -> HttpResponse:
    """A response of the service at *moment*, by its clock."""
    headers = {} if moment is None else {"date": format_datetime(moment, usegmt=True)}
    return HttpResponse(status, headers, body)


def stats(query: StatsQuery, **changes: Any) -> Stats:
    """What a response about 1 to 9 May in UTC was read as."""
    values: dict[str, Any] = {
        "query": query,
        "timezone": "UTC",
        "start": datetime(2026, 5, 1, tzinfo=UTC),
        "end": datetime(2026, 5, 9, 23, 59, 59, 999_000, tzinfo=UTC),
        "first_day": datetime(2026, 5, 1, tzinfo=UTC).date(),
        "last_day": datetime(2026, 5, 9, tzinfo=UTC).date(),
        "values": {"visitors": 1},
    }
    return Stats(**{**values, **changes})


END = datetime(2026, 5, 9, 23, 59, 59, 999_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "received"),
    [
        ({}, response(END - timedelta(seconds=1))),
        ({}, response(moment=None)),
        ({}, response(status=203)),
        ({"timezone": None}, response()),
        ({"end": None}, response()),
        ({"last_day": None}, response()),
        ({"query": DAY.extra_param("sampling", "0.1")}, response()),
    ],
)
def test_what_is_not_certain_is_not_stored(
    changes: dict[str, Any], received: HttpResponse
) -> None:
    """Nothing is stored of a response whose period is not known or may go on by the
    service's clock, or of a query with a parameter whose meaning is not known.
    """
    found = stats(**{"query": DAY, **changes})
    assert to_store(parameters_of(found.query), received, found, NOON) is None


MARGIN = timedelta(minutes=10)


@given(
    st.timedeltas(timedelta(-3), timedelta(3)),
    st.timedeltas(timedelta(-3), timedelta(3)),
)
@example(timedelta(1), timedelta(-1))
@example(timedelta(-1), timedelta(1))
def test_a_period_must_be_over_by_both_clocks(
    service: timedelta, machine: timedelta
) -> None:
    """A response is stored only if its period was over by the service's clock and by
    this machine's, for ten minutes: either may be wrong.
    """
    # A date in a header has no fractions.
    date = (END + service).replace(microsecond=0)
    stored = to_store(parameters_of(DAY), response(date), stats(DAY), END + machine)
    assert (stored is not None) == (min(date, END + machine) > END + MARGIN)


@pytest.mark.parametrize(
    "query",
    [
        StatsQuery("example.com").fields("visitors"),
        StatsQuery("example.com").since("2026-05-01"),
        StatsQuery("example.com").last(days=3),
        DAY.extra_param("sampling", "0.1"),
        WORDS.extra_param("timezone", "Not/Readable"),
    ],
)
def test_what_is_not_certain_is_not_looked_up(query: StatsQuery) -> None:
    """A query whose days or whose meaning is not certain finds nothing."""
    assert response_key(parameters_of(query), NOON) is None


def test_words_are_days_in_the_zone_of_the_query() -> None:
    """Words find what those dates find that they mean now in the query's zone, so
    a response is not found after midnight.
    """
    before = datetime(2026, 5, 10, 23, 59, 59, tzinfo=UTC)
    for now, *dates in (
        (before, "2026-05-07", "2026-05-09"),
        (before + timedelta(seconds=1), "2026-05-08", "2026-05-10"),
    ):
        found = response_key(parameters_of(WORDS), now)
        assert found is not None
        assert found == response_key(parameters_of(WORDS.between(*dates)), now)


def test_words_are_stored_by_the_days_of_the_response() -> None:
    """At midnight "yesterday" is another day here than at the service, so a response
    is stored under the days that it is about.
    """
    query = DAY.timezone("UTC").on("yesterday")
    day = datetime(2026, 5, 9, tzinfo=UTC).date()
    one = {"start": datetime(2026, 5, 9, tzinfo=UTC), "first_day": day}
    stored = to_store(parameters_of(query), response(), stats(query, **one), NOON)
    assert stored is not None
    assert stored[0] == response_key(parameters_of(query.on(day)), NOON)


past = queries().map(lambda query: query.timezone("UTC").on("2026-05-01"))


@given(past, past)
@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_two_queries_are_found_together_if_they_send_the_same(
    one: StatsQuery, other: StatsQuery
) -> None:
    """Two queries have the same lookup exactly if they send the same, whatever the
    order of their steps; a page of one website is not that page of another.
    """
    sent, other_sent = parameters_of(one), parameters_of(other)
    first, second = response_key(sent, NOON), response_key(other_sent, NOON)
    if first and second:
        same = sent.params == other_sent.params and sent.address == other_sent.address
        assert (first == second) == same


@given(st.binary(max_size=5_000), st.integers(0, 5_000), st.integers(1, 255))
def test_what_is_packed_is_unpacked(body: bytes, place: int, change: int) -> None:
    """A response is unpacked as it was. Data that is cut or changed gives no response,
    or the same, and no error.
    """
    stored = StoreEntry("Sun, 10 May 2026 12:00:00 GMT", "Europe/Amsterdam", body)
    assert StoreEntry.from_bytes(stored.to_bytes()) == stored
    data = bytearray(stored.to_bytes())
    assert StoreEntry.from_bytes(bytes(data[: place % len(data)])) is None
    data[place % len(data)] ^= change
    assert StoreEntry.from_bytes(bytes(data)) in {None, stored}


@given(st.integers(-150, 150), st.integers(1, 150))
def test_a_response_is_used_until_it_is_too_old(age: int, most: int) -> None:
    """A stored response is used until it is as old as the limit."""
    stored = StoreEntry(format_datetime(NOON, usegmt=True), "UTC", b"{}")
    now = NOON + timedelta(seconds=age)
    assert stored.is_usable(now, timedelta(seconds=most)) == (age < most)
    assert stored.is_usable(now, None)
    assert not attrs.evolve(stored, date="soon").is_usable(now, None)
