"""Time zones by their names: which are known, and which are the same."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import warnings
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
from sitestats.emulator import Emulator

ZONES = st.sampled_from(sorted(zone_names()))


def test_the_zones_are_names_with_capitals() -> None:
    """The machine's own zone is not a name, whatever file holds it."""
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


@pytest.mark.long
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


@pytest.mark.long
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
    """Two names of one zone are not a difference, whichever the service prefers."""
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
    "Etc/GMT+15",
    "Etc/GMT+99",
    "UTC+27",
    "+01:17",
    "ACT",
    "Asia/Bangalore",
    "Europe",
    "Pacific",
    "West",
    "",
    # One mistake from Asia/Irkutsk, and from Asia/Yakutsk.
    "Asia/Iakutsk",
    "America/Argentina/Sam_Juam",
)
LIKELY = {
    "Eastern Time": "'America/New_York'",
    "Eastern Time (US & Canada)": "'America/New_York'",
    "pacific daylight time": "'America/Los_Angeles'",
    "CEST": "'Europe/Paris'",
    "PST": "'America/Los_Angeles'",
    "BST": "'Europe/London' or 'Asia/Dhaka'",
    "IST": "'Asia/Kolkata' or 'Europe/Dublin' or 'Asia/Jerusalem'",
    "GMT+1": "'Europe/Paris' or 'Etc/GMT-1'",
    "UTC-05:00": "'America/New_York' or 'Etc/GMT+5'",
    "+0530": "'Asia/Kolkata'",
    "(GMT+01:00) Amsterdam, Berlin, Bern": "'Europe/Amsterdam'",
    "W. Europe Standard Time": "'Europe/Berlin'",
    "eastern standard time": "'America/New_York'",
    "Tokyo Standard Time": "'Asia/Tokyo'",
}


@pytest.mark.parametrize(("zone", "right"), SUGGESTIONS.items(), ids=SUGGESTIONS)
def test_a_zone_is_suggested_that_is_certainly_meant(
    tmp_path: Path, zone: str, right: str
) -> None:
    """Another case, a missing region, blanks, one typing mistake: the builder, a
    specification and a list suggest the same name.
    """
    assert advice_on(zone, tmp_path) == {f"did you mean {right!r}?"}


@pytest.mark.parametrize(("zone", "likely"), LIKELY.items(), ids=LIKELY)
def test_likely_zones_are_named(tmp_path: Path, zone: str, likely: str) -> None:
    """Abbreviations, offsets and names of Windows mean a place, or one of several."""
    assert advice_on(zone, tmp_path) == {f"it may mean {likely}: name the place"}


@pytest.mark.parametrize("zone", NO_SUGGESTIONS)
def test_no_zone_is_suggested_that_nobody_knows(tmp_path: Path, zone: str) -> None:
    """A website's zone can't be changed after it was added, so nothing is guessed."""
    wanted = {"name a place, such as 'Europe/Amsterdam'"}
    assert advice_on(zone, tmp_path) == wanted


MISLEADING = {
    "Etc/GMT+1": "'Etc/GMT+1' is UTC-1: the signs of these names are reversed",
    "EST": "'EST' is UTC-5 all year: better name a place, such as 'America/New_York'",
    "MET": "'MET' is UTC+1, and UTC+2 in summer: better name a place, such as "
    "'Europe/Paris'",
    "GMT": "'GMT' is UTC all year: better name a place, such as 'Europe/London'",
}


@pytest.mark.parametrize(("zone", "meaning"), MISLEADING.items(), ids=MISLEADING)
def test_a_zone_that_misleads_is_told_before_it_is_added(
    zone: str, meaning: str
) -> None:
    """An add can't be undone, so a warning says what the name means: once for a list,
    and never for a website that is already there.
    """
    emulator = Emulator()
    emulator.add_website("old.example", timezone=zone)
    with emulator.client() as client, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        (old,) = client.websites.list()
        assert client.websites.plan([WebsiteSpec.of(old)]).complete
        assert told == []
        client.websites.add("new.example", timezone=zone)
        WebsiteSpec("new.example", timezone=zone)
        text = f"hostname;timezone\na.example;{zone}\nb.example;{zone}\n"
        client.websites.ensure(WebsiteSpec.load(io.BytesIO(text.encode())))
    assert [str(warning.message) for warning in told] == [
        meaning,
        meaning,
        f"<file>:2: {meaning}",
    ]


@given(ZONES)
def test_names_of_places_do_not_mislead(zone: str) -> None:
    """A warning is about names alone that are not places."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        WebsiteSpec("a.example", timezone=zone)
    is_place = "/" in zone and not zone.startswith("Etc/")
    assert not (told and is_place)


@given(st.text("utcgm+-:()01359 aAberlin,./", max_size=30))
def test_any_text_is_refused_or_a_zone(zone: str) -> None:
    """Whatever was typed, the advice has names that are accepted."""
    try:
        StatsQuery("a.example").timezone(zone)
    except InvalidInputError as error:
        advice = error.problems[0].message.partition("tz database: ")[2]
        for name in re.findall("'(.+?)'", advice):
            assert zone_name(name) == name


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
