"""TLS certificates, valid and invalid, made by each process that runs the server."""

from __future__ import annotations

import atexit
import shutil
import ssl
import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

import trustme

_TRUSTED: Final = trustme.CA()
_FOREIGN: Final = trustme.CA()
_HERE: Final = ("127.0.0.1", "localhost")


def _issued(certificate: str) -> trustme.LeafCert:
    match certificate:
        case "good":
            return _TRUSTED.issue_cert(*_HERE)
        case "foreign":
            return _FOREIGN.issue_cert(*_HERE)
        case "elsewhere":
            return _TRUSTED.issue_cert("elsewhere.example")
        case "expired":
            return _TRUSTED.issue_cert(
                *_HERE,
                not_before=datetime(2020, 1, 1, tzinfo=UTC),
                not_after=datetime(2020, 2, 1, tzinfo=UTC),
            )
        case _:
            raise ValueError(certificate)


@cache
def authority() -> Path:
    """The file of the certificate authority that clients of the server trust."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "authority.pem"
    _TRUSTED.cert_pem.write_to_path(str(path))
    return path


@cache
def tls_context(certificate: str) -> ssl.SSLContext:
    """The server's TLS context with one of the certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _issued(certificate).configure_cert(context)
    return context
