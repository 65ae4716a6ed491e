"""How everything here is measured, and how a figure is told.

Machines are noisy, so nothing is measured alone: what is compared takes turns in
the same run, each way is judged by its best turn, since whatever makes a turn slower
is the machine's, and the ratio to the first of them is what counts.
"""

from __future__ import annotations

import gc
import os
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import attrs

Way = Callable[[], Any]


@attrs.frozen
class Scale:
    """How much to measure: all of it, or just that it can be measured."""

    short: bool = False

    def rounds(self, full: int) -> int:
        """How many turns each way has, of *full* in a whole run."""
        return 1 if self.short else full

    def size(self, full: int, short: int) -> int:
        """How much of it there is."""
        return short if self.short else full


@attrs.frozen
class Row:
    """One line of a table: what was measured, its ratio, and the value itself."""

    what: str
    ratio: float | None
    value: str


@attrs.frozen
class Goal:
    """A ratio that is to be reached, and what holds it back where it is not."""

    what: str
    reached: float
    limit: float
    obstacle: str = ""

    @property
    def is_reached(self) -> bool:
        """Whether it is at most the limit, as it is printed."""
        return round(self.reached, 2) <= self.limit


@attrs.frozen
class Table:
    """The figures of one thing."""

    title: str
    about: str
    rows: Sequence[Row]
    goals: Sequence[Goal] = ()


def in_turn(
    ways: Sequence[Way],
    rounds: int,
    calls: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """The seconds of one call of each way at its best, all measured in turn.

    What waits for nobody is measured by the processor's time, which other programs
    of the machine hardly change.
    """
    times: list[list[float]] = [[] for _ in ways]
    for way in ways:
        way()
    for _ in range(rounds):
        for way, found in zip(ways, times, strict=True):
            # None pays for the garbage of the one before.
            gc.collect()
            started = clock()
            for _ in range(calls):
                way()
            found.append((clock() - started) / calls)
    return [min(found) for found in times]


def held_by(way: Way) -> int:
    """The bytes that the result of *way* holds."""
    way()
    gc.collect()
    tracemalloc.start()
    result = way()
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del result
    return held


def environment() -> dict[str, str]:
    """That of a process of its own, which keeps what it compiles as usual."""
    kept = {**os.environ}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept


def compared(
    names: Sequence[str], values: Sequence[float], show: Callable[[float], str]
) -> list[Row]:
    """Rows of *values*, each with its ratio to the first."""
    return [
        Row(name, value / values[0], show(value))
        for name, value in zip(names, values, strict=True)
    ]


def seconds(value: float) -> str:
    """A time, in the unit that suits it.

    >>> seconds(1.234), seconds(0.0123), seconds(0.0000456)
    ('1.23 s', '12.3 ms', '45.6 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size or unit == "µs":
            return f"{value / size:.3g} {unit}"
    raise AssertionError


def size(value: float) -> str:
    """A number of bytes, in the unit that suits it.

    >>> size(2_500), size(3_000_000)
    ('2.5 kB', '3 MB')
    """
    return f"{value / 1e6:.3g} MB" if value >= 1e6 else f"{value / 1e3:.3g} kB"


def installed(ways: dict[str, Way | None]) -> tuple[list[str], list[Way]]:
    """The names and the ways of those that are there: None stands for the others."""
    known = {name: way for name, way in ways.items() if way is not None}
    return list(known), list(known.values())
