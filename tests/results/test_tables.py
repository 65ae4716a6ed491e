"""Tables: what a row is about, what is missing, and what no library can hold."""

from __future__ import annotations

import pytest

from displayed import pages_of
from sitestats import StatsQuery
from sitestats._results.tables import Column, Kind, label_of
from sitestats.analysis._frames import to_pandas

QUERY = StatsQuery("shop.example").fields("visitors")


@pytest.mark.parametrize(
    ("query", "label"),
    [
        (QUERY.last(days=3).limit(5).timezone("Asia/Tokyo"), "shop.example"),
        (QUERY.path("/blog/"), "shop.example/blog/"),
        (QUERY.where(page="/blog/*"), "shop.example/blog/*"),
        (
            QUERY.path("/a").where(country="NL", device_type="mobile"),
            "shop.example/a, country=NL, device_type=mobile",
        ),
        (QUERY.extra_param("plan", "gold"), "shop.example, plan=gold"),
    ],
)
def test_a_label_says_what_leaves_traffic_out(query: StatsQuery, label: str) -> None:
    """The period and the form of the response leave nothing out, filters do."""
    assert label_of(query) == label


def test_a_missing_flag_is_null_and_not_false() -> None:
    """An unknown flag is null, in a column of booleans."""
    frame = to_pandas([Column("partial", Kind.FLAG, [True, None])])
    assert str(frame["partial"].dtype) == "boolean"
    assert frame["partial"].isna().tolist() == [False, True]


def test_a_lone_surrogate_becomes_an_escape() -> None:
    """A lone surrogate, which no library's column can hold, is escaped."""
    entries, shown = pages_of("/\ud800"), [r"/\ud800"]
    assert entries.to_pandas()["value"].tolist() == shown
    assert entries.to_polars()["value"].to_list() == shown
    assert entries.to_arrow()["value"].to_pylist() == shown
