"""Addresses of the service, read as queries."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_strategies import TEXT, queries
from rule_cases import ADDRESSES_WARNED, Step, assert_refused, refused_by
from same_text import SameText
from sitestats._common.errors import QueryError, SiteStatsWarning
from sitestats._common.hostnames import BaseAddress
from sitestats._query.builder import StatsQuery
from sitestats._query.rules import RULES

pytestmark = [pytest.mark.slow, pytest.mark.standard_library]
BASE = "https://stats.example.org"
# What the service takes may be worth a warning, and is none of these tests' matter.
MAY_WARN = pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")


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
    with pytest.warns(SiteStatsWarning, match="get_jsonp") as caught:
        query = StatsQuery.from_url(address)
    same_text(caught[0].message)
    assert query == StatsQuery("example.com").version(5).limit(5)
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]


def test_an_address_without_a_version_is_not_of_the_oldest() -> None:
    """The error for an old address names the version that the service would take."""
    query = StatsQuery.from_url(f"{BASE}/example.com.json")
    (problem,) = query.problems()
    assert ".version(1)" in problem.message
    assert query.version(1).problems() == ()


def test_from_url_keeps_a_wrong_parameter() -> None:
    """A parameter that a step would refuse is sent, and validate reports it."""
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


@pytest.mark.parametrize(("rule", "build"), **refused_by("urls"))
def test_refused_at_once(rule: str, build: Step, same_text: SameText) -> None:
    """What the document forbids is refused by its step, citing the section."""
    assert_refused(rule, build, same_text)


@pytest.mark.parametrize(("rule", "address"), ADDRESSES_WARNED.items())
def test_addresses_that_say_more_than_a_query_warn(
    rule: str, address: str, same_text: SameText
) -> None:
    """What an address may mean otherwise is a warning, at the user's line."""
    with pytest.warns(SiteStatsWarning, match="from_url: ") as caught:
        StatsQuery.from_url(address)
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]
    assert RULES[rule].section in str(caught[0].message)
    same_text(caught[0].message)
