"""A plain HTTP client of the emulator.

It is tested through httpx alone, so that a mistake which it shares with the
clients can't hide.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx

from sitestats.emulator import Emulator

NOW = datetime(2026, 3, 15, 12, 30, tzinfo=UTC)

GetStats = Callable[..., httpx.Response]


def bare_client(emulator: Emulator, *, key: str | None = "own") -> httpx.Client:
    """An httpx client of *emulator*, with its key, another key, or none."""
    headers = {"User-Id": emulator.user_id}
    if key is not None:
        headers["Api-Key"] = emulator.api_key if key == "own" else key
    return httpx.Client(
        base_url="https://emulator.test",
        transport=emulator.transport(),
        headers=headers,
    )


OPEN = {"version": "6", "fields": "pageviews,visitors,histogram,countries"}


def status(
    emulator: Emulator, key: str | None, params: dict[str, str], suffix: str = ""
) -> int:
    """The status of a response for example.com; an error has ``ok: false``."""
    with bare_client(emulator, key=key) as client:
        response = client.get(f"/example.com{suffix}.json", params=params)
    data = response.json()
    assert data.get("ok", True) is (response.status_code == 200)
    if response.status_code != 200:
        assert data["error"]
        assert "pageviews" not in data
    return response.status_code


def add(emulator: Emulator, payload: object, **headers: str) -> httpx.Response:
    """Add a website by the API."""
    sent = {"Content-Type": "application/json", **headers}
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    with bare_client(emulator) as client:
        return client.post("/api/websites/add", content=body, headers=sent)


def exactly(
    emulator: Emulator, params: dict[str, str], hostname: str = "example.com"
) -> Any:
    """The response for a website, in version 6, without prose."""
    params = {"version": "6", "info": "false", **params}
    with bare_client(emulator) as client:
        response = client.get(f"/{hostname}.json", params=params)
    assert response.status_code == 200, (params, response.text)
    return response.json()


def with_website(**settings: Any) -> tuple[Emulator, dict[str, str | None]]:
    """An emulator, and a key of each kind."""
    emulator = Emulator(now=NOW)
    emulator.add_website("example.com", **settings)
    emulator.add_website("other.example")
    return emulator, {
        "own": emulator.api_key,
        "with access": emulator.add_key(access=["EXAMPLE.com"]),
        "without access": emulator.add_key(access=["other.example"]),
        "wrong": "sa_api_key_wrong",
        "empty": "",
        "none": None,
    }
