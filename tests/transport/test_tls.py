"""TLS: which certificates are trusted, and the errors for others."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from both_clients import KEY, VARIANTS, WITH_TRIO, opened
from loopback import Server, polite, serve
from sitestats import AsyncClient, Client, ConfigurationError, ConnectionFailedError

AUTHORITY = trustme.CA()
FOREIGN = trustme.CA()
variants = pytest.mark.parametrize("variant", VARIANTS)
trio_too = pytest.mark.parametrize("variant", WITH_TRIO)


@contextmanager
def secured(authority: trustme.CA = AUTHORITY) -> Iterator[Server]:
    """A server with a certificate by *authority*."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
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


@variants
@pytest.mark.parametrize("kind", [str, Path, None, bool])
def test_a_file_of_certificates(
    variant: str, certificates: Path, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a text, a path, or SSL_CERT_FILE in the environment; verify=False needs
    none.
    """
    if kind is None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates))
    verify = kind is None if kind in {None, bool} else kind(certificates)
    with (
        secured() as server,
        opened(variant, server.address, verify=verify) as client,
    ):
        assert client.request("GET", "/") == {"ok": True}


@trio_too
@pytest.mark.parametrize("is_folder", [False, True])
def test_what_is_not_trusted_is_not_retried(
    variant: str,
    tmp_path: Path,
    is_folder: bool,  # noqa: FBT001
) -> None:
    """A certificate of an unknown authority is not trusted in a second either; the
    error says what to do. A directory is read by hashed names, as OpenSSL does.
    """
    with (
        secured() as server,
        opened(variant, server.address, verify=tmp_path if is_folder else True) as one,
        pytest.raises(
            ConnectionFailedError,
            match=r"CERTIFICATE_VERIFY_FAILED.*verify= or SSL_CERT_FILE",
        ) as caught,
    ):
        one.request("GET", "/")
    assert (caught.value.temporary, caught.value.maybe_sent) == (False, False)
    assert caught.value.phase == "tls"
    assert server.connections == 1


# --- which are read, and when -----------------------------------------------------


@pytest.mark.parametrize("make", [Client, AsyncClient])
@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_can_not_be_read(
    make: Callable[..., Any], tmp_path: Path, content: str | None
) -> None:
    """They are an error that names ``verify=``, as soon as a client is made; for plain
    HTTP none are read.
    """
    path = tmp_path / "authority.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigurationError, match="See verify=, SSL_CERT_FILE"):
        make("https://stats.example", verify=path)
    make("http://stats.example", verify=path)


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
            for _ in range(3):
                assert client.request("GET", "/") == {"ok": True}
    assert server.connections == 1
    assert f"Api-Key: {KEY}".encode() in server.requests[0]
