"""Comparisons of one period with another: of one query, and of many."""

from __future__ import annotations

import datetime as dt
import pickle
import re
import warnings
from collections.abc import Iterator
from typing import Any

import attrs
import httpx
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from respx import MockRouter

from both_clients import VARIANTS, opened
from display.inside import changes_of, pairs_of
from displayed import terminal
from inside import label_of
from plotted import daily, stats_of
from sitestats import (
    Client,
    ConfigurationError,
    ConnectionFailedError,
    Entries,
    Failed,
    FieldNotRequestedError,
    InvalidInputError,
    ListEntry,
    Outcomes,
    RequestTimeoutError,
    SiteStatsWarning,
    Stats,
    StatsQuery,
)
from sitestats.emulator import Emulator
from sitestats.types import Change, Comparison, Comparisons, HourEntry

HOST, BLOG, PROJECTS = (
    "semicomplete.com",
    "blog.semicomplete.com",
    "projects.semicomplete.com",
)
QUERY = StatsQuery(HOST).fields("pageviews", "visitors", "pages")
NOW = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
LAST, FIRST = ("2026-03-03", "2026-03-04"), ("2026-03-01", "2026-03-02")
ENDS = ("", "_before", "_change", "_percent")
DIFFERENT = {
    "2026-03-31": "31 days against 28 days",
    "2024-12-26": "361 days against 360 days",
    "2024-02-29": "60 days against 59 days",
}
"""Days to date whose earlier period has fewer."""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of the demo's traffic."""
    with Emulator.demo(now=NOW).client() as client:
        yield client


# --- one query --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "unit", "days", "days_before"),
    [
        ("2026-11-23", "month", "2026-11-01 2026-11-23", "2026-10-01 2026-10-23"),
        ("2026-03-31", "month", "2026-03-01 2026-03-31", "2026-02-01 2026-02-28"),
        ("2026-03-04", "week", "2026-03-02 2026-03-04", "2026-02-23 2026-02-25"),
        ("2026-05-10", "quarter", "2026-04-01 2026-05-10", "2026-01-01 2026-02-09"),
        ("2024-12-26", "year", "2024-01-01 2024-12-26", "2023-01-01 2023-12-26"),
        ("2024-02-29", "year", "2024-01-01 2024-02-29", "2023-01-01 2023-02-28"),
    ],
)
def test_to_date_is_compared_with_as_many_days(
    now: str, unit: str, days: str, days_before: str
) -> None:
    """A month that has just begun is not a loss against a whole one; of a year, the
    same dates are compared.
    """
    moment = dt.datetime.fromisoformat(f"{now}T12:00Z")
    query = QUERY.during(f"this-{unit}", now=moment).timezone("UTC")
    others = ["previous-period", f"last-{unit}"]
    if unit != "quarter":
        others.append(f"previous-{unit}")
    with Emulator.demo(now=moment).client() as client:
        for against in others:
            comparison = client.stats.compare(query, against=against)
            sides = comparison.now, comparison.before
            found = [f"{one.first_day} {one.last_day}" for one in sides]
            assert found == [days, days_before]
            shown = terminal(comparison, width=200)
            assert all(f"{one.last_day}" in shown for one in sides)
            assert comparison.differs == DIFFERENT.get(now, "")


@pytest.mark.parametrize(
    ("query", "against", "words"),
    [
        (QUERY, "previous-period", "not known here"),
        (QUERY.between("2026-01-01", "yesterday"), "previous-period", "not known here"),
        (QUERY.last(days=2), "previous-month", "not known here"),
        (QUERY.during("this-month"), "last-month", r"add \.timezone"),
        (QUERY.last(days=2), ("2026-01-01",), "against"),
        (QUERY.last(days=2), "2026-13", "calendar"),
        (QUERY.last(days=2), StatsQuery(HOST), "requests nothing"),
    ],
)
def test_what_can_not_be_compared(query: StatsQuery, against: Any, words: str) -> None:
    """An unknown period or relation, or a query that is not valid, is an error before
    anything is sent.
    """
    emulator = Emulator.demo()
    with emulator.client() as client, pytest.raises(InvalidInputError, match=words):
        client.stats.compare(query, against=against)
    assert emulator.requests == ()


