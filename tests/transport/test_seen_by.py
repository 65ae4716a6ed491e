"""The tools of httpx's world see every request of a client made in the ordinary way."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpcore
import httpx
import pytest
import respx
import sentry_sdk
import vcr
from sentry_sdk.envelope import Envelope
from sentry_sdk.integrations.httpx import HttpxIntegration
from sentry_sdk.transport import Transport

from both_clients import KEY, QUERY, WITH_TRIO, opened
from loopback import COUNTED, Connection, Server, counting, polite, serve
from sitestats import ConnectionFailedError

ADDRESS = "https://stats.example"

Get = Callable[..., int]


@pytest.fixture
def service() -> Iterator[Server]:
    """A service on loopback."""
    with serve(counting) as server:
        yield server


@pytest.fixture(params=["before", "after"])
def get(variant: str, service: Server, request: pytest.FixtureRequest) -> Iterator[Get]:
    """Requests page views, with a client that was made before a tool is there, or is
    made then.
    """
    with ExitStack() as stack:

        def client(address: str) -> Any:
            return stack.enter_context(opened(variant, address, retries=0))

        known = {}
        if request.param == "before":
            known = {address: client(address) for address in (ADDRESS, service.address)}

        def get(address: str = ADDRESS) -> int:
            found = known.get(address) or client(address)
            return int(found.stats.get(QUERY).pageviews)

        yield get


@pytest.fixture(params=WITH_TRIO)
def variant(request: pytest.FixtureRequest) -> str:
    """Each kind of client."""
    return str(request.param)


# Mocks ------------------------------------------------------------------------


@respx.mock
def test_respx_mocks_a_client(get: Get) -> None:
    """``respx.mock`` responds in place of the service, and sees the key."""
    route = respx.get(f"{ADDRESS}/example.com.json").respond(content=COUNTED)
    assert get() == 3
    assert route.calls.last.request.headers["Api-Key"] == KEY


@respx.mock
def test_what_respx_does_not_expect_is_not_sent(get: Get, service: Server) -> None:
    """A request that no route of respx matches fails the test, and goes nowhere."""
    with pytest.raises(AssertionError, match="not mocked"):
        get(service.address)
    assert service.connections == 0


def test_an_error_of_a_mock_that_is_its_own_cause(get: Get) -> None:
    """A function for respx that raises gives an error whose cause has it as its own
    cause again: it is the error of the call, which ends.
    """

    def fail(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("the connection broke")

    with respx.mock:
        respx.get(f"{ADDRESS}/example.com.json").mock(side_effect=fail)
        with pytest.raises(ConnectionFailedError, match="the connection broke"):
            get()


def test_pytest_httpx_mocks_a_client(get: Get, httpx_mock: Any) -> None:
    """pytest-httpx responds in place of the service, and sees the key."""
    httpx_mock.add_response(content=COUNTED)
    assert get() == 3
    assert httpx_mock.get_request().headers["Api-Key"] == KEY


def test_vcrpy_records_and_replays(get: Get, tmp_path: Path) -> None:
    """A cassette of vcrpy is recorded, without the filtered key, and replayed, also of
    what was compressed.
    """

    def compressed(connection: Connection) -> None:
        while connection.request():
            body = gzip.compress(COUNTED)
            connection.respond(body, 200, "Content-Encoding: gzip")

    cassette = tmp_path / "cassette.yaml"
    recorder = vcr.VCR(filter_headers=["api-key", "user-id"], record_mode="once")
    with serve(compressed) as server:
        for _ in range(2):
            with recorder.use_cassette(str(cassette)):
                assert get(server.address) == 3
    assert len(server.requests) == 1
    text = cassette.read_text("utf-8")
    assert "/example.com.json" in text
    assert KEY not in text


@pytest.mark.parametrize("goes_on", [False, True])
def test_what_wraps_httpcore_is_seen(
    get: Get,
    service: Server,
    monkeypatch: pytest.MonkeyPatch,
    goes_on: bool,  # noqa: FBT001
) -> None:
    """A guard forbids the network. What calls on has the response, by our own pool."""
    seen: list[object] = []

    def wrap(kind: Any, name: str) -> None:
        sends = getattr(kind, name)

        @wraps(sends)
        def wrapped(pool: Any, request: Any) -> Any:
            seen.append(request)
            if not goes_on:
                raise LookupError
            return sends(pool, request)

        monkeypatch.setattr(kind, name, wrapped)

    wrap(httpcore.ConnectionPool, "handle_request")
    wrap(httpcore.AsyncConnectionPool, "handle_async_request")
    for number in range(1, 3):
        with nullcontext() if goes_on else pytest.raises(LookupError):
            assert get(service.address) == 3
        assert len(seen) == number
    assert service.connections <= goes_on * 2


# Traces -----------------------------------------------------------------------


@pytest.mark.skipif(
    # Something else may have the rest of the package opentelemetry.
    find_spec("opentelemetry") is None
    or find_spec("opentelemetry.instrumentation") is None,
    reason="the group 'pages' has OpenTelemetry",
)
def test_opentelemetry_records_a_span(get: Get, service: Server) -> None:
    """The instrumentor of OpenTelemetry records a span without the key, and the
    service gets its ``traceparent``.
    """
    from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import (
        InMemorySpanExporter,
    )

    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    HTTPXClientInstrumentor().instrument(tracer_provider=provider)
    try:
        assert get(service.address) == 3
    finally:
        HTTPXClientInstrumentor().uninstrument()
    (span,) = spans.get_finished_spans()
    assert KEY not in span.to_json()
    trace = f"{span.get_span_context().trace_id:032x}"
    assert f"traceparent: 00-{trace}-".encode() in service.requests[0]


class Sent(Transport):
    """Sends nothing to Sentry, and stores it."""

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        super().__init__(options)
        self.envelopes: list[Envelope] = []

    def capture_envelope(self, envelope: Envelope) -> None:
        self.envelopes.append(envelope)


@pytest.fixture
def sentry(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """Sentry for one test; whatever it patches is as before in the end."""
    sent, sends = Sent(), (httpx.Client.send, httpx.AsyncClient.send)

    def restore() -> None:
        monkeypatch.setattr(httpx.Client, "send", sends[0])
        monkeypatch.setattr(httpx.AsyncClient, "send", sends[1])

    restore()
    client = sentry_sdk.Client(
        dsn="http://public@127.0.0.1:9/1",
        transport=sent,
        traces_sample_rate=1.0,
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[HttpxIntegration()],
    )
    # The first client of a process patches httpx, and the others do not.
    restore()
    HttpxIntegration.setup_once()
    monkeypatch.setattr(sentry_sdk.get_isolation_scope(), "client", client)
    return sent


def test_sentry_records_a_span(get: Get, service: Server, sentry: Sent) -> None:
    """Sentry's integration records a span without the key, and the service gets its
    trace.
    """
    with sentry_sdk.start_transaction(name="report") as transaction:
        assert get(service.address) == 3
    (envelope,) = sentry.envelopes
    (item,) = envelope.items
    (span,) = (one for one in item.payload.json["spans"] if one["op"] == "http.client")
    assert span["description"].startswith(f"GET {service.address}/example.com.json")
    assert KEY not in str(item.payload.json)
    assert f"sentry-trace: {transaction.trace_id}-".encode() in service.requests[0]


# Guards -----------------------------------------------------------------------

GUARDED = """
    import anyio, pytest
    from sitestats import AsyncClient, Client, StatsQuery

    QUERY = StatsQuery("example.com").fields("pageviews")
    OPTIONS = {"proxy": None, "retries": 0}

    def test_blocking():
        with Client("http://127.0.0.2:PORT", **OPTIONS) as client:
            client.stats.get(QUERY)

    async def get():
        async with AsyncClient("http://127.0.0.2:PORT", **OPTIONS) as client:
            await client.stats.get(QUERY)

    @pytest.mark.parametrize("backend", ["asyncio", "trio"])
    def test_awaited(backend):
        anyio.run(get, backend=backend)
"""


@pytest.mark.long
def test_pytest_socket_guards_a_client(tmp_path: Path) -> None:
    """With ``--allow-hosts`` of pytest-socket a client connects to no other host."""
    with serve(polite) as server:
        text = textwrap.dedent(GUARDED).replace("PORT", str(server.port))
        (tmp_path / "test_guarded.py").write_text(text, "utf-8")
        (tmp_path / "pytest.ini").write_text("[pytest]", "utf-8")
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-ppytest_socket",
                "--allow-hosts=127.0.0.1",
            ],
            cwd=tmp_path,
            # The others take seconds.
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "3 failed" in done.stdout, done.stdout
        assert "SocketConnectBlockedError" in done.stdout
        assert server.connections == 0
