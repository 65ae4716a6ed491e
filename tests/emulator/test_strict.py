"""What the emulator refuses when it is set up, and what it says to type instead."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats.emulator import Emulator

MEANT = {
    "event": "datapoint",
    "timestamp": "added_iso",
    "addediso": "added_iso",
    "url": "path",
    "host": "hostname",
    "device": "device_type",
    "browser": "browser_name",
    "os": "os_name",
    "countries": "country_code",
    "referrer": "document_referrer",
    "unique": "is_unique",
    "bot": "is_robot",
    "seconds_on_page": "duration_seconds",
    "utm_sources": "utm_source",
    "utmMedium": "utm_medium",
    "metadata_plan_text": "metadata.plan_text",
    "metadata": "metadata.<key>_<type>",
    "metadata_plan": "metadata.plan_<type>",
}


@pytest.mark.parametrize("name", MEANT)
def test_a_mapping_has_the_columns_of_the_export_alone(name: str) -> None:
    """Any other name is refused with the column that it probably stands for, although
    that column may be there, too.
    """
    emulator = Emulator()
    message = f"{name!r} is not a column: did you mean {MEANT[name]!r}?"
    row: dict[str, object] = {"hostname": "example.com"}
    for other in ({}, {MEANT[name]: ""} if "<" not in MEANT[name] else {}):
        with pytest.raises(ValueError, match=re.escape(message)):
            emulator.load([row | other | {name: "7"}])
    assert emulator.websites == ()


def test_a_name_like_no_column_gets_the_list() -> None:
    """If nothing is like a name, the message has all columns."""
    with pytest.raises(ValueError, match="the columns are hostname, added_iso"):
        Emulator().load([{"hostname": "example.com", "zzz": 1}])
    with pytest.raises(TypeError, match="a column's name is text, not 7"):
        Emulator().load([{"hostname": "example.com", 7: 1}])  # type: ignore[dict-item]


@given(name=st.text(max_size=20))
def test_no_name_is_dropped_silently(name: str) -> None:
    """Each name of a mapping is loaded, told as left out, or refused."""
    emulator = Emulator()
    try:
        loaded = emulator.load([{"hostname": "example.com", name: ""}])
    except ValueError:
        return
    assert (name in {"query", "session_id"}) == (name in loaded.left_out)


def test_a_file_says_what_it_left_out(tmp_path: Path) -> None:
    """A file of the service may have more columns; what counts is told."""
    path = tmp_path / "export.csv"
    path.write_text(
        "hostname,path,is_robot,uuid,lang_region,event_id\n"
        "example.com,/,,1,NL,7\nexample.com,/,true,2,NL,8\n"
    )
    loaded = Emulator().load(path)
    assert (loaded.rows, loaded.robots) == (1, 1)
    assert loaded.left_out == ("uuid", "lang_region", "event_id")
    assert str(loaded) == (
        "1 rows loaded, 1 of robots left out, 3 columns left out: "
        "uuid, lang_region, event_id"
    )
    # The content of a file is loaded as the file is.
    assert Emulator().load(path.read_bytes()) == loaded


FILES = {
    "hostname,event\nexample.com,signup\n": "did you mean 'datapoint'",
    "hostname,timestamp\nexample.com,2020\n": "did you mean 'added_iso'",
    "hostname,metadata_a_text\nexample.com,a\n": "did you mean 'metadata.a_text'",
    "hostname;path\nexample.com;/\n": "the first line has no known column",
    "hostname,path,path\nexample.com,/,/\n": "the first line has 'path' twice",
    "metadata.a b_text,metadata.a_b_text\n1,2\n": "is stored as",
}


def test_a_file_whose_columns_are_mistaken(tmp_path: Path) -> None:
    """A column that stands for a missing one is refused: that one would stay empty."""
    path = tmp_path / "rows.csv"
    for text, message in FILES.items():
        path.write_text(text)
        with pytest.raises(ValueError, match=re.escape(message)):
            Emulator().load(path, hostname="example.com")


SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"role": "Owner"}, "role must be one of owner, admin, developer, viewer"),
    ({"website_limit": "3"}, "website_limit must be a whole number"),
    ({"website_limit": -1}, "website_limit must be 0 or more, not -1"),
    ({"contains_per_minute": 1.5}, "contains_per_minute must be a whole number"),
    ({"null_entries": "no"}, "null_entries must be True or False, not 'no'"),
    ({"ignore_unknown_keys": 0}, "ignore_unknown_keys must be True or False"),
    ({"bare_list": "false"}, "bare_list must be True or False"),
    ({"visitors_return": None}, "visitors_return must be True or False"),
    ({"api_key": 7}, "api_key must be text"),
    ({"user_id": b"me"}, "user_id must be text"),
    ({"api_key": ""}, "api_key must be printable ASCII without spaces"),
    ({"user_id": "é"}, "user_id must be printable ASCII without spaces"),
    ({"now": datetime(2026, 3, 15)}, "now needs a time zone"),  # noqa: DTZ001 - the point
    ({"now": "2026-03-15"}, "now needs a time zone: give a datetime such as"),
    ({"now": "yesterday"}, "now must be a datetime"),
    ({"now": datetime(1, 1, 1, tzinfo=UTC)}, "now must be in the years 1000 to 9000"),
]
OF_WEBSITES: list[tuple[dict[str, Any], str]] = [
    ({"public": "no"}, "public must be True or False, not 'no'"),
    ({"hide_pages": 1}, "hide_pages must be True or False"),
    ({"locked": "true"}, "locked must be True or False"),
    ({"has_ssl": None}, "has_ssl must be True or False"),
    ({"label": None}, "label must be text"),
    ({"own_hostname": "no host"}, "'no host' is not a valid host name"),
    ({"timezone": "amsterdam"}, "timezone must be a name of the tz database"),
]


def test_settings_are_checked() -> None:
    """A setting of another type is refused at once: any text counts as true."""
    for settings, message in SETTINGS:
        for make in (Emulator, Emulator.demo):
            with pytest.raises((TypeError, ValueError), match=re.escape(message)):
                make(**settings)
    emulator = Emulator()
    emulator.add_website("example.com")
    for settings, message in OF_WEBSITES:
        with pytest.raises((TypeError, ValueError), match=re.escape(message)):
            emulator.add_website("other.example", **settings)
        with pytest.raises((TypeError, ValueError), match=re.escape(message)):
            emulator.change_website("example.com", **settings)
    assert emulator.websites == ("example.com",)


def test_what_does_not_exist_is_not_changed() -> None:
    """The message names the setting that is probably meant, or the website."""
    emulator = Emulator()
    # It would not be accepted; another one is given to the constructor.
    with pytest.raises(AttributeError):
        emulator.api_key = "mine"  # type: ignore[misc]
    emulator.add_website("example.com")
    with pytest.raises(TypeError, match="did you mean 'timezone'"):
        emulator.change_website("example.com", time_zone="UTC")
    for change, message in (
        (partial(emulator.add_website, "https://example.org"), "not a valid host name"),
        (partial(emulator.add_website, "EXAMPLE.com."), "already exists"),
        (partial(emulator.change_website, "example.org"), "is not a website"),
        (partial(emulator.remove_website, "example.org"), "is not a website"),
        (partial(emulator.add_key, access=["no host"]), "not a valid host name"),
        (partial(emulator.add_key, access=["b.example"]), "is not a website"),
        (partial(Emulator.made_up, 0), "websites must be 1 to"),
        (partial(Emulator.made_up, days=1_000_000), "days must be 1 to 36,500"),
    ):
        with pytest.raises(ValueError, match=message):
            change()
    for wrong in ({"websites": "3"}, {"days": True}):
        with pytest.raises(TypeError, match="must be a whole number"):
            Emulator.made_up(**wrong)


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"headers": {"Retry-After": 7}}, "headers have texts as names and values"),
    ({"headers": {"X-A": "1\r\nX-B: 2"}}, "a header can't have the value"),
    ({"headers": {"X-A": "€"}}, "a header can't have the value"),
    ({"headers": {"X A": "1"}}, "'X A' is not the name of a header"),
    ({"headers": {"X-A": "1", "x-a": "2"}}, "the header x-a is given twice"),
    ({"headers": {"Retry-After": "1"}, "retry_after": 2}, "retry-after is given twice"),
    ({"headers": {"Content-Length": "3"}}, "cut_off= breaks a body"),
    ({"redirect": 7}, "headers have texts"),
    ({"retry_after": 7}, "retry_after needs a status, such as 429"),
    ({"retry_after": True, "status": 503}, "retry_after must be seconds"),
    ({"retry_after": datetime(2026, 3, 1), "status": 503}, "retry_after needs a time"),  # noqa: DTZ001 - the point
    ({}, "say what fails"),
    ({"headers": 7}, "headers must be a mapping"),
    ({"status": "500"}, "status must be a whole number"),
    ({"status": 600}, "status must be 200 to 599"),
    ({"status": 500, "times": 0}, "times must be 1 or more"),
    ({"status": 500, "times": "2"}, "times must be a whole number"),
    ({"reset": "no"}, "reset must be True or False"),
    ({"garbage": "no"}, "garbage must be True or False"),
    ({"status": 500, "processed": 1}, "processed must be True or False"),
    ({"latency": "1"}, "latency must be seconds"),
    ({"latency": 5_000}, "latency is seconds, from 0 to 3,600"),
    ({"drip": -1.0}, "drip is seconds, from 0 to 3,600"),
    ({"cut_off": "9"}, "cut_off must be a whole number"),
    ({"cut_off": -1}, "cut_off must be 0 or more, not -1"),
    ({"garbage": True, "body": "a"}, "garbage=True is a body"),
    ({"reset": True, "status": 500}, "reset=True sends no response"),
    ({"reset": True, "cut_off": 5}, "reset=True sends no response"),
    ({"status": 204, "body": "a"}, "the status 204 has no body"),
    ({"status": 304, "cut_off": 5}, "the status 304 has no body"),
    ({"status": 500, "method": "post"}, "method must be in capitals"),
    ({"status": 500, "method": 7}, "method must be text"),
    ({"status": 500, "path": "example.com.json"}, "path begins with '/' or '*'"),
    ({"status": 500, "path": "/a.json?version=6"}, "has no query"),
    ({"status": 500, "path": "/a.json#b"}, "is percent-encoded"),
    ({"status": 500, "when": True}, "when must be a function"),
]


def test_failures_are_checked() -> None:
    """What would break a later response, or never fail one, is refused at once."""
    emulator = Emulator()
    for fault, message in FAULTS:
        with pytest.raises((TypeError, ValueError), match=re.escape(message)):
            emulator.fail_next(**fault)
    with emulator.client(retries=0) as client:
        assert len(client.websites.list()) == 0
