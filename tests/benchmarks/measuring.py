"""Measure and compare times and memory; results as rows of tables.

Machines are noisy. So variants that are compared take turns in the same run, the best
turn of each counts, since only the machine makes a turn slower, and the result is the
ratio to the first variant.
"""

from __future__ import annotations

import gc
import os
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import attrs

Work = Callable[[], Any]
"""What one variant does in a turn."""


@attrs.frozen
class Scale:
    """How much to measure: everything, or only enough to check that it runs."""

    short: bool = False

    def rounds(self, full: int) -> int:
        """The turns of each variant; *full* in a whole run."""
        return 1 if self.short else full

    def size(self, full: int, short: int) -> int:
        """The size of the data; *full* in a whole run."""
        return short if self.short else full


@attrs.frozen
class Row:
    """One line of a table: what was measured, its ratio, and the value itself."""

    what: str
    ratio: float | None
    value: str


@attrs.frozen
class Goal:
    """A ratio to reach, and the reason if it is not reached."""

    what: str
    reached: float
    limit: float
    obstacle: str = ""

    @property
    def is_reached(self) -> bool:
        """Whether the ratio, rounded as it is printed, is at most the limit."""
        return round(self.reached, 2) <= self.limit


@attrs.frozen
class Table:
    """One table of the page, with the goals for its figures."""

    title: str
    about: str
    rows: Sequence[Row]
    goals: Sequence[Goal] = ()


def in_turn(
    variants: Sequence[Work],
    rounds: int,
    calls: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """The seconds of one call of each variant in its best turn; they take turns.

    Use processor time as the *clock* for work that does not wait: other programs
    hardly change it.
    """
    times: list[list[float]] = [[] for _ in variants]
    for work in variants:
        work()
    for _ in range(rounds):
        for work, found in zip(variants, times, strict=True):
            # So that none pays for the garbage of the previous one.
            gc.collect()
            started = clock()
            for _ in range(calls):
                work()
            found.append((clock() - started) / calls)
    return [min(found) for found in times]


def held_by(work: Work) -> int:
    """The bytes that the result of *work* holds."""
    work()
    gc.collect()
    tracemalloc.start()
    result = work()
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del result
    return held


def environment() -> dict[str, str]:
    """The environment of a new process that writes compiled modules as usual."""
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
    """A time, in a suitable unit.

    >>> seconds(1.234), seconds(0.0123), seconds(0.0000456)
    ('1.23 s', '12.3 ms', '45.6 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size or unit == "µs":
            return f"{value / size:.3g} {unit}"
    raise AssertionError


def size(value: float) -> str:
    """A number of bytes, in a suitable unit.

    >>> size(2_500), size(3_000_000)
    ('2.5 kB', '3 MB')
    """
    return f"{value / 1e6:.3g} MB" if value >= 1e6 else f"{value / 1e3:.3g} kB"


def installed(variants: dict[str, Work | None]) -> tuple[list[str], list[Work]]:
    """The names and the work of the variants, without those that are None."""
    known = {name: work for name, work in variants.items() if work is not None}
    return list(known), list(known.values())
