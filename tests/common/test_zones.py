"""Time zones by their names: which are known, and which are the same."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_responses import read_response, stats_json
from same_text import SameText
from sitestats._common.errors import QueryError, SiteStatsWarning
from sitestats._common.zones import zone_names
from sitestats._query.builder import StatsQuery
from sitestats._query.periods import in_zone
from sitestats._query.periods import timezone as zone_name

pytestmark = pytest.mark.standard_library


ZONES = st.sampled_from(sorted(zone_names()))


def test_the_zones_are_names_with_capitals() -> None:
    """The machine's own zone is no name, whatever file holds it."""
    assert {"UTC", "Europe/Amsterdam", "GB", "EST5EDT"} <= zone_names()
    assert "localtime" not in zone_names()
    assert "posixrules" not in zone_names()


def test_a_machine_without_zones_says_so(
    monkeypatch: pytest.MonkeyPatch, same_text: SameText
) -> None:
    """Without a zone database the error says what to install."""
    monkeypatch.setattr("sitestats._query.periods.zone_names", frozenset)
    with pytest.raises(QueryError, match="pip install tzdata") as caught:
        StatsQuery("example.com").timezone("Europe/Amsterdam")
    same_text(caught.value)


@given(ZONES)
def test_every_zone_is_accepted_and_can_be_used(zone: str) -> None:
    """Every zone that is accepted can convert a moment to its day."""
    assert zone_name(zone) == zone
    moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert isinstance(in_zone(moment, zone, "start"), str)


QUERY = StatsQuery("example.com")


TOTALS = QUERY.fields("pageviews", "visitors")


GOOD = stats_json(pageviews=66, visitors=41)


@pytest.mark.parametrize(
    ("requested_zone", "zone"),
    [
        ("Asia/Katmandu", "Asia/Kathmandu"),
        ("Asia/Kolkata", "Asia/Calcutta"),
        ("UTC", "Etc/UTC"),
        ("Moon/Crater", "Moon/Crater"),
    ],
)
def test_another_name_of_the_zone_is_no_warning(requested_zone: str, zone: str) -> None:
    """Two names of one zone are no difference, whichever the service prefers."""
    query = TOTALS.extra_param("timezone", requested_zone)
    assert read_response(query, {**GOOD, "timezone": zone}).timezone == zone


@pytest.mark.parametrize("zone", ["Europe/Paris", "Asia/Dhaka", "Moon/Crater"])
def test_another_zone_with_the_same_offset_now_warns(
    zone: str, same_text: SameText
) -> None:
    """Zones that were different once, or that nobody knows, are not taken for one."""
    with pytest.warns(SiteStatsWarning, match="time zone") as caught:
        read_response(TOTALS.timezone("Europe/Berlin"), {**GOOD, "timezone": zone})
    same_text(caught[0].message)
