"""Which days are requested: rules, and properties over many runs that fail anyhow."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats import NotFoundError, ServerError, SiteStatsError, WebsiteLockedError
from sitestats.warehouse import Coverage
from sitestats.warehouse._days import (
    FAILED_EVERYWHERE,
    FAILED_IN_A_ROW,
    LONGEST,
    MEDIAN,
    NO_LISTS,
    WATCHED,
    Days,
    WebsiteDays,
    last_day,
)
from sitestats.warehouse._held import DAY, Held, Stretch

pytestmark = pytest.mark.once

FIRST = dt.date(2026, 1, 1)
LISTS = frozenset({"pages"})
DOWN = ServerError("down", status=503)
LOCKED = WebsiteLockedError("locked", status=423)
UNKNOWN = NotFoundError("unknown", status=404)


def website(
    cursor: Coverage | None = None, *, days: int = 5, lag: int = 1, **other: object
) -> WebsiteDays:
    """A website that is to have so many days."""
    options = {"timezone": "UTC", "lists": LISTS, "first": FIRST, **other}
    last = FIRST + (days - 1) * DAY
    return WebsiteDays(cursor, last=last, lag=lag, **options)  # type: ignore[arg-type]  # any of them may be given


def test_new_days_that_get_fewer_lists_are_noticed() -> None:
    """The lists are named that the last days have, and new ones are not to have."""
    held = Held([Stretch(FIRST, FIRST, NO_LISTS)])
    held.put(FIRST + DAY, frozenset({"countries"}))
    for day in range(2, 5):
        held.put(FIRST + day * DAY, LISTS | {"events", MEDIAN})
    cursor = Coverage(first=FIRST, held=held.parts, timezone="UTC", lists=LISTS)
    assert website(cursor, days=6).unfilled == {"events"}
    assert website(cursor, days=5).unfilled == NO_LISTS
    ended = website(cursor, days=6)
    ended.end("unknown", lasting=True)
    assert ended.unfilled == website(days=6).unfilled == NO_LISTS


def number(day: dt.date | None) -> int | None:
    """A day's place among the days, from 1."""
    return None if day is None else (day - FIRST).days + 1


def run(
    site: WebsiteDays, failing: Callable[[int], SiteStatsError | None]
) -> list[int]:
    """Request all that it wants, one after the other; the days in that order."""
    taken = []
    while (day := site.take()) is not None:
        place = number(day)
        assert place is not None
        taken.append(place)
        error = failing(place)
        if error is None:
            site.read(day)
        else:
            site.failed(day, error)
    assert site.left == 0
    return taken


def test_a_second_run_reads_what_is_new() -> None:
    """Tomorrow's run requests the new day, and before it the days of the lag."""
    site = website()
    assert run(site, lambda _: None) == [1, 2, 3, 4, 5]
    cursor = site.cursor()
    assert (number(cursor.through), cursor.error) == (5, None)
    assert run(website(cursor, days=6), lambda _: None) == [5, 6]
    assert run(website(cursor, days=7, lag=3), lambda _: None) == [3, 4, 5, 6, 7]
    assert run(website(cursor, days=6, lag=0), lambda _: None) == [6]
    # A clock that was set back.
    assert run(website(cursor, days=3, lag=0), lambda _: None) == []


def test_a_day_that_fails_holds_no_other_back() -> None:
    """Later days are read; the missing one is requested in each run, and reported."""
    site = website()
    assert run(site, lambda day: DOWN if day == 3 else None) == [1, 2, 3, 4, 5]
    cursor = site.cursor()
    assert (number(cursor.through), number(cursor.reached)) == (2, 5)
    assert cursor.behind(FIRST + 4 * DAY) == 1
    assert cursor.error == "2026-01-03: ServerError: down (status 503)"
    site = website(cursor, days=6)
    assert run(site, lambda day: DOWN if day == 3 else None) == [5, 6, 3]
    assert site.cursor().missing == cursor.missing
    site = website(site.cursor(), days=6)
    assert run(site, lambda _: None) == [6, 3]
    assert (number(site.cursor().through), site.cursor().error) == (6, None)


