"""The pause that a 429 asks of every request it concerns, not only of its own.

Fifty requests that each find out for themselves that they come too soon are
fifty more reasons for the service to refuse. So those that share a ``Pauses``
hold together: contains searches when one of them was refused, as these have a
limit of their own (section 7), and all requests when any other was.
"""

from __future__ import annotations

import math
from typing import Final

from ._errors import RateLimitedError
from ._flow import Flow, now, sleep
from ._wire import HttpRequest

_PAGE_FILTERS: Final = frozenset({"page", "pages"})


def is_contains_search(request: HttpRequest) -> bool:
    """Whether *request* is a contains search (section 4.3, Wildcards).

    No other pattern begins with a star, but for a lone one.
    """
    return any(
        name in _PAGE_FILTERS and value.startswith("*") and value != "*"
        for name, value in request.params
    )


class Pauses:
    """Until when the service asked for a pause, on the monotonic clock."""

    def __init__(self) -> None:
        # Threads share these. To add a key is one step, where to compare and
        # assign is two, between which a longer pause could be lost.
        self._of_all: dict[float, None] = {}
        self._of_contains_searches: dict[float, None] = {}

    def begin(self, request: HttpRequest, *, now: float, seconds: float) -> None:
        """Note that *request* was told to come again in *seconds*."""
        ends = (
            self._of_contains_searches if is_contains_search(request) else self._of_all
        )
        for end in [end for end in tuple(ends) if end <= now]:
            ends.pop(end, None)
        ends[now + seconds] = None

    def end(self, request: HttpRequest) -> float:
        """When *request* may be sent; minus infinity where nothing holds it."""
        if not self._of_all and not self._of_contains_searches:
            return -math.inf
        ends = [*self._of_all]
        if is_contains_search(request):
            ends += self._of_contains_searches
        return max(ends, default=-math.inf)


def hold(
    request: HttpRequest,
    pauses: Pauses,
    *,
    patience: float,
    since: float | None = None,
) -> Flow[None]:
    """Wait until no pause holds *request*.

    Its *patience* in seconds counts from *since*, when it was first sent. For one
    that was not sent yet it counts anew with each pause.

    Raises:
        RateLimitedError: A pause is longer than that, so nothing was sent.
    """
    while (end := pauses.end(request)) > -math.inf:
        moment = yield from now()
        left = end - moment.monotonic
        if left <= 0:
            return
        if end >= (moment.monotonic if since is None else since) + patience:
            raise RateLimitedError(
                f"{request} was not sent: the service asked for a pause of {left:.3g} "
                "more seconds (429, Retry-After), and total_timeout leaves less; a "
                "client with a longer one waits for it",
                request=request,
                retry_after=left,
            )
        # Another answer may make the pause longer in the meantime: look again.
        yield from sleep(left)
