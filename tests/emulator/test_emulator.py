"""The class Emulator: its set-up, its clock, the recorded requests, its demo."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bare_client import NOW, GetStats, bare_client
from sitestats.emulator import Emulator


def test_now_can_be_moved() -> None:
    """Responses have the date and the days of the changed clock."""
    emulator = Emulator(now=NOW)
    emulator.add_website("example.com")
    emulator.now = datetime(2024, 3, 31, 23, 30, tzinfo=UTC)
    with bare_client(emulator) as client:
        response = client.get("/example.com.json?version=6&fields=pageviews")
    assert response.headers["date"] == "Sun, 31 Mar 2024 23:30:00 GMT"
    assert (response.json()["start"], response.json()["end"]) == (
        "2024-02-29T00:00:00.000Z",
        "2024-03-31T23:59:59.999Z",
    )


def test_a_removed_website_is_unknown(emulator: Emulator, get_stats: GetStats) -> None:
    """Its address is 404; added again, it has its rows."""
    emulator.load([{"hostname": "example.com"}])
    emulator.remove_website("EXAMPLE.com")
    assert emulator.websites == ()
    assert get_stats(fields="pageviews").status_code == 404
    emulator.add_website("example.com")
    assert get_stats(fields="pageviews").json()["pageviews"] == 1


def test_recorded_requests_hide_the_key() -> None:
    """A recorded request has everything, and no credential in its repr."""
    emulator = Emulator(now=NOW)
    with bare_client(emulator) as client:
        params = {"pages": "/a b,/é", "x": ""}
        client.get("/caf%C3%A9.example.json", params=params, headers={"Cookie": "a=1"})
        client.post("/api/websites/add", json={"hostname": "example.com"})
    first, second = emulator.requests
    assert (first.method, first.path) == ("GET", "/caf%C3%A9.example.json")
    assert first.params == {"pages": "/a b,/é", "x": ""}
    assert first.headers["API-KEY"] == emulator.api_key
    assert second.json() == {"hostname": "example.com"}
    shown = repr(emulator.requests) + repr(first.headers) + str(second)
    assert emulator.api_key not in shown
    assert emulator.user_id not in shown
    assert "a=1" not in shown
    assert "accept" in shown
    emulator.forget_requests()
    assert emulator.requests == ()


def test_the_demo_ends_yesterday() -> None:
    """Its four days of real pages are the last four before today, in UTC."""
    target = "/semicomplete.com.json?version=6&start=today-7d&fields="
    with bare_client(Emulator.demo(now=NOW)) as client:
        data = client.get(f"{target}pageviews,histogram,pages").json()
    days = {entry["date"]: entry["pageviews"] for entry in data["histogram"]}
    assert data["pageviews"] == sum(days.values()) == 1586
    assert [day for day, pageviews in days.items() if pageviews] == [
        (NOW - timedelta(days=ago)).date().isoformat() for ago in (4, 3, 2, 1)
    ]
    assert [(entry["value"], entry["pageviews"]) for entry in data["pages"]][:4] == [
        ("/projects/xdotool/", 203),
        ("/projects/xdotool/xdotool.xhtml", 143),
        ("/articles/dynamic-dns-with-dhcp/", 122),
        ("/", 117),
    ]
