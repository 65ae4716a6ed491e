"""Proxies: as an argument, or from the environment; they are httpx's own."""

from __future__ import annotations

import base64
import gc
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from both_clients import KEY, VARIANTS, WITH_TRIO, opened
from inside import BaseAddress
from loopback import (
    AUTHORITY,
    Connection,
    Script,
    Server,
    contexts,
    polite,
    resolving,
    serve,
    whole,
)
from secret_search import everything_logged, shown_by
from sitestats import (
    Client,
    ConnectionFailedError,
    RequestTimeoutError,
    SiteStatsError,
)
from transport.inside import proxy_of_environment

pytestmark = pytest.mark.filterwarnings(
    # httpx leaves some sockets of proxies that fail to the garbage collection.
    "ignore::pytest.PytestUnraisableExceptionWarning",
    "ignore:.*without TLS",
)

PASSWORD = "p4ssw0rd"
PLENTY = 30.0
variants = pytest.mark.parametrize("variant", VARIANTS)
trio_too = pytest.mark.parametrize("variant", WITH_TRIO)


@pytest.fixture(autouse=True, scope="module")
def collected() -> Iterator[None]:
    """Have the garbage of these tests collected before those of the next file."""
    yield
    gc.collect()


def leads_to(server: Server) -> Script:
    """A proxy, for plain requests and for tunnels, to one *server*."""

    def script(connection: Connection) -> None:
        request = connection.request()
        with socket.create_connection(("127.0.0.1", server.port)) as onward:
            if request.startswith(b"CONNECT"):
                connection.send(b"HTTP/1.1 200 Go on\r\n\r\n")
                carry(connection, onward)
                return
            while request:
                method, _, rest = request.partition(b" http://")
                onward.sendall(method + b" /" + rest.partition(b"/")[2])
                connection.send(onward.recv(65536))
                request = connection.request()

    return script


def carry(connection: Connection, onward: socket.socket) -> None:
    """Copy bytes in both directions until one side disconnects."""

    def back() -> None:
        with suppress(OSError):
            while data := onward.recv(65536):
                connection.send(data)

    thread = threading.Thread(target=back)
    thread.start()
    with suppress(OSError):
        while data := connection.take():
            onward.sendall(data)
        onward.shutdown(socket.SHUT_RDWR)
    thread.join(PLENTY)


@contextmanager
def service(
    script: Script = polite, name: str = "stats.example"
) -> Iterator[tuple[Server, ssl.SSLContext]]:
    """A service behind TLS, and a context that trusts it."""
    behind, trusting = contexts(name)
    with serve(script, behind) as server:
        yield server, trusting


