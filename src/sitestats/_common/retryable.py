"""Which calls may be repeated, for retries, errors and exit codes; and when.

A failure may be over later: a 429, a 5xx, a connection that broke. A request that reads
may be sent again then. One that writes may not where it may have been done, since to
add a website can cost money and can't be undone.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .wire import HttpRequest

LONGEST_PAUSE: Final = 3_600.0
"""The most seconds of a pause: one odd response must not stop a client for ever."""
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


class Pauses(dict[bool, float]):
    """The ends of pauses that the service requested by a 429, on the monotonic clock.

    All calls of a client share them. Contains searches have a rate limit of their own
    (section 7), and so have an end of their own, at True.
    """

    def begin(self, *, now: float, seconds: float, searches_alone: bool) -> None:
        """Record that the service requested *seconds*, perhaps of *searches_alone*."""
        end = now + min(seconds, LONGEST_PAUSE)
        self[searches_alone] = max(end, self.get(searches_alone, end))

    def left(self, *, now: float, is_search: bool) -> float:
        """Seconds until a request may be sent; 0 when it may be now.

        >>> pauses = Pauses()
        >>> pauses.begin(now=0.0, seconds=5.0, searches_alone=True)
        >>> pauses.left(now=1.0, is_search=True), pauses.left(now=1.0, is_search=False)
        (4.0, 0.0)
        """
        return max(now, self.get(False, now), self.get(is_search, now)) - now
