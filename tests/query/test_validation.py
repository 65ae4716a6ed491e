"""Rules that span several steps of a query."""

from __future__ import annotations

from itertools import combinations
from urllib.parse import quote

import pytest

from rule_cases import ACROSS, LONG, POINTS, Step, assert_helpful
from same_text import SameText
from sitestats._common.errors import QueryError
from sitestats._protocol import requests
from sitestats._query.builder import StatsQuery, requested

pytestmark = pytest.mark.standard_library


@pytest.mark.parametrize(("rules", "build"), ACROSS.values(), ids=ACROSS)
def test_refused_across_steps(
    rules: set[str], build: Step, same_text: SameText
) -> None:
    """Validate reports all rules that span steps together."""
    query = build(StatsQuery("example.com").fields("pageviews"))
    assert {problem.rule for problem in query.problems()} == rules
    assert_helpful(query.problems())
    with pytest.raises(QueryError) as caught:
        query.validate()
    assert caught.value.problems == query.problems()
    same_text(caught.value)


@pytest.mark.parametrize("letter", ["a", "é", "日", "%", "*"])
def test_the_length_of_an_address_is_that_which_is_sent(letter: str) -> None:
    """The length is counted as encoded, up to the last character that may be sent."""
    query = StatsQuery("example.com").fields("pageviews")
    one = len(requests.stats_request(requested(query.where(utm_term=letter))).target)
    size = len(quote(letter, safe="*"))
    most = (64_000 - one) // size + 1
    longest = query.extra_param("utm_term", letter * most)
    assert longest.problems() == ()
    assert (
        64_000 - size < len(requests.stats_request(requested(longest)).target) <= 64_000
    )
    (problem,) = query.extra_param("utm_term", letter * (most + 1)).problems()
    assert problem.rule == "address-length"
    assert "64,000" in problem.message
    length = len(requests.stats_request(requested(longest)).target) + size
    assert f"{length:,}" in problem.message


def test_the_longest_parameter_is_named() -> None:
    """Of several parameters the longest one is the one to shorten."""
    pages = [f"/blog/{number:07}" for number in range(5000)]
    query = StatsQuery("example.com").events("a", "b").where(pages=pages)
    (problem,) = query.problems()
    assert "pages" in problem.message


@pytest.mark.parametrize("count", [0, 1, 2, 3, 6])
def test_each_point_of_a_contains_search(count: int, same_text: SameText) -> None:
    """Each point is reported, alone and together with each of the others."""
    search = StatsQuery("example.com").fields("visitors").where(pages=f"*{LONG}*")
    for names in combinations(POINTS, count):
        query = search
        for name in names:
            query = POINTS[name][1](query)
        problems = query.problems(has_key="no key" not in names)
        assert {problem.rule for problem in problems} == {
            POINTS[name][0] for name in names
        }, names
        assert_helpful(problems)
        for problem in problems if count == 1 else ():
            same_text(problem)


def test_a_contains_search_without_fields(same_text: SameText) -> None:
    """Events without fields break two points of a contains search."""
    query = StatsQuery("example.com").all_events().where(page=f"*{LONG}*")
    assert [problem.rule for problem in query.problems(has_key=True)] == [
        "contains-fields",
        "contains-events",
    ]
    for problem in query.problems(has_key=True):
        same_text(problem)


@pytest.mark.parametrize("version", range(1, 7))
def test_the_fields_of_a_contains_search_by_version(version: int) -> None:
    """Version 1 ignores fields, and version 2 always gives the pages."""
    search = StatsQuery("example.com").where(page=f"*{LONG}*").version(version)
    chosen, pages = search.fields("visitors"), search.fields("visitors", "pages")
    judged = [
        {problem.rule for problem in query.problems(has_key=True)}
        for query in (chosen, pages, search)
    ]
    if version == 1:
        assert judged == [set(), set(), set()]
    elif version == 2:
        assert judged == [{"contains-fields"}] * 3
        (problem,) = chosen.problems()
        assert problem.where == "version"
        assert "always have the pages" in problem.message
        assert_helpful((problem,))
    else:
        nothing = {"contains-fields", "fields-or-events"}
        assert judged == [set(), {"contains-fields"}, nothing]


def test_a_version_that_is_not_checked_is_not_judged() -> None:
    """A contains search with any other version is sent, with fields and without."""
    search = StatsQuery("example.com").where(page=f"*{LONG}*")
    for version in ("2", "7", "x"):
        query = search.extra_param("version", version)
        assert query.problems(has_key=True) == ()
        assert query.fields("visitors").problems(has_key=True) == ()
        assert query.fields("pages").problems(has_key=True)


def test_points_of_one_pattern_are_reported_together(same_text: SameText) -> None:
    """One call reports every point that its own pattern breaks."""
    with pytest.raises(QueryError) as caught:
        StatsQuery("example.com").where(pages=["*a*b*", "/c,d"], country="*x*")
    assert {problem.rule for problem in caught.value.problems} == {
        "contains-star",
        "contains-length",
        "contains-one-pattern",
        "pages-comma",
        "contains-filter",
    }
    same_text(caught.value)


def test_a_key_that_is_not_known_breaks_no_rule() -> None:
    """Without a client a missing key is not reported."""
    search = StatsQuery("example.com").fields("visitors").where(pages=f"*{LONG}*")
    assert search.problems() == search.problems(has_key=True) == ()
    assert [problem.rule for problem in search.problems(has_key=False)] == [
        "contains-key"
    ]
