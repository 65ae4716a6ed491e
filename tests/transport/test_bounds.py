"""Bounds that hold whatever the network does, and connections that are not reused."""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import trustme

from loopback import Connection, Server, polite, serve
from sender_variants import LONG, SyncSender, open_sender, settings_for
from sitestats import Client, StatsQuery
from sitestats._common.errors import ConnectionFailedError, RequestTimeoutError

AUTHORITY = trustme.CA()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"


def answer(body: bytes) -> bytes:
    """A whole response."""
    return ANSWER % (len(body), body)


def contexts(*names: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context for *names*, and a client's that trusts it."""
    behind, trusting = (
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER),
        ssl.create_default_context(),
    )
    AUTHORITY.issue_cert(*names).configure_cert(behind)
    AUTHORITY.configure_trust(trusting)
    return behind, trusting


# Names -----------------------------------------------------------------------


@contextmanager
def resolving(look_up: Callable[[], list[Any]]) -> Iterator[None]:
    """Resolve ``many.test`` by *look_up*, and everything else as usual."""
    usual = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **more: Any) -> Any:
        if host not in ("many.test", b"many.test"):
            return usual(host, *args, **more)
        if more.get("flags") == socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "no number")
        return look_up()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


def info(address: str, port: int) -> tuple[Any, ...]:
    """An address as ``getaddrinfo`` gives it."""
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))


def test_a_slow_look_up_is_given_up(variant: str) -> None:
    """The call ends by its limit while the name is still being looked up."""
    ended = threading.Event()

    def look_up() -> list[Any]:
        ended.wait(LONG)
        return []

    with (
        resolving(look_up),
        open_sender(variant, "http://many.test") as sender,
        pytest.raises(RequestTimeoutError) as caught,
    ):
        sender.send(total=0.1)
    assert not ended.is_set()
    ended.set()
    assert not caught.value.maybe_sent


@contextmanager
def full_port() -> Iterator[int]:
    """A port of this machine that drops whoever wants to connect."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(4):
            sock = socket.socket()
            sock.setblocking(False)  # noqa: FBT003 - its only argument
            sock.connect_ex(listener.getsockname())
            waiting.append(sock)
        try:
            yield listener.getsockname()[1]
        finally:
            for sock in waiting:
                sock.close()


@pytest.mark.skipif(sys.platform != "linux", reason="others refuse at a full port")
def test_dead_addresses_share_one_limit(variant: str) -> None:
    """A thousand addresses that drop connections end in the limit of a call."""
    with full_port() as port:
        addresses = [info("127.0.0.1", port)] * 1000
        with (
            resolving(lambda: addresses),
            open_sender(variant, "http://many.test") as sender,
            pytest.raises(RequestTimeoutError) as caught,
        ):
            sender.send(total=0.5)
    assert not caught.value.maybe_sent


@pytest.mark.skipif(sys.platform != "linux", reason="others refuse at a full port")
def test_a_dead_address_does_not_hide_a_good_one(variant: str) -> None:
    """The next address is tried while the one before has not answered."""
    with serve(polite) as server, full_port() as port:
        addresses = [info("127.0.0.1", port), info("127.0.0.1", server.port)]
        with (
            resolving(lambda: addresses),
            open_sender(variant, "http://many.test") as sender,
        ):
            assert sender.send().status == 200


def test_a_refusing_address_is_passed_over(variant: str) -> None:
    """What is refused at once costs nothing, and the last refusal is told."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        refusing = closed.getsockname()[1]
    with serve(polite) as server:
        addresses = [info("127.0.0.1", refusing), info("127.0.0.1", server.port)]
        with (
            resolving(lambda: addresses),
            open_sender(variant, "http://many.test") as sender,
        ):
            assert sender.send().status == 200
    with (
        resolving(lambda: [info("127.0.0.1", refusing)] * 2),
        open_sender(variant, "http://many.test") as sender,
        pytest.raises(ConnectionFailedError, match="refused"),
    ):
        sender.send()


def test_endless_interim_responses_end_in_the_limit(variant: str) -> None:
    """A server that says 100 Continue for ever does not hold a call."""

    def script(connection: Connection) -> None:
        connection.request()
        while not connection.server.ending.is_set():
            connection.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)

    with (
        serve(script) as server,
        open_sender(variant, server.address) as sender,
        pytest.raises(RequestTimeoutError, match="before total_timeout"),
    ):
        sender.send(total=0.2)


