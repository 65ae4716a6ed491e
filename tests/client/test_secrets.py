"""Secrets: a generated key shows nowhere but in the header it is for."""

from __future__ import annotations

import copy
import os
import pickle
import pprint
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import secret_search
from client_variants import QUERY
from faults import CASES, FaultServer, authority
from faults.responses import response, stats
from faults.script import CASE_OPTIONS, Case, ReadRequest, Send
from sitestats import (
    AsyncClient,
    Client,
    ConfigurationError,
    SiteStatsError,
    SiteStatsWarning,
)
from sitestats.emulator import Emulator

BASE = "https://analytics.example"
LONG = 16
"""Letters of a generated key: shorter ones may stand in a text by chance."""


def distinct_key(text: str) -> str:
    """*text* as a key that no program has as a name.

    Hypothesis also tries words that it finds in the code, which a frame may show.
    """
    return f"%<{text}"


keys = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=LONG
).map(distinct_key)
clients = st.sampled_from([Client, AsyncClient])
few = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def forms(key: str) -> set[str]:
    """*key* as it is, and as Python, JSON and bytes show it."""
    return {key, repr(key)[1:-1], ascii(key.encode())[2:-1]}


def shows(text: str, *secrets: str) -> bool:
    """Whether any of *secrets* can be read in *text*."""
    return any(one in text for key in secrets for one in forms(key))


# --- what Python shows of objects -------------------------------------------------


def everything_below(thing: Any, depth: int = 5) -> Iterator[Any]:
    """*thing* and all that it holds, without the insides of a secret."""
    yield thing
    if not depth or type(thing).__name__ == "Secret":
        return
    held = list(vars(thing).values()) if hasattr(thing, "__dict__") else []
    if attrs.has(type(thing)):
        held += [getattr(thing, field.name) for field in attrs.fields(type(thing))]
    if isinstance(thing, dict):
        held += [*thing.keys(), *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        held += list(thing)
    for one in held:
        if type(one).__module__.startswith("sitestats") or isinstance(
            one, (dict, list, tuple, set, frozenset, str, bytes)
        ):
            yield from everything_below(one, depth - 1)


@few
@given(keys, keys, clients)
def test_no_object_shows_a_key(key: str, user: str, cls: Any) -> None:
    """Neither a client nor anything it holds shows a key in its repr, rich's included,
    and a client has no other form for notebooks.
    """
    rich = pytest.importorskip("rich.pretty")
    client = cls(BASE, api_key=key, user_id=user, proxy=None)
    assert not shows(rich.pretty_repr(client), key, user)
    assert not any(name.startswith("_repr_") for name in dir(client))
    for one in (
        client,
        client.with_options(timeout=1.0),
        client.stats,
        client.websites,
    ):
        for thing in everything_below(one):
            shown = f"{thing} {thing!r} {pprint.pformat(thing)}"
            assert not shows(shown, key, user), type(thing)


@few
@given(keys, keys, clients)
def test_a_client_is_neither_pickled_nor_copied(key: str, user: str, cls: Any) -> None:
    """It has credentials and connections: the error says to make it in the worker."""
    client = cls(BASE, api_key=key, user_id=user, proxy=None)
    for action in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="make it in the worker") as caught:
            action(client)
        assert not shows(secret_search.shown_by(caught.value), key, user)


bad_keys = st.one_of(
    st.builds(
        lambda a, b, c: a + b + c, keys, st.sampled_from("\n\r\0\t \x7fé☃\ud800"), keys
    ),
    st.builds(lambda key: f"{key}\r\nX-Injected: 1", keys),
    st.builds(lambda key: key.encode(), keys),
)


@few
@given(bad_keys, clients, st.sampled_from(["api_key", "user_id"]))
def test_a_key_that_is_refused_is_not_repeated(key: Any, cls: Any, name: str) -> None:
    """The error for a key that no header carries shows no part of it, not even in
    the variables of the package's frames.
    """
    with pytest.raises(ConfigurationError) as caught:
        cls(BASE, proxy=None, **{name: key})
    assert name in str(caught.value)
    text = key.decode() if isinstance(key, bytes) else key
    assert not shows(secret_search.shown_by(caught.value), text[:LONG])


# --- calls that fail --------------------------------------------------------------

FAILING = [
    case
    for case in CASES
    if case.gives != "value" and case.call == "get" and "timeout" not in case.options
]


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    """A server of cases that fail at once, and of two good responses."""
    with FaultServer([*FAILING, GOOD_CASE, ODD_CASE]) as server:
        yield server


GOOD_CASE = Case("good", "", ((ReadRequest(), Send(response())),), "value")
ODD_CASE = Case(
    "odd", "", ((ReadRequest(), Send(response(stats(timezone="Asia/Tokyo")))),), ""
)


async def get_async(origin: str, **options: Any) -> Any:
    """Request once with an async client."""
    async with AsyncClient(origin, **options) as client:
        return await client.stats.get(QUERY.timezone("UTC"))


def get(cls: Any, origin: str, **options: Any) -> Any:
    """Request once with a client of class *cls*."""
    options = {"retries": 0, "proxy": None, **options}
    if cls is AsyncClient:
        return anyio.run(lambda: get_async(origin, **options))
    with Client(origin, **options) as client:
        return client.stats.get(QUERY.timezone("UTC"))


