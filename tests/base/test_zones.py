"""Time zones by their names: which are known, and which are the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_responses import read_response, stats_json
from sitestats._base.errors import InvalidInputError, SiteStatsWarning
from sitestats._base.zones import zone_names
from sitestats._query.builder import StatsQuery
from sitestats._query.periods import timezone as zone_name
from sitestats.provisioning._specs import WebsiteSpec

ZONES = st.sampled_from(sorted(zone_names()))


def test_the_zones_are_names_with_capitals() -> None:
    """The machine's own zone is no name, whatever file holds it."""
    assert {"UTC", "Europe/Amsterdam", "GB", "EST5EDT"} <= zone_names()
    assert "localtime" not in zone_names()
    assert "posixrules" not in zone_names()


def test_a_machine_without_zones_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a zone database the error says what to install."""
    monkeypatch.setattr("sitestats._query.periods.zone_names", frozenset)
    with pytest.raises(InvalidInputError, match="pip install tzdata"):
        StatsQuery("example.com").timezone("Europe/Amsterdam")


@given(ZONES)
def test_every_zone_is_accepted_and_can_be_used(zone: str) -> None:
    """Every zone that is accepted can convert a moment to its day."""
    assert zone_name(zone) == zone
    moment = datetime(2026, 2, 26, 12, tzinfo=UTC)
    query = QUERY.during("this-week", now=moment).timezone(zone)
    assert query.params()["start"] == "2026-02-23"


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
def test_another_zone_with_the_same_offset_now_warns(zone: str) -> None:
    """Zones that were different once, or that nobody knows, are not taken for one."""
    with pytest.warns(SiteStatsWarning, match="time zone"):
        read_response(TOTALS.timezone("Europe/Berlin"), {**GOOD, "timezone": zone})


SUGGESTIONS = {
    "europe/amsterdam": "Europe/Amsterdam",
    "utc": "UTC",
    "Berlin": "Europe/Berlin",
    "new york": "America/New_York",
    "America/New York": "America/New_York",
    "Istanbul": "Europe/Istanbul",
    "Europe/Amsterdm": "Europe/Amsterdam",
    "Asia/Tokio": "Asia/Tokyo",
    "Eruope/Berlin": "Europe/Berlin",
    "Asia/Kathandu": "Asia/Katmandu",
}
NO_SUGGESTIONS = (
    *("CEST", "PST", "IST", "AEST", "UTC+1", "GMT+2", "+02:00", "Etc/GMT+15", "ACT"),
    *("W. Europe Standard Time", "Asia/Bangalore", "Europe", "Pacific", "West", ""),
    # One mistake from Asia/Irkutsk, and from Asia/Yakutsk.
    *("Asia/Iakutsk", "Etc/GMT+99", "America/Argentina/Sam_Juam"),
)


@pytest.mark.parametrize(("zone", "right"), SUGGESTIONS.items(), ids=SUGGESTIONS)
def test_a_zone_is_suggested_that_is_certainly_meant(
    tmp_path: Path, zone: str, right: str
) -> None:
    """Another case, a missing region, blanks, one typing mistake: the builder, a
    specification and a list suggest the same name.
    """
    assert advice_on(zone, tmp_path) == {f"did you mean {right!r}?"}


@pytest.mark.parametrize("zone", NO_SUGGESTIONS)
def test_no_zone_is_suggested_that_is_likely_alone(tmp_path: Path, zone: str) -> None:
    """A website's zone can't be changed after it was added, so nothing is guessed."""
    wanted = {"name a place, such as 'Europe/Amsterdam'"}
    assert advice_on(zone, tmp_path) == wanted


def advice_on(zone: str, folder: Path) -> set[str]:
    """What the builder, a specification and a list advise for that name."""
    listed = folder / "list.json"
    listed.write_text(json.dumps([{"hostname": "example.com", "timezone": zone}]))
    found: set[str] = set()
    for use in (
        lambda: StatsQuery("example.com").timezone(zone),
        lambda: WebsiteSpec("example.com", timezone=zone),
        lambda: WebsiteSpec.load(listed),
    ):
        with pytest.raises(InvalidInputError) as caught:
            use()
        message = caught.value.problems[0].message
        found.add(message.partition("tz database: ")[2])
    return found
