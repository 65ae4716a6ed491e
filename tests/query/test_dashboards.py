"""Parameters of a dashboard's address: what it shows is what a query requests."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import assume, given

from query_strategies import queries
from same_text import SameText
from sitestats._common.errors import QueryError, SiteStatsWarning
from sitestats._query.builder import StatsQuery, requested

pytestmark = [pytest.mark.slow, pytest.mark.standard_library]
BASE = "https://stats.example.org"
# What the service takes may be worth a warning, and is none of these tests' matter.
MAY_WARN = pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
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
    assert {Path(warning.filename).name for warning in caught} <= {Path(__file__).name}


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
