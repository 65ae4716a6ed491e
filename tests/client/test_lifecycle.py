"""Both clients in real programs: a running loop, threads, forks, interrupts, ends."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import anyio
import pytest
import trio

import sitestats
from client_variants import (
    QUERY,
)
from faults import FaultServer, ServedCase
from faults.responses import response
from served_cases import PLENTY, get_once, options
from sitestats import (
    AsyncClient,
    Client,
    ClientClosedError,
    ConnectionFailedError,
    RequestTimeoutError,
)
from sitestats.emulator import Emulator

pytestmark = [pytest.mark.slow, pytest.mark.standard_library]

PACKAGE = str(Path(sitestats.__file__).parent)
WITH_HELPERS = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
"""The environment of a program that imports the tests' helpers."""


with_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


# --- event loops ------------------------------------------------------------------


def test_the_blocking_client_in_a_running_loop(good: ServedCase) -> None:
    """Client works in a thread whose loop is running, as in a notebook."""

    async def cell() -> int:
        with Client(good.origin, **options()) as client:
            return client.stats.get(QUERY).pageviews

    assert asyncio.run(cell()) == 3
    assert trio.run(cell) == 3


# --- threads ----------------------------------------------------------------------


def test_closing_while_others_use_it(good: ServedCase) -> None:
    """Threads that use a client while it is closed get a response or a clear error."""

    def work(client: Client) -> str:
        try:
            while True:
                assert client.stats.get(QUERY).pageviews == 3
        except (ClientClosedError, ConnectionFailedError) as error:
            return type(error).__name__

    with ThreadPoolExecutor(10) as pool:
        client = Client(good.origin, max_connections=3, **options())
        runs = [pool.submit(work, client) for _ in range(10)]
        while good.attempts < 50:
            time.sleep(0.001)
        client.close()
        assert {run.result(PLENTY) for run in runs} == {"ClientClosedError"}


# --- processes --------------------------------------------------------------------

FORK = """
import os, signal, sys, threading
from client_variants import QUERY
from sitestats import Client

def get_stats(client):
    assert client.stats.get(QUERY).pageviews == 3

client = Client(sys.argv[1], proxy=None, max_connections=2)
get_stats(client)
stop = threading.Event()
def work():
    while not stop.is_set():
        get_stats(client)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(100)
        get_stats(client)
        get_stats(client)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    get_stats(client)
stop.set()
for thread in threads:
    thread.join()
client.close()
print("done")
"""

FORK_IN_A_PAUSE = """
import os, sys
from client_variants import QUERY
from sitestats import Client, RateLimitedError

def get_stats():
    try:
        client.stats.get(QUERY)
    except RateLimitedError as error:
        return error.retry_after

client = Client(sys.argv[1], proxy=None)
assert get_stats() == 3_000
child = os.fork()
if child == 0:
    assert 2_000 < get_stats() < 3_000
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
client.close()
print("done")
"""

FORK_ASYNC = """
import asyncio, os, signal, sys
from client_variants import QUERY
from sitestats import AsyncClient

async def get_stats():
    assert (await client.stats.get(QUERY)).pageviews == 3

client = AsyncClient(sys.argv[1], proxy=None)
with asyncio.Runner() as runner:
    runner.run(get_stats())
    child = os.fork()
    if child == 0:
        signal.alarm(100)
        asyncio.run(get_stats())
        asyncio.run(get_stats())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    runner.run(get_stats())
    runner.run(client.aclose())
print("done")
"""


def run_script(script: str, *args: str, **variables: str) -> str:
    """The output of a script that runs in its own process, warnings as errors."""
    result = subprocess.run(
        # Forking beside threads is what is tested here; Python warns of that alone.
        [
            sys.executable,
            "-W",
            "error",
            "-W",
            "ignore:This process",
            "-c",
            script,
            *args,
        ],
        env={**WITH_HELPERS, **variables},
        capture_output=True,
        text=True,
        timeout=PLENTY,
        check=False,
    )
    assert result.stderr == ""
    return result.stdout


@with_fork
def test_fork_with_a_live_pool(good: ServedCase) -> None:
    """Forked children and their parent use different connections, while other threads
    are in the middle of calls.
    """
    assert run_script(FORK, good.origin) == "done\n"


@with_fork
def test_a_forked_child_knows_of_a_pause() -> None:
    """A child sends nothing while its parent's pause runs."""
    emulator = Emulator.demo()
    emulator.fail_next(status=429, retry_after=3_000)
    with emulator.serve() as address:
        assert run_script(FORK_IN_A_PAUSE, address) == "done\n"
    assert len(emulator.requests) == 1


@with_fork
def test_fork_between_two_runs_of_a_loop(good: ServedCase) -> None:
    """A forked child can run its own loops with its parent's async client."""
    assert run_script(FORK_ASYNC, good.origin) == "done\n"
    # The child's own, in two loops, and the parent's.
    assert good.connections == 2


def test_values_survive_pickling(good: ServedCase) -> None:
    """A result is equal after pickling, with its query and its bytes."""
    with Client(good.origin, **options()) as client:
        stats = client.stats.get(QUERY)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(stats, protocol))
        assert copy == stats
        assert copy.query == QUERY
        assert copy.body == stats.body


