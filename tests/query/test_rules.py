"""The service's rules: what each step accepts and refuses, and why."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rule_cases import (
    ACCEPTED,
    ACROSS,
    ADDRESSES_WARNED,
    ELSEWHERE,
    FILTERS_WARNED,
    POINTS,
    REFUSED,
    WARNED,
    Step,
    assert_helpful,
    assert_refused,
    refused_by,
)
from same_text import SameText
from sitestats._common.errors import InvalidInputError, QueryError
from sitestats._protocol import requests
from sitestats._query import (
    builder,
    dashboards,
    periods,
    rules,
    units,
    urls,
    validation,
    values,
)
from sitestats._query import filters as filter_rules
from sitestats._query.builder import StatsQuery
from sitestats._query.rules import RULES

pytestmark = pytest.mark.standard_library


@pytest.mark.parametrize(("build", "sent"), ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(build: Step, sent: dict[str, str | None]) -> None:
    """What the document allows is accepted, and sent as its text."""
    query = build(StatsQuery("example.com").fields("pageviews"))
    assert query.problems(has_key=True) == ()
    query.validate(has_key=True)
    params = query.params()
    assert {name: params.get(name) for name in sent} == sent


@pytest.mark.parametrize(("rule", "build"), **refused_by("rules"))
def test_refused_at_once(rule: str, build: Step, same_text: SameText) -> None:
    """What the document forbids is refused by its step, citing the section."""
    assert_refused(rule, build, same_text)


def test_a_refused_day_names_the_way_around() -> None:
    """The error of a refused day names extra_param, which sends it unchecked."""
    with pytest.raises(QueryError, match=re.escape(".extra_param('end', …)")):
        StatsQuery("example.com").between("today", "tomorrow")


def test_one_call_reports_all_its_problems() -> None:
    """A step does not stop at the first wrong argument."""
    query: Any = StatsQuery("example.com")
    with pytest.raises(QueryError) as days:
        query.between("whenever", "2026-02-30")
    assert [problem.where for problem in days.value.problems] == ["start", "end"]
    with pytest.raises(QueryError) as fields:
        query.fields("a", "pages", "b")
    assert len(fields.value.problems) == 2
    with pytest.raises(QueryError) as metadata:
        query.where_metadata({"a-b": 1}, c=[])
    assert len(metadata.value.problems) == 2
    with pytest.raises(QueryError) as path:
        query.path("/a/../\x00")
    assert len(path.value.problems) == 2


@pytest.mark.parametrize(("rule", "call"), ELSEWHERE.items(), ids=ELSEWHERE)
def test_refused_outside_queries(
    rule: str, call: Callable[[], object], same_text: SameText
) -> None:
    """Rules of other requests are in the same table."""
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert [problem.rule for problem in caught.value.problems] == [rule]
    assert_helpful(caught.value.problems)
    same_text(caught.value)


def test_every_row_of_the_table_is_tested() -> None:
    """Each rule of the table is broken by a case above."""
    broken = {rule for rule, _ in REFUSED.values()}
    broken |= {rule for rules, _ in ACROSS.values() for rule in rules}
    broken |= {rule for rule, _ in POINTS.values()}
    broken |= {rule for rule, _, _ in (*WARNED.values(), *FILTERS_WARNED.values())}
    assert broken | set(ELSEWHERE) | set(ADDRESSES_WARNED) == set(RULES)


def test_every_row_of_the_table_is_enforced() -> None:
    """The code uses each rule of the table, and names no other."""
    modules = (
        validation,
        units,
        urls,
        dashboards,
        filter_rules,
        periods,
        builder,
        requests,
        rules,
        values,
    )
    named: set[str] = set()
    for module in modules:
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        named.update(
            re.findall(
                r"""(?:broken\(|refused\(|rule=|rule: str =)\s*"([a-z-]+)\"""", source
            )
        )
    assert named == set(RULES)


def test_the_table_reads_well(same_text: SameText) -> None:
    """Each rule has a section of the document and a whole sentence."""
    for name, rule in RULES.items():
        same_text(f"{name} ({rule.section}): {rule.text}")
        assert rule.name == name
        assert re.fullmatch(r"[1-9](\.[1-9])?", rule.section)
        assert rule.text.endswith(".")
