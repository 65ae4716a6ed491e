"""Which calls may be repeated: one rule for retries, for errors and for exit codes.

A failure may be over later: a 429, a 5xx, a connection that broke. A request that reads
may be sent again then. One that writes may not where it may have been done, since to
add a website can cost money and can't be undone.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .wire import HttpRequest

TOO_MANY_REQUESTS: Final = HTTPStatus.TOO_MANY_REQUESTS.value


def is_temporary(status: int) -> bool:
    """Whether the service may respond otherwise later.

    >>> [
    ...     status
    ...     for status in (200, 404, 408, 429, 500, 503, 600)
    ...     if is_temporary(status)
    ... ]
    [429, 500, 503]
    """
    return status == TOO_MANY_REQUESTS or 500 <= status <= 599  # noqa: PLR2004  5xx


def may_repeat(request: HttpRequest | None, *, maybe_done: bool) -> bool:
    """Whether to send *request* again does no harm, where it is *maybe_done* or not.

    >>> from sitestats._common.wire import HttpRequest
    >>> may_repeat(HttpRequest("POST", "/api/websites/add"), maybe_done=True)
    False
    """
    return not maybe_done or request is None or request.method == "GET"
