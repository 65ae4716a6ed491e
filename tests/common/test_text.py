"""Texts of messages: the name that was probably meant."""

from __future__ import annotations

import pytest

from rule_cases import Step, step
from sitestats._common.errors import QueryError
from sitestats._query.builder import StatsQuery

pytestmark = pytest.mark.standard_library


NEAREST: dict[str, tuple[Step, str]] = {
    "field": (step("fields", "vistors"), "'visitors'"),
    "filter": (step("where", countrys="NL"), "'country'"),
    "interval": (step("interval", "daily"), "'day'"),
    "zone": (step("timezone", "europe/amsterdam"), "'Europe/Amsterdam'"),
    "day": (step("on", "yesteday"), "'yesterday'"),
    "device": (step("where", device_type="Moblie"), "'mobile'"),
}


@pytest.mark.parametrize(("build", "right"), NEAREST.values(), ids=NEAREST)
def test_the_nearest_name_is_suggested(build: Step, right: str) -> None:
    """The error of a misspelt name suggests the one that was probably meant."""
    with pytest.raises(QueryError, match=f"did you mean {right}"):
        build(StatsQuery("example.com"))
