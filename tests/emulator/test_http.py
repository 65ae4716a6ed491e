"""Recorded requests: everything that was sent, and no credential in a repr."""

from __future__ import annotations

from bare_client import NOW, bare_client
from sitestats.emulator import Emulator


def test_recorded_requests_hide_the_key() -> None:
    """A recorded request has everything, and no credential in its repr."""
    emulator = Emulator(now=NOW)
    with bare_client(emulator) as client:
        client.get("/caf%C3%A9.example.json", params={"pages": "/a b,/é", "x": ""})
        client.post("/api/websites/add", json={"hostname": "example.com"})
    first, second = emulator.requests
    assert (first.method, first.path) == ("GET", "/caf%C3%A9.example.json")
    assert first.params == {"pages": "/a b,/é", "x": ""}
    assert first.headers["API-KEY"] == emulator.api_key
    assert second.json() == {"hostname": "example.com"}
    shown = repr(emulator.requests) + repr(first.headers) + str(second)
    assert emulator.api_key not in shown
    assert emulator.user_id not in shown
    assert "accept" in shown
    emulator.forget_requests()
    assert emulator.requests == ()
