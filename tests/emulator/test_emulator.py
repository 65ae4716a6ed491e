"""The class Emulator: its set-up, its clock, the recorded requests, its demo."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bare_client import NOW, GetStats, bare_client
from sitestats.emulator import Emulator


def test_now_needs_a_zone_and_can_be_moved() -> None:
    """``now`` without a time zone is refused, and can be changed later."""
    with pytest.raises(ValueError, match="time zone"):
        Emulator(now=datetime(2026, 3, 15))  # noqa: DTZ001 - that is the point
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


def test_set_up_fails_loudly() -> None:
    """A mistake in the set-up is refused at once."""
    emulator = Emulator()
    emulator.add_website("example.com")
    for wrong in (
        lambda: Emulator(api_key=""),
        lambda: Emulator(api_key="a b"),
        lambda: Emulator(user_id="é"),
        lambda: emulator.add_website("https://example.org"),
        lambda: emulator.add_website("EXAMPLE.com."),
        lambda: emulator.add_website("example.org", timezone="europe/amsterdam"),
        lambda: emulator.change_website("example.org", locked=True),
        lambda: emulator.change_website("example.com", timezone="nowhere"),
        lambda: emulator.remove_website("example.org"),
        lambda: emulator.add_key(access=["no host"]),
        lambda: Emulator.made_up(0),
        lambda: Emulator.made_up(1, days=0),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            wrong()
    with pytest.raises(TypeError, match="lockd"):
        emulator.change_website("example.com", lockd=True)
    assert emulator.websites == ("example.com",)


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
