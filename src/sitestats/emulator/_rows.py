"""The page views and events of an emulator, by website and column."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from ._loading import Columns
from ._periods import DAY, micros

Table: TypeAlias = "tuple[Columns, ...]"
"""Blocks of rows, each ordered by time."""


class Rows:
    """The rows of an emulator.

    Lists of cells never change, and the tables change all at once. So requests need no
    lock, and emulators can share lists.
    """

    def __init__(self) -> None:
        self.tables: Mapping[tuple[str, bool], Table] = {}
        """The page views (True) and the events (False) of each host name."""
        self._lock = threading.Lock()

    def add(self, columns: Columns) -> None:
        """Add rows of any websites, in any order, except rows of robots."""
        times, hostnames, names, robots = (
            columns[name] for name in ("ts", "hostname", "datapoint", "is_robot")
        )
        places: dict[tuple[str, bool], list[int]] = defaultdict(list)
        for place in sorted(range(len(times)), key=times.__getitem__):
            if not robots[place]:
                places[hostnames[place], names[place] == "pageview"].append(place)
        with self._lock:
            tables = dict(self.tables)
            for key, chosen in places.items():
                tables[key] = _joined(tables.get(key, ()), pick(columns, chosen))
            self.tables = tables

    def recent(self, now: datetime) -> dict[str, list[int]]:
        """Page views and events of 30 days, for each website that has rows."""
        last, first = micros(now), micros(now - 30 * DAY)
        tables = self.tables
        return {
            hostname: [
                sum(
                    bisect_right(block["ts"], last) - bisect_right(block["ts"], first)
                    for block in tables.get((hostname, views), ())
                )
                for views in (True, False)
            ]
            for hostname, _ in tables
        }


def pick(columns: Columns, places: Sequence[int]) -> Columns:
    """The rows at *places*, in that order."""
    return {name: [*map(cells.__getitem__, places)] for name, cells in columns.items()}


def _joined(table: Table, new: Columns) -> Table:
    # Each block is at least twice as long as the next one. So there are few blocks, and
    # a row is copied a few times, however many small loads there are.
    while table and len(table[-1]["ts"]) < 2 * len(new["ts"]):
        table, new = table[:-1], _merged(table[-1], new)
    return (*table, new)


def _merged(block: Columns, other: Columns) -> Columns:
    nulls = [None] * len(block["ts"]), [None] * len(other["ts"])
    both = {
        name: block.get(name, nulls[0]) + other.get(name, nulls[1])
        for name in block | other
    }
    times = both["ts"]
    return pick(both, sorted(range(len(times)), key=times.__getitem__))
