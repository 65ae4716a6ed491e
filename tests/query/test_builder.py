"""StatsQuery, the query builder: queries as values."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import attrs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from query_strategies import TEXT, queries
from same_text import SameText
from sitestats._common.errors import QueryError, SiteStatsWarning
from sitestats._common.fields import FIELDS, is_field_name
from sitestats._common.hostnames import BaseAddress
from sitestats._protocol.requests import stats_request
from sitestats._query.builder import StatsQuery, requested
from sitestats._query.requested import Requested

pytestmark = pytest.mark.slow

BASE = "https://stats.example.org"
# What the service takes may be worth a warning, and is none of these tests' matter.
MAY_WARN = pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")


def longest() -> StatsQuery:
    """A query with nearly every step."""
    return (
        StatsQuery("example.com")
        .fields("visitors", "pageviews", "histogram", "pages")
        .between("today-30d", "yesterday")
        .timezone("Europe/Amsterdam")
        .where(country="NL", pages=["/blog*", "/docs*"])
        .where_metadata(plan="pro", paying=True)
        .events("signup", "purchase")
        .interval("week")
        .limit(100)
        .extra_param("zoom", 2)
        .extra_param("also", "yes")
    )


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
def test_an_address_reads_back(query: StatsQuery) -> None:
    """from_url of a query's address gives an equal query."""
    for base in (BASE, "http://[::1]:8080/über/api", BaseAddress("https", "a.b")):
        address = query.url(base)
        assert address.isascii()
        again = StatsQuery.from_url(address, base_url=base)
        assert again == query
        assert again.url(base) == address


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


@MAY_WARN
@given(queries())
def test_the_repr_makes_the_query_again(query: StatsQuery) -> None:
    """The repr of a query is Python code that builds it."""
    names = {"StatsQuery": StatsQuery, "datetime": dt}
    assert eval(repr(query), names) == query


DAYS = (
    st.sampled_from(["today", "yesterday", "2026-03-01", "today-99999d"])
    | st.integers(0, 5).map("today-{}d".format)
    | st.none()
)


@given(start=DAYS, end=DAYS)
def test_the_repr_makes_any_period_again(start: str | None, end: str | None) -> None:
    """Every form of a day comes back from the repr as it was given."""
    try:
        query = StatsQuery("example.com").between(start, end)
    except QueryError:
        return
    assert eval(repr(query), {"StatsQuery": StatsQuery}) == query


VALUES = st.sampled_from(
    ["", "0", "5", "x", "today", "yesterday", "2026-13-01", "a&b=ü", "/a", "pages", "*"]
)


@MAY_WARN
@given(
    values=st.dictionaries(
        st.sampled_from(["start", "end", "limit", "pages", "fields", "version", "x"]),
        VALUES,
    ),
    again=st.dictionaries(st.sampled_from(["start", "end", "limit"]), VALUES),
)
def test_the_repr_makes_a_query_of_an_address_again(
    values: dict[str, str], again: dict[str, str]
) -> None:
    """The problems of an address come back from the repr too."""
    query = StatsQuery.from_url(f"{BASE}/example.com.json?{urlencode(values)}")
    for name, value in again.items():
        query = query.extra_param(name, value)
    same = eval(repr(query), {"StatsQuery": StatsQuery})
    assert same == query
    assert set(same.problems()) == set(query.problems())


REPRS = [
    "StatsQuery('example.com')",
    "StatsQuery('example.com').fields('pageviews').last(days=30)",
    "StatsQuery('example.com').last(days=7, today=True)",
    "StatsQuery('example.com').last(days=1)",
    "StatsQuery('example.com').on('today')",
    "StatsQuery('example.com').on('2026-03-01')",
    "StatsQuery('example.com').since('2026-03-01')",
    "StatsQuery('example.com').between(None, '2026-03-01')",
    "StatsQuery('example.com').between('2026-03-01', 'today')",
    "StatsQuery('example.com').path('/a').all_events()",
    "StatsQuery('example.com').where(pages=['/a', '/b'], country='NL')",
    "StatsQuery('example.com').where(page='/a,b')",
    "StatsQuery('example.com').where_metadata(plan='pro')",
    "StatsQuery('example.com').where_metadata({'1st': 'a', 'class': 'b'})",
    "StatsQuery('example.com').version(5).info(True)",
    "StatsQuery('example.com').extra_param('limit', '5000')",
    "StatsQuery('example.com').between('today-1d', 'today')",
    "StatsQuery('example.com').on('today-1d')",
    "StatsQuery('example.com').on('today-0d')",
    "StatsQuery('example.com').last(days=99999, today=True)",
    "StatsQuery('example.com').between('today-99999d', 'today')",
    (
        "StatsQuery.from_url('https://stats.example/example.com.json?limit=0')"
        ".path('/a').on('today').extra_param('country', 'xx')"
    ),
]