def test_days_that_always_fail_take_turns() -> None:
    """When many days always fail, each is requested in one run or another."""
    bad = range(3, 9)
    site = website(days=12)
    requested = set(run(site, lambda day: DOWN if day in bad else None))
    # It has ended, and goes on behind the days that failed.
    assert requested == {1, 2, 3, 4, 5}
    for _ in range(6):
        site = website(site.cursor(), days=12)
        requested |= set(run(site, lambda day: DOWN if day in bad else None))
    cursor = site.cursor()
    assert requested == set(range(1, 13))
    assert sorted(map(number, cursor.missing)) == [*bad]
    turns = []
    for _ in range(4):
        site = website(site.cursor(), days=12)
        turns += run(site, lambda day: DOWN if day in bad else None)
    assert set(turns) >= set(bad)


def test_the_reason_of_a_missing_day_is_remembered() -> None:
    """A run that does not reach a missing day has the reason of the run before, and
    one about another day has none.
    """
    site = website()
    run(site, {2: DOWN, 4: DOWN}.get)
    cursor = site.cursor()
    assert cursor.error == "2026-01-02: ServerError: down (status 503)"
    assert website(cursor).cursor().error == cursor.error
    site = website(cursor)
    run(site, {2: ServerError("again", status=500)}.get)
    assert site.cursor().error == "2026-01-02: ServerError: again (status 500)"
    site = website(cursor, lag=0)
    assert number(site.take()) == 2
    site.read(FIRST + DAY)
    assert site.cursor().error == "2026-01-04: it was not read"


def test_what_concerns_the_whole_website_ends_it() -> None:
    """A locked website costs one request a run, and its error names no day."""
    site = website()
    assert run(site, lambda _: LOCKED) == [1]
    cursor = site.cursor()
    assert cursor.error == "WebsiteLockedError: locked (status 423)"
    assert cursor.lasting
    assert cursor.through is None
    assert cursor.missing == ()
    site = website(cursor)
    assert run(site, lambda _: None) == [1, 2, 3, 4, 5]
    # One that nobody knows may be a mistyped name, if it was never read.
    for before, is_unknown in ((None, True), (site.cursor(), False)):
        site = website(before)
        run(site, lambda _: UNKNOWN)
        assert site.is_unknown is is_unknown
    # So it does where its histogram is requested first.
    site = website()
    period = site.take_period()
    assert period
    site.failed_period(period, LOCKED)
    assert (site.left, site.cursor().lasting) == (0, True)


def test_a_day_of_the_lag_that_fails_is_read_later() -> None:
    """A day whose second reading failed is not forgotten when later days are read."""
    site = website()
    run(site, lambda _: None)
    site = website(site.cursor(), days=6, lag=2)
    assert run(site, lambda day: DOWN if day == 4 else None) == [4, 5, 6]
    assert [*map(number, site.cursor().missing)] == [4]
    # It was locked for a moment, and then the days behind it were read.
    site = website(days=5)
    run(site, lambda _: None)
    site = website(site.cursor(), days=6)
    lag, new = site.take(), site.take()
    assert lag
    assert new
    site.read(new)
    site.failed(lag, LOCKED)
    assert [*map(number, site.cursor().missing)] == [5]


def test_a_day_that_is_not_over_is_not_read() -> None:
    """A day that the service's clock calls unfinished is requested again."""
    site = website(days=2)
    day = site.take()
    assert day
    site.read(day)
    assert number(site.take()) == 2
    assert number(site.cursor().through) == 1
    assert run(website(site.cursor(), days=2), lambda _: None) == [1, 2]


@pytest.mark.parametrize(
    ("change", "requested"),
    [
        ({"timezone": "Asia/Tokyo"}, [1, 2, 3, 4, 5]),
        ({"lists": LISTS | {"events"}}, [5, 1, 2, 3, 4]),
        ({"lists": frozenset()}, [5]),
        ({"first": FIRST - 2 * DAY}, [5, -1, 0]),
        ({"first": FIRST + 3 * DAY}, [5]),
        ({"first": FIRST + 9 * DAY, "days": 11}, [10, 11]),
    ],
    ids=["zone", "more lists", "fewer lists", "earlier", "later", "behind the last"],
)
def test_what_has_changed_is_read_again(
    change: dict[str, object], requested: list[int]
) -> None:
    """Days that are others now, or lack a list, are requested; no day twice."""
    site = website()
    run(site, lambda _: None)
    site = website(site.cursor(), **change)  # type: ignore[arg-type]  # as above
    assert run(site, lambda _: None) == requested


