"""Redact credentials in what is shown: errors, error responses, the logs of httpx.

A service may well repeat a key: in the error for a wrong one, or in a page that shows
the whole request. Whoever logs the error would log the key. So a mark takes the place
of credentials, each character of which may be as it is, or as JSON, an address or HTML
writes it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from sitestats._base.registry import Registry
from sitestats._configuration.secrets import SHORTEST, Secret

_MARK: Final = "…".encode()


class Redactor:
    r"""Puts a mark in the place of each of a sender's credentials.

    >>> redactor = Redactor([Secret("0123456789ab/")])
    >>> redactor.text(r'as it is 0123456789ab/, and in JSON "0123456789ab\/"')
    'as it is …, and in JSON "…"'
    >>> redactor.text("or %30%31%32%33%34%35%36%37%38%39%61%62%2f")
    'or …'
    """

    # Slots keep the credentials from whatever shows the attributes of objects.
    __slots__ = ("__weakref__", "_secrets")

    def __init__(self, secrets: Iterable[Secret | None]) -> None:
        self._secrets = frozenset(secret for secret in secrets if secret is not None)

    def text(self, text: str) -> str:
        """*text* without credentials."""
        data = text.encode("utf-8", "surrogatepass")
        return self.body(data).decode("utf-8", "surrogatepass")

    def body(self, body: bytes) -> bytes:
        """*body* without credentials."""
        return _pattern(self._secrets).sub(_MARK, body)


# The first error compiles the pattern, which takes some milliseconds.
@lru_cache(maxsize=256)
def _pattern(secrets: frozenset[Secret]) -> re.Pattern[bytes]:
    texts = [secret.reveal() for secret in secrets if len(secret.reveal()) >= SHORTEST]
    # Longer secrets come first, as others may be their beginnings.
    texts.sort(key=len, reverse=True)
    patterns = ["".join(map(_written, text.encode())) for text in texts]
    # Without secrets it is a pattern that finds nothing.
    return re.compile("|".join(patterns or ["(?!)"]).encode("latin-1"))


def _written(code: int) -> str:
    """A pattern of the ways in which a character is written."""
    # Few programs redact something.
    import html

    char = re.escape(chr(code))
    forms = (
        char,
        rf"\\(?:{char}|(?i:u{code:04x}))",
        rf"%(?i:{code:02x})",
        rf"&(?i:#0{{0,5}}{code}|#x0{{0,5}}{code:x});",
        re.escape(html.escape(chr(code))),
    )
    return f"(?:{'|'.join(forms)})"


# --- logs -------------------------------------------------------------------------

_PARTS: Final = ("connection", "http11", "http2", "proxy", "socks")
_LOGGERS: Final = (
    "httpx",
    "httpx2",
    "hpack.hpack",
    "hpack.table",
    *(f"httpcore.{part}" for part in _PARTS),
    *(f"httpcore2.{part}" for part in _PARTS),
)
"""httpx logs an address and a status line at INFO, and httpcore, where it connects, the
headers of a response at DEBUG: a service that repeats a key would have it logged."""
_REDACTORS: Final = Registry[Redactor]()
"""The redactors of all clients: a record does not tell whose request it is about."""


class _Redaction(logging.Filter):
    """Lets every record through, without credentials."""

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            text = clean = record.getMessage()
        except Exception:  # noqa: BLE001 - the handlers report a record that is wrong
            return True
        for redactor in _REDACTORS:
            clean = redactor.text(clean)
        if clean != text:
            record.msg, record.args = clean, None
        return True


_FILTER: Final = _Redaction()


def redact_logs(redactor: Redactor) -> None:
    """Have the libraries' records redacted for as long as *redactor* is in use."""
    _REDACTORS.add(redactor)
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)
