"""TLS contexts: which certificates are trusted."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from sitestats._common.errors import ConfigurationError


def make_context(verify: bool | str | ssl.SSLContext) -> ssl.SSLContext:  # noqa: FBT001 - the constructors' argument
    """A context for *verify*: a file or a directory of certificates, or a flag.

    True trusts those of ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``, or else of certifi.

    Raises:
        ConfigurationError: The certificates can't be read.
    """
    if isinstance(verify, ssl.SSLContext):
        return verify
    try:
        context = _context(verify)
    except OSError as error:
        problem = (
            f"the certificates to verify the service by can't be read: {error}; see "
            "verify=, SSL_CERT_FILE and SSL_CERT_DIR"
        )
    else:
        context.set_alpn_protocols(["http/1.1"])
        return context
    raise ConfigurationError(problem)


def _context(verify: bool | str) -> ssl.SSLContext:  # noqa: FBT001 - as above
    if verify is False:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    if isinstance(verify, str):
        if Path(verify).is_dir():
            return ssl.create_default_context(capath=verify)
        return ssl.create_default_context(cafile=verify)
    if os.environ.get("SSL_CERT_FILE"):
        return ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
    if os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context(capath=os.environ["SSL_CERT_DIR"])
    import certifi

    return ssl.create_default_context(cafile=certifi.where())
