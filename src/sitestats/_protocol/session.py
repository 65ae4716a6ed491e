"""What the calls of one client share: its settings, and the pauses it has to keep."""

from __future__ import annotations

from typing import Final

import attrs

from sitestats._configuration.settings import Settings

_LONGEST_PAUSE: Final = 3_600.0
"""The most seconds of a pause: one odd response must not stop a client for ever."""


class Pauses(dict[bool, float]):
    """When the pauses end that the service requested by a 429, on the monotonic clock.

    All calls of a client share them. Contains searches have a rate limit of their own
    (section 7), and so have an end of their own, at True.
    """

    def begin(self, *, now: float, seconds: float, searches_alone: bool) -> None:
        """Record a pause of *seconds*: of all requests, or of *searches_alone*."""
        end = now + min(seconds, _LONGEST_PAUSE)
        self[searches_alone] = max(end, self.get(searches_alone, end))

    def left(self, *, now: float, is_search: bool) -> float:
        """Seconds until a request may be sent; 0 when it may be now.

        >>> pauses = Pauses()
        >>> pauses.begin(now=0.0, seconds=5.0, searches_alone=True)
        >>> pauses.left(now=1.0, is_search=True), pauses.left(now=1.0, is_search=False)
        (4.0, 0.0)
        """
        return max(now, self.get(False, now), self.get(is_search, now)) - now


@attrs.frozen
class Session:
    """The settings of one client, with the pauses that its copies share."""

    settings: Settings
    pauses: Pauses = attrs.field(factory=Pauses)
