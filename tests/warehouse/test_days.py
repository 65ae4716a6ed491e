"""Which days are requested, in which order, and what is left after failures."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from sitestats import ServerError, SiteStatsError, WebsiteLockedError
from sitestats.warehouse import Coverage
from warehouse.inside import DAY, FAILED_EVERYWHERE, Days, Totals, WebsiteDays

FIRST = dt.date(2026, 1, 1)
PAGES = frozenset({"pages"})
ONE = Totals(1, 1)
DOWN = ServerError("down", status_code=503)
LOCKED = WebsiteLockedError("locked", status_code=423)


def at(number: int) -> dt.date:
    """The day of that number, from 1."""
    return FIRST + (number - 1) * DAY


def website(
    coverage: Coverage | None = None, *, days: int = 5, lag: int = 1, **other: Any
) -> WebsiteDays:
    """A website that is to have so many days."""
    options = {"timezone": "UTC", "lists": PAGES, "first": FIRST, **other}
    return WebsiteDays(coverage, last=at(days), lag=lag, **options)


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


def test_a_day_that_fails_holds_no_other_back() -> None:
    """Later days are read; the missing one is requested in each run, and reported."""
    site = website()
    assert run(site, lambda day: DOWN if day == 3 else None) == [1, 2, 3, 4, 5]
    known = site.coverage()
    assert (known.through, known.reached, known.behind(at(5))) == (at(2), at(5), 1)
    assert known.error == "2026-01-03: ServerError: down (status 503)"
    site = website(known, days=6)
    assert run(site, lambda day: DOWN if day == 3 else None) == [5, 6, 3]
    assert site.coverage().failed == known.failed == (at(3),)
    site = website(site.coverage(), days=6, first=at(4))
    assert run(site) == [6, 3]
    assert (site.coverage().through, site.coverage().first) == (at(6), FIRST)


def test_a_first_day_may_be_set_back_before_there_are_days() -> None:
    """The first one was tomorrow; the earlier days are read, and nothing is behind."""
    site = website(website(first=at(7)).coverage())
    assert run(site) == [1, 2, 3, 4, 5]
    assert site.coverage().behind(at(5)) == 0


def test_a_run_that_ends_early_goes_on_in_the_next_update() -> None:
    """A website ends after three failures in a row, or that of a histogram which has
    all of its days.
    """
    site = website(days=9)
    assert run(site, lambda day: None if day == 2 else DOWN) == [1, 2, 3, 4, 5]
    # A day that was not read before it is not there either.
    site = website()
    site.read(at(1), ONE)
    site.failed((at(3), at(3)), DOWN)
    known = site.coverage()
    assert (known.reached, known.failed, known.behind(at(5))) == (at(1), (), 4)
    site = website(lists=frozenset())
    site.failed_period(site.periods.pop(), DOWN)
    assert (site.ended, site.left) == (True, 0)


def test_days_that_always_fail_take_turns() -> None:
    """When many days always fail, each is requested in one run or another."""
    site, nights = website(days=12), list[set[int]]()
    for _ in range(9):
        nights.append({*run(site, lambda day: DOWN if 3 <= day < 9 else None)})
        site = website(site.coverage(), days=12)
    assert set.union(*nights) == {*range(1, 13)}
    assert {*range(3, 9)} <= nights[-1] | nights[-2]
    assert sorted(site.coverage().failed) == [at(day) for day in range(3, 9)]


def test_days_that_are_read_in_part_are_read_again() -> None:
    """They end no run, however many, and thirty of them are requested in another."""
    site = website(days=50)
    for *_, day in sorted(site.schedule()):
        assert site.take(day)
        site.read(day, ONE, DOWN)
    again = run(website(site.coverage(), days=50))
    assert again == [50, *range(1, 31)]


def test_months_are_read_from_the_first_that_changed() -> None:
    """Of days that were read, from the month of the first to the last; once."""
    both = PAGES | {"months"}
    site = website(days=40, lists=both)
    run(site)
    assert site.take_months() == (FIRST, at(40))
    assert site.coverage().months_from is None
    site = website(site.coverage(), days=41, lists=both, lag=0)
    run(site)
    assert site.take_months() == (dt.date(2026, 2, 1), at(41))
    # A table that is new has all of them.
    run(site := website(days=40))
    site = website(site.coverage(), days=40, lists=both)
    assert site.take_months() == (FIRST, at(40))


def test_visitors_alone_are_a_fall_too() -> None:
    """Without a page view there is nothing."""
    site = website(lists=frozenset())
    site.read_period((at(1), at(5)), {at(day): Totals(100, 9) for day in range(1, 6)})
    site = website(site.coverage(), days=6, lists=frozenset())
    site.read_period((at(1), at(6)), {at(day): Totals(0, 9) for day in range(1, 7)})
    assert [*site.coverage().held] == [at(day) for day in range(1, 6)]


def test_the_oldest_day_comes_first() -> None:
    """A website that is behind is read before the others, and missing days at last."""
    ahead = website()
    run(ahead, lambda day: DOWN if day == 1 else None)
    days = Days({"ahead": website(ahead.coverage(), days=6), "new": website(days=6)})
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
    assert [*days.histograms]
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
    assert str(sites["99"].coverage().error).startswith("the service fails: down")
    assert days.websites["whole"].coverage().error is None
