"""TLS contexts: which certificates are trusted."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final, TypeAlias

from sitestats._common.errors import ConfigurationError
from sitestats._common.settings import certificates_of_environment
from sitestats._common.thread_locks import LibraryLock

Verify: TypeAlias = bool | str | ssl.SSLContext
"""A flag, a file or a folder of certificates, or a context."""
_OPENSSL: Final = LibraryLock("OpenSSL", seconds=60.0)


class Certificates:
    """Certificates to verify a server by, which are read when they are first needed."""

    __slots__ = ("_context", "_verify")

    def __init__(self, verify: Verify) -> None:
        self._verify = verify
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """The context of all connections.

        Raises:
            ConfigurationError: The certificates can't be read.
        """
        if self._context is None:
            # Reading them takes some 25 ms. The lock keeps fifty threads that start at
            # once from each reading them.
            return _OPENSSL.run(self._read_once)
        return self._context

    def _read_once(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = make_context(self._verify)
        return self._context


def make_context(verify: Verify) -> ssl.SSLContext:
    """A context for *verify*.

    True trusts the certificates of ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``, or else of
    certifi.

    Raises:
        ConfigurationError: The certificates can't be read.
    """
    # A class may have taken the place of ssl.SSLContext since the context was made, as
    # truststore's does.
    if not isinstance(verify, (bool, str)):
        return verify
    try:
        context = _context(verify)
    except OSError as error:
        problem = (
            f"the certificates to verify the service by can't be read: {error}; see "
            "verify=, SSL_CERT_FILE and SSL_CERT_DIR"
        )
    else:
        # A name that stands nowhere else is not what the certificate is for (RFC 9525).
        context.hostname_checks_common_name = False
        return context
    raise ConfigurationError(problem)


def _context(verify: bool | str) -> ssl.SSLContext:  # noqa: FBT001 - as above
    if verify is False:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    if verify is True:
        import certifi

        found = certificates_of_environment()
        verify = certifi.where() if found is None else found[1]
    if Path(verify).is_dir():
        return ssl.create_default_context(capath=verify)
    return ssl.create_default_context(cafile=verify)
