"""Which fault a request meets, and the date of each response."""

from __future__ import annotations

import threading
from email.utils import format_datetime

import httpx
import pytest

from bare_client import NOW, bare_client
from sitestats.emulator import Emulator

pytestmark = [pytest.mark.slow, pytest.mark.standard_library]
TARGET = "/example.com.json?version=6&fields=pageviews&info=false"


def test_a_response_has_the_emulators_date(
    emulator: Emulator, http: httpx.Client
) -> None:
    """The Date of responses, also of faults, is the emulator's ``now``."""
    date = format_datetime(NOW, usegmt=True)
    assert http.get(TARGET).headers["date"] == date
    emulator.fail_next(status=503)
    assert http.get(TARGET).headers["date"] == date
    emulator.fail_next(headers={"date": "yesterday"})
    assert http.get(TARGET).headers["date"] == "yesterday"


def test_faults_are_used_up_in_order(emulator: Emulator) -> None:
    """Each request takes the first fault that it matches."""
    emulator.fail_next(status=501)
    emulator.fail_next(status=502, path="/api/websites")
    emulator.fail_next(2, status=503)
    with bare_client(emulator) as client:
        targets = ("/api/websites", "/api/websites", TARGET, TARGET, TARGET)
        found = [client.get(target).status_code for target in targets]
    assert found == [501, 502, 503, 503, 200]


def test_many_threads_use_up_each_fault_once(emulator: Emulator) -> None:
    """With many threads as many responses fail as faults were set."""
    emulator.fail_next(37, status=500)
    statuses: list[int] = []
    start = threading.Barrier(10)

    def work() -> None:
        with bare_client(emulator) as client:
            start.wait()
            statuses.extend(client.get(TARGET).status_code for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (statuses.count(500), statuses.count(200)) == (37, 163)
    assert len(emulator.requests) == 200


def test_two_emulators_share_nothing() -> None:
    """Websites, rows, keys, requests, faults and searches stay in their emulator."""
    one, other = Emulator(now=NOW), Emulator(now=NOW)
    one.add_website("example.com")
    one.load([{"hostname": "example.com", "metadata.a_text": "b"}])
    one.fail_next(status=503)
    one.add_key(access=["example.com"])
    with bare_client(one, key=one.api_key) as client:
        client.get("/")
    assert other.websites == ()
    assert other.requests == ()
    assert other.faults_left == 0
    assert one.api_key != other.api_key
    assert one.user_id != other.user_id
    with bare_client(other, key=one.api_key) as client:
        assert client.get("/api/websites").status_code == 401
    other.add_website("example.com")
    with bare_client(other) as client:
        data = client.get("/example.com.json?version=6&fields=pageviews").json()
    assert data["pageviews"] == 0