@trio_too
def test_a_plain_request_goes_to_the_proxy(variant: str) -> None:
    """A plain request is sent to the proxy with its whole URL."""
    with (
        serve(polite) as server,
        serve(leads_to(server)) as proxy,
        opened(variant, "http://stats.example:8080", proxy=proxy.address) as client,
    ):
        for _ in range(2):
            assert client.request("GET", "/x") == {"ok": True}
    line, header, *_ = proxy.requests[0].decode().split("\r\n")
    assert line == "GET http://stats.example:8080/x HTTP/1.1"
    assert header == "Host: stats.example:8080"
    assert f"Api-Key: {KEY}".encode() in server.requests[0]


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The authority of the proxies, in the environment."""
    path = tmp_path / "authority.pem"
    AUTHORITY.cert_pem.write_to_path(str(path))
    monkeypatch.setenv("SSL_CERT_FILE", str(path))


@trio_too
@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("secured", [False, True])
def test_a_tunnel_leads_to_a_service_behind_tls(variant: str, secured: bool) -> None:  # noqa: FBT001
    """In a tunnel the proxy sees host, port and login, and nothing of the request. The
    certificate of a proxy is checked by the authorities of the environment.
    """
    login = base64.b64encode(f"user:{PASSWORD}".encode())
    behind = contexts("localhost")[0] if secured else None
    with service() as (server, trusting), serve(leads_to(server), behind) as proxy:
        address = proxy.address.replace("://", f"://user:{PASSWORD}@")
        options = {"proxy": address, "verify": trusting}
        with opened(variant, "https://stats.example", **options) as client:
            for _ in range(2):
                assert client.request("GET", "/x") == {"ok": True}
    assert proxy.requests[0].startswith(b"CONNECT stats.example:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic " + login in proxy.requests[0]
    assert KEY.encode() not in proxy.requests[0]
    assert f"Api-Key: {KEY}".encode() in server.requests[0]
    assert login not in server.requests[0]


def repeats(connection: Connection) -> None:
    """Refuse, and repeat the login in every form."""
    request = connection.request()
    login = request.partition(b"Authorization: Basic ")[2].split(b"\r\n")[0]
    plain = base64.b64decode(login) + b" " + login
    head = b"HTTP/1.1 407 Who is %b\r\nContent-Length: %d\r\nX-Login: %b\r\n\r\n%b"
    connection.send(head % (plain, len(plain), plain, plain))


@variants
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("password", [PASSWORD, "p%C3%A4ss%2Fw0rd-long"])
def test_a_proxy_that_refuses(variant: str, scheme: str, password: str) -> None:
    """The error of a tunnel has the status, the proxy's name, and that nothing was
    sent. What a proxy repeats of its login is redacted.
    """
    with serve(repeats) as proxy, everything_logged() as lines:
        address = f"http://user:{password}@127.0.0.1:{proxy.port}"
        with (
            opened(variant, f"{scheme}://stats.example", proxy=address) as client,
            pytest.raises(SiteStatsError) as caught,
        ):
            client.request("POST", "/x", json={})
    plain = unquote_to_bytes(password)
    forms = {password, plain.decode(), base64.b64encode(b"user:" + plain).decode()}
    for one in (shown_by(caught.value), *lines):
        assert not any(form in one for form in forms)
    if isinstance(caught.value, ConnectionFailedError):
        text = f"by the proxy http://127.0.0.1:{proxy.port}: 407 Who is "
        assert text in str(caught.value)
        assert (caught.value.maybe_sent, caught.value.phase) == (False, "proxy")


@trio_too
def test_what_is_not_trusted_in_a_tunnel_is_not_retried(variant: str) -> None:
    """As without a proxy, the error has the reason, once, and says what to do."""
    with (
        service() as (server, _),
        serve(leads_to(server)) as proxy,
        opened(variant, "https://stats.example", proxy=proxy.address) as client,
        pytest.raises(
            ConnectionFailedError,
            match=r"by the proxy .*CERTIFICATE_VERIFY_FAILED.*verify= or SSL_CERT_FILE",
        ) as caught,
    ):
        client.request("GET", "/x")
    assert (caught.value.temporary, caught.value.phase) == (False, "tls")
    assert str(caught.value).count("CERTIFICATE_VERIFY_FAILED") == 1
    assert proxy.connections == 1


# --- limits -----------------------------------------------------------------------


def drips(connection: Connection) -> None:
    """Respond a byte at a time."""
    connection.request()
    connection.drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 3000)


def waits(connection: Connection) -> None:
    """Send nothing, not even a handshake."""
    connection.server.ending.wait(PLENTY)


@trio_too
@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("kind", ["plain", "tunnel", "TLS in TLS", "CONNECT", "hello"])
def test_a_call_by_a_proxy_ends_within_its_limit(variant: str, kind: str) -> None:
    """Drops end at the total timeout, in the response as in that of the proxy."""
    with service(drips) as (server, trusting):
        script = {"plain": drips, "CONNECT": drips, "hello": waits}.get(kind)
        behind = contexts("localhost")[0] if kind == "TLS in TLS" else None
        with serve(script or leads_to(server), behind) as proxy:
            https = f"https://localhost:{proxy.port}"
            options = {
                "proxy": https if kind == "hello" else proxy.address,
                "total_timeout": 0.3,
                "verify": trusting,
            }
            base = f"http{'' if kind == 'plain' else 's'}://stats.example"
            began = time.monotonic()
            with (
                opened(variant, base, retries=0, **options) as client,
                pytest.raises(RequestTimeoutError, match="before total_timeout"),
            ):
                client.request("GET", "/x")
            assert time.monotonic() - began < PLENTY / 2


def test_a_look_up_of_a_proxy_that_hangs() -> None:
    """It takes the timeout, and the name is looked up once. Where one address refuses,
    the next one is tried.
    """
    go_on, asked = threading.Event(), list[None]()

    def look_up() -> list[Any]:
        asked.append(None)
        if len(asked) > 1:
            go_on.wait(PLENTY)
        return [(2, 1, 6, "", (f"127.0.0.{it}", proxy.port)) for it in (2, 1)]

    with serve(polite) as server, serve(leads_to(server)) as proxy, resolving(look_up):
        options: Any = {"proxy": f"http://many.test:{proxy.port}", "retries": 0}
        with opened("blocking", "http://stats.example", **options) as client:
            assert client.request("GET", "/x") == {"ok": True}
            with pytest.raises(RequestTimeoutError) as caught:
                client.with_options(timeout=0.1).request("GET", "/x")
            go_on.set()
    assert caught.value.phase == "name"
    assert len(asked) == 2


def test_a_write_that_a_proxy_sent_may_be_done() -> None:
    """The time is up within the body of its response, long after the look-up."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 60000000\r\n\r\n")
        with suppress(OSError):
            while True:
                connection.send(b"x" * 1000)
                time.sleep(0.0001)

    with serve(script) as proxy:
        found = [(2, 1, 6, "", ("127.0.0.1", proxy.port))]
        options: Any = {"proxy": f"http://many.test:{proxy.port}", "total_timeout": 0.3}
        with (
            resolving(lambda: [*found]),
            opened("blocking", "http://stats.example", **options) as client,
            pytest.raises(RequestTimeoutError) as caught,
        ):
            client.request("POST", "/x", json={})
    assert caught.value.maybe_sent


