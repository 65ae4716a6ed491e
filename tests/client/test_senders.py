"""A call imports nothing, so that a fork beside a first call finds no lock taken."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from loopback import Connection, serve
from sender_variants import VARIANTS

PROGRAM = """
    import os, sys, threading
    import anyio
    from sitestats import (
        AsyncClient, Client, RetryPolicy, SiteStatsError, StatsQuery, WebsiteSpec
    )

    QUERY = StatsQuery("example.com").fields("pageviews")
    LATER = StatsQuery("later.example").fields("pageviews")
    MISSING = StatsQuery("missing.example").fields("pageviews")
    SPECS = [WebsiteSpec("new.example", timezone="UTC")]
    OPTIONS = {
        "api_key": "sa_api_key_0123456789", "user_id": "u" * 16, "proxy": None,
        "retries": RetryPolicy(wait_initial=0.001),
    }
    CALLS = {
        "get": lambda client: client.stats.get(QUERY),
        "get many": lambda client: client.stats.get_many([QUERY, LATER]).collect(),
        "retry": lambda client: client.stats.get(LATER),
        "error": lambda client: client.stats.get(MISSING),
        "compare": lambda client: client.stats.compare(QUERY.last(days=3)),
        "list": lambda client: client.websites.list(),
        "ensure": lambda client: client.websites.ensure(SPECS),
    }

    def blocking(call):
        with Client(sys.argv[1], **OPTIONS) as client:
            before = set(sys.modules)
            try:
                call(client)
            except SiteStatsError as error:
                print(type(error).__name__, file=sys.stderr)
            return set(sys.modules) - before

    async def awaited(call):
        async with AsyncClient(sys.argv[1], **OPTIONS) as client:
            before = set(sys.modules)
            try:
                await call(client)
            except SiteStatsError as error:
                print(type(error).__name__, file=sys.stderr)
            return set(sys.modules) - before

    # Each call is the first of a process. What making a client loads is there.
    Client(sys.argv[1], **OPTIONS).close()
    AsyncClient(sys.argv[1], **OPTIONS)
    if sys.argv[2] != "blocking":
        # The event loop loads its own part of anyio.
        anyio.run(anyio.sleep, 0, backend=sys.argv[2])
    for name, call in CALLS.items():
        if os.fork() == 0:
            if sys.argv[2] == "blocking":
                found = blocking(call)
            else:
                found = anyio.run(awaited, call, backend=sys.argv[2])
            print(name, sorted(found), flush=True)
            os._exit(0)
        os.wait()
"""


def service(connection: Connection) -> None:
    """Respond as the service does, and to ``later.example`` only the second time."""
    while request := connection.request():
        target = request.split(b" ")[1]
        later = sum(b"later.example" in one for one in connection.server.requests)
        if b"missing" in target:
            connection.respond(b'{"ok":false,"error":"no"}', 404)
        elif b"later" in target and later % 2:
            connection.respond(b"later", 503, "Retry-After: 0")
        elif request.startswith(b"POST"):
            connection.respond(b'{"success":true,"hostname":"new.example"}')
        elif b"/api/" in target:
            connection.respond(b'{"success":true,"websites":[]}')
        else:
            host = target[1:].partition(b".json")[0]
            connection.respond(b'{"ok":true,"hostname":"%b","pageviews":7}' % host)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_first_call_imports_nothing(variant: str) -> None:
    """What a call of any kind needs was imported when its client was made."""
    with serve(service) as server:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(PROGRAM), server.address, variant],
            capture_output=True,
            text=True,
            check=False,
        )
    calls = ["get", "get many", "retry", "error", "compare", "list", "ensure"]
    assert done.stdout.splitlines() == [f"{call} []" for call in calls], done.stderr
    assert done.stderr == "NotFoundError\n"
    assert len(server.requests) >= len(calls)


FORK = """
    import os, signal, sys, threading, time
    from sitestats import Client, StatsQuery

    QUERY = StatsQuery("example.com").fields("pageviews")
    with Client(sys.argv[1], proxy=None) as client:
        first = threading.Thread(target=client.stats.get, args=(QUERY,))
        first.start()
        time.sleep(float(sys.argv[2]))
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            assert client.stats.get(QUERY).pageviews == 7
            os._exit(0)
        first.join()
        assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("milliseconds", [0, 3])
def test_a_fork_beside_a_first_call(milliseconds: int) -> None:
    """A child that was forked while another thread made its first call can call."""
    with serve(service) as server:
        subprocess.run(
            [
                *(sys.executable, "-W", "ignore:This process", "-c"),
                *(textwrap.dedent(FORK), server.address, str(milliseconds / 1000)),
            ],
            check=True,
            timeout=120,
        )