def test_a_later_first_day_gives_up_what_is_missing() -> None:
    """With a later first day, a day before it that always fails is forgotten."""
    site = website()
    run(site, lambda day: DOWN if day == 2 else None)
    site = website(site.cursor(), first=FIRST + 2 * DAY)
    assert run(site, lambda _: None) == [5]
    assert site.cursor().missing == ()
    assert number(site.cursor().first) == 3


def test_a_day_whose_totals_changed_is_read_again() -> None:
    """The histogram is compared with what was read; new days are still the first."""
    site = website()
    while (day := site.take()) is not None:
        site.read(day, (1, 1))
    site = website(site.cursor(), days=6, lag=0)
    period = site.take_period()
    assert period == (FIRST, FIRST + 5 * DAY)
    found = {FIRST + n * DAY: (1, 1) for n in range(6)}
    assert site.read_period(period, {**found, FIRST + DAY: (2, 1)}) == []
    assert run(site, lambda _: None) == [6, 2]
    # What the histogram has is what the next one is compared with.
    assert site.cursor().totals[FIRST + DAY] == (2, 1)


def test_the_oldest_day_comes_first() -> None:
    """A website that is behind is read before the others, and missing days at last."""
    ahead = website()
    run(ahead, lambda day: DOWN if day == 1 else None)
    days = Days({"ahead": website(ahead.cursor(), days=6), "new": website(days=6)})
    order = []
    while (taken := days.take()) is not None:
        order.append(f"{taken[0]} {number(taken[1])}")
        days.read(*taken)
    assert order == [
        *("new 1", "new 2", "new 3", "new 4", "ahead 5", "new 5", "ahead 6", "new 6"),
        "ahead 1",
    ]


def test_a_service_that_is_down_is_left_alone() -> None:
    """After many failures in a row, whatever the website, nothing is requested; a
    histogram or a day that was read, and a refusal, are responses.
    """
    sites = {str(n): website(days=400) for n in range(FAILED_EVERYWHERE)}
    days = Days({"whole": website(days=1), **sites})
    for number in range(2 * FAILED_EVERYWHERE):
        if (histogram := days.take_period()) and number % 2:
            days.failed_period(*histogram, DOWN)
        elif histogram:
            days.read_period(*histogram, {})
    requests = 0
    while (taken := days.take()) is not None:
        requests += 1
        if requests == 140 or taken[0] == "whole":
            days.read(*taken)
        else:
            days.failed(*taken, LOCKED if requests == 50 else DOWN)
    assert (requests, days.left) == (140 + FAILED_EVERYWHERE, 0)
    assert str(sites["99"].cursor().error).startswith("the service fails: down")
    assert days.websites["whole"].cursor().error is None


def test_the_last_day_is_that_of_the_zone() -> None:
    """Yesterday is another day in another zone; an unknown one ends no run."""
    now = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
    assert last_day("UTC", now) == dt.date(2026, 3, 4)
    assert last_day("Pacific/Kiritimati", now) == dt.date(2026, 3, 5)
    assert last_day("Nowhere/Land", now) is None
    assert last_day("../etc", now) is None


@attrs.define
class Service:
    """What really happened: when each day was last read, by the number of the run."""

    lag: int
    outcomes: random.Random
    read: dict[dt.date, dt.date] = attrs.Factory(dict)

    def run(
        self, cursor: Coverage | None, last: dt.date, badness: float, batch: int
    ) -> Coverage:
        """One update in loads of *batch* requests, which end in any order."""
        site = WebsiteDays(
            cursor, timezone="UTC", lists=LISTS, first=FIRST, last=last, lag=self.lag
        )
        taken: list[dt.date] = []
        while True:
            under_way = [day for _ in range(batch) if (day := site.take()) is not None]
            if not under_way:
                break
            taken += under_way
            self.outcomes.shuffle(under_way)
            for day in under_way:
                luck = self.outcomes.random()
                if luck > badness:
                    self.read[day] = last
                    site.read(day)
                elif luck > badness * 0.2:
                    site.failed(day, DOWN)
                elif luck > badness * 0.1:
                    site.failed(day, UNKNOWN)
            saved = Coverage.from_state(site.cursor().to_state())
            self.check(saved, last)
        assert len(taken) == len(set(taken)), "a day was requested twice"
        assert site.left == 0
        return Coverage.from_state(site.cursor().to_state())

    def check(self, cursor: Coverage, last: dt.date) -> None:
        """The cursor promises no day that is not there."""
        day = FIRST
        while day <= cursor.reached:
            if day not in cursor.missing:
                assert day in self.read, f"{day} was never read"
            day += DAY
        assert all(FIRST <= day <= cursor.reached for day in cursor.missing)
        assert len(set(cursor.missing)) == len(cursor.missing)
        assert cursor.reached <= last


