"""The demo's traffic: real pages, of the last four days."""

from __future__ import annotations

from datetime import timedelta

from bare_client import NOW, bare_client
from sitestats.emulator import Emulator


def test_the_demo_ends_yesterday() -> None:
    """The demo's four days are the last four before today, in UTC."""
    emulator = Emulator.demo(now=NOW)
    with bare_client(emulator) as client:
        data = client.get(
            "/semicomplete.com.json",
            params={"version": 6, "fields": "pageviews,histogram", "start": "today-7d"},
        ).json()
    days = {entry["date"]: entry["pageviews"] for entry in data["histogram"]}
    assert data["pageviews"] == sum(days.values()) == 1586
    assert [day for day, pageviews in days.items() if pageviews] == [
        (NOW - timedelta(days=ago)).date().isoformat() for ago in (4, 3, 2, 1)
    ]


def test_the_demo_has_the_pages_of_the_real_traffic() -> None:
    """The demo's most visited pages are those of the log, without robots."""
    emulator = Emulator.demo(now=NOW)
    with bare_client(emulator) as client:
        data = client.get(
            "/semicomplete.com.json", params={"version": 6, "fields": "pages"}
        ).json()
    assert [(entry["value"], entry["pageviews"]) for entry in data["pages"]][:4] == [
        ("/projects/xdotool/", 203),
        ("/projects/xdotool/xdotool.xhtml", 143),
        ("/articles/dynamic-dns-with-dhcp/", 122),
        ("/", 117),
    ]