# --- interrupts -------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
def test_ctrl_c_ends_a_silent_call(server: FaultServer) -> None:
    """Ctrl-C ends a call to a silent server, and the client works afterwards."""

    def press(_signal: int, _frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGALRM, press)
    try:
        made = options(max_connections=1, timeout=PLENTY, total_timeout=PLENTY)
        with Client(server["silent"].origin, **made) as client:
            # Within the block, as it may come before the call has begun.
            with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - see above
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                client.stats.get(QUERY)
            hasty = client.with_options(timeout=0.1, retries=0)
            with pytest.raises(RequestTimeoutError):
                hasty.stats.get(QUERY)
    finally:
        signal.signal(signal.SIGALRM, before)


# --- closing ----------------------------------------------------------------------


def test_a_closed_client_refuses_calls(good: ServedCase) -> None:
    """After close a call or a view is refused, and closing again does nothing."""
    client = Client(good.origin, **options())
    view = client.with_options(timeout=1.0)
    assert client.stats.get(QUERY).pageviews == 3
    client.close()
    client.close()
    for closed in (client, view):
        with pytest.raises(ClientClosedError, match="closed"):
            closed.stats.get(QUERY)


class SlowPeer:
    """A server of one connection, which responds when the test lets it."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(PLENTY)
        self.origin = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.requested = threading.Event()
        self.may_answer = threading.Event()
        self.left_behind: bytes | None = None
        """What came behind the response, until the connection was closed."""
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        connection, _ = self.socket.accept()
        with self.socket, connection:
            connection.settimeout(PLENTY)
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(65_536)
            self.requested.set()
            assert self.may_answer.wait(PLENTY)
            connection.sendall(response())
            self.left_behind = connection.recv(65_536)


def waiting_calls(client: Client | AsyncClient) -> int:
    """How many calls wait for a connection."""
    groups = client._sender._pool._places.values()
    return sum(len(one.waiting) for one in groups)


WAITING = {"max_connections": 1, "timeout": PLENTY, "total_timeout": PLENTY}


def test_closing_with_a_call_under_way() -> None:
    """A call under way gets its response after close, and its connection is closed
    then; a call that waits for a connection is refused at once.
    """
    peer = SlowPeer()
    client = Client(peer.origin, **options(**WAITING))
    with ThreadPoolExecutor(2) as pool:
        under_way = pool.submit(client.stats.get, QUERY)
        assert peer.requested.wait(PLENTY)
        waits = pool.submit(client.stats.get, QUERY)
        while not waiting_calls(client):
            time.sleep(0.001)
        client.close()
        with pytest.raises(ClientClosedError):
            waits.result(PLENTY)
        assert not under_way.done()
        peer.may_answer.set()
        assert under_way.result(PLENTY).pageviews == 3
    peer.thread.join(PLENTY)
    assert peer.left_behind == b""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_closing_with_an_awaited_call_under_way(backend: str) -> None:
    """The same with an async client, in either event loop."""
    peer = SlowPeer()
    given: list[object] = []
    refused: anyio.Event

    async def get(client: AsyncClient) -> None:
        try:
            given.append(await get_once(client))
        except ClientClosedError as error:
            given.append(type(error))
            refused.set()

    async def main() -> None:
        nonlocal refused
        refused = anyio.Event()
        client = AsyncClient(peer.origin, **options(**WAITING))
        async with anyio.create_task_group() as group:
            group.start_soon(get, client)
            await anyio.to_thread.run_sync(peer.requested.wait, PLENTY)
            group.start_soon(get, client)
            await anyio.wait_all_tasks_blocked()
            assert waiting_calls(client)
            await client.aclose()
            await refused.wait()
            assert given == [ClientClosedError]
            peer.may_answer.set()
        assert given == [ClientClosedError, 3]

    anyio.run(main, backend=backend)
    peer.thread.join(PLENTY)
    assert peer.left_behind == b""


NEVER_CLOSED = """
import sys
from client_variants import QUERY
from sitestats import Client
client = Client(sys.argv[1], proxy=None)
client.stats.get(QUERY)
print("done")
"""


OUTLIVES_ITS_MODULES = f"{NEVER_CLOSED}import codecs\ncodecs.kept = client\n"

FEW_DESCRIPTORS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
from client_variants import QUERY
from sitestats import Client, RetryPolicy
options = {"max_connections": 80, "retries": RetryPolicy(retries=0), "proxy": None}
with (
    Client(sys.argv[1], **options) as client,
    client.stats.get_many([QUERY] * 200, concurrency=80) as stream,
):
    kinds = {type(outcome.error).__name__ for outcome in stream}
assert kinds <= {"NoneType", "ConnectionFailedError"}, kinds
assert "NoneType" in kinds
print("done")
"""
"""Opens more connections than it may have, before it has read a response."""


@pytest.mark.parametrize("program", [NEVER_CLOSED, OUTLIVES_ITS_MODULES])
def test_a_program_that_never_closes_its_client_ends(
    good: ServedCase, program: str
) -> None:
    """An open client does not keep a program from ending, and ends without a word."""
    assert output_of(program, good) == ("done\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of a process")
def test_few_descriptors_spoil_no_other_query(good: ServedCase) -> None:
    """Where descriptors run out, queries fail one by one, and nothing else does."""
    assert output_of(FEW_DESCRIPTORS, good) == ("done\n", "")


def output_of(program: str, case: ServedCase) -> tuple[str, str]:
    """What *program* prints when it is run with the address of *case*."""
    result = subprocess.run(
        [sys.executable, "-c", program, case.origin],
        env=WITH_HELPERS,
        capture_output=True,
        text=True,
        timeout=PLENTY,
        check=True,
    )
    return result.stdout, result.stderr