@pytest.mark.parametrize("text", REPRS)
def test_the_repr_is_what_a_person_would_write(text: str) -> None:
    """The repr has the shortest usual steps."""
    assert repr(eval(text, {"StatsQuery": StatsQuery})) == text


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


ADDRESSES = {
    "a dashboard": (f"{BASE}/example.com", StatsQuery("example.com")),
    "a dashboard with a slash": (f"{BASE}/example.com/", StatsQuery("example.com")),
    "capitals": ("HTTPS://STATS.example.org/EXAMPLE.com", StatsQuery("example.com")),
    "data": (f"{BASE}/example.com.json", StatsQuery("example.com")),
    "a page's dashboard": (
        f"{BASE}/example.com/contact",
        StatsQuery("example.com").path("/contact"),
    ),
    "a page's data": (
        f"{BASE}/example.com/a/b/.json",
        StatsQuery("example.com").path("/a/b/"),
    ),
    "a page called json": (
        f"{BASE}/example.com/data.json.json",
        StatsQuery("example.com").path("/data.json"),
    ),
    "a page as people see it": (
        f"{BASE}/bücher.example/über uns",
        StatsQuery("xn--bcher-kva.example").path("/über uns"),
    ),
    "parameters": (
        (
            f"{BASE}/example.com?start=today-7d&end=today&fields=pages,visitors"
            "&pages=%2Fa*,/b&events=*&timezone=Europe/Amsterdam&info=true&version=5"
        ),
        StatsQuery("example.com")
        .last(7 + 1, today=True)
        .fields("visitors", "pages")
        .where(pages=["/a*", "/b"])
        .all_events()
        .timezone("Europe/Amsterdam")
        .info(wanted=True)
        .version(5),
    ),
    "one end": (
        f"{BASE}/example.com?end=yesterday",
        StatsQuery("example.com").between(None, "yesterday"),
    ),
    "metadata": (
        f"{BASE}/example.com?metadata.plan=pro+plus&events=a,b",
        StatsQuery("example.com").where_metadata(plan="pro plus").events("a", "b"),
    ),
    "unknown parameters": (
        f"{BASE}/example.com.json?compare=previous&x=&x.y=1",
        StatsQuery("example.com")
        .extra_param("compare", "previous")
        .extra_param("x", "")
        .extra_param("x.y", 1),
    ),
    "a fragment": (
        f"{BASE}/example.com?limit=5#top",
        StatsQuery("example.com").limit(5),
    ),
}


