"""The page views and events of an emulator, by website and column."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import TypeAlias

from ._loading import Columns
from ._periods import DAY, micros

Tables: TypeAlias = "Mapping[tuple[str, bool], Columns]"
"""The page views (True) and the events (False) of each host name, ordered by time."""


class Rows:
    """The rows of an emulator.

    Lists of cells never change, and the tables change all at once. So requests need no
    lock, and emulators can share lists.
    """

    def __init__(self) -> None:
        self.tables: Tables = {}
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
                new = pick(columns, chosen)
                tables[key] = _merged(tables[key], new) if key in tables else new
            self.tables = tables

    def recent(self, now: datetime) -> dict[str, list[int]]:
        """Page views and events of 30 days, for each website that has rows."""
        last, first = micros(now), micros(now - 30 * DAY)
        recent: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for (hostname, are_views), table in self.tables.items():
            times = table["ts"]
            number = bisect_right(times, last) - bisect_right(times, first)
            recent[hostname][not are_views] = number
        return recent


def pick(columns: Columns, places: Sequence[int]) -> Columns:
    """The rows at *places*, in that order."""
    return {name: [*map(cells.__getitem__, places)] for name, cells in columns.items()}


def _merged(table: Columns, new: Columns) -> Columns:
    nulls = list(repeat(None, len(table["ts"])))
    new_nulls = list(repeat(None, len(new["ts"])))
    both = {
        name: table.get(name, nulls) + new.get(name, new_nulls) for name in table | new
    }
    times = both["ts"]
    return pick(both, sorted(range(len(times)), key=times.__getitem__))
