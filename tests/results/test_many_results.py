"""Results of many websites, found by their place or by their host name."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

from sitestats import FieldNotRequestedError, StatsQuery
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitestats import Client

pytestmark = pytest.mark.once

QUERY = StatsQuery("semicomplete.com").fields("visitors", "pages").last(days=3)


@pytest.fixture(name="client")
def fixture_client() -> Iterator[Client]:
    """A client of the demo."""
    with Emulator.demo().client() as client:
        yield client


def test_a_result_is_found_by_its_host_name(client: Client) -> None:
    """An analyst knows the name of a website and not its place in a list."""
    websites = client.websites.list()
    outcomes = client.stats.get_many(QUERY.each(websites=websites)).collect()
    comparisons = outcomes.compare_to(outcomes)
    name = "Blog.semicomplete.com"
    assert websites[name] is websites[1]
    assert outcomes[name] is outcomes[1]
    assert comparisons[name] is comparisons[1]
    assert outcomes[-1] is outcomes[2]
    assert [*outcomes[1:]] == [outcomes[1], outcomes[2]]
    assert copy.copy(outcomes)[name].query == outcomes[1].query


def test_a_name_that_is_none_or_several_is_an_error(client: Client) -> None:
    """The first one of several months would pass for all of them."""
    days = client.stats.get_many(QUERY.each("day")).collect()
    with pytest.raises(KeyError, match=r"3 are about 'semicomplete\.com'"):
        days["semicomplete.com"]
    with pytest.raises(KeyError, match=r"did you mean 'semicomplete\.com'"):
        days["semicomplet.com"]
    with pytest.raises(KeyError, match="none is about 'no host'"):
        client.websites.list()["no host"]


def test_libraries_of_frames_take_the_frame_or_say_what_to_call(client: Client) -> None:
    """pl.DataFrame(outcomes) was a column of objects, pd.DataFrame(outcomes) an error
    about ``ndim``.
    """
    stats = client.stats.get(QUERY)
    outcomes = client.stats.get_many([QUERY]).collect()
    compared = outcomes.compare_to(outcomes)
    assert pl.DataFrame(stats).equals(stats.to_polars())
    for result in (outcomes, compared, stats.pages):
        assert pl.DataFrame(result).equals(result.to_polars())
        with pytest.raises(TypeError, match=r"call \.to_pandas\(\)"):
            pd.DataFrame(result)  # type: ignore[call-overload]  # no rows of pandas


@pytest.mark.parametrize("field", [["pages", "histogram"], ("pages",), 5])
def test_a_frame_is_of_one_list(client: Client, field: Any) -> None:
    """Two lists have other columns each: the error tells of the sheets."""
    outcomes = client.stats.get_many([QUERY]).collect()
    for result in (outcomes, outcomes[0].result(), outcomes.compare_to(outcomes)):
        with pytest.raises(FieldNotRequestedError, match=r"a sheet for each"):
            result.to_pandas(field)


def test_a_result_gives_the_frame_of_a_list(client: Client) -> None:
    """What outcomes and comparisons take, a single result takes as well."""
    stats = client.stats.get(QUERY)
    assert stats.to_pandas("pages").equals(stats.pages.to_pandas())
    assert stats.columns("pages") == ["value", "pageviews", "visitors"]
    compared = stats.compare_to(stats)
    assert compared.to_dicts("pages")[0]["pageviews_change"] == 0
    with pytest.raises(FieldNotRequestedError, match=r"add it .* 'countries'"):
        stats.to_pandas("countries")


def test_a_plot_of_outcomes_says_what_it_draws(client: Client) -> None:
    """``plot("pages")`` of a result draws a list; that of many draws their days."""
    outcomes = client.stats.get_many([QUERY]).collect()
    wrong: Any = "pages"
    with pytest.raises(TypeError, match=r"stats\.plot\('pages'\)"):
        outcomes.plot(wrong)