def test_periods_that_share_days_are_told_once(client: Client) -> None:
    """Six of seven days in both would hide what changed; of others than these visitors
    they would not.
    """
    week, days = QUERY.last(days=7), ("2026-02-25", "2026-03-03")
    many = week.each(websites=[HOST, BLOG])
    now, before = client.stats.get_many([week, week.between(*days)]).collect()
    for compare in (
        lambda: client.stats.compare(week, against=days),
        lambda: client.stats.compare(many, against=days),
        lambda: now.result().compare_to(before.result()),
        lambda: Outcomes([now]).compare_to(Outcomes([before])),
    ):
        with pytest.warns(SiteStatsWarning, match="share 6 days$") as told:
            compare()
        assert [warning.filename for warning in told] == [__file__]
    client.stats.compare(week, against=week.where(country="US"))


@pytest.mark.parametrize(
    ("query", "against", "words"),
    [
        (QUERY.during("2026-02"), "previous-month", ""),
        (QUERY.during("2026-02"), "2025", "28 and 365 days"),
        (QUERY.last(days=7), ("2026-02-01", "2026-02-05"), "5 and 7 days"),
        (QUERY.on("yesterday"), ("2026-02-01", "2026-02-02"), "1 and 2 days"),
    ],
)
def test_periods_of_other_lengths_are_told(
    client: Client, query: StatsQuery, against: Any, words: str
) -> None:
    """A month has fewer visitors than a year, whatever became of the website. Months
    themselves are compared as they are.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        client.stats.compare(query, against=against)
        client.stats.compare([query, query], against=against)
    assert len(told) == 2 * bool(words)
    assert all(re.search(words, str(one.message)) for one in told)
    assert {one.filename for one in told} <= {__file__}


def test_a_change() -> None:
    """A change has no percentage of 0 or of an unknown count."""
    changes = [Change(3, 2), Change(3, 0), Change(0, 4), Change(None, 4)]
    found = [(change.absolute, change.percent) for change in changes]
    assert found == [(1, 50.0), (3, None), (-4, -100.0), (None, None)]


@pytest.mark.parametrize("ongoing", ["now", "before"])
def test_a_partial_period_is_marked(client: Client, ongoing: str) -> None:
    """A comparison, and each of its lists, is marked partial in every form."""
    over = client.stats.compare(QUERY.last(days=2))
    stats = attrs.evolve(getattr(over, ongoing), partial=True)
    partial = attrs.evolve(over, **{ongoing: stats})
    for is_partial, one in ((False, over), (True, partial)):
        assert one.partial is is_partial
        assert ("partial=True" in repr(one)) is is_partial
        assert ("not over yet" in repr(one["pages"])) is is_partial
        for result in (one, one["pages"], one["pages"].of("up")):
            shown = [result._repr_html_(), terminal(result, width=120)]
            assert ["not over yet" in text for text in shown] == [is_partial] * 2
            assert {*result.to_polars()["partial"]} == {is_partial}


def test_frames_of_a_comparison(client: Client) -> None:
    """Totals and lists of a comparison become frames, and plain values."""
    comparison = client.stats.compare(QUERY.last(days=2).where(country="US"))
    frame = comparison.to_polars()
    assert frame.columns == [
        *("hostname", "filters", "timezone", "first_day", "last_day"),
        *("first_day_before", "last_day_before"),
        *(name + end for name in ("pageviews", "visitors") for end in ENDS),
        *("partial", "differs"),
    ]
    assert frame["visitors_change"].dtype == pl.Int64
    assert [*comparison.lists] == ["pages"]
    assert "countries" not in comparison
    with pytest.raises(FieldNotRequestedError, match="'countries' was not requested"):
        comparison["countries"]
    pages = comparison.to_polars("pages")
    counts = [name + end for name in ("pageviews", "visitors") for end in ENDS]
    days = ("first_day", "last_day", "first_day_before", "last_day_before")
    assert pages.columns == ["value", *counts, "direction", "partial", *days]
    assert pages.equals(comparison["pages"].to_polars())
    values = comparison.to_dict()
    assert values["lists"] == {"pages": comparison["pages"].to_dict()}
    assert values["totals"] == {
        name: change.to_dict() for name, change in comparison.totals.items()
    }


# --- lists ------------------------------------------------------------------------


def listed(*entries: tuple[str, int], **more: bool) -> Entries[ListEntry]:
    """A list of countries with these page views."""
    return Entries(
        [ListEntry(value, count, count) for value, count in entries],
        name="countries",
        entry_type=ListEntry,
        **more,
    )


def test_what_became_of_each_entry() -> None:
    """Entries are up, down, the same, new or gone. Of a list that was cut, or of which
    some can't be read, what it does not have is unknown, and not 0; and so is what it
    has twice, with other counts.
    """
    now = (("NL", 5), ("DE", 2), ("FR", 3), ("BE", 1))
    before = listed(("NL", 4), ("DE", 3), ("FR", 3), ("US", 9))
    changes = changes_of(listed(*now), before)
    assert {item.value: item.direction for item in changes} == {
        "NL": "up",
        "DE": "down",
        "FR": "same",
        "BE": "new",
        "US": "gone",
    }
    assert changes.of("gone")[0].pageviews == Change(0, 9)
    cut = changes_of(listed(*now, truncated=True), before)
    assert cut.truncated
    assert cut.of("unknown")[0].pageviews == Change(None, 9)
    assert [item.value for item in cut.of("new")] == ["BE"]
    unread = changes_of(listed(*now), attrs.evolve(before, incomplete=True))
    assert unread["US"].direction == "gone"
    assert unread["BE"].direction == "unknown"
    assert unread["BE"].visitors == Change(1, None)
    for twice in ([("NL", 5), ("NL", 4), ("NL", 5)], [("NL", 4), ("NL", 5)]):
        (nl, *_) = changes_of(listed(*twice), before)
        assert (nl.pageviews, nl.direction) == (Change(None, 4), "unknown")
    assert changes_of(listed(("NL", 5), ("NL", 5)), before)["NL"].direction == "up"


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


def test_hours_of_a_zone_that_this_machine_does_not_know() -> None:
    """Its hours have no start, and a frame of their changes is made all the same."""
    hours = Entries(
        [HourEntry(dt.date(2026, 3, 1), 3, 2, hour=9)],
        name="histogram",
        entry_type=HourEntry,
        timezone="Moon/Crater",
    )
    assert changes_of(hours, hours).to_pandas()["start"].isna().all()


def test_events_are_compared(client: Client) -> None:
    """Who requests events alone gets them, as a list and as a frame."""
    comparison = client.stats.compare(StatsQuery(HOST).all_events().last(days=2))
    now, before = (
        {event.name: event.total for event in stats.events}
        for stats in (comparison.now, comparison.before)
    )
    assert {item.value: item.total for item in comparison["events"]} == {
        name: Change(now.get(name, 0), before.get(name, 0)) for name in now | before
    }
    frame = comparison.to_polars("events")
    totals = [f"total{end}" for end in ENDS]
    assert frame.columns[:7] == ["name", *totals, "direction", "partial"]
    assert "download" in terminal(comparison)
    assert {*comparison.largest().to_polars()["field"]} <= {"events"}


# --- histograms -------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:periods of 7 and 9 days")
def test_each_day_is_beside_its_own_of_the_other_period() -> None:
    """The periods are aligned by their first days, not by their first entries."""
    monday = dt.date(2026, 6, 1)
    first = monday - dt.timedelta(7)
    before = stats_of(daily(6, first=first + dt.timedelta(1)), first_day=first)
    frame = stats_of(daily(9)).compare_to(before).to_polars("histogram")
    assert frame.columns[:3] == ["date", "date_before", "pageviews"]
    week = [monday + dt.timedelta(n) for n in range(9)]
    assert frame["date"].to_list() == week
    earlier = [None, *(day - dt.timedelta(7) for day in week[1:7]), None, None]
    assert frame["date_before"].to_list() == earlier
    # What one period lacks is not 0.
    assert frame["pageviews_before"].null_count() == 3
    assert frame["direction"].to_list()[-1] == "unknown"


@pytest.mark.parametrize(
    ("interval", "days", "days_before"),
    [
        ("month", ["2026-02-05", "2026-03-01"], ["2026-01-05", "2026-02-01"]),
        ("year", ["2026-01-01", "2027-01-01"], ["2024-01-01", "2025-01-01"]),
        ("week", ["2026-03-04", "2026-03-09"], ["2026-02-25", "2026-03-02"]),
    ],
)
def test_units_are_compared_by_their_number(
    interval: Any, days: list[str], days_before: list[str]
) -> None:
    """Months and years differ in length, and a period may cut its first unit."""
    query = StatsQuery("shop.example").fields("histogram").interval(interval)
    now, before = (
        Stats.of(
            query,
            histogram=[(dt.date.fromisoformat(name), 3, 2) for name in names],
            first_day=dt.date.fromisoformat(names[0]),
        )
        for names in (days, days_before)
    )
    comparison = now.compare_to(before)
    frame = comparison.to_polars("histogram")
    found = [map(str, frame[name].to_list()) for name in ("date", "date_before")]
    assert [*map(list, found)] == [days, days_before]
    assert frame["pageviews_change"].to_list() == [0, 0]


def test_hours_are_compared_too(client: Client) -> None:
    """Each hour is beside the same one of the other day, as a moment."""
    query = QUERY.fields("histogram").interval("hour").timezone("Asia/Kolkata")
    comparison = client.stats.compare(query.on("2026-03-03"))
    frame = comparison.to_polars("histogram")
    assert frame["start"].dtype == pl.Datetime("us", "Asia/Kolkata")
    assert {*(frame["start"] - frame["start_before"])} == {dt.timedelta(days=1)}
    assert frame.height == 24


# --- what changed most ------------------------------------------------------------


def test_what_changed_most_over_all_lists(client: Client) -> None:
    """One table tells where the change is from, the largest first, up or down; what
    is not known in both periods is left out.
    """
    query = QUERY.fields("pages", "countries", "device_types").last(days=2)
    comparison = client.stats.compare(query)
    known = [
        (name, item.value, item.pageviews.absolute)
        for name, changes in comparison.lists.items()
        for item in changes
        if item.pageviews.absolute
    ]
    table = comparison.largest(7)
    assert "unknown" not in table.to_polars()["direction"]
    found = table.to_polars().select("field", "value", "change").rows()
    assert {*found} < {*known}
    largest = sorted((abs(change) for *_, change in known), reverse=True)[:7]
    assert [abs(change) for *_, change in found] == largest
    # So wide that no version of rich cuts a value.
    shown = terminal(table, width=300)
    assert all(row[1] in shown for row in found)


# --- many queries -----------------------------------------------------------------


def outcomes(client: Client, days: tuple[str, str], *hostnames: str) -> Outcomes:
    """The outcomes about some websites."""
    query = QUERY.fields("pageviews", "visitors", "pages", "seconds_on_page")
    queries = [query.website(name).between(*days) for name in hostnames]
    return client.stats.get_many(queries).collect()


@pytest.fixture(scope="module")
def growth(client: Client) -> Comparisons:
    """Two websites in two periods of two days."""
    return outcomes(client, LAST, HOST, BLOG).compare_to(
        outcomes(client, FIRST, BLOG, HOST)
    )


def test_each_website_is_compared_with_itself(growth: Comparisons) -> None:
    """A comparison is that of the two results, in the order of the later queries; a
    slice has a table and frames, and a pickle is the same.
    """
    assert [one.now.query.hostname for one in growth] == [HOST, BLOG]
    for comparison in growth:
        assert comparison == Comparison(comparison.now, comparison.before)
        assert comparison.differs == ""
    assert growth[BLOG] is growth[1]
    assert growth.failed == growth.unmatched == ()
    assert not growth.partial
    assert growth.totals == ("pageviews", "visitors", "seconds_on_page")
    part = growth[1:]
    assert isinstance(part, Comparisons)
    assert part.to_pandas()["hostname"].tolist() == [BLOG]
    assert pickle.loads(pickle.dumps(growth)) == growth
    assert repr(growth[:0]) == "0 comparisons"


@pytest.mark.parametrize("variant", VARIANTS)
def test_many_queries_are_compared_at_once(variant: str) -> None:
    """Each query is compared with its own of the other period, also after a 429; what
    fails has a row, and a period that is not known is an error before anything is sent.
    """
    emulator = Emulator.demo(now=NOW)
    limit: Any = {"status": 429, "retry_after": 0.1}
    emulator.fail_next(**limit, when=lambda one: one.params.get("start") == FIRST[0])
    queries = [
        *(QUERY.between(*LAST), QUERY.between(*LAST).website("a.example")),
        *(QUERY.between(*LAST).where(country="US"), QUERY.during("2026-02")),
    ]
    with opened(variant, emulator) as client:
        growth = client.stats.compare(iter(queries))
        for comparison in growth:
            one = client.stats.compare(comparison.now.query)
            assert comparison == one
        with pytest.raises(InvalidInputError, match="whole months"):
            client.stats.compare(queries, against="previous-month")
    assert isinstance(growth, Comparisons)
    frame = growth.to_polars()
    assert frame["query"].to_list() == [0, 1, 2, 3]
    assert frame["filters"].to_list() == [None, None, "country=US", None]
    assert frame["error"].is_null().to_list() == [True, False, True, True]
    assert str(frame["first_day_before"][0]) == FIRST[0]
    assert len(emulator.requests) == 1 + 2 * len(queries) + 2 * len(growth)


@pytest.mark.parametrize("variant", VARIANTS)
def test_comparing_many_is_limited_and_shown_as_get_many_is(variant: str) -> None:
    """``concurrency``, ``progress`` and ``deadline`` are for the requests of both
    periods; what has no response by the deadline failed, and one query raises that.
    """
    emulator = Emulator.demo(now=NOW)
    queries = [QUERY.between(*LAST), QUERY.between(*LAST).website(BLOG)]
    seen: list[tuple[int, int | None]] = []
    with opened(variant, emulator) as client:
        client.stats.compare(
            iter(queries), concurrency=1, progress=lambda *now: seen.append(now)
        )
        assert seen[-1] == (4, 4)
        order = [(one.path, one.params["start"]) for one in emulator.requests]
        paths = [f"/{name}.json" for name in (HOST, BLOG)]
        assert order == [(path, day) for path in paths for day in (LAST[0], FIRST[0])]
        emulator.fail_next(None, latency=60.0)
        growth = client.stats.compare(queries, deadline=0.05)
        assert [type(one.error).__name__ for one in growth.failed] == [
            "RequestTimeoutError"
        ] * 4
        with pytest.raises(RequestTimeoutError, match="deadline"):
            client.stats.compare(queries[0], deadline=0.05)
        for wrong in ({"concurrency": 0}, {"progress": 1}, {"deadline": 0}):
            with pytest.raises(ConfigurationError):
                client.stats.compare(queries, **wrong)


class MineError(Exception):
    """An error of a hook."""


@pytest.mark.parametrize("variant", VARIANTS)
def test_comparing_one_query_raises_what_get_raises(
    variant: str, routes: MockRouter
) -> None:
    """A warning that a filter makes an error, and an error of a hook, are raised
    themselves; many queries have it as the cause of a failed outcome.
    """
    query = QUERY.between(*LAST)
    other_version = httpx.Response(200, json={"pageviews": 3, "version": 5})
    for response, kind in (
        ({"return_value": other_version}, SiteStatsWarning),
        ({"side_effect": MineError("mine")}, MineError),
    ):
        routes.get().mock(**response)
        with opened(variant) as client:
            with pytest.raises(kind) as by_get:
                client.stats.get(query)
            with pytest.raises(kind) as by_compare:
                client.stats.compare(query)
            growth = client.stats.compare([query])
        assert str(by_compare.value) == str(by_get.value)
        causes = [type(failed.error.__cause__) for failed in growth.failed]
        assert causes == [kind] * 2


def test_frames_of_totals_and_of_a_list(growth: Comparisons) -> None:
    """A row for each website: both periods' days, before, after, and the change; and
    the changes of its list.
    """
    frame = growth.to_polars()
    days = ("first_day", "last_day", "first_day_before", "last_day_before")
    totals = [name + end for name in growth.totals for end in ENDS]
    ends = ("partial", "differs", "error", "query")
    assert frame.columns == ["hostname", "timezone", *days, *totals, *ends]
    assert frame["hostname"].to_list() == [HOST, BLOG]
    assert [str(frame[day][0]) for day in days] == [*LAST, *FIRST]
    changes = [comparison.totals["visitors"] for comparison in growth]
    assert frame.select(f"visitors{end}" for end in ENDS).rows() == [
        (one.now, one.before, one.absolute, one.percent) for one in changes
    ]
    assert frame["seconds_on_page_change"].dtype == pl.Float64
    assert growth.to_pandas()["visitors"].tolist() == frame["visitors"].to_list()
    assert growth.to_arrow().column_names == frame.columns == growth.columns()
    frame = growth.to_polars("pages")
    assert frame.columns[6] == "value"
    assert frame.columns[-3:] == ["direction", "partial", "query"]
    assert frame.select("hostname", "value", "pageviews_change").rows() == [
        (one.now.query.hostname, item.value, item.pageviews.absolute)
        for one in growth
        for item in one["pages"]
    ]


def test_what_failed_or_is_alone_has_its_row(client: Client) -> None:
    """A website that fails, or that one period lacks, has a row with what there is,
    and a frame of a list warns of it.
    """
    growth = outcomes(client, LAST, HOST, "a.example", BLOG).compare_to(
        outcomes(client, FIRST, HOST, "a.example", PROJECTS)
    )
    frame = growth.to_polars()
    assert frame["hostname"].to_list() == [HOST, "a.example", BLOG, PROJECTS]
    assert frame["visitors"].is_null().to_list() == [False, True, False, True]
    assert frame["visitors_before"].is_null().to_list() == [False, True, True, False]
    assert frame["visitors_change"].null_count() == 3
    assert frame["partial"].to_list() == [False, None, None, None]
    assert frame["first_day"].is_null().to_list() == [False, False, False, True]
    assert frame["timezone"].is_null().to_list() == [False, True, False, False]
    assert frame["error"][1].count("NotFoundError: ") == 2
    assert len(growth) == 1
    assert [one.index for one in growth.failed] == [1, 1]
    assert [one.query.hostname for one in growth.unmatched] == [BLOG, PROJECTS]
    words = r"4 of 6 queries are missing.*\(NotFound.*blog.* \(in one period alone\)"
    with pytest.warns(SiteStatsWarning, match=words) as caught:
        assert set(growth.to_polars("pages")["hostname"]) == {HOST}
    assert [one.filename for one in caught] == [__file__]
    shown = [repr(growth), growth._repr_html_(), terminal(growth, width=120)]
    change = growth[0].totals["pageviews"]
    for text in (HOST, "a.example", str(change.now), str(change.before), "2 failed"):
        assert all(text in one for one in shown)


queries = st.lists(
    st.sampled_from(
        [
            *(QUERY.on(day) for day in ("2026-03-01", "2026-03-02")),
            *(QUERY.path("/a/"), QUERY.path("/b/"), QUERY.where(country="US")),
        ]
    ),
    max_size=6,
)


@given(now=queries, before=queries)
def test_every_outcome_is_in_one_pair(
    now: list[StatsQuery], before: list[StatsQuery]
) -> None:
    """Each outcome is compared once, n-th with n-th about one website, page and
    filters.
    """
    later, earlier = (
        [Failed(one, n, ConnectionFailedError("gone")) for n, one in enumerate(given)]
        for given in (now, before)
    )
    pairs = pairs_of(later, earlier)
    assert [pair.now for pair in pairs if pair.now] == later
    found = [pair.before for pair in pairs if pair.before]
    assert sorted(one.index for one in found) == [*range(len(before))]
    for name in map(label_of, [*now, *before]):
        mine = [pair for pair in pairs if label_of(pair.sides[0].query) == name]
        counts = [[*map(label_of, given)].count(name) for given in (now, before)]
        assert len(mine) == max(counts)
        assert len([pair for pair in mine if len(pair.sides) == 2]) == min(counts)
        order = [pair.before.index for pair in mine if pair.before]
        assert order == sorted(order)


def test_months_of_one_website_have_their_days(client: Client) -> None:
    """Rows with one name would be riddles, and the largest change is what an analyst
    looks for.
    """
    query = StatsQuery(HOST).fields("visitors")
    now, before = (
        client.stats.get_many(query.during(year).each("month")).collect()
        for year in ("2026", "2025")
    )
    growth = now.compare_to(before)
    labels, changes = zip(*growth.largest("visitors"), strict=True)
    assert f"{HOST}, 2026-03-01 to 2026-03-31" in labels
    assert len({*labels}) == len(labels) == 12
    sizes = [abs(change.absolute or 0) for change in changes]
    assert sizes == sorted(sizes, reverse=True)
    assert f"{HOST}, 2026-" in repr(growth)


def test_a_plot(client: Client, growth: Comparisons) -> None:
    """Two bars for each website, of the total that was chosen, for 20 at most."""
    axes = growth.plot("visitors", ax=Figure().subplots())
    names, changes = zip(*growth.largest("visitors"), strict=True)
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [*(one.now for one in changes), *(one.before for one in changes)]
    assert tuple(label.get_text() for label in axes.get_yticklabels()) == names
    assert axes.get_xlabel() == "visitors"
    title = "2026-03-03 to 2026-03-04\nagainst 2026-03-01 to 2026-03-02"
    assert axes.get_title("left") == title
    wrong: Any = "visitrs"
    with pytest.raises(FieldNotRequestedError, match="visitrs"):
        growth.plot(wrong)
    now, before = (outcomes(client, days, *[HOST] * 23) for days in (LAST, FIRST))
    axes = now.compare_to(before).plot(ax=Figure().subplots())
    assert len(axes.patches) == 40
    assert "3 more" in axes.get_xlabel()
