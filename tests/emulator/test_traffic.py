"""Made-up traffic: what it has, and that it is the same in every run."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from emulator.inside import CAMPAIGN, read_table
from sitestats import Client, StatsQuery
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
YEAR = StatsQuery("shop.example").last(days=365)
YESTERDAY = date(2026, 11, 20)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of an emulator with a year of six websites."""
    with Emulator.made_up(6, now=NOW).client() as client:
        yield client


def views(client: Client, query: StatsQuery) -> int:
    """The page views of a query."""
    return client.stats.get(query.fields("pageviews")).pageviews


def test_it_is_the_same_in_every_run(client: Client) -> None:
    """A notebook and a picture made of it stay as they are committed."""
    query = YEAR.fields("pageviews", "histogram", "pages", "countries").all_events()
    with Emulator.made_up(now=NOW).client() as other:
        again = other.stats.get(query)
    # Also for one website, and beside others.
    assert again == client.stats.get(query)
    # The same with any version of Python.
    assert (again.pageviews, again.histogram[0].pageviews) == (68_758, 168)


def test_it_says_that_it_is_made_up(client: Client) -> None:
    """Nobody takes it for real traffic: the list of websites has the label."""
    websites = client.websites.list()
    assert {website.label for website in websites} == {
        f"made up: {kind.name}" for kind in read_table()["kinds"]
    }
    assert [website.hostname for website in websites][-1] == "shop2.example"
    assert [website.timezone for website in websites] == read_table()["zones"][:6]


def test_it_ends_yesterday_in_each_zone(client: Client) -> None:
    """The last days are whole, so that they don't look like a fall."""
    for website in client.websites.list():
        query = StatsQuery(website).fields("histogram").last(days=367, today=True)
        days = [day.pageviews for day in client.stats.get(query).histogram]
        assert days[0] == 0 < min(days[1:-1])
        assert days[-1] == 0


def test_there_are_seasons_and_weekends(client: Client) -> None:
    """A shop lives on December, and documentation is read on working days."""
    shop = StatsQuery("shop.example")
    assert views(client, shop.during("2025-12")) > 1.2 * views(
        client, shop.during("2026-01")
    )
    docs = StatsQuery("docs.example")
    week = [views(client, day) for day in docs.during("2026-W40").each("day")]
    assert max(week[5:]) < 0.7 * min(week[:5])


def test_the_campaign_has_its_days(client: Client) -> None:
    """It can be found by its name, and brings events."""
    first, last = (YESTERDAY + timedelta(days=days) for days in CAMPAIGN)
    query = StatsQuery("shop.example").fields("pageviews", "utm_campaigns")
    query = query.events("purchase")
    everything = client.stats.get(query.last(days=365))
    found = client.stats.get(query.between(first, last).where(utm_campaign="sale"))
    (sale,) = everything.utm_campaigns
    assert sale.value == "sale"
    assert found.pageviews == sale.pageviews > 1000
    rate = found.events[0].total / found.pageviews
    assert rate > 2 * everything.events[0].total / everything.pageviews
