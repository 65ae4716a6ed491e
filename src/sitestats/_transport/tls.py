"""Whose certificates are trusted."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

from sitestats._common.errors import ConfigurationError


def trusting(
    verify: bool | str | ssl.SSLContext,  # noqa: FBT001 - the constructors' argument
    usual: Callable[..., ssl.SSLContext],
) -> ssl.SSLContext:
    """A context for *verify*: a file or a directory of certificates, or as *usual*.

    The usual ones heed ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``.

    Raises:
        ConfigurationError: The certificates can't be read.
    """
    if isinstance(verify, ssl.SSLContext):
        return verify
    try:
        if isinstance(verify, bool):
            return usual(verify=verify)
        if Path(verify).is_dir():
            return ssl.create_default_context(capath=verify)
        return ssl.create_default_context(cafile=verify)
    except OSError as error:
        problem = (
            f"the certificates to verify the service by can't be read: {error}; see "
            "verify=, SSL_CERT_FILE and SSL_CERT_DIR"
        )
    raise ConfigurationError(problem)