# Bytes that nobody requested -------------------------------------------------


def forging(first: bytes, sent: threading.Event) -> Callable[[Connection], None]:
    """A server whose first response on a connection has another one behind it."""

    def script(connection: Connection) -> None:
        is_first = True
        while connection.request():
            if is_first:
                # One segment, and over TLS two records in it.
                sock: Any = connection._sock
                sock.setsockopt(socket.IPPROTO_TCP, CORK, 1)
                connection.send(answer(first))
                connection.send(answer(b"666"))
                sock.setsockopt(socket.IPPROTO_TCP, CORK, 0)
                sent.set()
            else:
                connection.send(answer(b"2"))
            is_first = False

    return script


CORK = getattr(socket, "TCP_CORK", 0)
WHOLE_READ = b"x" * (64 * 1024 - len(answer(b"x" * 65_000)) + 65_000)
"""Makes a response of exactly 64 KiB: as much as is read at once."""


@pytest.mark.skipif(not CORK, reason="needs control over segments")
@pytest.mark.parametrize("first", [b"1", WHOLE_READ], ids=["small", "64 KiB"])
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_a_forged_response_answers_no_other_request(
    variant: str,
    first: bytes,
    secure: bool,  # noqa: FBT001 - a parameter
) -> None:
    """What came behind a response is not taken for that of the next request."""
    assert len(answer(WHOLE_READ)) == 64 * 1024
    behind, trusting = contexts("localhost")
    sent = threading.Event()
    bodies: list[bytes] = []
    with (
        serve(forging(first, sent), behind if secure else None) as server,
        open_sender(variant, server.address, verify=trusting) as sender,
    ):
        for _ in range(4):
            bodies.append(sender.send().body)
            # Later bytes can be on their way: no client knows of those.
            assert sent.wait(LONG)
            sent.clear()
    assert b"666" not in bodies
    assert set(bodies) == {first}
    assert server.connections == 4


# Proxies ---------------------------------------------------------------------


def test_tls_within_tls(variant: str) -> None:
    """A service behind TLS is reached through a proxy behind TLS."""
    behind, trusting = contexts("localhost", "stats.example")
    with (
        serve(polite, behind) as service,
        serve(tunnel_to(service), behind) as proxy,
        open_sender(
            variant, "https://stats.example", proxy=proxy.address, verify=trusting
        ) as sender,
    ):
        for _ in range(2):
            assert sender.send().body == b'{"ok":true}'
    assert proxy.connections == 1


