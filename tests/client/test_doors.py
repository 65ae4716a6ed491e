"""Each public call with each kind of value: it works, or one error says why not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sitestats import (
    BadRequestError,
    ConfigurationError,
    InvalidInputError,
    Stats,
    StatsQuery,
    WebsiteSpec,
)
from sitestats.emulator import Emulator

EMULATOR = Emulator()
EMULATOR.add_website("a.example", timezone="Asia/Tokyo")
CLIENT: Any = EMULATOR.client()
QUERY: Any = StatsQuery("a.example").fields("visitors").on("2026-03-01")
STATS: Any = CLIENT.stats.get(QUERY)
OUTCOMES: Any = CLIENT.stats.get_many([QUERY]).collect()
WEBSITES: Any = CLIENT.websites.list()
ROW: Any = next(WEBSITES.to_pandas().itertuples())

VALUES: dict[str, Any] = {
    "str": "a.example",
    "None": None,
    "int": 3,
    "list": ["a.example"],
    "tuple": ("a.example",),
    "row": ROW,
    "Website": WEBSITES[0],
    "spec": WebsiteSpec("a.example"),
    "query": QUERY,
    "results": OUTCOMES,
    "result": STATS,
}
DOORS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "get": (CLIENT.stats.get, "query"),
    "get_jsonp": (lambda value: CLIENT.stats.get_jsonp(value, callback="f"), "query"),
    "get_many": (lambda value: CLIENT.stats.get_many(value).collect(), ""),
    "get_many of one": (
        lambda value: CLIENT.stats.get_many([value]).collect(),
        "query",
    ),
    "compare": (CLIENT.stats.compare, "query"),
    "compare of one": (lambda value: CLIENT.stats.compare([value]), "query"),
    "from_body": (lambda value: Stats.from_body(value, STATS.body), "query"),
    "StatsQuery": (StatsQuery, "str row Website spec query result"),
    "website": (QUERY.website, "str row Website spec query result"),
    "each": (
        lambda value: QUERY.each(websites=value),
        "str list tuple row Website spec query result",
    ),
    "check": (CLIENT.check, "str None row Website spec query result"),
    "add": (lambda value: CLIENT.websites.add(value, label="b"), ""),
    "ensure": (CLIENT.websites.ensure, "list tuple"),
    "ensure of one": (lambda value: CLIENT.websites.ensure([value]), "str spec"),
    "plan": (CLIENT.websites.plan, "list tuple"),
    "plan of one": (lambda value: CLIENT.websites.plan([value]), "str spec"),
    "WebsiteSpec": (WebsiteSpec, "str"),
    "WebsiteSpec.of": (WebsiteSpec.of, "Website"),
    "compare_to": (STATS.compare_to, "result"),
    "compare_to of many": (OUTCOMES.compare_to, "results"),
}


@pytest.mark.filterwarnings("ignore:the two periods")
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("door", DOORS)
def test_each_value_at_each_door(door: str, value: str) -> None:
    """A row of a frame is a website wherever a website is; what is not a query is
    refused by the same error wherever a query is, and None and a number at every door.
    """
    call, taken = DOORS[door]
    if door == "add" and value == "str":
        # The service refuses it: the website is there.
        with pytest.raises(BadRequestError):
            call(VALUES[value])
    elif value in taken.split():
        call(VALUES[value])
    else:
        with pytest.raises(InvalidInputError) as it:
            call(VALUES[value])
        assert not isinstance(it.value, ConfigurationError)
        assert str(it.value)


def test_a_row_has_its_zone() -> None:
    """A row of a frame gives its time zone, as its website does."""
    for website in (ROW, WEBSITES[0]):
        assert StatsQuery(website).params()["timezone"] == "Asia/Tokyo"
    rows = WEBSITES.to_pandas().itertuples()
    (query,) = QUERY.each(websites=rows)
    assert query.params()["timezone"] == "Asia/Tokyo"
