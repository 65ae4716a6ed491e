"""Pauses that the service requested by a 429, which all calls of a client share."""

from __future__ import annotations

from typing import Any, Final

LONGEST: Final = 3_600.0
"""The most seconds of a pause: one odd response must not stop a client for ever."""


class Pauses(dict[tuple[float, bool], None]):
    """Pauses by their ends on the monotonic clock.

    Contains searches have a rate limit of their own (section 7), and so have pauses of
    their own, which concern no other request.
    """

    # A dict without a lock, which a fork or an interrupt could leave taken: adding and
    # taking away a key is atomic. To compare and assign could lose a longer pause.

    def __reduce__(self) -> tuple[Any, ...]:
        # Another machine has another clock.
        return Pauses, ()

    def begin(self, *, now: float, seconds: float, searches_alone: bool) -> None:
        """Record that the service requested *seconds*, perhaps of *searches_alone*."""
        self[now + min(seconds, LONGEST), searches_alone] = None

    def left(self, *, now: float, is_search: bool) -> float:
        """Seconds until a request may be sent; 0 when it may be now.

        >>> pauses = Pauses()
        >>> pauses.begin(now=0.0, seconds=5.0, searches_alone=True)
        >>> pauses.left(now=1.0, is_search=True), pauses.left(now=1.0, is_search=False)
        (4.0, 0.0)
        """
        left = 0.0
        for pause in list(self):
            end, searches_alone = pause
            if end <= now:
                self.pop(pause, None)
            elif is_search or not searches_alone:
                left = max(left, end - now)
        return left
