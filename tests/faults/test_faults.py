"""A hostile network: what each call gives, with both clients, on real sockets."""

from __future__ import annotations

import re
import socket
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from both_clients import KEY, USER, VARIANTS, WITH_TRIO, opened
from fault_cases import (
    CASES,
    FAILED,
    LARGE,
    LATE,
    MIB,
    SHORT,
    add,
    get,
    post_much,
    run,
)
from loopback import Connection, Server, serve
from secret_search import shown_by
from sitestats import SiteStatsError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Server]:
    """Another origin, which must get no request."""

    def script(connection: Connection) -> None:
        connection.request()

    with serve(script) as server:
        yield server
    assert server.requests == []


def variants_of(name: str) -> Iterator[Any]:
    """The loops differ where something is cancelled, or encrypted; a flood is read by
    the same code in each.
    """
    case = CASES[name]
    differ = case.gives == LATE or "scheme" in case.options
    for variant in WITH_TRIO if differ else VARIANTS:
        takes_long = case.gives == LARGE and variant != "blocking"
        yield pytest.param(variant, name, marks=[pytest.mark.long] * takes_long)


@pytest.mark.parametrize(
    ("variant", "name"), [one for name in CASES for one in variants_of(name)]
)
def test_each_case(variant: str, name: str, elsewhere: Server) -> None:
    """It gives its error or value, after its attempts, in time, without a secret."""
    case = CASES[name]
    began = time.monotonic()
    given, play = run(variant, case, elsewhere.address)
    limit = 20 + case.options.get("total_timeout", 0.0)
    assert time.monotonic() - began < limit
    assert not any(b"ookie" in request for request in play.requests)
    if case.gives == "value":
        assert given.pageviews == 3
    else:
        assert type(given).__name__ == case.gives, given
        assert re.fullmatch(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f]{1,4000}", str(given))
        shown = "" if case.call is post_much else shown_by(given)
        body = getattr(given, "body", b"").decode(errors="replace")
        assert not any(secret in shown + body for secret in (KEY, USER))
        assert {name: getattr(given, name) for name in case.has} == case.has
    assert play.attempts == case.count
    assert play.sent < 128 * MIB


@pytest.mark.long
def test_floods_take_little_memory(elsewhere: Server) -> None:
    """A bomb, a flood and 4 GiB take a few times the limit of memory at most."""
    tracemalloc.start()
    try:
        for name in ("a gzip bomb", "a gzip bomb with an error", "gigabytes"):
            run("blocking", CASES[f"sends {name}"], elsewhere.address)
        assert tracemalloc.get_traced_memory()[1] < 200 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("variant", WITH_TRIO)
@pytest.mark.parametrize("call", [get, add])
@pytest.mark.parametrize("queue", [None, 0], ids=["no listener", "full queue"])
def test_no_connection(variant: str, call: Any, queue: int | None) -> None:
    """Where nobody listens, or the queue is full, certainly nothing was sent."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        host, port = listener.getsockname()
        if queue is not None:
            listener.listen(queue)
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.settimeout(0)
                waiting.connect_ex((host, port))
        client = stack.enter_context(opened(variant, f"http://{host}:{port}", **SHORT))
        with pytest.raises(SiteStatsError) as caught:
            call(client)
    assert type(caught.value).__name__ == (FAILED if queue is None else LATE)
    assert caught.value.maybe_sent is False
