"""Proxies: as an argument, or from the environment; they are httpx's own."""

from __future__ import annotations

import base64
import gc
import socket
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from both_clients import KEY, VARIANTS, WITH_TRIO, opened
from loopback import (
    AUTHORITY,
    Connection,
    Script,
    Server,
    contexts,
    polite,
    resolving,
    serve,
)
from secret_search import everything_logged, shown_by
from sitestats import Client, ConfigurationError, RequestTimeoutError, SiteStatsError
from sitestats._common.errors import ConnectionFailedError
from sitestats._common.hostnames import BaseAddress
from sitestats._common.settings import proxy_from_environment

pytestmark = pytest.mark.filterwarnings(
    # httpx leaves some sockets of proxies that fail to the garbage collection.
    "ignore::pytest.PytestUnraisableExceptionWarning"
)

PASSWORD = "p4ssw0rd"
BOOKS = "https://bücher.example"
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
@pytest.mark.parametrize("host", ["stats.example", "stats.example:8080"])
def test_a_plain_request_goes_to_the_proxy(variant: str, host: str) -> None:
    """A plain request is sent to the proxy with its whole URL."""
    with (
        serve(polite) as server,
        serve(leads_to(server)) as proxy,
        opened(variant, f"http://{host}", proxy=proxy.address) as client,
    ):
        for _ in range(2):
            assert client.request("GET", "/x") == {"ok": True}
    line, header, *_ = proxy.requests[0].decode().split("\r\n")
    assert line == f"GET http://{host}/x HTTP/1.1"
    assert header == f"Host: {host}"
    assert f"Api-Key: {KEY}".encode() in server.requests[0]


@trio_too
def test_a_tunnel_leads_to_a_service_behind_tls(variant: str) -> None:
    """In a tunnel the proxy sees host, port and login, and nothing of the request."""
    login = base64.b64encode(f"user:{PASSWORD}".encode())
    with service() as (server, trusting), serve(leads_to(server)) as proxy:
        address = f"http://user:{PASSWORD}@127.0.0.1:{proxy.port}"
        options = {"proxy": address, "verify": trusting}
        with opened(variant, "https://stats.example", **options) as client:
            for _ in range(2):
                assert client.request("GET", "/x") == {"ok": True}
            assert PASSWORD not in repr(client)
    assert proxy.requests[0].startswith(b"CONNECT stats.example:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic " + login in proxy.requests[0]
    assert KEY.encode() not in proxy.requests[0]
    assert f"Api-Key: {KEY}".encode() in server.requests[0]
    assert login not in server.requests[0]


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The authority of the proxies, in the environment."""
    path = tmp_path / "authority.pem"
    AUTHORITY.cert_pem.write_to_path(str(path))
    monkeypatch.setenv("SSL_CERT_FILE", str(path))


@trio_too
@pytest.mark.usefixtures("trusted")
def test_a_proxy_behind_tls(variant: str) -> None:
    """The certificate of a proxy is checked by the authorities of the environment, and
    a service behind TLS is reached through it.
    """
    behind, _ = contexts("localhost")
    with (
        service() as (server, trusting),
        serve(leads_to(server), behind) as proxy,
        opened(
            variant, "https://stats.example", proxy=proxy.address, verify=trusting
        ) as client,
    ):
        for _ in range(2):
            assert client.request("GET", "/x") == {"ok": True}


@variants
def test_a_proxy_that_refuses(variant: str) -> None:
    """The error has its status, the proxy's name, and that nothing was sent."""

    def refuse(connection: Connection) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")

    with serve(refuse) as proxy:
        address = f"http://user:{PASSWORD}@127.0.0.1:{proxy.port}"
        options = {"proxy": address, "retries": 0}
        with (
            opened(variant, "https://stats.example", **options) as client,
            pytest.raises(ConnectionFailedError, match="407 Proxy Auth") as caught,
        ):
            client.request("POST", "/x", json={})
    assert f"by the proxy http://127.0.0.1:{proxy.port}: " in str(caught.value)
    assert not caught.value.maybe_sent
    assert caught.value.step == "proxy"
    assert PASSWORD not in str(caught.value)


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
def test_a_password_that_a_proxy_repeats(
    variant: str, scheme: str, password: str
) -> None:
    """What a proxy repeats of its login is redacted, wherever it does."""
    with serve(repeats) as proxy, everything_logged() as lines:
        address = f"http://user:{password}@127.0.0.1:{proxy.port}"
        with (
            opened(variant, f"{scheme}://stats.example", proxy=address) as client,
            pytest.raises(SiteStatsError) as caught,
        ):
            client.request("POST", "/x", json={})
    plain = unquote_to_bytes(password)
    forms = {password, plain.decode(), base64.b64encode(b"user:" + plain).decode()}
    long = {form for form in forms if scheme == "https" or len(form) >= 12}
    for one in (shown_by(caught.value), *lines):
        assert not any(form in one for form in long)


# --- limits -----------------------------------------------------------------------


def drips(connection: Connection) -> None:
    """Respond a byte at a time."""
    connection.request()
    connection.drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 3000)


@trio_too
@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("kind", ["plain", "tunnel", "TLS in TLS", "CONNECT", "hello"])
def test_a_call_by_a_proxy_ends_within_its_limit(variant: str, kind: str) -> None:
    """Drops end at the total timeout, in the response as in that of the proxy."""
    behind, _ = contexts("localhost")
    options: dict[str, Any] = {"total_timeout": 0.3, "retries": 0}
    with service(drips) as (server, trusting):
        script, secured = leads_to(server), kind in {"TLS in TLS", "hello"}
        if kind in {"plain", "CONNECT"}:
            script = drips
        if kind == "hello":
            secured, script = False, lambda one: one.server.ending.wait(PLENTY)
        with serve(script, behind if secured else None) as proxy:
            address = (
                f"{'https' if kind == 'hello' else 'http'}://localhost:{proxy.port}"
            )
            options |= {"proxy": proxy.address if secured else address}
            base = f"http{'' if kind == 'plain' else 's'}://stats.example"
            began = time.monotonic()
            with (
                opened(variant, base, verify=trusting, **options) as client,
                pytest.raises(RequestTimeoutError, match="before total_timeout"),
            ):
                client.request("GET", "/x")
            assert time.monotonic() - began < 5


