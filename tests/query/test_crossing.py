"""A query for each value of filters: ``each(country=…)``, and the frames of these."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats import (
    Entries,
    FieldNotRequestedError,
    InvalidInputError,
    ListEntry,
    SiteStatsWarning,
    StatsQuery,
)
from sitestats.emulator import Emulator

QUERY = StatsQuery("shop.example").fields("pageviews").on("2026-03-01")
NOW = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)


def countries(*values: str | None) -> Entries[ListEntry]:
    """A list of these countries."""
    entries = [ListEntry(value, 1, 1) for value in values]
    return Entries(entries, name="countries", entry_type=ListEntry)


TEXTS = st.lists(st.sampled_from("abcdef"), max_size=4)


@given(sources=TEXTS, media=TEXTS, plans=TEXTS)
def test_each_combination_is_one_query(
    sources: list[str], media: list[str], plans: list[str]
) -> None:
    """No combination is missing, and none comes twice: its visitors would be summed
    twice.
    """
    queries = QUERY.each(utm_source=sources, utm_medium=media, metadata={"plan": plans})
    found = [
        (sent["utm_source"], sent["utm_medium"], sent["metadata.plan"])
        for sent in (query.params() for query in queries)
    ]
    once = (dict.fromkeys(values) for values in (sources, media, plans))
    assert found == [*product(*once)]


def test_values_are_beside_websites_and_units() -> None:
    """The queries of a website follow each other, then those of a value."""
    queries = QUERY.during("2026").each(
        "quarter", websites=["a.example", "b.example"], country=["NL", "BE"]
    )
    found = [
        (one.hostname, one.params()["country"], one.params()["start"][5:7])
        for one in queries
    ]
    quarters = ("01", "04", "07", "10")
    assert found == [*product(("a.example", "b.example"), ("NL", "BE"), quarters)]


def test_one_text_is_one_value() -> None:
    """A text is not taken for its letters. Several pages may be one value."""
    (one,) = QUERY.each(utm_source="newsletter")
    assert one == QUERY.where(utm_source="newsletter")
    both, alone = QUERY.each(pages=[["/a", "/b"], "/c*"])
    assert (both.params()["pages"], alone.params()["pages"]) == ("/a,/b", "/c*")
    assert QUERY.each(metadata={"plan": "pro"}) == (QUERY.where_metadata(plan="pro"),)
    assert QUERY.each(country=[]) == ()


@pytest.mark.parametrize("value", [None, "", "spring*", "a*b"])
def test_a_value_that_no_filter_can_name_is_left_out(value: str | None) -> None:
    """Visitors choose values: ``spring*`` would count all that begins so."""
    words = "leaves out 1 value that no filter can name"
    with pytest.warns(SiteStatsWarning, match=words) as caught:
        queries = QUERY.each(country=countries("NL", value))
    assert queries == (QUERY.where(country="NL"),)
    assert [one.filename for one in caught] == [__file__]


def test_a_value_of_a_result_is_no_mistake() -> None:
    """What the service sends is not judged as what is typed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(QUERY.each(country=countries("NL", "Unknown land"))) == 2
        assert len(QUERY.each(country=[*countries("NL")])) == 1
    with pytest.warns(SiteStatsWarning, match="not a country code"):
        QUERY.each(country=["Netherlands"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"utm_source": countries("NL")}, "entries of countries: give entries of utm_"),
        ({"country": pd.DataFrame({"value": ["NL"]})}, "one column of it"),
        ({"country": {"NL": 3}}, "one column of it"),
        ({"country": None}, "give its values"),
        ({"country": 5}, "give its values"),
        ({"country": ["NL", None]}, "None is not a value"),
        ({"device_type": ["mobil", "desk"]}, "did you mean 'mobile'.*'desk' is not"),
        ({"countries": ["NL"]}, "did you mean 'country'"),
        ({"metadata": {"a b": ["x"]}}, "a metadata key"),
        ({"metadata": {"plan": [None]}}, "None is not a value"),
        ({"websites": ["a b"], "device_type": ["x"]}, "(?s)'a b'.*device type"),
    ],
)
def test_what_is_typed_is_strict(given: dict[str, Any], words: str) -> None:
    """A wrong name or value is refused, and says what to write."""
    with pytest.raises(InvalidInputError) as caught:
        QUERY.each(**given)
    assert re.search(words.replace(".*", "[\\s\\S]*"), str(caught.value))


