"""Which days are requested: rules, and a property over nights that fail anyhow."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from sitestats import NotFoundError, ServerError, SiteStatsError, WebsiteLockedError
from sitestats.warehouse import Coverage
from sitestats.warehouse._days import (
    DAY,
    FAILED_EVERYWHERE,
    FAILED_IN_A_ROW,
    LONGEST,
    WATCHED,
    Days,
    Totals,
    WebsiteDays,
)

FIRST = dt.date(2026, 1, 1)
PAGES = frozenset({"pages"})
ONE = Totals(1, 1)
DOWN = ServerError("down", status=503)
LOCKED = WebsiteLockedError("locked", status=423)
UNKNOWN = NotFoundError("unknown", status=404)


def at(number: int) -> dt.date:
    """The day of that number, from 1."""
    return FIRST + (number - 1) * DAY


def website(
    cursor: Coverage | None = None, *, days: int = 5, lag: int = 1, **other: Any
) -> WebsiteDays:
    """A website that is to have so many days."""
    options = {"timezone": "UTC", "lists": PAGES, "first": FIRST, **other}
    return WebsiteDays(cursor, last=at(days), lag=lag, **options)


def run(
    site: WebsiteDays, fails: Callable[[int], SiteStatsError | None] = lambda _: None
) -> list[int]:
    """Request all days that it wants, one after the other; these in that order."""
    taken = []
    for *_, day in sorted(site.schedule()):
        if not site.take(day):
            continue
        taken.append((day - FIRST).days + 1)
        if error := fails(taken[-1]):
            site.failed((day, day), error)
        else:
            site.read(day, ONE)
    return taken


def test_a_second_night_reads_what_is_new() -> None:
    """The new day, and before it the days of the lag."""
    site = website()
    assert run(site) == [1, 2, 3, 4, 5]
    cursor = site.cursor()
    assert (cursor.through, cursor.behind(at(7)), cursor.error) == (at(5), 2, None)
    assert run(website(cursor, days=6)) == [5, 6]
    assert run(website(cursor, days=7, lag=3)) == [3, 4, 5, 6, 7]
    assert run(website(cursor, days=6, lag=0)) == [6]
    # Until an earlier day.
    assert run(website(cursor, days=3, lag=0)) == []


def test_a_day_that_fails_holds_no_other_back() -> None:
    """Later days are read; the missing one is requested in each run, and reported."""
    site = website()
    assert run(site, lambda day: DOWN if day == 3 else None) == [1, 2, 3, 4, 5]
    cursor = site.cursor()
    assert (cursor.through, cursor.reached, cursor.behind(at(5))) == (at(2), at(5), 1)
    assert cursor.error == "2026-01-03: ServerError: down (status 503)"
    # Until an earlier day.
    assert run(website(cursor, days=2, lag=0)) == []
    site = website(cursor, days=6)
    assert run(site, lambda day: DOWN if day == 3 else None) == [5, 6, 3]
    assert site.cursor().failed == cursor.failed == (at(3),)
    site = website(site.cursor(), days=6, first=at(4))
    assert run(site) == [6, 3]
    assert (site.cursor().through, site.cursor().first) == (at(6), FIRST)


def test_days_that_always_fail_take_turns() -> None:
    """When many days always fail, each is requested in one run or another."""
    site, nights = website(days=12), list[set[int]]()
    for _ in range(9):
        nights.append({*run(site, lambda day: DOWN if 3 <= day < 9 else None)})
        site = website(site.cursor(), days=12)
    assert set.union(*nights) == {*range(1, 13)}
    assert {*range(3, 9)} <= nights[-1] | nights[-2]
    assert sorted(site.cursor().failed) == [at(day) for day in range(3, 9)]


def test_a_day_whose_totals_changed_is_read_again() -> None:
    """The histogram is compared with what was read; new days are still the first."""
    site = website()
    run(site)
    site = website(site.cursor(), days=6, lag=0)
    period = site.periods.pop()
    assert period == (FIRST, at(6))
    found = {at(n): ONE for n in range(1, 7)}
    assert site.read_period(period, {**found, at(2): Totals(2, 1)}) == []
    assert run(site) == [6, 2]
    # What the histogram has is what the next one is compared with.
    assert site.cursor().watched[at(2)] == (2, 1)


def test_months_are_read_from_the_first_that_changed() -> None:
    """Of days that were read, from the month of the first to the last; once."""
    both = PAGES | {"months"}
    site = website(days=40, lists=both)
    run(site)
    assert site.take_months() == (FIRST, at(40))
    assert site.cursor().months_from is None
    site = website(site.cursor(), days=41, lists=both, lag=0)
    run(site)
    period = site.take_months()
    assert period == (dt.date(2026, 2, 1), at(41))
    site.failed_months(period, DOWN)
    assert site.cursor().error == "months: ServerError: down (status 503)"
    site = website(site.cursor(), days=41, lists=both, lag=0)
    assert site.take_months() == period
    # A table that is new has all of them.
    run(site := website(days=40))
    assert website(site.cursor(), days=40, lists=both).take_months() == (FIRST, at(40))


def test_the_oldest_day_comes_first() -> None:
    """A website that is behind is read before the others, and missing days at last."""
    ahead = website()
    run(ahead, lambda day: DOWN if day == 1 else None)
    days = Days({"ahead": website(ahead.cursor(), days=6), "new": website(days=6)})
    order = []
    for site in days.websites.values():
        site.periods.clear()
    for name, (day, _) in days.days:
        order.append(f"{name} {(day - FIRST).days + 1}")
        with days.outcome(name) as site:
            site.read(day, ONE)
    assert order == [
        *("new 1", "new 2", "new 3", "new 4", "ahead 5", "new 5", "ahead 6", "new 6"),
        "ahead 1",
    ]
    assert days.left == 0


def test_a_service_that_is_down_is_left_alone() -> None:
    """After many failures in a row, whatever the website, nothing is requested."""
    sites = {str(n): website(days=400) for n in range(FAILED_EVERYWHERE)}
    days = Days({"whole": website(days=1), **sites})
    requests = 0
    for name, (day, _) in days.days:
        requests += 1
        error = LOCKED if requests == 50 else DOWN
        good = requests == 140 or name == "whole"
        with days.outcome(name, None if good else error) as site:
            if good:
                site.read(day, ONE)
            else:
                site.failed((day, day), error)
    assert (requests, days.left) == (140 + FAILED_EVERYWHERE, 0)
    assert str(sites["99"].cursor().error).startswith("the service fails: down")
    assert days.websites["whole"].cursor().error is None


@attrs.define
class Service:
    """A service with histograms, and the tables that runs fill from it."""

    luck: random.Random
    totals: dict[dt.date, Totals] = attrs.Factory(dict)
    stored: dict[dt.date, Totals] = attrs.Factory(dict)
    """The totals in the tables."""
    lists: dict[dt.date, frozenset[str]] = attrs.Factory(dict)

    def change(self, last: dt.date, often: float) -> None:
        """Let new days come, and the totals of others change."""
        for n in range((last - FIRST).days + 1):
            if at(n + 1) not in self.totals or self.luck.random() < often:
                found = self.luck.choice([(0, 0), (1, 1), (2, 1), (0, 1)])
                self.totals[at(n + 1)] = Totals(*found)

    def run(
        self, cursor: Coverage | None, badness: float, batch: int, **given: Any
    ) -> Coverage:
        """One run, whose requests fail with such a chance, and end in any order."""
        site = WebsiteDays(cursor, timezone="UTC", **given)
        lists = given["lists"]
        self.read_histograms(site, lists, badness)
        self.read_days(site, lists, badness, batch)
        after = Coverage.from_state(json.loads(json.dumps(site.cursor().to_state())))
        # It promises no day, and no list, that is not there.
        for n in range((after.reached - after.first).days + 1):
            if (day := after.first + n * DAY) not in after.failed:
                assert after.lists <= self.lists[day]
        return after

    def read_histograms(
        self, site: WebsiteDays, lists: frozenset[str], badness: float
    ) -> None:
        """Store the days that need no request of their own."""
        while site.periods and not site.ended:
            period = site.periods.pop()
            assert (period[1] - period[0]).days < LONGEST
            if self.luck.random() < badness:
                site.failed_period(period, DOWN)
                continue
            found = {d: t for d, t in self.totals.items() if period[0] <= d}
            found = {d: t for d, t in found.items() if self.luck.random() >= badness}
            for day in site.read_period(period, found):
                assert not lists or (found[day] == (0, 0) and "events" not in lists)
                self.stored[day], self.lists[day] = found[day], lists

    def read_days(
        self, site: WebsiteDays, lists: frozenset[str], badness: float, batch: int
    ) -> None:
        """Store the days, unless the run is killed."""
        schedule, taken = iter(sorted(site.schedule())), 1
        while taken and self.luck.random() >= badness / 9:
            days = [day for _, (*_, day) in zip(range(batch), schedule, strict=False)]
            days = [day for day in days if site.take(day)]
            taken = len(days)
            self.luck.shuffle(days)
            for day in days:
                chance = self.luck.random()
                if chance > badness:
                    site.read(day, self.totals[day])
                    self.stored[day], self.lists[day] = self.totals[day], lists
                elif chance > badness * 0.1:
                    site.failed((day, day), DOWN if chance > badness * 0.2 else UNKNOWN)


WANTED = st.sampled_from([frozenset[str](), PAGES, frozenset({"pages", "events"})])
NIGHT = st.tuples(
    st.integers(0, 40),
    st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0]),
    st.sampled_from([0.0, 0.3]),
    WANTED,
    st.integers(0, 25),
    st.booleans(),
)


@given(st.lists(NIGHT, max_size=8), st.integers(0, 3), st.integers(1, 9), st.integers())
def test_every_day_is_read(
    nights: list[tuple[int, float, float, frozenset[str], int, bool]],
    lag: int,
    batch: int,
    seed: int,
) -> None:
    """Whatever lists and first days were wanted before, and whatever failed, changed,
    was killed or absent from histograms: at the end each day is there with each list,
    and those of the last thirty have their totals.
    """
    service, cursor, last = Service(random.Random(seed)), None, FIRST
    lists = frozenset[str]()
    for more, badness, often, wanted, first, killed in nights:
        last += more * DAY
        service.change(last, often)
        given: dict[str, Any] = {"first": min(last, FIRST + first * DAY), "lag": lag}
        given |= {"lists": lists | wanted, "last": last}
        after = service.run(cursor, badness, batch, **given)
        if not killed:
            # A killed run leaves rows, and no cursor.
            cursor, lists = after, lists | wanted
    service.change(last, 0)
    for _ in range(len(nights) * FAILED_IN_A_ROW + 2):
        given = {"lists": lists, "first": FIRST, "last": last, "lag": lag}
        cursor = service.run(cursor, 0.0, batch, **given)
    assert cursor is not None
    assert (cursor.through, cursor.error, cursor.failed) == (last, None, ())
    assert cursor.behind(last) == 0
    assert service.totals.keys() == service.stored.keys()
    for day, there in service.lists.items():
        assert lists <= there
        if day > last - WATCHED * DAY:
            assert service.stored[day] == service.totals[day]