@given(
    nights=st.lists(
        st.tuples(
            st.integers(0, 6),
            st.sampled_from([0.0, 0.1, 0.5, 1.0]),
            st.integers(1, 9),
            st.booleans(),
        ),
        max_size=8,
    ),
    lag=st.integers(0, 3),
    seed=st.integers(0, 2**32),
)
def test_nothing_is_lost_whatever_fails(
    nights: list[tuple[int, float, int, bool]], lag: int, seed: int
) -> None:
    """However requests fail and runs are killed: no day is skipped, none is promised
    that is not there, each was read again as the lag says, and runs end.
    """
    service, cursor, last = Service(lag, random.Random(seed)), None, FIRST
    for more, badness, batch, killed in nights:
        last += more * DAY
        after = service.run(cursor, last, badness, batch)
        # A killed run leaves rows, and no cursor.
        cursor = cursor if killed else after
    for _ in range(len(nights) * FAILED_IN_A_ROW + 2):
        cursor = service.run(cursor, last, 0.0, 4)
    assert cursor is not None
    assert (cursor.through, cursor.error, cursor.missing) == (last, None, ())
    for day in (FIRST + n * DAY for n in range((last - FIRST).days + 1)):
        assert service.read[day] >= min(last, day + lag * DAY)


@given(seed=st.integers(0, 2**32), websites=st.integers(1, 5))
def test_a_run_ends_whatever_fails(seed: int, websites: int) -> None:
    """A run requests each day of each website at most once."""
    luck = random.Random(seed)
    days = Days({str(n): website(days=luck.randint(1, 9)) for n in range(websites)})
    most = days.left
    requests = 0
    while (taken := days.take()) is not None:
        requests += 1
        assert days.left == sum(site.left for site in days.websites.values())
        if luck.random() < 0.5:
            days.read(*taken)
        else:
            days.failed(*taken, luck.choice([DOWN, LOCKED]))
    assert requests <= most
    assert days.left == 0


@given(read=st.sets(st.integers(1, 11)))
def test_days_of_a_zone_that_was_left_go(read: set[int]) -> None:
    """Of days in another zone those go that share an hour with a day of the present
    zone, whatever was read of it, once, and lists that it does not have; others stay.
    """
    both = LISTS | {"countries"}
    site = website(days=12, timezone="Asia/Tokyo", lists=both)
    run(site, lambda _: None)
    site = website(site.cursor(), days=11)
    for place in read:
        site.read(FIRST + (place - 1) * DAY)
    gone = {number(day): lists for day, lists in site.take_gone()}
    near = {place for place in range(1, 13) for n in read if abs(place - n) <= 2}
    assert gone == dict.fromkeys(near - read) | dict.fromkeys(read, both - LISTS)
    cursor = Coverage.from_state(site.cursor().to_state())
    assert [*website(cursor, days=11).take_gone()] == []
    left = {number(run.first + n * DAY) for run in cursor.old for n in range(12)}
    assert left >= set(range(1, 13)) - near
    assert sum((run.last - run.first).days + 1 for run in cursor.old) == 12 - len(near)


