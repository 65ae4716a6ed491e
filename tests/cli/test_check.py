"""``sitestats check`` and ``sitestats profiles``."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

from loopback import closed_address

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator, RecordedRequest


def test_a_line_each(emulator: Emulator, run: Run) -> None:
    """Each line names the variable that a setting is from, and no credential. JSON has
    the same for a script.
    """
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


def test_where_an_account_is_from(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of any command names the variables, and the option of an address. A
    client without a key and a user ID may have no account.
    """
    assert "from --base-url" in run("check", "--base-url", closed_address()).out
    for command in (("check",), ("websites", "list")):
        done = run(*command, "--base-url", "stats.example")
        assert "--base-url: The base address is not valid" in done.out + done.err
    monkeypatch.setenv("SITESTATS_API_KEY", "sa_api_key_0123456789abcdef")
    assert run("websites", "list").err.endswith(
        "; its API key is from SITESTATS_API_KEY, its user ID from SITESTATS_USER_ID\n"
    )
    for name in ("API_KEY", "USER_ID"):
        monkeypatch.delenv(f"SITESTATS_{name}")
    assert run("check").code == 0


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
