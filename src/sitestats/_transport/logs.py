"""Redact credentials in what httpx and httpcore log.

httpx logs an address and a status line at INFO, and httpcore the headers of a response
at DEBUG: a service that repeats a key would have it logged.
"""

from __future__ import annotations

import logging
import weakref
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .redaction import Redactor

_LOGGERS: Final = (
    "httpx",
    *(f"httpcore.{part}" for part in ("connection", "http11", "http2")),
    *(f"httpcore.{part}" for part in ("proxy", "socks")),
    *("hpack.hpack", "hpack.table"),
)
"""Those below ``httpcore.http11`` speak where a client of the user's has them speak."""

_redactors: Final[dict[int, weakref.ref[Redactor]]] = {}
"""Those of all clients: a record does not tell whose request it is about."""


class _Redaction(logging.Filter):
    """Lets every record through, without credentials."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = clean = record.getMessage()
        # The garbage collection may take some away meanwhile.
        for get in _redactors.copy().values():
            redactor = get()
            if redactor is not None:
                clean = redactor.text(clean)
        if clean != text:
            record.msg, record.args = clean, None
        return True


_FILTER: Final = _Redaction()


def redact_logs(redactor: Redactor) -> None:
    """Have the libraries' records redacted for as long as *redactor* is in use."""
    number = id(redactor)
    _redactors[number] = weakref.ref(redactor)
    weakref.finalize(redactor, _redactors.pop, number, None).atexit = False
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.addFilter(_FILTER)
        # Loggers remember their level by this. To find it takes a lock, which an
        # interrupt within a call would leave locked.
        for level in (logging.DEBUG, logging.INFO):
            logger.isEnabledFor(level)