@pytest.mark.parametrize(("address", "query"), ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_is_read(address: str, query: StatsQuery) -> None:
    """from_url reads addresses of dashboards and of data."""
    assert StatsQuery.from_url(address) == query


def test_an_address_below_a_path_is_read() -> None:
    """The base address tells which part of the path is the service's."""
    query = StatsQuery("example.com").path("/stats/x")
    for base in (f"{BASE}/analytics/", BaseAddress.parse(f"{BASE}/analytics")):
        assert query.url(base) == (
            f"{BASE}/analytics/example.com/stats/x.json?version=6&info=false"
        )
        assert StatsQuery.from_url(query.url(base), base) == query
    assert StatsQuery.from_url(f"{BASE}:443/a.example", BASE).hostname == "a.example"


SEARCH = "search=paths%3Aa-text-of-a-path"
FOUND = StatsQuery("example.com").where(page="*a-text-of-a-path*")
READ_DASHBOARDS = {
    "a long search": (SEARCH, FOUND, []),
    "a search from a slash": (
        "search=paths:/blog/2026/a-post",
        StatsQuery("example.com").where(page="*/blog/2026/a-post*"),
        [],
    ),
    "a search with days": (
        f"{SEARCH}&start=2026-03-01&end=2026-03-31",
        FOUND.between("2026-03-01", "2026-03-31"),
        [],
    ),
    "a short search": (
        "search=paths%3Atopics",
        StatsQuery("example.com").extra_param("search", "paths:topics"),
        [r"'search=paths:topics'.*not filtered.*12 characters"],
    ),
    "a search for something else": (
        "search=countries%3ANL",
        StatsQuery("example.com").extra_param("search", "countries:NL"),
        [r"'search=countries:NL'.*not filtered"],
    ),
    "a search with a star": (
        f"{SEARCH}*",
        StatsQuery("example.com").extra_param("search", "paths:a-text-of-a-path*"),
        ["'search=paths:a-text-of-a-path"],
    ),
    "a search beside a page": (
        f"{SEARCH}&page=/a",
        StatsQuery("example.com")
        .where(page="/a")
        .extra_param("search", "paths:a-text-of-a-path"),
        ["'search=paths:a-text-of-a-path'"],
    ),
    "a period": (
        "period=year&count=1",
        StatsQuery("example.com").last(days=365, today=True),
        [r"'period=year&count=1'.*last 365 days"],
    ),
    "a period without a count": (
        "period=month",
        StatsQuery("example.com").last(days=30, today=True),
        [r"'period=month'.*last 30 days"],
    ),
    "several weeks": (
        "count=2&period=week",
        StatsQuery("example.com").last(days=14, today=True),
        [r"'period=week&count=2'.*last 14 days"],
    ),
    "a period that is not known": (
        "period=decade&count=1",
        StatsQuery("example.com")
        .extra_param("period", "decade")
        .extra_param("count", 1),
        ["'period=decade'.*not filtered", "'count=1'"],
    ),
    "a period that is too long": (
        "period=day&count=100000",
        StatsQuery("example.com")
        .extra_param("period", "day")
        .extra_param("count", 100_000),
        ["'period=day'", "'count=100000'"],
    ),
    "a period beside days": (
        "period=day&count=1&start=today",
        StatsQuery("example.com")
        .since("today")
        .extra_param("period", "day")
        .extra_param("count", 1),
        ["'period=day'", "'count=1'"],
    ),
    "a badge's link": (
        "utm_source=example.com&utm_content=badge&affiliate=me",
        StatsQuery("example.com")
        .where(utm_source="example.com", utm_content="badge")
        .extra_param("affiliate", "me"),
        [r"badges.*\.where\(utm_source=None, utm_content=None\)", "'affiliate=me'"],
    ),
    "all of it": (
        f"{SEARCH}&period=year&count=1&compare=previous#top",
        FOUND.last(days=365, today=True).extra_param("compare", "previous"),
        ["last 365 days", "'compare=previous'"],
    ),
}


@pytest.mark.parametrize(
    ("params", "query", "warned"), READ_DASHBOARDS.values(), ids=READ_DASHBOARDS
)
def test_the_parameters_of_a_dashboard(
    params: str, query: StatsQuery, warned: list[str]
) -> None:
    """What a dashboard shows is read, or a warning names what is not: the numbers would
    silently be those of everything.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read = StatsQuery.from_url(f"{BASE}/example.com?{params}")
    assert read == query
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == len(warned)
    assert all(map(re.search, warned, texts)), texts
    assert {warning.category for warning in caught} <= {SiteStatsWarning}
    assert {Path(warning.filename).name for warning in caught} <= {"test_builder.py"}


def test_the_parameters_of_data_are_sent_as_they_are() -> None:
    """An address with .json is what a program sends: nothing in it is a dashboard's."""
    for params in ("search=paths:a-text-of-a-path", "period=year&count=1"):
        read = StatsQuery.from_url(f"{BASE}/example.com.json?{params}")
        assert f"{BASE}/example.com.json?version=6&info=false&" in read.url(BASE)
        assert set(parse_qs(params)) <= set(read.params())


def test_a_view_of_a_dashboard_is_no_page(same_text: SameText) -> None:
    """The settings of a website are not taken for its page /settings."""
    with pytest.raises(QueryError, match=r"settings.*\.path\('/settings'\)") as caught:
        StatsQuery.from_url(f"{BASE}/example.com/settings#visibility")
    same_text(caught.value)
    with pytest.warns(SiteStatsWarning, match="page '/settings'") as caught:
        query = StatsQuery.from_url(f"{BASE}/example.com/settings")
    same_text(caught[0].message)
    assert query == StatsQuery("example.com").path("/settings")
    data = StatsQuery.from_url(f"{BASE}/example.com/settings.json")
    assert data == query


@pytest.mark.parametrize(
    ("address", "base"),
    [
        ("https://dashboard.stats.example.org/example.com/a", None),
        ("https://dashboard.stats.example.org/example.com/a", BASE),
        ("https://dashboard.stats.example.org:443/example.com/a", f"{BASE}/"),
        ("https://dashboard.stats.example.org/example.com/a", f"{BASE}/api"),
        ("https://dashboard.stats.example.org/api/example.com/a", f"{BASE}/api"),
        ("https://dashboard.stats.example.org/example.com/a.json", BASE),
    ],
)
def test_the_host_of_dashboards(address: str, base: str | None) -> None:
    """Dashboards on a host of their own belong to the service."""
    assert StatsQuery.from_url(address, base) == StatsQuery("example.com").path("/a")


def test_another_host_is_not_that_of_dashboards(same_text: SameText) -> None:
    """Neither another name nor another scheme or port is the service's."""
    for origin in (
        "http://dashboard.stats.example.org",
        "https://dashboard.stats.example.org:8443",
        "https://dashboard.other.example",
        "https://adashboard.stats.example.org",
    ):
        with pytest.raises(QueryError, match="below the base address") as caught:
            StatsQuery.from_url(f"{origin}/example.com", BASE)
        same_text(caught.value)


@MAY_WARN
@given(queries())
def test_a_dashboard_is_read_as_its_data(query: StatsQuery) -> None:
    """The document's parameters mean the same with .json and without."""
    path = requested(query).address.removesuffix(".json")
    page = requested(query).path or ""
    assume(not page.endswith(".json"))
    params = urlencode(query.params())
    read = StatsQuery.from_url(f"{BASE}{path}?{params}")
    assert read.params() == query.params()
    assert read.url(BASE) == query.url(BASE)


WRONG_PARAMETERS = (
    "limit=0&version=x&info=yes&fields=&start=never&country=&events=&interval=eon"
    "&timezone=cet&metadata.a-b=1&pages=,"
)
DOUBTS = [
    "period-day",
    "limit-range",
    "version-range",
    "info-flag",
    "field-name",
    "filter-empty",
    "event-name",
    "interval-name",
    "timezone-name",
    "metadata-key",
    "filter-empty",
    "filter-empty",
]


def test_from_url_reports_all_problems(same_text: SameText) -> None:
    """Each part of an address is checked by its step, and every problem reported."""
    address = f"{BASE}/local/a/../b?{WRONG_PARAMETERS}&callback=show&x=1&x=2&x=3"
    with pytest.raises(QueryError) as caught:
        StatsQuery.from_url(address)
    same_text(caught.value)
    rules = [problem.rule for problem in caught.value.problems]
    wholly = ["address-once", "hostname", "path-dots"]
    # Two problems of pages are the same, and reported once.
    assert rules == [*wholly, *DOUBTS[:-1]]


@pytest.mark.parametrize("suffix", ["", ".json"])
def test_from_url_leaves_a_callback_out(suffix: str, same_text: SameText) -> None:
    """An address for JSONP is a query too; a warning tells of the callback."""
    address = f"{BASE}/example.com{suffix}?version=5&callback=show&limit=5"
    with pytest.warns(SiteStatsWarning, match=r"get_jsonp.*callback='show'") as caught:
        query = StatsQuery.from_url(address)
    same_text(caught[0].message)
    assert query == StatsQuery("example.com").version(5).limit(5)
    assert [Path(warning.filename).name for warning in caught] == ["test_builder.py"]


def test_an_address_without_a_version_is_not_of_the_oldest() -> None:
    """The error for an old address names the version that the service would take."""
    query = StatsQuery.from_url(f"{BASE}/example.com.json")
    (problem,) = query.problems()
    assert ".version(1)" in problem.message
    assert query.version(1).problems() == ()


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


def test_from_url_keeps_a_wrong_parameter() -> None:
    """A parameter that a step would refuse is kept, and validate reports it."""
    query = StatsQuery.from_url(f"{BASE}/example.com?{WRONG_PARAMETERS}")
    assert query.params()["limit"] == "0"
    assert [problem.rule for problem in query.problems()] == DOUBTS
    assert query.website("example.org").path("/a").problems() == query.problems()
    assert pickle.loads(pickle.dumps(query)).problems() == query.problems()
    mended = query.limit(10).fields("pages").on("today").extra_param("info", "yes")
    assert {problem.rule for problem in mended.problems()} == {
        *DOUBTS[2:3],
        *DOUBTS[5:],
    }


def test_from_url_reports_a_backward_period_once() -> None:
    """A period that is backwards is one problem, until a step sets another."""
    address = f"{BASE}/example.com?start=today&end=yesterday&fields=pages"
    query = StatsQuery.from_url(address)
    assert [problem.rule for problem in query.problems()] == ["period-order"]
    assert query.params()["end"] == "yesterday"
    assert query.last(7).problems() == ()
    assert query.extra_param("end", "now").problems() == ()


@MAY_WARN
@given(st.data())
def test_the_escape_hatch_reads_back(data: st.DataObject) -> None:
    """from_url reads back parameters that were sent unchecked."""
    # A moment has no day in a zone that was not checked.
    query = data.draw(queries()).between()
    known = ["start", "end", "version", "info", "fields", "pages", "limit", "events"]
    names = st.sampled_from([*known, "interval", "timezone", "country", "metadata.a-b"])
    for name in data.draw(st.lists(names | TEXT.filter(bool), max_size=3)):
        if name != "callback":
            query = query.extra_param(name, data.draw(TEXT | st.integers()))
    again = StatsQuery.from_url(query.url(BASE))
    assert again.params() == query.params()
    assert again.url(BASE) == query.url(BASE)


def test_an_encoded_dot_segment_of_an_address_is_refused(same_text: SameText) -> None:
    """Percent-encoding does not hide where a path leads."""
    with pytest.raises(QueryError, match=r"'\.\.'") as caught:
        StatsQuery.from_url(f"{BASE}/example.com/%2e%2E/api/websites.json")
    same_text(caught.value)


def test_the_page_that_is_the_root_is_refused_in_an_address(
    same_text: SameText,
) -> None:
    """The root page, whose data has no address of its own, is refused."""
    with pytest.raises(QueryError, match=r"where\(page='/'\)") as caught:
        StatsQuery.from_url(f"{BASE}/example.com/.json")
    same_text(caught.value)


def test_a_password_in_an_address_does_not_show(same_text: SameText) -> None:
    """The error of a refused address shows no password of it."""
    with pytest.raises(QueryError) as caught:
        StatsQuery.from_url("https://me:secret@stats.example.org/example.com")
    same_text(caught.value)
    assert "secret" not in str(caught.value)


DECODED = (
    *("hostname", "path", "fields", "events", "limit"),
    *("timezone", "version", "interval"),
)
ASKED = {
    "the least": (
        StatsQuery("example.com").fields("pages"),
        Requested("example.com", fields=("pages",)),
    ),
    "everything": (
        longest().path("/a b").version(5),
        Requested(
            "example.com",
            path="/a b",
            fields=("pageviews", "visitors", "histogram", "pages"),
            events=("signup", "purchase"),
            limit=100,
            timezone="Europe/Amsterdam",
            version=5,
            interval="week",
        ),
    ),
    "all events": (
        StatsQuery("example.com").all_events(),
        Requested("example.com", events="*"),
    ),
    "the escape hatch": (
        StatsQuery("example.com")
        .fields("pageviews")
        .extra_param("fields", "new,pages,visitors")
        .extra_param("limit", 5000)
        .extra_param("version", 7)
        .extra_param("events", "a,b"),
        Requested(
            "example.com",
            fields=("visitors", "pages", "new"),
            events=("a", "b"),
            limit=5000,
            version=7,
        ),
    ),
    "no numbers": (
        StatsQuery("example.com")
        .extra_param("limit", "all")
        .extra_param("version", "next")
        .extra_param("fields", ""),
        Requested("example.com"),
    ),
}


@pytest.mark.parametrize(("query", "expected"), ASKED.values(), ids=ASKED)
def test_what_the_response_is_checked_against(
    query: StatsQuery, expected: Requested
) -> None:
    """What was requested is what is sent, unchecked parameters included."""
    found = requested(query)
    parts = {"address", "params", "unchecked"}
    sent = {name: getattr(found, name) for name in parts}
    assert attrs.evolve(expected, **sent) == found
    assert dict(found.params) == query.params()


def test_field_names_are_known() -> None:
    """is_field_name accepts the fifteen names, and nothing else."""
    names = (
        *("pageviews", "visitors", "histogram", "pages", "countries", "referrers"),
        *("utm_sources", "utm_mediums", "utm_campaigns", "utm_contents", "utm_terms"),
        *("browser_names", "os_names", "device_types", "seconds_on_page"),
    )
    assert names == FIELDS
    assert len(names) == 15
    assert all(map(is_field_name, names))
    assert not any(map(is_field_name, ["", "page", "Pages", None, 5, ["pages"]]))


class Failing:
    """A value whose every method raises."""

    def __repr__(self) -> str:
        raise RuntimeError

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError

    def __iter__(self) -> Any:
        raise RuntimeError

    def __index__(self) -> int:
        raise RuntimeError


class FailingText(str):
    """A str whose every method raises."""

    __slots__ = ()
    __repr__ = __str__ = Failing.__repr__
    __eq__ = Failing.__eq__
    __hash__ = Failing.__hash__

    def __len__(self) -> int:
        raise RuntimeError


HOSTILE: dict[str, object] = {
    "5,000 digits": 10**5000,
    "minus 5,000 digits": -(10**5000),
    "an object": object(),
    "a failing object": Failing(),
    "a class": Failing,
    "a failing path": FailingText("/a"),
    "a failing field": FailingText("pages"),
    "a failing nothing": FailingText(""),
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
