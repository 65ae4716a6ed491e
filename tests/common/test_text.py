"""Texts of messages: the name that was probably meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sitestats._common.errors import QueryError
from sitestats._query.builder import StatsQuery

NEAREST: dict[str, tuple[Callable[[Any], object], str]] = {
    "field": (lambda q: q.fields("vistors"), "'visitors'"),
    "filter": (lambda q: q.where(countrys="NL"), "'country'"),
    "interval": (lambda q: q.interval("daily"), "'day'"),
    "zone": (lambda q: q.timezone("europe/amsterdam"), "'Europe/Amsterdam'"),
    "device": (lambda q: q.where(device_type="Moblie"), "'mobile'"),
}


@pytest.mark.parametrize(("build", "right"), NEAREST.values(), ids=NEAREST)
def test_the_nearest_name_is_suggested(
    build: Callable[[Any], object], right: str
) -> None:
    """The error of a misspelt name suggests the one that was probably meant."""
    with pytest.raises(QueryError, match=f"did you mean {right}"):
        build(StatsQuery("example.com"))