# --- the cross table ----------------------------------------------------------------

ROWS = [
    {
        "hostname": "shop.example",
        "added_iso": "2026-03-01T10:00:00.000Z",
        "path": "/",
        "utm_source": ("mail", "search", "friends")[number % 3],
        "utm_medium": ("free", "paid")[number % 2 if number < 40 else 0],
        "country_code": ("NL", "BE")[number % 2],
    }
    for number in range(60)
]


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    """A website whose rows are known."""
    emulator = Emulator(now=NOW)
    emulator.add_website("shop.example")
    emulator.load(ROWS)
    return emulator


def test_a_cross_table_is_that_of_the_rows(emulator: Emulator) -> None:
    """Source by medium: from a query for each pair, and from a list for each source."""
    expected = Counter((row["utm_source"], row["utm_medium"]) for row in ROWS)
    with emulator.client() as client:
        query = QUERY.fields("pageviews", "utm_sources", "utm_mediums")
        stats = client.stats.get(query)
        pairs = QUERY.each(utm_source=stats.utm_sources, utm_medium=stats.utm_mediums)
        frame = client.stats.get_many(pairs).collect().to_pandas()
        assert list(frame.columns[:3]) == ["hostname", "filters", "timezone"]
        table = frame.pivot_table("pageviews", "utm_source", "utm_medium", "sum")
        assert {pair: table.loc[pair] for pair in expected} == expected
        assert table.to_numpy().sum() == len(ROWS) == len(frame) * 10
        lists = QUERY.fields("utm_mediums").each(utm_source=stats.utm_sources)
        frame = client.stats.get_many(lists).collect().to_pandas("utm_mediums")
        table = frame.pivot_table("pageviews", "utm_source", "value", "sum")
        assert {pair: table.loc[pair] for pair in expected} == expected


def test_a_filter_that_all_have_has_no_column(emulator: Emulator) -> None:
    """It is in ``filters``; those that differ have a column each, also of comparisons,
    and metadata are named as they are sent.
    """
    with emulator.client() as client:
        query = QUERY.fields("pageviews", "pages").where(utm_medium="free")
        queries = query.each(country=["NL", "BE"], metadata={"plan": ["pro", "free"]})
        outcomes = client.stats.get_many(queries).collect()
        growth = client.stats.compare(queries)
    for columns in (outcomes.columns(), outcomes.columns("pages"), growth.columns()):
        assert {"country", "metadata.plan"} <= {*columns}
        assert "utm_medium" not in columns
    assert [row["metadata.plan"] for row in growth.to_dicts()] == ["pro", "free"] * 2


def test_an_error_says_how_lists_are_crossed(emulator: Emulator) -> None:
    """Who asks for two lists at once learns what to write."""
    with emulator.client() as client:
        stats = client.stats.get(QUERY.fields("utm_sources", "utm_mediums"))
    names: Any = ["utm_sources", "utm_mediums"]
    with pytest.raises(FieldNotRequestedError, match=r"crosses two.*query\.each"):
        stats.to_pandas(names)


# --- days of numpy -----------------------------------------------------------------


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us", "ns"])
def test_a_day_of_numpy_is_a_day(unit: str) -> None:
    """Whatever its unit is: a column of a frame has microseconds."""
    day = np.datetime64("2026-03-05").astype(f"datetime64[{unit}]")
    assert QUERY.on(day) == QUERY.during(day) == QUERY.on("2026-03-05")
    assert QUERY.between(day, day + np.timedelta64(1, "D")).params()["end"][-2:] == "06"
    if unit != "D":
        with pytest.raises(InvalidInputError, match="is not a day"):
            QUERY.on(day + np.timedelta64(1, unit))


def test_a_month_of_numpy_is_a_month() -> None:
    """And a year is a year; a week of numpy begins on Thursday, so it is refused."""
    assert QUERY.during(np.datetime64("2026-03")) == QUERY.during("2026-03")
    assert QUERY.during(np.datetime64("2026")) == QUERY.during(2026)
    for wrong in (np.datetime64("2026-03-05", "W"), np.datetime64("NaT", "D")):
        with pytest.raises(InvalidInputError):
            QUERY.on(wrong)
        with pytest.raises(InvalidInputError):
            QUERY.during(wrong)
