"""Statistics of single days: the same as those of any other period, and never old."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import cycle, product

import pytest

from sitestats import StatsQuery
from sitestats.emulator import Emulator

pytestmark = pytest.mark.once

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
FIELDS = ("visitors", "histogram", "pages", "referrers", "seconds_on_page")


@pytest.mark.parametrize("null_entries", [False, True])
def test_a_day_is_as_it_is_counted_by_itself(*, null_entries: bool) -> None:
    """A filter that fits everything makes the emulator count one day by itself."""
    made_up = Emulator.made_up(3, days=150, now=NOW, null_entries=null_entries)
    # No divisor of the number of days, so that each website tries others together.
    cases = cycle(product((2, 1000), ("day", "week")))
    with made_up.client() as client:
        for website in client.websites.list():
            query = StatsQuery(website).fields(*FIELDS).all_events()
            for back in (0, 1, 2, 3, 26, 27, 60, 149, 151):
                limit, interval = next(cases)
                day = query.limit(limit).extra_param("interval", interval)
                day = day.on(f"today-{back}d").timezone(website.timezone)
                one = client.stats.get(day.where(page="/*")).to_dict()
                of_many = client.stats.get(day).to_dict()
                others = {name: of_many[name] for name in ("path", "generated_in_ms")}
                assert of_many == one | others


def test_rows_that_are_added_count_at_once() -> None:
    """What was counted before belongs to the rows of then."""
    emulator = Emulator(now=NOW)
    row = {"hostname": "example.com", "path": "/", "added_iso": "2026-11-20T12:00:00Z"}
    query = StatsQuery("example.com").fields("pages").on("2026-11-20")
    with emulator.client() as client:
        for count in (1, 2):
            emulator.load([row])
            assert client.stats.get(query).pages[0].pageviews == count