def test_a_look_up_of_a_proxy_that_hangs() -> None:
    """It takes the timeout, and the name is looked up once."""
    go_on, asked = threading.Event(), list[None]()

    def look_up() -> list[Any]:
        asked.append(None)
        if len(asked) > 1:
            go_on.wait(PLENTY)
        return [(2, 1, 6, "", ("127.0.0.1", proxy.port))]

    with serve(polite) as server, serve(leads_to(server)) as proxy, resolving(look_up):
        options: Any = {"proxy": f"http://many.test:{proxy.port}", "timeout": 0.1}
        with opened("blocking", "http://stats.example", **options, retries=0) as client:
            assert client.request("GET", "/x") == {"ok": True}
            with pytest.raises(RequestTimeoutError) as caught:
                client.request("GET", "/x")
            go_on.set()
    assert caught.value.step == "name"
    assert len(asked) == 2


@variants
def test_what_comes_behind_a_response_is_nobodys(variant: str) -> None:
    """Bytes that a proxy sends behind a response are not taken for another one."""
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
@pytest.mark.parametrize(("user", "method"), [("", b"\x00"), ("me:pass@", b"\x02")])
def test_a_socks_proxy_leads_to_the_service(
    variant: str, user: str, method: bytes
) -> None:
    """A SOCKS5 proxy carries requests, with and without a user and password."""
    pytest.importorskip("socksio")
    with (
        serve(polite) as server,
        serve(socks_to(server, method, b"\x00")) as proxy,
        opened(
            variant,
            "http://stats.example",
            proxy=f"socks5://{user}127.0.0.1:{proxy.port}",
        ) as client,
    ):
        for _ in range(2):
            assert client.request("GET", "/x") == {"ok": True}


@variants
@pytest.mark.parametrize("reply", [b"\x05", b""])
def test_a_socks_proxy_that_refuses(variant: str, reply: bytes) -> None:
    """It is a failed connection that names the proxy."""
    pytest.importorskip("socksio")
    with serve(polite) as server, serve(socks_to(server, b"\x00", reply)) as proxy:
        address = f"socks5://127.0.0.1:{proxy.port}"
        options = {"proxy": address, "retries": 0}
        with (
            opened(variant, "http://stats.example", **options) as client,
            pytest.raises(ConnectionFailedError, match=f"by the proxy {address}: "),
        ):
            client.request("GET", "/x")


def test_socks_needs_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the error says what to install, when the client is made."""
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(ConfigurationError, match=r"pip install httpx\[socks\]"):
        Client("http://stats.example", proxy="socks5://127.0.0.1:9")


# --- the environment --------------------------------------------------------------

VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUEST_METHOD"]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without proxy variables."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


A, SIX, PROXY = "https://a.example", "https://[::1]", "http://p:1"


@pytest.mark.parametrize(
    ("variables", "base", "proxy"),
    [
        ("", A, None),
        ("HTTPS_PROXY=http://p:1", A, PROXY),
        ("https_proxy=http://p:1", A, PROXY),
        ("https_proxy=p:1", A, PROXY),
        ("https_proxy=", A, None),
        ("HTTPS_PROXY=http://p:1", "http://a.example", None),
        ("http_proxy=http://p:1", "http://a.example", PROXY),
        ("ALL_PROXY=http://p:1", "http://a.example", PROXY),
        ("https_proxy=http://p:1 all_proxy=x", A, PROXY),
        ("https_proxy=p:1 no_proxy=a.example", A, None),
        ("https_proxy=p:1 no_proxy=.example", A, None),
        ("https_proxy=p:1 no_proxy=*", A, None),
        ("https_proxy=p:1 no_proxy=a.example", f"{A}:8443", None),
        ("https_proxy=p:1 no_proxy=b.example", A, PROXY),
        ("https_proxy=p:1 no_proxy=127.0.0.1", "https://127.0.0.1:9", None),
        ("https_proxy=p:1 no_proxy=::1", SIX, None),
        ("https_proxy=p:1 no_proxy=xn--bcher-kva.example", BOOKS, None),
    ],
)
def test_what_the_environment_names(
    environment: pytest.MonkeyPatch, variables: str, base: str, proxy: str | None
) -> None:
    """The environment's proxy is chosen by scheme, for all, and not for exceptions."""
    for variable in variables.split():
        environment.setenv(*variable.split("=", 1))
    assert proxy_from_environment(BaseAddress.parse(base)) == proxy


def test_a_client_takes_the_proxy_of_the_environment(
    environment: pytest.MonkeyPatch,
) -> None:
    """Left out, the proxy is the environment's; None is no proxy."""
    keys = {"api_key": KEY, "user_id": "user"}
    with serve(polite) as server, serve(leads_to(server)) as proxy:
        environment.setenv("HTTP_PROXY", proxy.address)
        with Client("http://stats.example", **keys) as client:
            assert client.request("GET", "/api/custom") == {"ok": True}
        with (
            Client("http://stats.example", **keys, proxy=None, retries=0) as client,
            pytest.raises(ConnectionFailedError, match="Name or service not known"),
        ):
            client.request("GET", "/api/custom")
    assert len(proxy.requests) == 1
