"""Rate and time left of a long call, as text, with a bar of how much is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_WIDTH: Final = 16
"""Numbers of seven digits fit into 80 columns beside a bar this wide."""
_TOO_MANY: Final = 100
"""From this many seconds on, minutes are easier to read, and then hours."""
_ROUND: Final = 10
"""From this number on, a decimal says nothing."""


class Pace:
    """How much is done, how fast that goes, and how long the rest takes.

    The rate is that of at least the last half of the time, so that a beginning which
    costs nothing, such as responses from a store, is soon forgotten.
    """

    def __init__(self, what: str, clock: Callable[[], float]) -> None:
        self._what = what
        self._clock = clock
        self._began = clock()
        # One value, because the thread of a log reads it while it changes.
        self._state: tuple[int, int | None, float] = (0, None, 0.0)
        self._since = self._newer = (0.0, 0)

    @property
    def seconds(self) -> float:
        """How long it has lasted."""
        return self._clock() - self._began

    @property
    def percent(self) -> int | None:
        """How much of the total is done; None without a total."""
        done, total, _ = self._state
        return None if total is None else done * 100 // max(total, 1)

    def count(self, done: int, total: int | None) -> None:
        """Record how much is done."""
        seconds = self.seconds
        self._state = (done, total, seconds)
        if seconds > 2 * self._newer[0]:
            self._since, self._newer = self._newer, (seconds, done)

    def text(self) -> str:
        """The numbers, and after the first second the rate and the time left."""
        (done, total, counted), (since, before) = self._state, self._since
        # What is done takes no longer, whatever follows it.
        seconds = counted if done == total else self.seconds
        if total is None:
            text = f"{done:,} {self._what} so far"
        else:
            text = f"{done:,} of {total:,} {self._what}"
        # The rate of less time is chance.
        if seconds < 1 or done <= before:
            return text
        if done == total:
            return f"{text} in {duration(seconds)}"
        rate = (done - before) / (seconds - since)
        text = f"{text}, {frequency(rate)}"
        if total is None:
            return text
        return f"{text}, {duration(max(0, total - done) / rate)} left"

    def bar(self) -> str:
        """The text behind a bar, where there is a total."""
        if self.percent is None:
            return self.text()
        filled = min(self.percent, 100) * _WIDTH // 100
        return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self.text()}"


def duration(seconds: float) -> str:
    """*seconds* as a person would say it.

    >>> duration(42), duration(5_400), duration(7_200)
    ('42 s', '90 min', '2.0 h')
    """
    if seconds < _TOO_MANY:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < _TOO_MANY else f"{minutes / 60:,.1f} h"


def frequency(rate: float) -> str:
    """How often something happens, as a person would say it, of *rate* in a second.

    >>> frequency(1234.5), frequency(1.25), frequency(0.2), frequency(0.001)
    ('1,234 a second', '1.2 a second', '12 a minute', '3.6 an hour')
    """
    unit = "second"
    if rate < 1:
        rate, unit = rate * 60, "minute"
    if rate < 1:
        rate, unit = rate * 60, "hour"
    number = f"{rate:,.0f}" if rate >= _ROUND else f"{rate:.2g}"
    return f"{number} {'an' if unit == 'hour' else 'a'} {unit}"
