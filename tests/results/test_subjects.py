"""What a query is about: labels that tell queries apart."""

from __future__ import annotations

import pytest

from sitestats import StatsQuery
from sitestats._results.subjects import label_of

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