def tunnel_to(service: Server) -> Callable[[Connection], None]:
    """A proxy that tunnels to *service*, wherever it is told to."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 200 Go on\r\n\r\n")
        with socket.create_connection(("127.0.0.1", service.port)) as onward:
            carry(connection, onward)

    return script


def carry(connection: Connection, onward: socket.socket) -> None:
    """Carry bytes both ways until one side hangs up; TLS allows no second thread."""
    sock: Any = connection._sock
    sock.settimeout(0.005)
    onward.settimeout(0.005)
    while not connection.server.ending.is_set():
        try:
            data = sock.recv(65536)
            if not data:
                return
            onward.sendall(data)
        except TimeoutError:
            pass
        try:
            data = onward.recv(65536)
            if not data:
                return
            sock.sendall(data)
        except TimeoutError:
            pass


def socks_to(service: Server, method: bytes, reply: bytes) -> Callable[..., None]:
    """A SOCKS5 proxy that wants *method* of authentication, and then says *reply*."""

    def script(connection: Connection) -> None:
        assert connection.take() == b"\x05\x01" + method
        connection.send(b"\x05" + method)
        if method == b"\x02":
            assert connection.take() == b"\x01\x02me\x04pass"
            connection.send(b"\x01\x00")
        # The proxy looks the name up.
        assert b"stats.example" in connection.take()
        connection.send(b"\x05" + reply + b"\x00\x01\x00\x00\x00\x00\x00\x00")
        with socket.create_connection(("127.0.0.1", service.port)) as onward:
            while data := connection.take():
                onward.sendall(data)
                connection.send(onward.recv(65536))

    return script


@pytest.mark.parametrize(
    ("user", "method"), [("", b"\x00"), ("me:pass@", b"\x02")], ids=["open", "login"]
)
def test_a_socks_proxy_leads_to_the_service(
    variant: str, user: str, method: bytes
) -> None:
    """A SOCKS5 proxy carries requests, with and without a user and password."""
    with (
        serve(polite) as service,
        serve(socks_to(service, method, b"\x00")) as proxy,
        open_sender(
            variant,
            "http://stats.example",
            proxy=f"socks5://{user}127.0.0.1:{proxy.port}",
        ) as sender,
    ):
        for _ in range(2):
            assert sender.send().body == b'{"ok":true}'
    assert proxy.connections == 1


def test_a_socks_proxy_that_refuses(variant: str) -> None:
    """What a SOCKS proxy refuses is a failed connection; nothing was sent."""
    with (
        serve(polite) as service,
        serve(socks_to(service, b"\x00", b"\x05")) as proxy,
        open_sender(
            variant, "http://stats.example", proxy=f"socks5://127.0.0.1:{proxy.port}"
        ) as sender,
        pytest.raises(ConnectionFailedError, match="could not connect") as caught,
    ):
        sender.send()
    assert not caught.value.maybe_sent


@pytest.mark.parametrize("reply", [b"HTTP/1.1 400 Bad\r\n\r\n", b"\x05", b""])
def test_a_garbled_socks_reply_is_a_failed_connection(
    variant: str, reply: bytes
) -> None:
    """Whatever a SOCKS proxy says first, the error is ours and names the proxy."""

    def script(connection: Connection) -> None:
        connection.take()
        connection.send(reply)

    with (
        serve(script) as proxy,
        open_sender(
            variant, "http://stats.example", proxy=f"socks5://127.0.0.1:{proxy.port}"
        ) as sender,
        pytest.raises(ConnectionFailedError, match="SOCKS proxy") as caught,
    ):
        sender.send()
    assert not caught.value.maybe_sent


def test_no_thread_for_a_name_is_a_failed_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where no thread can be started, the call fails as a connection does."""

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    sender = SyncSender(settings_for("http://many.test"), None)
    with resolving(list), monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(ConnectionFailedError, match="no thread"):
            sender.send()
    sender.close()


def test_without_poll_select_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no poll, a call and its limit work by select."""
    monkeypatch.delattr("select.poll", raising=False)
    with serve(polite) as server, open_sender("blocking", server.address) as sender:
        assert sender.send().status == 200

    def silent(connection: Connection) -> None:
        connection.request()
        connection.wait()

    with (
        serve(silent) as server,
        open_sender("blocking", server.address) as sender,
        pytest.raises(RequestTimeoutError),
    ):
        sender.send(total=0.1)


# Mistakes that are none of the network's -------------------------------------


def test_a_recursion_error_comes_out_as_it_is() -> None:
    """Close to the stack's limit a call does not blame the connection."""

    def deeper() -> None:
        try:
            blocking.send()
        finally:
            pass
        deeper()

    with serve(polite) as server:
        blocking = SyncSender(settings_for(server.address), None)
        blocking.send()
        try:
            with pytest.raises(RecursionError):
                deeper()
            assert blocking.send().status == 200
        finally:
            blocking.close()


def test_interrupts_leave_no_descriptor(variant: str) -> None:
    """A connection that failed while it was being made is closed at once."""
    behind, _ = contexts("other.example")
    with (
        serve(polite, behind) as server,
        open_sender(variant, server.address) as sender,
        pytest.raises(ConnectionFailedError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        sender.send()


def test_a_client_is_usable_after_a_recursion_error() -> None:
    """The whole client, not only its sender, survives the stack's limit."""
    body = b'{"ok":true,"hostname":"example.com","pageviews":1}'

    def script(connection: Connection) -> None:
        while connection.request():
            connection.send(answer(body))

    query = StatsQuery("example.com").fields("pageviews")
    with serve(script) as server, Client(server.address, proxy=None) as client:

        def deeper() -> None:
            client.stats.get(query)
            deeper()

        with pytest.raises(RecursionError):
            deeper()
        assert client.stats.get(query).pageviews == 1
