"""What a number is of stands beside it: its filters, and its unit in a frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from matplotlib import pyplot as plt

from displayed import terminal
from sitestats import Client, StatsQuery, UsageError
from sitestats.emulator import Emulator

QUERY = StatsQuery("semicomplete.com").fields("pageviews", "pages").last(days=4)
DUTCH = QUERY.where(country="NL")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of an emulator with the demo's traffic."""
    with Emulator.demo().client() as client:
        yield client


def html(result: Any) -> str:
    """What a notebook shows."""
    return str(result._repr_html_())


def test_a_share_of_filtered_page_views(client: Client) -> None:
    """Only a share of all page views is called so, in each display; a list that is
    shown alone, as a text, a table, a terminal or a plot, names its filters.
    """
    every, some = client.stats.get(QUERY), client.stats.get(DUTCH)
    for show in (repr, html, terminal):
        assert "of all page views" in show(every.pages)
        assert "only" not in show(every.pages)
        for shown in (some.pages, some):
            assert "of all page views" not in show(shown)
            assert "country=NL" in show(shown)
        assert "only country=NL" in show(some.pages)
    of_page = client.stats.get(QUERY.path("/projects/xdotool/")).pages
    assert "only page=/projects/xdotool/" in repr(of_page)
    both = client.stats.compare(DUTCH)
    for shown in (both["pages"], both.largest()):
        assert "only country=NL" in repr(shown)
    for list_ in (some.pages, both["pages"]):
        assert "only country=NL" in list_.plot().get_title(loc="left")
        plt.close()


def test_a_histogram_of_filtered_page_views(client: Client) -> None:
    """A histogram that is shown alone names its filters, also where it is empty."""
    query = StatsQuery("semicomplete.com").fields("histogram").where(country="NL")
    for days in (query.last(days=4), query.on("2001-01-01")):
        histogram = client.stats.get(days).histogram
        for show in (html, terminal):
            assert "only country=NL" in show(histogram)
        assert histogram.plot().get_title(loc="left") == "only country=NL"
        plt.close()


def test_totals_name_their_filters(client: Client) -> None:
    """The repr and the JSON of a result say to what its totals are limited."""
    some = client.stats.get(DUTCH.where(page="/blog*"))
    assert "semicomplete.com/blog*, country=NL" in repr(some)
    values = some.to_dict()
    assert (values["page"], values["filters"]) == ("/blog*", "country=NL")
    assert not {"page", "filters"} & client.stats.get(QUERY).to_dict().keys()


MAKERS: list[Callable[[Client, StatsQuery], Any]] = [
    lambda client, query: client.stats.get(query),
    lambda client, query: client.stats.get_many([query]).collect(),
    lambda client, query: client.stats.compare(query),
    lambda client, query: client.stats.compare([query]),
]


@pytest.mark.parametrize("make", MAKERS)
def test_a_frame_has_numbers(
    client: Client, make: Callable[[Client, StatsQuery], Any]
) -> None:
    """Without a name, a frame has the totals; without totals, the only list; of several
    lists, the error says how to name one.
    """
    base = StatsQuery("semicomplete.com").last(days=4)
    for query, name in (
        (base.fields("histogram"), "histogram"),
        (base.fields("pages"), "pages"),
        (base.events("download"), "events"),
    ):
        result = make(client, query)
        assert result.columns() == result.columns(name)
        assert result.to_dicts() == result.to_dicts(name) != []
        assert result.to_pandas().equals(result.to_pandas(name))
        assert result.to_arrow().equals(result.to_arrow(name))
    several = make(client, base.fields("histogram", "pages"))
    for frame in (several.to_pandas, several.to_polars, several.columns):
        with pytest.raises(UsageError, match=r"to_pandas\('histogram'\): histogram, p"):
            frame()
    totals = make(client, base.fields("visitors", "pages", "histogram"))
    assert "visitors" in totals.columns()
    assert "pages" in repr(totals)
    assert "histogram" in repr(totals)
