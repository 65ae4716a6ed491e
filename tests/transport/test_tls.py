"""TLS: which certificates are trusted, and the errors for others."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from both_clients import KEY, VARIANTS, WITH_TRIO, opened
from loopback import Connection, Server, polite, serve
from sitestats import AsyncClient, Client, ConfigurationError, ConnectionFailedError
from sitestats._transport import httpx_client

AUTHORITY = trustme.CA()
FOREIGN = trustme.CA()
NO_NAME = "Hostname mismatch|Empty Subject Alternative Name"
"""Python 3.13 calls a certificate without names another one."""
variants = pytest.mark.parametrize("variant", VARIANTS)
trio_too = pytest.mark.parametrize("variant", WITH_TRIO)


@contextmanager
def secured(authority: trustme.CA = AUTHORITY, **more: str) -> Iterator[Server]:
    """A server with a certificate by *authority*, for localhost if not for *more*."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    names = () if more else ("localhost",)
    authority.issue_cert(*names, **more).configure_cert(context)
    with serve(polite, context) as server:
        yield server


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """A file with the certificate of the trusted authority."""
    path = tmp_path / "authority.pem"
    AUTHORITY.cert_pem.write_to_path(str(path))
    return path


def trusting() -> ssl.SSLContext:
    """A context that trusts the authority alone."""
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    return context


@trio_too
def test_a_context_of_one_s_own_is_used(variant: str) -> None:
    """A context as verify is used, with one connection for all requests."""
    with (
        secured() as server,
        opened(variant, server.address, verify=trusting()) as client,
    ):
        for _ in range(3):
            client.request("GET", "/")
    assert server.connections == 1
    assert f"Api-Key: {KEY}".encode() in server.requests[0]


@variants
@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_is_a_path(variant: str, certificates: Path, kind: Any) -> None:
    """A file of certificates may be given as a text or as a path."""
    with (
        secured() as server,
        opened(variant, server.address, verify=kind(certificates)) as client,
    ):
        assert client.request("GET", "/") == {"ok": True}


