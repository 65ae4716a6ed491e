"""``sitestats check`` and ``sitestats profiles``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

from loopback import closed_address

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator, RecordedRequest

KEY = "sa_api_key_0123456789abcdef"


def test_a_line_each(emulator: Emulator, run: Run) -> None:
    """It names the variables, and never a credential; a script reads the same."""
    done = run("check")
    assert done.code == 0
    lines = done.out.splitlines()
    starts = ["✓ base address", "✓ API key     ", "✓ user ID     "]
    assert [line[:14] for line in lines[:3]] == starts
    assert "from SITESTATS_API_KEY" in lines[1]
    assert emulator.api_key not in done.out
    assert emulator.user_id not in done.out
    found = json.loads(run("check", "--format", "json").out)
    assert found["ok"] is True
    assert found["rows"][1]["text"] == "from SITESTATS_API_KEY"


def test_a_wrong_key_is_code_3(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is that of any command which fails for it."""
    monkeypatch.setenv("SITESTATS_API_KEY", KEY)
    done = run("check")
    assert done.code == 3
    assert "✗ credentials" in done.out
    assert run("websites", "list").err.endswith(
        "; its API key is from SITESTATS_API_KEY, its user ID from SITESTATS_USER_ID\n"
    )


def test_a_user_id_without_a_key_fails(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a CI job's secret is empty; with neither there may be no account."""
    monkeypatch.setenv("SITESTATS_API_KEY", "")
    done = run("check")
    assert done.code == 2
    assert "✗ API key          none, but there is a user ID" in done.out
    monkeypatch.delenv("SITESTATS_USER_ID")
    assert run("check").code == 0


def test_nobody_at_the_address_is_code_4(emulator: Emulator, run: Run) -> None:
    """It says that --base-url named the address."""
    address = closed_address()
    done = run("check", "--base-url", address)
    assert done.code == 4
    assert f"{address}, from --base-url" in done.out
    assert "✗ connection" in done.out


def test_https_to_a_port_that_speaks_http_is_code_3(
    emulator: Emulator, run: Run
) -> None:
    """To wait does not help."""
    address = os.environ["SITESTATS_BASE_URL"].replace("http:", "https:")
    assert run("check", "--base-url", address).code == 3


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command takes no pause between its requests here."""
    import sitestats.conformance

    monkeypatch.setattr(
        "sitestats.conformance.compare_service",
        partial(sitestats.conformance.compare_service, pause=0),
    )


@pytest.mark.usefixtures("no_pause")
def test_a_service_is_compared(emulator: Emulator, run: Run) -> None:
    """The comparison is on standard output, below the set-up in a table."""
    done = run("check", "--compare", "semicomplete.com")
    assert done.code == 0
    assert "✓ base address" in done.out
    assert "✓ period " in done.out
    assert {request.method for request in emulator.requests} == {"GET"}


@pytest.mark.usefixtures("no_pause")
def test_a_difference_is_code_8_and_an_end_is_code_4(
    emulator: Emulator, run: Run
) -> None:
    """A job notices both. JSON is the comparison, or the set-up if that is wrong."""
    command = ("check", "--compare", "semicomplete.com", "--format", "json")
    emulator.fail_next(
        status=200, body=[], path="/api/websites", when=after(emulator, 3)
    )
    done = run(*command)
    assert done.code == 8
    cases = json.loads(done.out)["cases"]
    assert cases[0]["result"] == "different"
    assert len(cases) > 50
    emulator.forget_requests()
    emulator.fail_next(status=429, when=after(emulator, 10))
    assert run(*command).code == 4
    emulator.fail_next(
        None, status=500, when=lambda one: "seconds" in one.params.get("fields", "")
    )
    done = run(*command)
    assert (done.code, done.out.count('"result": "failed"')) == (4, 1)
    emulator.clear_faults()
    emulator.fail_next(status=401)
    done = run(*command)
    assert (done.code, json.loads(done.out)["ok"]) == (3, False)


def after(emulator: Emulator, number: int) -> Callable[[RecordedRequest], bool]:
    """Whether so many requests came before."""
    return lambda _request: len(emulator.requests) > number
