"""The requests of one load, without a destination."""

from __future__ import annotations

import pytest

from sitestats import SiteStatsWarning
from sitestats.emulator import Emulator
from sitestats.warehouse._days import Days, WebsiteDays
from sitestats.warehouse._held import DAY
from sitestats.warehouse._reading import Reading
from sitestats.warehouse._tables import Rows
from updates import FIRST, NOW, ticking

pytestmark = pytest.mark.once


def test_a_load_reads_histograms_then_days_until_its_limit() -> None:
    """The days go on in the next load; a histogram that fails is reported, and each
    day that the others show is requested.
    """
    emulator = Emulator.made_up(2, days=4, now=NOW)
    emulator.fail_next(status=500, path="/blog.example.json")
    days = Days(
        {
            name: WebsiteDays(
                None,
                timezone="UTC",
                lists=frozenset({"pages"}),
                first=FIRST,
                last=FIRST + 3 * DAY,
            )
            for name in emulator.websites
        }
    )
    shown: list[tuple[int, int]] = []

    def load(most: int) -> int:
        tables = {name: Rows(name) for name in ("days", "pages")}
        reading = Reading(
            client=emulator.client(retries=0),
            days=days,
            tables=tables,
            concurrency=1,
            now=ticking(NOW),
            may_request=lambda requests: requests < most,
            show=lambda done, total: shown.append((done, total)),
        )
        before, number = len(emulator.requests), sum(reading.read())
        (rows,) = tables["days"].take()
        assert rows.data.num_rows == number
        assert reading.requests == len(emulator.requests) - before
        return number

    with pytest.warns(SiteStatsWarning, match=r"1 website failed.*: blog\.example"):
        assert load(5) == 3
    assert (len(emulator.requests), days.left) == (5, 5)
    assert shown[-1] == (5, 10)
    assert load(9) == 5
    assert (len(emulator.requests), days.left) == (10, 0)
    sent = {(one.params["limit"], one.params["timezone"]) for one in emulator.requests}
    assert sent == {("1000", "UTC")}
