"""StatsQuery, the query builder: queries as values."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from collections.abc import Callable
from typing import Any, get_args

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from query_strategies import longest, queries
from rule_cases import Broken
from same_text import SameText
from sitestats import FieldName
from sitestats._common.errors import QueryError
from sitestats._protocol.requests import stats_request
from sitestats._query.builder import StatsQuery, requested

pytestmark = [pytest.mark.slow, pytest.mark.standard_library]

BASE = "https://stats.example.org"
# What the service takes may be worth a warning, and is none of these tests' matter.
MAY_WARN = pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")


def test_the_longest_chain_becomes_parameters() -> None:
    """Each step sends its parameter, in a fixed order."""
    params = longest().params()
    assert list(params.items()) == [
        ("version", "6"),
        ("start", "today-30d"),
        ("end", "yesterday"),
        ("limit", "100"),
        ("timezone", "Europe/Amsterdam"),
        ("info", "false"),
        ("events", "signup,purchase"),
        ("interval", "week"),
        ("fields", "pageviews,visitors,histogram,pages"),
        ("pages", "/blog*,/docs*"),
        ("country", "NL"),
        ("metadata.paying", "true"),
        ("metadata.plan", "pro"),
        ("also", "yes"),
        ("zoom", "2"),
    ]
    longest().validate(has_key=False)


def test_nothing_is_sent_that_was_not_set() -> None:
    """The version and info are always sent, and otherwise only what was set."""
    assert StatsQuery("example.com").params() == {"version": "6", "info": "false"}


def test_a_query_never_changes(same_text: SameText) -> None:
    """Steps return new queries, and neither attributes nor parameters can be set."""
    query = longest()
    before = query.params()
    query.fields("countries").where(country="BE").where_metadata(plan=None).limit(5)
    query.params()["limit"] = "7"
    assert query.params() == before
    with pytest.raises(attrs.exceptions.FrozenInstanceError) as caught:
        setattr(query, "hostname", "example.org")  # noqa: B010 - checkers know it too
    same_text(caught.value)


def test_a_later_call_of_a_step_replaces() -> None:
    """A second call of a step replaces the first."""
    query = (
        StatsQuery("example.com")
        .fields("pages")
        .fields("visitors")
        .events("a")
        .all_events()
        .between("2026-03-01", "2026-03-02")
        .since("today-7d")
        .limit(1)
        .limit(2)
        .interval("day")
        .interval("month")
        .path("/a")
        .path("/b")
        .website("example.org")
    )
    assert query.params() == {
        "version": "6",
        "start": "today-7d",
        "limit": "2",
        "info": "false",
        "events": "*",
        "interval": "month",
        "fields": "visitors",
    }
    assert query.url(BASE).startswith(f"{BASE}/example.org/b.json?")


def test_filters_merge_by_name() -> None:
    """A filter stays until it is set again or removed."""
    query = StatsQuery("example.com").where(country="NL", page="/a")
    query = query.where(country="BE", referrer="google").where(page=None)
    query = query.where_metadata(a=1, b=2, c=4).where_metadata({"b": 3}, a=None)
    assert query.params() == {
        "version": "6",
        "info": "false",
        "country": "BE",
        "referrer": "google",
        "metadata.b": "3",
        "metadata.c": "4",
    }


def test_a_step_takes_over_from_the_escape_hatch() -> None:
    """A step checks its parameter again that was sent unchecked before."""
    query = StatsQuery("example.com").fields("pages").extra_param("pages", "*a*")
    assert query.problems() == ()
    again = query.where(pages="*abcdefghijkl*")
    assert [problem.rule for problem in again.problems()] == ["contains-fields"]


@MAY_WARN
@given(queries())
def test_a_valid_query_breaks_no_rule(query: StatsQuery) -> None:
    """A query that the strategy builds by the rules is accepted, and can be encoded."""
    assert query.problems(has_key=True) == ()
    assert stats_request(requested(query)).target.isascii()
    assert query.url(BASE) == f"{BASE}{stats_request(requested(query)).target}"


@MAY_WARN
@given(queries())
def test_a_query_is_a_value(query: StatsQuery) -> None:
    """Copies and pickles are equal, have the same hash, and are as valid."""
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(query, protocol))
        assert again == query
        assert hash(again) == hash(query)
        assert again.problems() == query.problems()
        assert repr(again) == repr(query)
    assert copy.copy(query) == copy.deepcopy(query) == query
    assert {query: 1}[copy.deepcopy(query)] == 1


@given(st.lists(st.sampled_from(get_args(FieldName)), unique=True), st.booleans())
def test_the_lists_of_a_query_are_those_of_its_result(
    fields: list[FieldName],
    with_events: bool,  # noqa: FBT001 - hypothesis gives it
) -> None:
    """The lists are what a frame can be made of, in the document's order: what is
    requested but the totals, and the events.
    """
    query = StatsQuery("example.com")
    query = query.fields(*fields) if fields else query
    query = query.all_events() if with_events else query
    totals = {"pageviews", "visitors", "seconds_on_page"}
    wanted = [name for name in get_args(FieldName) if name in {*fields} - totals]
    assert query.lists == (*wanted, *(["events"] if with_events else []))


def test_queries_are_equal_when_they_would_send_the_same() -> None:
    """The order of steps and the types of values make no difference."""
    query = StatsQuery("example.com")
    assert query.fields("pages", "visitors") == query.fields("visitors", "pages")
    assert query.where_metadata(a=True) == query.where_metadata(a="true")
    assert query.where_metadata(a=1) == query.where_metadata(a="1")
    assert query.version(6).info(wanted=False) == query
    assert query.last(days=2) == query.between("today-2d", "yesterday")
    assert StatsQuery("EXAMPLE.com.") == query


def test_equal_queries_are_sent_or_refused_alike() -> None:
    """What one step refuses and another sends is not one value."""
    query = StatsQuery("example.com").fields("pages")
    search = {"page": "*a-long-enough-text*"}
    checked, sent = query.where(**search), query.extra_param("page", search["page"])
    assert checked.params() == sent.params()
    assert checked.problems()
    assert not sent.problems()
    assert checked != sent
    read = StatsQuery.from_url(f"{BASE}/example.com.json?fields=pages&limit=0")
    assert read.problems()
    assert read != query.extra_param("limit", 0)
    # The response to the one is checked against its limit.
    assert query.limit(5) != query.extra_param("limit", 5)
    assert query.extra_param("limit", 5) == query.extra_param("limit", "5")
    assert query.extra_param("limit", 5).limit(5) == query.limit(5)


def test_queries_differ_when_they_would_send_something_else() -> None:
    """Host name, path, parameters and their values all count."""
    query = StatsQuery("example.com").fields("pages")
    others = [
        query.website("example.org"),
        query.path("/a"),
        query.path("/b"),
        query.where(page="/a"),
        query.where(pages="/a"),
        query.limit(50),
        query.fields("visitors"),
        query.since(dt.datetime(2026, 3, 1, tzinfo=dt.UTC)),
    ]
    assert len({query, *others}) == len(others) + 1
    assert query != "example.com"


def test_a_moment_without_a_zone_can_not_be_sent(same_text: SameText) -> None:
    """Parameters and addresses refuse such a query; repr and == never fail."""
    moment = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    query = StatsQuery("example.com").fields("pages").since(moment)
    for send in (query.params, lambda: query.url(BASE), query.validate):
        with pytest.raises(QueryError, match=r"add \.timezone") as caught:
            send()
        same_text(caught.value)
    assert query == StatsQuery("example.com").fields("pages").since(moment)
    assert query.timezone("UTC") == query.timezone("UTC").since("2026-03-01")
    assert "datetime.datetime(2026, 3, 1" in repr(query)


def test_steps_take_no_other_number_of_arguments(same_text: SameText) -> None:
    """A wrong number of arguments raises a TypeError."""
    query: Any = StatsQuery("example.com")
    for call in (
        type(query),
        query.limit,
        lambda: query.limit(1, 2),
        lambda: query.where("NL"),
        lambda: query.between(days=3),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        same_text(caught.value)


@pytest.mark.parametrize("value", ["50*off", "*a*", "**", "*"])
def test_a_literal_star_has_a_way(value: str, same_text: SameText) -> None:
    """A star inside a value that is no page can be sent, as the error says."""
    query = StatsQuery("example.com").fields("pages")
    if value != "*":
        advice = r"\.extra_param\('utm_campaign', …\)"
        with pytest.raises(QueryError, match=advice) as caught:
            query.where(utm_campaign=value)
        same_text(caught.value)
    sent = query.extra_param("utm_campaign", value)
    assert sent.problems(has_key=True) == ()
    assert sent.params()["utm_campaign"] == value


class BrokenText(str):
    """A str whose every method raises."""

    __slots__ = ()
    __repr__ = __str__ = Broken.__repr__
    __eq__ = Broken.__eq__
    __hash__ = Broken.__hash__

    def __len__(self) -> int:
        raise RuntimeError


HOSTILE: dict[str, object] = {
    "5,000 digits": 10**5000,
    "minus 5,000 digits": -(10**5000),
    "an object": object(),
    "a broken object": Broken(),
    "a class": Broken,
    "a broken path": BrokenText("/a"),
    "a broken field": BrokenText("pages"),
    "a broken nothing": BrokenText(""),
}
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.text("*/,.abcdefghijkl-0123456789%?#"),
    st.sampled_from(["today-1d", "2026-02-30", "Europe/Amsterdam", "pages", "*"]),
    st.binary(),
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.times(),
    st.datetimes(),
    st.datetimes(timezones=st.timezones()),
    st.timedeltas(),
    st.lists(st.text() | st.none()),
    st.dictionaries(st.text() | st.none(), st.text() | st.integers()),
    st.sets(st.text()),
    # By name, since Hypothesis prints what it draws from.
    st.sampled_from(sorted(HOSTILE)).map(HOSTILE.__getitem__),
)
STEPS: dict[str, Callable[[Any, Any, Any], object]] = {
    "StatsQuery": lambda _, a, __: StatsQuery(a),
    "fields": lambda q, a, b: q.fields(a, b),
    "events": lambda q, a, b: q.events(a, b),
    "between": lambda q, a, b: q.between(a, b),
    "last": lambda q, a, b: q.last(a, today=b),
    "last days": lambda q, a, _: q.last(a),
    "since": lambda q, a, _: q.since(a),
    "on": lambda q, a, _: q.on(a),
    "timezone": lambda q, a, _: q.timezone(a),
    "where page": lambda q, a, b: q.where(page=a, country=b),
    "where pages": lambda q, a, b: q.where(pages=a, device_type=b),
    "where several": lambda q, a, b: q.where(pages=[a, b]),
    "where anything": lambda q, a, b: q.where(**{str(a): b}) if type(a) is str else q,
    "where_metadata": lambda q, a, b: q.where_metadata(a, key=b),
    "where_metadata of one": lambda q, a, b: (
        q.where_metadata({a: b}) if type(a) in {str, int, bool} else q
    ),
    "interval": lambda q, a, _: q.interval(a),
    "limit": lambda q, a, _: q.limit(a),
    "path": lambda q, a, _: q.path(a),
    "website": lambda q, a, _: q.website(a),
    "version": lambda q, a, _: q.version(a),
    "info": lambda q, a, _: q.info(a),
    "extra_param": lambda q, a, b: q.extra_param(a, b),
    "url": lambda q, a, _: q.url(a),
    "from_url": lambda _, a, b: StatsQuery.from_url(a, b),
    "from_url of a query": lambda _, a, b: StatsQuery.from_url(
        f"{BASE}/example.com?{a}={b}" if type(a) is type(b) is str else f"{BASE}/a.bc"
    ),
}


def assert_reports(error: QueryError) -> None:
    """The error has problems, each one printable line that cites its rule."""
    assert error.problems
    assert all(problem.rule and problem.section for problem in error.problems)
    assert str(error).replace("\n", " ").isprintable()


@MAY_WARN
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@settings(max_examples=settings().max_examples * 2 // 5)
@given(a=ANYTHING, b=ANYTHING)
def test_anything_is_accepted_or_a_query_error(
    step: Callable[[Any, Any, Any], object], a: object, b: object
) -> None:
    """No value raises another error, and what is accepted can be used."""
    try:
        query = step(StatsQuery("example.com").fields("pages"), a, b)
    except QueryError as error:
        assert_reports(error)
        return
    if not isinstance(query, StatsQuery):
        return
    hash(query)
    assert repr(query)
    try:
        query.validate(has_key=True)
    except QueryError:
        return
    assert StatsQuery.from_url(query.url(BASE)).params() == query.params()
