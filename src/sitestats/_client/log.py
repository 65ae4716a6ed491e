"""Log records of attempts, retries and pauses: the logger ``sitestats``.

A record holds a method, a path, a status and times: never a header, and never the
value of a parameter.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._protocol.flow import Send
from sitestats._protocol.retry import Pausing, Retrying

LOGGER: Final = logging.getLogger("sitestats")

_MESSAGES: Final = {
    Retrying: "%s: attempt %d got %s, retried in %.3g s",
    Pausing: "%s: attempt %d got %s, a pause of %.3g s for all that it concerns",
}


@contextmanager
def logged_attempt(step: Send) -> Generator[list[HttpResponse]]:
    """Log the attempt of *step* when the block is left.

    The block appends the response to the list; without one its error is logged.
    """
    responses: list[HttpResponse] = []
    started = time.perf_counter()
    cause: int | str = ""
    try:
        yield responses
        cause = responses[-1].status
    except BaseException as error:
        cause = type(error).__name__
        raise
    finally:
        milliseconds = round((time.perf_counter() - started) * 1_000, 3)
        LOGGER.debug(
            "%s: attempt %d got %s after %.0f ms",
            step.request,
            step.attempt,
            cause,
            milliseconds,
            extra={
                **_fields(step.request, step.attempt, cause),
                "milliseconds": milliseconds,
            },
        )


def log_event(event: object) -> None:
    """Log *event* if it is a retry or a pause."""
    if isinstance(event, (Retrying, Pausing)):
        LOGGER.info(
            _MESSAGES[type(event)],
            event.request,
            event.attempt,
            event.cause,
            event.seconds,
            extra={
                **_fields(event.request, event.attempt, event.cause),
                "seconds": event.seconds,
            },
        )


def _fields(
    request: HttpRequest, attempt: int, cause: int | str
) -> dict[str, str | int | None]:
    return {
        "method": request.method,
        "path": request.path,
        "attempt": attempt,
        "status": cause if isinstance(cause, int) else None,
        "error": cause if isinstance(cause, str) else None,
    }
