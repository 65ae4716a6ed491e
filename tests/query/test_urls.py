"""Addresses of the service, read as queries."""

from __future__ import annotations

import pytest
from hypothesis import given

from inside import BaseAddress
from query_strategies import queries
from sitestats import InvalidInputError, StatsQuery

pytestmark = pytest.mark.slow
BASE = "https://stats.example.org"


@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
@given(queries())
def test_an_address_reads_back(query: StatsQuery) -> None:
    """from_url of a query's address gives an equal query."""
    for base in (BASE, "http://[::1]:8080/über/api", BaseAddress("https", "a.b")):
        address = query.url(base)
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
        .info()
        .version(5),
    ),
    "metadata": (
        f"{BASE}/example.com?metadata.plan=pro+plus&events=a,b",
        StatsQuery("example.com").where_metadata(plan="pro plus").events("a", "b"),
    ),
    "unknown parameters of data": (
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
        assert StatsQuery.from_url(query.url(base), base) == query
    assert StatsQuery.from_url(f"{BASE}:443/a.example", BASE).hostname == "a.example"


@pytest.mark.parametrize(
    "origin",
    [
        "http://stats.example.org",
        "https://stats.example.org:8443",
        "https://dashboard.stats.example.org",
    ],
)
def test_another_host_is_not_the_service(origin: str) -> None:
    """Neither another name nor another scheme or port is the service's."""
    with pytest.raises(InvalidInputError, match="names no website below"):
        StatsQuery.from_url(f"{origin}/example.com", BASE)


def test_a_wrong_base_address_is_refused() -> None:
    """The error is that of a query, as for the address itself."""
    with pytest.raises(InvalidInputError, match="base address is not valid"):
        StatsQuery.from_url(f"{BASE}/example.com", "stats.example.org")


WRONG = {
    "limit=0": "limit-range",
    "version=x": "version-range",
    "info=yes": "info-flag",
    "fields=": "field-name",
    "start=never": "period-day",
    "country=": "filter-empty",
    "events=": "event-name",
    "interval=eon": "interval-name",
    "timezone=cet": "timezone-name",
    "metadata.a-b=1": "metadata-key",
    "callback=show": "callback-step",
    "limit=1": "address-parameter",
}


def test_every_problem_of_an_address_is_reported() -> None:
    """What a step refuses is refused in an address, and all of it at once."""
    with pytest.raises(InvalidInputError) as caught:
        StatsQuery.from_url(f"{BASE}/local/a/../b.json?{'&'.join(WRONG)}")
    rules = [problem.rule for problem in caught.value.problems]
    assert sorted(rules) == sorted(["hostname", "path-segment", *WRONG.values()])


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/example.com?period=month&count=2", "'period' of a dashboard"),
        ("/example.com?start=today&end=yesterday", "swap them"),
        ("/example.com/.json", r"use \.where\(page='/'\)"),
        ("/example.com/%2e%2E/api/websites.json", "'..' as a segment"),
    ],
)
def test_what_an_address_can_not_say_is_refused(address: str, words: str) -> None:
    """Numbers of something else would pass for those of the dashboard."""
    with pytest.raises(InvalidInputError, match=words):
        StatsQuery.from_url(f"{BASE}{address}")


def test_an_address_without_a_version_is_not_of_the_oldest() -> None:
    """The error for an old address names the version that the service would take."""
    query = StatsQuery.from_url(f"{BASE}/example.com.json")
    (problem,) = query.problems()
    assert "version 1" in problem.message
    assert query.version(1).problems() == ()


@pytest.mark.parametrize(
    "address",
    [
        "https://me:secret@stats.example.org/example.com",
        f"{BASE}/example.com?share=secret",
    ],
)
def test_a_password_in_an_address_does_not_show(address: str) -> None:
    """The error of a refused address shows no password of it, nor a link's token."""
    with pytest.raises(InvalidInputError) as caught:
        StatsQuery.from_url(address)
    assert "secret" not in str(caught.value)
