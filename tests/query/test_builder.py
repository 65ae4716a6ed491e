"""StatsQuery, the query builder: queries as values."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inside import SENT_VERSION, parameters_of
from query_strategies import longest, queries
from sitestats import InvalidInputError, StatsQuery, WebsiteSpec

pytestmark = pytest.mark.slow

BASE = "https://stats.example.org"
QUERY = StatsQuery("example.com").fields("visitors")
# What the service takes may be worth a warning, and is none of these tests' matter.
MAY_WARN = pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")


def test_the_longest_chain_becomes_parameters() -> None:
    """Each step sends its parameter, in a fixed order, and nothing else is sent."""
    assert list(longest().params().items()) == [
        ("version", str(SENT_VERSION)),
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
    default = {"version": str(SENT_VERSION), "info": "false"}
    assert StatsQuery("example.com").params() == default


def test_a_query_never_changes() -> None:
    """Steps return new queries, and neither attributes nor parameters can be set."""
    query = longest()
    before = query.params()
    query.fields("countries").where(country="BE").where_metadata(plan=None).limit(5)
    query.params()["limit"] = "7"
    assert query.params() == before
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(query, "hostname", "example.org")  # noqa: B010 - checkers know it too


def test_a_later_call_of_a_step_replaces() -> None:
    """A second call of a step replaces the first; filters merge by their names."""
    query = (
        StatsQuery("example.com")
        .fields("pages")
        .fields("visitors")
        .events("a")
        .all_events()
        .during("last-month")
        .between("2026-03-01", "2026-03-02")
        .since("today-7d")
        .limit(1)
        .extra_param("limit", 2)
        .path("/a")
        .path("/b")
        .where(country="NL", utm_term="a")
        .where(country="BE", referrer="google")
        .where(utm_term=None)
        .where_metadata(a=1, b=2, c=4)
        .where_metadata({"b": 3}, a=None)
        .website("example.org")
    )
    assert query.params() == {
        "version": str(SENT_VERSION),
        "start": "today-7d",
        "limit": "2",
        "info": "false",
        "events": "*",
        "fields": "visitors",
        "country": "BE",
        "referrer": "google",
        "metadata.b": "3",
        "metadata.c": "4",
    }
    assert query.url(BASE).startswith(f"{BASE}/example.org/b.json?")


def test_extra_parameters_are_judged_with_the_others() -> None:
    """What is sent unchecked still counts for the rules that span steps."""
    query = StatsQuery("example.com").fields("pages")
    search = query.extra_param("pages", "*abcdefghijkl*")
    assert [problem.rule for problem in search.problems()] == ["contains-fields"]
    late = query.extra_param("start", "today").extra_param("end", "yesterday")
    assert [problem.rule for problem in late.problems()] == ["period-order"]
    for name, text in {"start": "2026-W10", "limit": "9" * 5000}.items():
        assert query.extra_param(name, text).problems() == ()


@MAY_WARN
@given(queries())
def test_a_valid_query_is_a_value(query: StatsQuery) -> None:
    """It breaks no rule; copies, pickles and its repr, which is Python code, make it
    again, with the same hash and repr.
    """
    assert query.problems(has_key=True) == ()
    assert query.url(BASE) == f"{BASE}{parameters_of(query).request.target}"
    assert query.url(BASE).isascii()
    for again in (
        *(pickle.loads(pickle.dumps(query, n)) for n in range(2, 6)),
        *(copy.copy(query), copy.deepcopy(query)),
        eval(repr(query), {"StatsQuery": StatsQuery, "datetime": dt}),
    ):
        assert again == query
        assert (hash(again), repr(again)) == (hash(query), repr(query))
    assert {query: 1}[copy.deepcopy(query)] == 1


def test_queries_are_equal_when_they_send_the_same() -> None:
    """The order of steps and the types of values make no difference."""
    query = StatsQuery("example.com")
    assert query.fields("pages", "visitors") == query.fields("visitors", "pages")
    assert query.where_metadata(a=True) == query.where_metadata(a="true")
    assert query.version(SENT_VERSION).info(wanted=False) == query
    assert query.last(days=2) == query.between("today-2d", "yesterday")
    assert query.limit(5) == query.extra_param("limit", "5")
    assert StatsQuery("EXAMPLE.com.") == query
    others = [
        query.website("example.org"),
        query.path("/a"),
        query.path("/b"),
        query.where(page="/a"),
        query.where(pages="/a"),
        query.limit(50),
        query.fields("visitors"),
        query.during("last-month"),
    ]
    assert len({query, *others}) == len(others) + 1
    assert query != "example.com"


@pytest.mark.parametrize("value", ["50*off", "*a*"])
def test_a_literal_star_has_a_way(value: str) -> None:
    """A star inside a value that is not a page can be sent, as the error says."""
    with pytest.raises(InvalidInputError, match=r"\.extra_param\('utm_campaign', …\)"):
        QUERY.where(utm_campaign=value)
    sent = QUERY.extra_param("utm_campaign", value)
    assert sent.problems(has_key=True) == ()
    assert sent.params()["utm_campaign"] == value


# --- the repr ------------------------------------------------------------------------


REPRS = [
    "StatsQuery('example.com')",
    "StatsQuery('example.com').fields('pageviews').last(days=30)",
    "StatsQuery('example.com').last(days=7, today=True)",
    "StatsQuery('example.com').last(days=1)",
    "StatsQuery('example.com').on('2026-03-01')",
    "StatsQuery('example.com').since('2026-03-01')",
    "StatsQuery('example.com').path('/a').all_events()",
    "StatsQuery('example.com').where(pages=['/a', '/b'], country='NL')",
    "StatsQuery('example.com').where(page='/a,b')",
    "StatsQuery('example.com').where_metadata({'plan': 'pro'})",
    "StatsQuery('example.com').extra_param('limit', '5000')",
    "StatsQuery('example.com').between('today-1d', 'today')",
    "StatsQuery('example.com').on('today-1d')",
    "StatsQuery('example.com').on('today-0d')",
    "StatsQuery('example.com').last(days=99999, today=True)",
    "StatsQuery('example.com').between('today-99999d', 'today')",
]


@pytest.mark.parametrize("text", REPRS)
def test_the_repr_is_what_a_person_would_write(text: str) -> None:
    """The repr has the shortest usual steps."""
    assert repr(eval(text, {"StatsQuery": StatsQuery})) == text


# --- websites in place of host names ------------------------------------------------

TOKYO = WebsiteSpec("tokyo.example", timezone="Asia/Tokyo")
APIA = WebsiteSpec("apia.example", timezone="Pacific/Apia")


def test_a_website_brings_its_time_zone_for_itself() -> None:
    """Days and words are those of each website's zone, or of the service where it is
    not known, unless ``timezone`` set one for all; also after a pickle.
    """
    # Newer zones than this machine's are left to the service.
    unknown = type("Site", (), {"hostname": "a.example", "timezone": "Moon/Sea"})()
    websites = [TOKYO, APIA, "tokyo.example", unknown]
    zones = ["Asia/Tokyo", "Pacific/Apia", None, None]
    for first, zone in zip(websites, zones, strict=True):
        query = StatsQuery(first).fields("visitors").on("yesterday").where(country="NL")
        assert query.params().get("timezone") == zone
        query = pickle.loads(pickle.dumps(query))
        for many in (query.each(websites=websites), map(query.website, websites)):
            assert [one.params().get("timezone") for one in many] == zones
        fixed = query.timezone("UTC").each("day", websites=websites)
        assert {one.params()["timezone"] for one in fixed} == {"UTC"}
        assert "timezone" not in query.extra_param("timezone", None).params()
    assert StatsQuery(TOKYO) == StatsQuery("tokyo.example").timezone("Asia/Tokyo")
    query = StatsQuery(TOKYO).during("last-month")
    assert {"start", "end"} < query.params().keys()
    with pytest.raises(InvalidInputError, match="needs a time zone"):
        query.website("tokyo.example").params()


def test_each_of_many_websites() -> None:
    """The queries of a website follow each other: mixed up, so would be every frame."""
    quarter = QUERY.during("2026-Q1")
    names = ["b.example", "a.example", "b.example"]
    assert quarter.each("month", websites=iter(names)) == tuple(
        QUERY.website(name).during(month)
        for name in names
        for month in ("2026-01", "2026-02", "2026-03")
    )
    assert quarter.each("month", websites=()) == ()
    assert quarter.each(websites="a.example") == (quarter.website("a.example"),)
    with pytest.raises(InvalidInputError) as caught:
        QUERY.each(websites=["a.example", "b_example.", 5])  # type: ignore[list-item]  # that is the point
    assert len(caught.value.problems) == 2


# --- anything -----------------------------------------------------------------------

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.text("*/,.abcdefghijkl-0123456789%?#"),
    st.sampled_from(["today-1d", "2026-02-30", "Europe/Amsterdam", "pages", "*"]),
    st.binary(),
    st.decimals(),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.lists(st.text() | st.none()),
    st.dictionaries(st.text() | st.none(), st.text() | st.integers()),
)
STEPS: dict[str, Callable[[Any, Any, Any], object]] = {
    "StatsQuery": lambda _, a, __: StatsQuery(a),
    "fields": lambda q, a, b: q.fields(a, b),
    "events": lambda q, a, b: q.events(a, b),
    "between": lambda q, a, b: q.between(a, b),
    "last": lambda q, a, b: q.last(a, today=b),
    "during": lambda q, a, b: q.during(a, now=b),
    "timezone": lambda q, a, _: q.timezone(a),
    "where page": lambda q, a, b: q.where(page=a, country=b),
    "where pages": lambda q, a, b: q.where(pages=a, device_type=b),
    "where several": lambda q, a, b: q.where(pages=[a, b]),
    "where_metadata": lambda q, a, b: q.where_metadata(
        {a: 1} if isinstance(a, str) else None, key=b
    ),
    "interval": lambda q, a, _: q.interval(a),
    "limit": lambda q, a, _: q.limit(a),
    "path": lambda q, a, _: q.path(a),
    "version": lambda q, a, _: q.version(a),
    "info": lambda q, a, _: q.info(wanted=a),
    "extra_param": lambda q, a, b: q.extra_param(a, b),
    "url": lambda q, a, _: q.url(a),
    "from_url": lambda _, a, b: StatsQuery.from_url(a, b),
}


@MAY_WARN
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@settings(max_examples=settings().max_examples * 2 // 5)
@given(a=ANYTHING, b=ANYTHING)
def test_anything_is_accepted_or_a_query_error(
    step: Callable[[Any, Any, Any], object], a: object, b: object
) -> None:
    """No value raises another error, and what is accepted can be used."""
    try:
        query = step(QUERY, a, b)
    except InvalidInputError as error:
        query = error
    if isinstance(query, InvalidInputError):
        assert all(problem.rule and problem.section for problem in query.problems)
        assert str(query).replace("\n", " ").isprintable()
    if isinstance(query, StatsQuery):
        assert hash(query) == hash(copy.copy(query))
        assert repr(query)
        query.problems()