@variants
def test_what_comes_behind_a_response_is_nobodys(variant: str) -> None:
    """Bytes that a proxy sends after a response are not taken for another one."""
    good = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"

    def poisons(connection: Connection) -> None:
        while connection.request():
            connection.send(good + good.replace(b"\r\n1", b"\r\n2"))

    with (
        serve(poisons) as proxy,
        opened(variant, "http://stats.example", proxy=proxy.address) as client,
    ):
        assert [client.request("GET", "/x") for _ in range(3)] == [1, 1, 1]


# --- SOCKS ------------------------------------------------------------------------


def socks_to(server: Server, method: bytes, reply: bytes) -> Script:
    """A SOCKS5 proxy that wants *method* of authentication, and then says *reply*."""

    def script(connection: Connection) -> None:
        assert connection.take() == b"\x05\x01" + method
        connection.send(b"\x05" + method)
        if method == b"\x02":
            assert connection.take() == b"\x01\x02me\x04pass"
            connection.send(b"\x01\x00")
        # The proxy looks the name up.
        assert connection.take() == b"\x05\x01\x00\x03\x0dstats.example\x00\x50"
        connection.send(b"\x05" + reply + b"\x00\x01\x00\x00\x00\x00\x00\x00")
        with socket.create_connection(("127.0.0.1", server.port)) as onward:
            carry(connection, onward)

    return script


@trio_too
@pytest.mark.parametrize("reply", [b"\x00", b"\x05", b""])
@pytest.mark.parametrize(("user", "method"), [("", b"\x00"), ("me:pass@", b"\x02")])
def test_a_socks_proxy(variant: str, user: str, method: bytes, reply: bytes) -> None:
    """It carries requests, with and without a login. Where it refuses, it is a failed
    connection that names the proxy.
    """
    pytest.importorskip("socksio")
    with (
        serve(polite) as server,
        serve(socks_to(server, method, reply)) as proxy,
        opened(
            variant,
            "http://stats.example",
            proxy=f"socks5://{user}127.0.0.1:{proxy.port}",
            retries=0,
        ) as client,
    ):
        if reply == b"\x00":
            for _ in range(2):
                assert client.request("GET", "/x") == {"ok": True}
            return
        name = f"by the proxy socks5://127.0.0.1:{proxy.port}: "
        with pytest.raises(ConnectionFailedError, match=name):
            client.request("GET", "/x")


@variants
@pytest.mark.parametrize("reply", [b"\x05\xff", b"\x05\x02"])
def test_a_socks_proxy_that_wants_another_login(variant: str, reply: bytes) -> None:
    """It wants the same the next time, so the request is not sent again."""
    pytest.importorskip("socksio")

    def script(connection: Connection) -> None:
        connection.take()
        connection.send(reply)
        connection.take()
        connection.send(b"\x01\x01")

    with serve(script) as proxy:
        address = f"socks://me:{PASSWORD}@127.0.0.1:{proxy.port}"
        with (
            opened(variant, "http://stats.example", proxy=address) as client,
            pytest.raises(ConnectionFailedError, match="wants another login") as caught,
        ):
            client.request("GET", "/x")
    assert not caught.value.retryable
    assert proxy.connections == 1
    assert PASSWORD not in shown_by(caught.value)