@variants
def test_the_environment_may_name_certificates(
    variant: str, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SSL_CERT_FILE is used, as httpx does."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates))
    with secured() as server, opened(variant, server.address) as client:
        assert client.request("GET", "/") == {"ok": True}


@variants
def test_verification_can_be_turned_off(variant: str) -> None:
    """verify=False accepts any certificate."""
    with (
        secured(FOREIGN) as server,
        opened(variant, server.address, verify=False) as client,
    ):
        assert client.request("GET", "/") == {"ok": True}


@trio_too
def test_what_is_not_trusted_is_not_retried(variant: str) -> None:
    """A certificate of an unknown authority is not trusted in a second either; the
    error says what to do.
    """
    with (
        secured() as server,
        opened(variant, server.address) as client,
        pytest.raises(
            ConnectionFailedError,
            match=r"CERTIFICATE_VERIFY_FAILED.*verify= or SSL_CERT_FILE",
        ) as caught,
    ):
        client.request("GET", "/")
    assert not caught.value.temporary
    assert not caught.value.maybe_sent
    assert caught.value.step == "tls"
    assert server.connections == 1


@variants
def test_a_directory_of_certificates_is_read_as_one(
    variant: str, tmp_path: Path
) -> None:
    """A directory as verify is read by hashed names, as OpenSSL does."""
    with (
        secured() as server,
        opened(variant, server.address, verify=tmp_path) as client,
        pytest.raises(ConnectionFailedError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        client.request("GET", "/")


@variants
def test_a_name_that_is_only_the_common_one_is_not_enough(
    variant: str, certificates: Path
) -> None:
    """A certificate is for the names that it lists, not for its subject's."""
    with (
        secured(common_name="localhost") as server,
        opened(variant, server.address, verify=certificates) as client,
        pytest.raises(ConnectionFailedError, match=NO_NAME),
    ):
        client.request("GET", "/")


@trio_too
def test_the_other_side_gets_the_reason(variant: str) -> None:
    """A service whose certificate is refused gets the reason as an alert of TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    FOREIGN.issue_cert("localhost").configure_cert(context)
    told: list[str] = []

    def shake_hands() -> None:
        sock, _ = listener.accept()
        with sock, pytest.raises(ssl.SSLError) as caught:
            context.wrap_socket(sock, server_side=True)
        told.append(str(caught.value))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"https://localhost:{listener.getsockname()[1]}"
        thread = threading.Thread(target=shake_hands)
        thread.start()
        with opened(variant, address) as client, pytest.raises(ConnectionFailedError):
            client.request("GET", "/")
        thread.join(30)
    assert "alert" in told[0].lower()


@trio_too
def test_a_service_that_speaks_plainly(variant: str) -> None:
    """Where no TLS is spoken, the error asks whether the address is right."""

    def plain(connection: Connection) -> None:
        connection.take()
        connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with (
        serve(plain) as server,
        opened(variant, f"https://127.0.0.1:{server.port}", retries=0) as client,
        pytest.raises(ConnectionFailedError, match="Does the address begin with http:"),
    ):
        client.request("GET", "/")


# --- which are read, and when -----------------------------------------------------


@variants
@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_can_not_be_read(
    variant: str, tmp_path: Path, content: str | None
) -> None:
    """Unreadable certificates are an error that names verify, and nothing is sent."""
    path = tmp_path / "authority.pem"
    if content is not None:
        path.write_text(content)
    with (
        secured() as server,
        opened(variant, server.address, verify=path) as client,
        pytest.raises(ConfigurationError, match="See verify=, SSL_CERT_FILE"),
    ):
        client.request("GET", "/")
    assert server.connections == 0


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The contexts that are made; each trusts the authority."""
    found: list[object] = []

    def make(verify: object) -> ssl.SSLContext:
        found.append(verify)
        return trusting()

    monkeypatch.setattr(httpx_client, "_made_context", make)
    return found


@variants
def test_no_context_is_made_for_plain_http(variant: str, made: list[object]) -> None:
    """Plain http reads no certificates, which take as long as 100 requests."""
    with serve(polite) as server, opened(variant, server.address) as client:
        client.request("GET", "/")
    assert made == []


def test_threads_that_start_together_read_the_certificates_once(
    made: list[object],
) -> None:
    """Certificates, which take long, are read once for all threads."""
    together = threading.Barrier(10)

    def send(_number: int) -> Any:
        together.wait(30)
        return client.request("GET", "/")

    with (
        secured() as server,
        opened("blocking", server.address) as client,
        ThreadPoolExecutor(10) as executor,
    ):
        [*executor.map(send, range(10))]
    assert made == [True]


@pytest.mark.parametrize("verify", [None, 0, 1, "", b"a.pem", ["a"]])
@pytest.mark.parametrize("make", [Client, AsyncClient])
def test_what_verifies_nothing_is_refused(
    make: Callable[..., Any], verify: Any
) -> None:
    """A value that is no certificates trusts nobody; it is an error at once."""
    with pytest.raises(ConfigurationError, match="verify"):
        make("https://stats.example", verify=verify)


@variants
def test_a_context_counts_whatever_its_class(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A context is used as it is, also after another class has taken the place of
    ``ssl.SSLContext``, as truststore has it.
    """

    class Injected:
        """What took its place. httpx makes one, which nothing uses."""

        options = 0

        def __init__(self, protocol: int) -> None:
            self.protocol = protocol

        def __getattr__(self, name: str) -> Any:
            return lambda *_: None

    own = trusting()
    with secured() as server:
        monkeypatch.setattr(ssl, "SSLContext", Injected)
        with opened(variant, server.address, verify=own) as client:
            assert client.request("GET", "/") == {"ok": True}