@few
@given(keys, keys, clients, st.sampled_from(FAILING))
def test_no_failure_shows_a_key(
    server: FaultServer, key: str, user: str, cls: Any, case: Case
) -> None:
    """Neither an error with its chain, its pickle and the variables of our frames
    nor a log record of any library at any level shows a key.
    """
    options = {**CASE_OPTIONS, **case.options, "api_key": key, "user_id": user}
    options.pop("scheme", None)
    # Large responses are those of the transport's tests.
    options.pop("max_response_bytes", None)
    assume("max_response_bytes" not in case.options)
    with (
        secret_search.everything_logged() as lines,
        pytest.raises(SiteStatsError) as caught,
    ):
        get(cls, server[case.name].origin, verify=str(authority()), **options)
    assert not shows(secret_search.shown_by(caught.value), key, user)
    assert not shows("\n".join(lines), key, user)


@few
@given(keys, keys, clients)
def test_no_success_shows_a_key(
    server: FaultServer, key: str, user: str, cls: Any
) -> None:
    """Neither a result nor a warning nor a log record of a good call shows a key,
    and the header carries it as it is.
    """
    with (
        secret_search.everything_logged() as lines,
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        for name in ("good", "odd"):
            result = get(cls, server[name].origin, api_key=key, user_id=user)
            parts = [repr(thing) for thing in everything_below(result)]
            shown = f"{parts} {result.raw()} {pickle.dumps(result)!r}"
            assert not shows(shown, key, user)
    assert not shows("\n".join(lines), key, user)
    assert any(issubclass(one.category, SiteStatsWarning) for one in warned)
    assert not shows(
        " ".join(f"{one.message} {vars(one)}" for one in warned), key, user
    )
    assert f"Api-Key: {key}\r\n".encode() in server["good"].requests[-1]
    assert b"User-Id" not in server["good"].requests[-1]


@few
@given(
    st.text("abcdefghijklmnopqrstuvwxyz0123456789_\"'\\\\<>&%+=", min_size=LONG).map(
        distinct_key
    ),
    clients,
    st.sampled_from([case for case in FAILING if "reflects" in case.name]),
)
def test_no_reflection_shows_a_key(
    server: FaultServer, key: str, cls: Any, case: Case
) -> None:
    """A response that repeats the request puts no key into an error."""
    with pytest.raises(SiteStatsError) as caught:
        get(cls, server[case.name].origin, api_key=key)
    assert not shows(secret_search.shown_by(caught.value), key)


def test_a_traceback_with_variables_shows_no_key(server: FaultServer) -> None:
    """The report of an uncaught error with variables has no key, as far
    as the package's own frames go.
    """
    key = "sa_api_key_of_a_traceback"
    try:
        get(Client, server["resets after the request"].origin, api_key=key)
    except SiteStatsError as error:
        report = traceback.TracebackException.from_exception(error, capture_locals=True)
        ours = [f for f in report.stack if f.filename.startswith(secret_search.PACKAGE)]
        assert len(ours) >= 3
        assert not shows(str([f.locals for f in ours]), key)
    else:
        pytest.fail("nothing was raised")


def test_the_search_for_secrets_finds_one() -> None:
    """The search of these tests finds a key in each place where it looks."""
    key = "sa_api_key_that_leaks"

    def holding(secret: str) -> None:
        raise ValueError("harmless")

    def raising() -> None:
        try:
            holding(key)
        except ValueError as error:
            raise SiteStatsError("harmless") from error

    hidden = SiteStatsError("harmless")
    hidden.args = ("harmless", key)
    for error in (SiteStatsError(key), hidden):
        assert shows(secret_search.shown_by(error), key)
    noted = SiteStatsError("harmless")
    noted.add_note(key)
    assert shows(secret_search.shown_by(noted), key)
    with pytest.raises(SiteStatsError) as caught:
        raising()
    before, secret_search.PACKAGE = secret_search.PACKAGE, str(Path(__file__).parent)
    try:
        assert shows(secret_search.shown_by(caught.value), key)
    finally:
        secret_search.PACKAGE = before
    with secret_search.everything_logged() as lines:
        import logging

        logging.getLogger("httpcore.http11").debug("%s", key)
    assert shows(lines[0], key)


# --- commands ---------------------------------------------------------------------


@pytest.fixture
def emulator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    """The service for commands: its address and credentials are in the environment."""
    emulator = Emulator.demo()
    with emulator.serve() as address:
        monkeypatch.setenv("SITESTATS_BASE_URL", address)
        monkeypatch.setenv("SITESTATS_API_KEY", emulator.api_key)
        monkeypatch.setenv("SITESTATS_USER_ID", emulator.user_id)
        yield emulator


HOST = "semicomplete.com"
COMMANDS = [
    ["stats", HOST, "--last", "3"],
    ["stats", HOST, "--last", "3", "--format", "json"],
    ["stats", "nobody.example", "--last", "3"],
    ["url", HOST, "--last", "3"],
    ["websites", "list"],
    ["websites", "add", HOST, "--yes"],
    ["stats"],
    ["--help"],
]


def test_no_command_shows_a_key(emulator: Emulator) -> None:
    """No command prints a key, whether it succeeds or fails."""
    click = pytest.importorskip("click.testing")
    from sitestats.cli._app import app

    runner = click.CliRunner()
    for command in COMMANDS:
        result = runner.invoke(app, command)
        assert not shows(result.output, emulator.api_key, emulator.user_id)
    assert emulator.requests


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_list_of_processes_shows_no_key(emulator: Emulator) -> None:
    """The command line of a running process holds no key."""
    pytest.importorskip("click")
    with subprocess.Popen(
        [sys.executable, "-m", "sitestats", "emulator", "--port", "0"],
        stdout=subprocess.PIPE,
        env=dict(os.environ),
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        line = Path(f"/proc/{process.pid}/cmdline").read_text(encoding="utf-8")
        process.terminate()
    assert "emulator" in line
    assert not shows(line, emulator.api_key, emulator.user_id)
