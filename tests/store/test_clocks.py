"""A store beside a service whose clock is ahead of this machine's."""

from __future__ import annotations

import datetime as dt
import json
import warnings
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest
import respx
import time_machine

from sitestats import Client, SiteStatsWarning, StatsQuery

QUERY = StatsQuery("example.com").timezone("UTC").fields("visitors")


def service(now: dt.datetime, day: dt.date) -> httpx.Response:
    """A response about a *day*, of a service whose clock shows *now*."""
    body = {
        "timezone": "UTC",
        "visitors": 3,
        "start": f"{day}T00:00:00.000Z",
        "end": f"{day}T23:59:59.999Z",
    }
    date = format_datetime(now, usegmt=True)
    return httpx.Response(200, headers={"Date": date}, content=json.dumps(body))


@pytest.mark.parametrize("ahead", [0, 90, 3600])
@respx.mock
def test_dates_come_from_the_store(ahead: int, tmp_path: Path) -> None:
    """The days of dates are certain by every clock, so they are requested once."""
    now = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=ahead)
    day = now.date() - dt.timedelta(days=2)
    route = respx.get(url__startswith="https://stats.test/").mock(service(now, day))
    with Client("https://stats.test", store=tmp_path / "s.sqlite") as client:
        for _ in range(2):
            client.stats.get(QUERY.on(day))
    assert route.call_count == 1


@time_machine.travel(dt.datetime(2026, 3, 10, 12, tzinfo=dt.UTC), tick=True)
@respx.mock
def test_words_that_may_name_other_days_say_so_once(tmp_path: Path) -> None:
    """If the service is a day ahead, "yesterday" is another day here: what is stored is
    not used for it, with one warning.
    """
    here = dt.datetime.now(dt.UTC)
    there, day = here + dt.timedelta(days=1), here.date() - dt.timedelta(days=1)
    route = respx.get(url__startswith="https://stats.test/").mock(service(there, day))
    with (
        Client("https://stats.test", store=tmp_path / "s.sqlite") as client,
        warnings.catch_warnings(record=True) as seen,
    ):
        warnings.simplefilter("always", SiteStatsWarning)
        client.stats.get(QUERY.on(day))
        for _ in range(2):
            client.stats.get(QUERY.on("yesterday"))
    assert route.call_count == 3
    assert sum("clock is" in str(one.message) for one in seen) == 1
