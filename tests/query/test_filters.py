"""Filters and metadata: what is refused, and what probably means something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rule_cases import FILTERS_WARNED, WARNED, Step, assert_refused, refused_by
from same_text import SameText
from sitestats._common.errors import SiteStatsWarning
from sitestats._query.builder import StatsQuery
from sitestats._query.rules import RULES

pytestmark = pytest.mark.standard_library


@pytest.mark.parametrize(("rule", "build"), **refused_by("filters"))
def test_refused_at_once(rule: str, build: Step, same_text: SameText) -> None:
    """What the document forbids is refused by its step, citing the section."""
    assert_refused(rule, build, same_text)


@pytest.mark.parametrize(("rule", "pairs", "text"), WARNED.values(), ids=WARNED)
def test_literal_values_warn(
    rule: str, pairs: dict[str, Any], text: str, same_text: SameText
) -> None:
    """A value that is taken literally is sent, with a warning at the user's line."""
    with pytest.warns(SiteStatsWarning, match=text) as caught:
        query = StatsQuery("example.com").where_metadata(pairs)
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]
    with pytest.warns(SiteStatsWarning, match=text) as again:
        assert StatsQuery.from_url(query.url("https://a.example")) == query
    assert [Path(warning.filename).name for warning in again] == [Path(__file__).name]
    assert f"section {RULES[rule].section}" in str(caught[0].message)
    same_text(caught[0].message)


@pytest.mark.parametrize(
    ("rule", "filters", "text"), FILTERS_WARNED.values(), ids=FILTERS_WARNED
)
def test_filters_that_match_little_warn(
    rule: str, filters: Any, text: str, same_text: SameText
) -> None:
    """A filter that matches next to nothing is sent, with one warning."""
    with pytest.warns(SiteStatsWarning, match=text) as caught:
        query = StatsQuery("example.com").where(**filters)
    with pytest.warns(SiteStatsWarning, match=text) as again:
        assert StatsQuery.from_url(query.url("https://a.example")) == query
    lines = [Path(warning.filename).name for warning in (*caught, *again)]
    assert lines == [Path(__file__).name, Path(__file__).name]
    assert query.fields("visitors").where(utm_term="x").problems() == ()
    assert f"section {RULES[rule].section}" in str(caught[0].message)
    same_text(caught[0].message)
