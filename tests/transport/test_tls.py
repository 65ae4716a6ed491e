"""TLS: which certificates are trusted, and the errors for others."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from loopback import Connection, Server, contexts, polite, serve
from sender_variants import ADD, KEY, LONG, open_sender
from sitestats import AsyncClient, Client, HTTPTransport, StatsQuery
from sitestats._common.errors import ConfigurationError, ConnectionFailedError
from sitestats._common.settings import checked_verify

AUTHORITY = trustme.CA()
FOREIGN = trustme.CA()

# Python 3.13 calls a certificate without names another one.
NO_NAME = "Hostname mismatch|Empty Subject Alternative Name"


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


def test_a_context_of_one_s_own_is_used(variant: str) -> None:
    """A context as verify is used, with one connection for all requests."""
    with (
        secured() as server,
        open_sender(variant, server.address, verify=trusting()) as sender,
    ):
        for _ in range(3):
            assert sender.send().status == 200
    assert server.connections == 1
    assert f"Api-Key: {KEY}".encode() in server.requests[0]


def test_a_directory_of_certificates_is_read_as_one(
    variant: str, tmp_path: Path
) -> None:
    """A directory as verify is read by hashed names, as OpenSSL does."""
    with (
        secured() as server,
        open_sender(variant, server.address, verify=str(tmp_path)) as sender,
        pytest.raises(ConnectionFailedError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        sender.send()


def test_the_environment_may_name_certificates(
    variant: str, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SSL_CERT_FILE is used, as httpx does."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates))
    with secured() as server, open_sender(variant, server.address) as sender:
        assert sender.send().status == 200


def test_verification_can_be_turned_off(variant: str) -> None:
    """verify=False accepts any certificate."""
    with (
        secured(FOREIGN) as server,
        open_sender(variant, server.address, verify=False) as sender,
    ):
        assert sender.send().status == 200


def test_the_other_side_gets_the_reason(variant: str) -> None:
    """A service whose certificate is refused gets the reason as an alert of TLS."""
    behind, _ = contexts("localhost")
    told: list[str] = []

    def shake_hands() -> None:
        sock, _ = listener.accept()
        with sock, pytest.raises(ssl.SSLError) as caught:
            behind.wrap_socket(sock, server_side=True)
        told.append(str(caught.value))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"https://localhost:{listener.getsockname()[1]}"
        thread = threading.Thread(target=shake_hands)
        thread.start()
        with (
            open_sender(variant, address) as sender,
            pytest.raises(ConnectionFailedError),
        ):
            sender.send()
        thread.join(LONG)
    assert "alert" in told[0].lower()


def test_what_is_trusted_by_default_is_not_everything(variant: str) -> None:
    """Without an argument a certificate of an unknown authority is refused."""
    with (
        secured() as server,
        open_sender(variant, server.address) as sender,
        pytest.raises(ConnectionFailedError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        sender.send()


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
        open_sender(variant, server.address, verify=str(path)) as sender,
        pytest.raises(ConfigurationError, match="see verify=, SSL_CERT_FILE"),
    ):
        sender.send()
    assert server.connections == 0


def test_no_context_is_made_for_plain_http(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain http reads no certificates, which take as long as 100 requests."""
    monkeypatch.setattr("sitestats._transport.tls.make_context", None)
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        assert sender.send().status == 200


def test_one_context_serves_all_connections(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificates are read once, however many connections there are."""
    made: list[ssl.SSLContext] = []

    def make(_verify: object) -> ssl.SSLContext:
        made.append(trusting())
        return made[-1]

    monkeypatch.setattr("sitestats._transport.tls.make_context", make)
    with secured() as server, open_sender(variant, server.address) as sender:
        for _ in range(5):
            assert sender.send(ADD).status == 200
        assert server.connections == 5
    assert len(made) == 1


def test_a_name_that_is_only_the_common_one_is_not_enough(
    variant: str, certificates: Path
) -> None:
    """A certificate is for the names that it lists, not for its subject's."""
    with (
        secured(common_name="localhost") as server,
        open_sender(variant, server.address, verify=str(certificates)) as sender,
        pytest.raises(ConnectionFailedError, match=NO_NAME),
    ):
        sender.send()


def test_what_is_not_trusted_is_not_retried() -> None:
    """A certificate that is not trusted now is not trusted in a second either, and the
    error says what to do.
    """
    query = StatsQuery("example.com").fields("pageviews")
    with (
        secured() as server,
        Client(server.address, proxy=None) as client,
        pytest.raises(
            ConnectionFailedError,
            match=r"CERTIFICATE_VERIFY_FAILED.*verify= or SSL_CERT_FILE",
        ) as caught,
    ):
        client.stats.get(query)
    assert not caught.value.temporary
    assert server.connections == 1


def test_a_service_that_speaks_plainly(variant: str) -> None:
    """Where no TLS is spoken, the error asks whether the address is right."""

    def plain(connection: Connection) -> None:
        connection.take()
        connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with (
        serve(plain) as server,
        open_sender(variant, f"https://127.0.0.1:{server.port}") as sender,
        pytest.raises(ConnectionFailedError, match="could not connect to") as caught,
    ):
        sender.send(ADD)
    assert "does the address begin with http:" in str(caught.value)
    assert not caught.value.maybe_sent


@pytest.mark.parametrize(
    "verify",
    [None, 0, 1, "", b"authority.pem", 1.5, ssl.SSLContext, ["a.pem"]],
    ids=repr,
)
@pytest.mark.parametrize("make", [Client, AsyncClient, HTTPTransport])
def test_what_verifies_nothing_is_refused(make: Any, verify: Any) -> None:
    """A value that is no certificates trusts nobody; it is an error at once."""
    address = {} if make is HTTPTransport else {"base_url": "https://stats.example"}
    with pytest.raises(ConfigurationError, match="verify is True, False, the path"):
        make(**address, verify=verify)


def test_a_path_is_a_path(variant: str, certificates: Path) -> None:
    """A path may be a text or an object, and pickles as a text."""
    client = Client("https://stats.example", verify=certificates, proxy=None)
    assert client._settings.verify == str(certificates)
    with secured() as server:
        for verify in (certificates, str(certificates)):
            settings = {"verify": checked_verify(verify)}
            with open_sender(variant, server.address, **settings) as sender:
                assert sender.send().status == 200


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
        with open_sender(variant, server.address, verify=checked_verify(own)) as sender:
            assert sender.send().status == 200
