"""What the calls of one client share: its settings, and the pauses it has to keep."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import attrs

from sitestats._configuration.settings import Settings

_LONGEST_PAUSE: Final = 3_600.0
"""The most seconds of a pause: one odd response must not stop a client for ever."""


@attrs.frozen(eq=False)
class Pause:
    """A pause that the service requested by a 429."""

    began: float
    """When it began, by the monotonic clock."""
    requested: float
    """How many seconds the service requested."""

    def left(self, now: float) -> float:
        """Seconds until a request may be sent; 0 when it may be now."""
        return self._left_of(min(self.requested, _LONGEST_PAUSE), now)

    def requested_left(self, now: float) -> float:
        """Seconds that are left of what the service requested."""
        return self._left_of(self.requested, now)

    def _left_of(self, seconds: float, now: float) -> float:
        # A test may set the clock back, and a pause does not become longer by that.
        return min(max(self.began + seconds - now, 0.0), seconds)


_Held: TypeAlias = Literal["all requests", "searches"]


class Pauses:
    """The pauses that the service requested by a 429. All calls of a client share them.

    Contains searches have a rate limit of their own (section 7), and so have a pause of
    their own.
    """

    def __init__(self) -> None:
        self.begun = dict[_Held, Pause]()
        """The pauses that nobody has ended, by what they hold."""

    def begin(self, *, now: float, seconds: float, searches_alone: bool) -> Pause:
        """Record a pause of *seconds*, of all requests or of *searches_alone*, unless
        there is a longer one; the value is the pause that holds.
        """
        pause = Pause(now, seconds)
        held: _Held = "searches" if searches_alone else "all requests"
        before = self.begun.get(held)
        if before is not None and before.left(now) > pause.left(now):
            return before
        self.begun[held] = pause
        return pause

    def of(self, *, now: float, is_search: bool) -> Pause | None:
        """The pause that holds a request; None if it may be sent now.

        >>> pauses = Pauses()
        >>> pause = pauses.begin(now=0.0, seconds=5.0, searches_alone=True)
        >>> pauses.of(now=1.0, is_search=True) is pause
        True
        >>> pauses.of(now=1.0, is_search=False), pauses.of(now=5.0, is_search=True)
        (None, None)
        """
        pauses = [self.begun.get("all requests")]
        if is_search:
            pauses.append(self.begun.get("searches"))
        longest = max(filter(None, pauses), key=lambda one: one.left(now), default=None)
        return longest if longest and longest.left(now) else None

    def end(self, pause: Pause | None = None) -> None:
        """End *pause*, or all of them."""
        # Another call may begin or end one meanwhile.
        for held, begun in [*self.begun.items()]:
            if pause in {None, begun}:
                self.begun.pop(held, None)


@attrs.frozen
class Session:
    """The settings of one client, with the pauses that its copies share."""

    settings: Settings
    pauses: Pauses = attrs.field(factory=Pauses)
