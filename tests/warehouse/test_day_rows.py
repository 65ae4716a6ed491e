"""The rows of a day, and of the days of a histogram."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from sitestats import Stats, StatsQuery
from sitestats.emulator import Emulator
from sitestats.warehouse._day_rows import totals_of, values_of, why_not
from sitestats.warehouse._held import DAY
from sitestats.warehouse._tables import Rows
from updates import FIRST, NOW

pytestmark = pytest.mark.once

QUERY = StatsQuery("shop.example").between(FIRST, FIRST + 4 * DAY)


def respond(query: StatsQuery, **changes: Any) -> Stats:
    """The response to *query*, in which some values are others."""
    emulator = Emulator.made_up(1, days=5, now=NOW)
    client = emulator.client()
    body = json.loads(client.stats.get(query).body)
    emulator.fail_next(body={**body, **changes})
    return client.stats.get(query)


@pytest.mark.filterwarnings("ignore:.*the response")
def test_what_a_histogram_does_not_prove_is_left_out() -> None:
    """A day that is there twice, lacks a number, has too large a one, or is not over
    is requested by itself.
    """
    first, second, third, fourth, fifth = (str(FIRST + n * DAY) for n in range(5))
    entries = [
        {"date": first, "pageviews": 3, "visitors": 2},
        {"date": second, "pageviews": 3, "visitors": 2},
        {"date": second, "pageviews": 0, "visitors": 0},
        {"date": third, "pageviews": 3},
        {"date": fourth, "pageviews": 3, "visitors": 2**63},
        {"date": fifth, "pageviews": 1, "visitors": 1},
    ]
    stats = respond(QUERY.fields("histogram"), histogram=entries)
    assert totals_of(stats) == {FIRST: (3, 2)}


@pytest.mark.filterwarnings("ignore:the response")
def test_a_day_has_rows_in_each_table() -> None:
    """A list without an entry has a row that says so, for it replaces older ones."""
    fields = ("pageviews", "visitors", "seconds_on_page", "pages", "countries")
    stats = respond(QUERY.on(FIRST).fields(*fields).limit(2), countries=[])
    tables = ["days", "countries", "pages"]
    found = {name: rows for name, *rows in values_of(stats, tables)}
    number, values = found["days"]
    assert (number, values["pageviews"]) == (1, stats.pageviews)
    assert values["partial"] is False
    assert found["countries"] == [1, {"rank": 0, "no_rows": True}]
    number, values = found["pages"]
    assert values["rank"] == [*range(1, number + 1)] == [1, 2]
    assert values["truncated"] is True
    assert values["value"] == [entry.value for entry in stats.pages]


@pytest.mark.filterwarnings("ignore:the response")
def test_what_no_table_stores_has_a_reason() -> None:
    """The response about another day, and a number beyond 64 bits, are no rows."""
    query = QUERY.on(FIRST).fields("pageviews", "visitors", "seconds_on_page")
    tables = {"days": Rows("days")}
    stats = respond(query, visitors=2**63)
    found = [*values_of(stats, tables)]
    assert why_not(stats, FIRST, found, tables) == (
        "a number does not fit into 64 bits: days.visitors"
    )
    assert why_not(stats, dt.date(2020, 1, 1), found, tables) == (
        "the response is about another day: 2026-03-01"
    )
    stats = respond(query)
    assert why_not(stats, FIRST, [*values_of(stats, tables)], tables) is None
