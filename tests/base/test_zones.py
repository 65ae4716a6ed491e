"""Time zones by their names: which are known, and which are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.inside import zone_name
from fake_responses import read_response, stats_json
from inside import zone_names
from sitestats import InvalidInputError, SiteStatsWarning, StatsQuery, WebsiteSpec

ZONES = st.sampled_from(sorted(zone_names()))


def test_the_zones_are_names_with_capitals() -> None:
    """The machine's own zone is no name, whatever file holds it."""
    assert {"UTC", "Europe/Amsterdam", "GB", "EST5EDT"} <= zone_names()
    assert "localtime" not in zone_names()
    assert "posixrules" not in zone_names()


# A system's database that lacks older names, or all of them; with, and without the
# package.
CHILD = """
import sys
if "package" in sys.argv:
    sys.modules["tzdata"] = None
from sitestats import InvalidInputError, StatsQuery, WebsiteSpec
from sitestats.emulator import Emulator

def last_week(site):
    return StatsQuery(site).fields("visitors").last(weeks=1).params()

def listed(zone):
    emulator = Emulator()
    emulator.add_website("shop.example", timezone=zone)
    client = emulator.client()
    (site,) = client.websites.list()
    last_week(site)
    days = client.stats.get(StatsQuery("shop.example").fields("visitors").last(days=7))
    assert days.first_day, days
    other = WebsiteSpec("shop.example", timezone="Asia/Kolkata")
    plans = [client.websites.plan([spec]) for spec in (WebsiteSpec.of(site), other)]
    return [plan.complete for plan in plans]

for name, use in {
    "step": lambda: StatsQuery("a.example").timezone("Asia/Calcutta") and "right",
    "list": lambda: listed("Asia/Calcutta"),
    "word": lambda: last_week("a.example"),
}.items():
    try:
        print(name, use())
    except (InvalidInputError, ValueError) as error:
        print(name, "tzdata" in str(error) and "tzdata" or error)
"""


def zones_of_a_machine(tmp_path: Path, *arguments: str) -> list[str]:
    """What a program prints on a machine whose own database is in that folder."""
    run = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments],
        env={**os.environ, "PYTHONTZPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()


def copy_zones(folder: Path, *names: str) -> None:
    """Give a machine these zones alone."""
    packaged = resources.files("tzdata") / "zoneinfo"
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(packaged.joinpath(*name.split("/")).read_bytes())


@pytest.mark.parametrize("names", [(), ("UTC", "Asia/Kolkata")], ids=["none", "few"])
def test_every_machine_knows_the_same_zones(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    """A slim container has no zones, and Debian 13 no older names: there a website in
    ``Asia/Calcutta`` is as everywhere, for queries, plans and the emulator.
    """
    copy_zones(tmp_path, *names)
    found = zones_of_a_machine(tmp_path)
    assert found[:2] == ["step right", "list [True, True]"]


def test_where_the_package_is_missing_its_name_is_told(tmp_path: Path) -> None:
    """A distribution may leave the package out: then a missing name, and a period that
    needs a zone, say what to install.
    """
    copy_zones(tmp_path, "UTC", "Asia/Kolkata")
    found = zones_of_a_machine(tmp_path, "package")
    assert found == ["step tzdata", "list tzdata", "word tzdata"]


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


def test_the_days_of_an_unknown_zone_are_not_left_out_silently() -> None:
    """The response has moments: which days they are in depends on the zone."""
    query = TOTALS.extra_param("timezone", "Moon/Crater").last(days=7)
    body = {**GOOD, "timezone": "Moon/Crater", "start": "2026-02-19T00:00:00.000Z"}
    with pytest.warns(SiteStatsWarning, match="pip install --upgrade tzdata"):
        stats = read_response(query, body)
    assert stats.first_day is None


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