PAGE = b"<html><title>Squid</title>"


@variants
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("reply", "connections"),
    [
        *((whole(PAGE, status=f"{status} No"), 1) for status in (403, 407)),
        *((reply, 3) for reply in (whole(PAGE, status="503 No"), b"", b"nonsense\r\n")),
    ],
)
def test_what_a_proxy_refuses_is_not_sent_again(
    variant: str, scheme: str, reply: bytes, connections: int
) -> None:
    """A login that is missing, and a host that it does not allow, stay so. A 503, with
    which it says that it can't reach the service, and a response that breaks may not.
    The error names the proxy, since the service may be well, and the way to it not.
    """

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(reply)

    with (
        serve(script) as proxy,
        opened(variant, f"{scheme}://stats.example", proxy=proxy.address) as client,
        pytest.raises(SiteStatsError, match=f"the proxy {proxy.address}") as caught,
    ):
        client.request("GET", "/x")
    assert caught.value.retryable is (connections == 3)
    assert proxy.connections == connections
    assert "key" not in str(caught.value).replace("whatever its key is", "")


# --- the environment --------------------------------------------------------------

NAMED = {
    "": None,
    "HTTPS_PROXY=http://p:1": "http://p:1",
    "https_proxy=p:1": "http://p:1",
    "https_proxy=": None,
    "http_proxy=http://p:1": None,
    "all_proxy=http://p:1": "http://p:1",
    "https_proxy=http://p:1 all_proxy=x": "http://p:1",
    "https_proxy=p:1 no_proxy=xn--bcher-kva.example": None,
    "https_proxy=p:1 no_proxy=.example": None,
    "https_proxy=p:1 no_proxy=*": None,
    "https_proxy=p:1 no_proxy=b.example": "http://p:1",
    "https_proxy=p:1 no_proxy=*.example": None,
    "https_proxy=p:1 no_proxy=*.Example": None,
    "https_proxy=p:1 no_proxy=10.0.0.0/8,a": "http://p:1",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without proxy variables."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


@pytest.mark.parametrize("variables", NAMED)
def test_what_the_environment_names(
    environment: pytest.MonkeyPatch, variables: str
) -> None:
    """The environment's proxy is chosen by scheme, for all, and not for exceptions."""
    for variable in variables.split():
        environment.setenv(*variable.split("=", 1))
    base = BaseAddress.parse("https://bücher.example:8443")
    proxy = proxy_of_environment(base)
    assert (proxy and proxy.reveal()) == NAMED[variables]


def test_an_ipv6_address_may_be_excepted(environment: pytest.MonkeyPatch) -> None:
    """NO_PROXY has it without brackets, in the form of the base address; or a network
    that it is in, as of any address.
    """
    environment.setenv("https_proxy", "p:1")
    environment.setenv("no_proxy", "a, ::1, fd00::/8,10.0.0.0/8")
    for host in ("[::1]", "[fd00:1::2]", "10.9.8.7"):
        assert proxy_of_environment(BaseAddress.parse(f"https://{host}")) is None
    for host in ("[::2]", "11.9.8.7"):
        base = BaseAddress.parse(f"https://{host}")
        assert proxy_of_environment(base) is not None


def test_a_client_takes_the_proxy_of_the_environment(
    environment: pytest.MonkeyPatch,
) -> None:
    """Left out, the proxy is the environment's; None is not a proxy. The error says
    whose name is not known.
    """
    keys = {"api_key": KEY, "user_id": "user", "retries": 0}
    with serve(polite) as server, serve(leads_to(server)) as proxy:
        environment.setenv("HTTP_PROXY", proxy.address)
        with Client("http://stats.example", **keys) as client:
            assert client.request("GET", "/api/custom") == {"ok": True}
        for other, whose in ((None, "base address"), ("http://p.invalid:1", "proxy")):
            with (
                Client("http://stats.example", **keys, proxy=other) as client,
                pytest.raises(ConnectionFailedError, match=f"host name of the {whose}"),
            ):
                client.request("GET", "/api/custom")
    assert len(proxy.requests) == 1