@attrs.define
class Traffic:
    """A service with histograms, and the tables that runs fill from it."""

    luck: random.Random
    totals: dict[dt.date, tuple[int, int]] = attrs.Factory(dict)
    stored: dict[dt.date, tuple[int, int]] = attrs.Factory(dict)
    """The totals in the tables."""
    lists: dict[dt.date, set[str]] = attrs.Factory(dict)
    """What the tables have of each day; the median of a day is one."""

    def change(self, last: dt.date, often: float) -> None:
        """Let new days come, and the totals of others change."""
        for n in range((last - FIRST).days + 1):
            day = FIRST + n * DAY
            if day not in self.totals or self.luck.random() < often:
                self.totals[day] = self.luck.choice([(0, 0), (1, 1), (2, 1), (0, 1)])

    def run(self, cursor: Coverage | None, badness: float, **given: Any) -> Coverage:
        """One run, whose requests fail with such a chance, and which may be stopped."""
        site = WebsiteDays(cursor, timezone="UTC", **given)
        lists = given["lists"]
        before = Held(cursor.held if cursor else ())
        again = {*(cursor.failed if cursor else ())}
        again |= {day for day in self.totals if before.lists_of(day) is None}
        new_from = max(given["first"], (cursor.reached if cursor else FIRST) + DAY)
        again |= {new_from - n * DAY for n in range(1, given["lag"] + 1)}
        requested: list[dt.date] = []
        left_out: set[dt.date] = set()
        while (period := site.take_period()) is not None:
            days = [
                period[0] + n * DAY for n in range((period[1] - period[0]).days + 1)
            ]
            assert given["first"] <= days[0]
            assert days[-1] <= given["last"]
            assert len(days) <= LONGEST
            if self.luck.random() < badness:
                site.failed_period(period, DOWN)
                left_out |= set() if lists else {*days}
                continue
            found = {
                day: self.totals[day] for day in days if self.luck.random() >= badness
            }
            for day in site.read_period(period, found):
                self.add(day, {MEDIAN, *lists} if found[day] == (0, 0) else set())
                assert "events" not in lists
                assert not lists or found[day] == (0, 0)
                if found[day] != (0, 0):
                    assert MEDIAN not in self.lists[day], "a median was replaced"
        while (day := site.take()) is not None and self.luck.random() >= badness / 9:
            requested.append(day)
            assert day not in left_out, "a histogram's days were requested one by one"
            if self.luck.random() < badness:
                site.failed(day, self.luck.choice([DOWN, UNKNOWN]))
                continue
            is_there = lists <= (before.lists_of(day) or frozenset())
            has_changed = self.stored.get(day) != self.totals[day]
            assert day in again or not is_there or has_changed, f"{day} was there"
            self.add(day, {MEDIAN, *lists})
            site.read(day, self.totals[day])
        assert len(requested) == len({*requested})
        found_at_end = Coverage.from_state(site.cursor().to_state())
        for run in found_at_end.held:
            for n in range((run.last - run.first).days + 1):
                assert run.lists <= self.lists[run.first + n * DAY]
        return found_at_end

    def add(self, day: dt.date, lists: set[str]) -> None:
        """Store a day."""
        self.stored[day] = self.totals[day]
        self.lists[day] = self.lists.get(day, set()) | lists


WANTED = st.sampled_from(
    [frozenset[str](), LISTS, frozenset({"pages", "events"}), frozenset({"countries"})]
)


@given(
    nights=st.lists(
        st.tuples(
            st.integers(0, 40),
            st.sampled_from([0.0, 0.0, 0.2, 1.0]),
            st.sampled_from([0.0, 0.3]),
            WANTED,
            st.integers(0, 25),
            st.booleans(),
        ),
        max_size=8,
    ),
    lists=WANTED,
    lag=st.integers(0, 3),
    seed=st.integers(0, 2**32),
)
def test_every_day_is_read_and_none_without_need(
    nights: list[tuple[int, float, float, frozenset[str], int, bool]],
    lists: frozenset[str],
    lag: int,
    seed: int,
) -> None:
    """Whatever lists and first days were wanted before, and whatever failed, was absent
    from histograms or changed: at the end each day is there with each list, those of
    the last thirty have their totals, and no day was requested that need not be.
    """
    service, cursor, last = Traffic(random.Random(seed)), None, FIRST
    for more, badness, often, wanted, first, killed in nights:
        last += more * DAY
        service.change(last, often)
        stored = dict(service.stored), dict(service.lists)
        after = service.run(
            cursor,
            badness,
            lists=wanted,
            first=min(last, FIRST + first * DAY),
            last=last,
            lag=lag,
        )
        if killed:
            service.stored, service.lists = stored
        else:
            cursor = after
    service.change(last, 0)
    for _ in range(len(nights) * FAILED_IN_A_ROW + 2):
        cursor = service.run(cursor, 0.0, lists=lists, first=FIRST, last=last, lag=lag)
    assert cursor is not None
    assert (cursor.through, cursor.error, cursor.missing) == (last, None, ())
    assert cursor.behind(last) == 0
    assert service.totals.keys() == service.stored.keys()
    for day, there in service.lists.items():
        assert lists <= there
        if day > last - WATCHED * DAY:
            assert service.stored[day] == service.totals[day]
