"""Faults that the emulator injects, with and without a socket."""

from __future__ import annotations

import collections
import threading
import time
from datetime import UTC, datetime
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest

from bare_client import bare_client
from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow

TARGET = "/example.com.json?version=6&fields=pageviews&info=false"
ADD = "/api/websites/add"
NEW = {"hostname": "new.example"}


def test_a_status(emulator: Emulator, http: httpx.Client) -> None:
    """The next response has the status, and the one after it is normal."""
    emulator.fail_next(status=429, retry_after=7)
    response = http.get(TARGET)
    assert (response.status_code, response.headers["retry-after"]) == (429, "7")
    assert response.json()["ok"] is False
    assert http.get(TARGET).json()["pageviews"] == 0
    emulator.fail_next(2, status=423, path="/*.json")
    # A star alone is a pattern.
    emulator.fail_next(status=500, path="/[e]xample.com.json")
    for _ in range(2):
        assert http.get(TARGET).json()["code"] == "BADGE_REQUIRED"
    assert http.get(TARGET).status_code == 200
    emulator.clear_faults()
    # These have no body, and the connection stays open.
    for status in (204, 304):
        emulator.fail_next(status=status)
        response = http.get(TARGET)
        assert response.content == b""
        assert "content-length" not in response.headers
    assert http.get(TARGET).status_code == 200


def test_headers(emulator: Emulator, http: httpx.Client) -> None:
    """They are sent as given; a fault with headers alone changes nothing else."""
    noon = datetime(2026, 3, 15, 12, tzinfo=UTC)
    forms = {0: "0", 1.5: "1.5", -1: "-1", "soon": "soon", "\xe9t\xe9": "\xe9t\xe9"}
    for value, header in {**forms, noon: "Sun, 15 Mar 2026 12:00:00 GMT"}.items():
        emulator.fail_next(status=503, retry_after=value)  # type: ignore[arg-type]
        assert http.get(TARGET).headers["retry-after"] == header
    for status in (None, 301, 307):
        emulator.fail_next(status=status, redirect="https://elsewhere.example/")
        response = http.get(TARGET)
        assert response.status_code == (status or 302)
        assert response.headers["location"] == "https://elsewhere.example/"
    emulator.fail_next(headers={"X-Test": "1", "Content-Type": "text/plain"})
    response = http.get(TARGET)
    assert response.json()["pageviews"] == 0
    assert response.headers["x-test"] == "1"
    assert response.headers["content-type"] == "text/plain"


def test_bodies(emulator: Emulator, http: httpx.Client) -> None:
    """A body may be bytes, text or data, so that every envelope can be sent."""
    for body, expected in (
        (b"\xff", b"\xff"),
        ("<html>é", "<html>é".encode()),
        ("", b""),
        ([{"hostname": "a.example"}], b'[{"hostname":"a.example"}]'),
        ({"success": False, "error": "No"}, b'{"success":false,"error":"No"}'),
    ):
        emulator.fail_next(body=body, headers={"Content-Type": "text/x"})
        response = http.get(TARGET)
        assert (response.status_code, response.content) == (200, expected)
        assert response.headers["content-type"] == "text/x"
    emulator.fail_next(garbage=True)
    response = http.get(TARGET)
    with pytest.raises(ValueError, match=r"\w"):
        response.json()


def test_a_body_that_is_cut_off(emulator: Emulator, http: httpx.Client) -> None:
    """The connection closes within the body, after the given number of bytes."""
    for length in (0, 10):
        emulator.fail_next(cut_off=length)
        with http.stream("GET", TARGET) as response:
            assert response.status_code == 200
            got: list[bytes] = []
            with pytest.raises(httpx.RemoteProtocolError):
                collections.deque(map(got.append, response.iter_raw()), maxlen=0)
            assert len(b"".join(got)) == length
    emulator.fail_next(cut_off=100_000)
    assert http.get(TARGET).json()["pageviews"] == 0


def test_a_failed_request_may_have_been_processed(
    emulator: Emulator, http: httpx.Client
) -> None:
    """A website whose response is an error or lost was added only when it should be."""
    emulator.fail_next(reset=True, path=ADD)
    with pytest.raises(httpx.ReadError):
        http.post(ADD, json=NEW)
    assert emulator.websites == ("example.com",)
    emulator.fail_next(reset=True, processed=True, method="POST")
    with pytest.raises(httpx.ReadError):
        http.post(ADD, json=NEW)
    emulator.fail_next(status=502, processed=True)
    assert http.post(ADD, json={"hostname": "other.example"}).status_code == 502
    assert emulator.websites == ("example.com", "new.example", "other.example")


def test_latency(emulator: Emulator, http: httpx.Client) -> None:
    """A response comes late, or after the client's timeout."""
    emulator.fail_next(latency=0.05)
    began = time.monotonic()
    assert http.get(TARGET).status_code == 200
    assert time.monotonic() - began >= 0.05
    emulator.fail_next(latency=30)
    with pytest.raises(httpx.ReadTimeout):
        http.get(TARGET, timeout=0.05)


def test_a_slow_drip(emulator: Emulator, http: httpx.Client) -> None:
    """A body comes byte by byte, and is complete."""
    # On a socket the head drips, too.
    emulator.fail_next(status=500, body="12345", drip=0.001)
    began = time.monotonic()
    with http.stream("GET", TARGET) as response:
        # A slow reader finds several bytes of a socket at once.
        assert b"".join(response.iter_raw()) == b"12345"
    assert time.monotonic() - began >= 0.005
    emulator.fail_next(drip=30)
    with pytest.raises(httpx.ReadTimeout):
        http.get(TARGET, timeout=0.05)
    emulator.fail_next(body="12345", drip=0.001, cut_off=2)
    with pytest.raises(httpx.RemoteProtocolError):
        http.get(TARGET)


@pytest.mark.parametrize(
    ("match", "met"),
    [
        ({"method": "POST"}, [False, True, False]),
        ({"path": "/example.com.json"}, [True, False, False]),
        ({"path": "/api/*"}, [False, True, True]),
        ({"path": "/api/websites", "method": "GET"}, [False, False, True]),
        ({"when": lambda one: "fields" in one.params}, [True, False, False]),
    ],
)
def test_faults_for_some_requests(
    emulator: Emulator, match: dict[str, Any], met: list[bool]
) -> None:
    """A fault applies to the next request that matches it."""
    emulator.fail_next(None, status=418, **match)
    with bare_client(emulator) as client:
        sent = (("GET", TARGET), ("POST", ADD), ("GET", "/api/websites"))
        found = [client.request(*one, headers={}).status_code for one in sent]
    assert [status == 418 for status in found] == met
    emulator.clear_faults()


@pytest.mark.parametrize("fault", [{"latency": 60.0}, {"drip": 60.0}], ids=str)
def test_a_block_ends_although_a_response_is_late(
    emulator: Emulator, fault: dict[str, Any]
) -> None:
    """The end of the block waits neither for latency nor for a slow body."""
    failures: list[Exception] = []
    met = threading.Event()
    emulator.fail_next(**fault, when=lambda _request: met.set() or True)  # type: ignore[func-returns-value]

    def get_stats(address: str) -> None:
        try:
            httpx.get(f"{address}{TARGET}", timeout=None, trust_env=False)
        except httpx.TransportError as error:
            failures.append(error)

    with emulator.serve() as address:
        thread = threading.Thread(target=get_stats, args=(address,))
        thread.start()
        assert met.wait(30)
    thread.join()
    assert len(failures) == 1


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_faults_of_async_clients(emulator: Emulator, backend: str) -> None:
    """Latency is awaited, so that many requests can wait at once."""

    async def main() -> None:
        async with httpx.AsyncClient(
            transport=emulator.transport(),
            base_url="https://emulator.test",
            headers={"Api-Key": emulator.api_key},
        ) as client:
            emulator.fail_next(20, latency=60)
            done: list[int] = []

            async def get_stats() -> None:
                done.append((await client.get(TARGET)).status_code)

            async with anyio.create_task_group() as tasks:
                for _ in range(20):
                    tasks.start_soon(get_stats)
                while len(emulator.requests) < 20:
                    await anyio.lowlevel.checkpoint()
                assert done == []
                tasks.cancel_scope.cancel()
            emulator.fail_next(latency=0.01)
            await get_stats()
            assert done == [200]
            emulator.fail_next(reset=True)
            with pytest.raises(httpx.ReadError):
                await client.get(TARGET)
            emulator.fail_next(cut_off=3)
            with pytest.raises(httpx.RemoteProtocolError):
                await client.get(TARGET)
            emulator.fail_next(body="123", drip=0.001)
            assert (await client.get(TARGET)).content == b"123"
            emulator.fail_next(latency=30)
            with pytest.raises(httpx.ReadTimeout):
                await client.get(TARGET, timeout=0.01)

    anyio.run(main, backend=backend)
