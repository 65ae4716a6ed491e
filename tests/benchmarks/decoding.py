"""How long it takes to read an answer, and how much memory the result holds.

Run it by ``python tests/benchmarks/decoding.py``. Each figure stands beside what
a user would take instead, measured in turn in the same run: machines are noisy,
so the ratios count. pydantic is measured where it is installed.
"""

from __future__ import annotations

import datetime as dt
import gc
import json
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import attrs
import cattrs

from sitestats._asked import Asked, asked
from sitestats._converter import structure_stats
from sitestats._json import load_json
from sitestats._query import StatsQuery
from sitestats._requests import stats_request
from sitestats._responses import read_stats
from sitestats._shape import shape
from sitestats._stats import LISTS
from sitestats._wire import HttpResponse

ALL_LISTS = ("pages", *LISTS)
ENTRIES = 1000
ENVELOPE = {
    "ok": True,
    "docs": "https://docs.example.com/api",
    "info": "false",
    "hostname": "example.com",
    "url": "https://example.com",
    "path": "*",
    "start": "2026-10-20T00:00:00.000Z",
    "end": "2026-11-20T23:59:59.999Z",
    "version": 6,
    "timezone": "UTC",
    "generated_in_ms": 398,
}


class Reading:
    """One answer, and the ways to read it."""

    def __init__(self, query: StatsQuery, fields: dict[str, Any]) -> None:
        data = {**ENVELOPE, **fields}
        self.body = json.dumps(data, separators=(",", ":")).encode()
        self.query = query
        self.asked: Asked = asked(query)
        self.request = stats_request(query)
        self.response = HttpResponse(200, {}, self.body)
        self.shape = shape(self.asked.fields)
        told = {"start": dt.datetime, "end": dt.datetime, "generated_in_ms": int}
        told |= {"version": int, **dict.fromkeys(("hostname", "path", "timezone"), str)}
        types = {**told, **{name: self.shape.types[name] for name in self.shape.names}}
        attributes = {name: attrs.field(type=type_) for name, type_ in types.items()}
        self.plain_class = attrs.make_class("Answer", attributes, frozen=True)

    def to_dicts(self) -> Any:
        """What a user would do without this package."""
        return json.loads(self.body)

    def typed(self) -> Any:
        """What this package does: typed, and held against the question."""
        return read_stats(self.response, self.request, self.query, self.asked)

    def msgspec_alone(self) -> Any:
        """The quick way without checks and without the result around it."""
        return self.shape.decode(self.body)

    def slow_way(self) -> Any:
        """The slow way: every value through our cattrs hooks, all forms taken."""
        data: Any = load_json(self.body)
        return structure_stats(data, self.shape.types)

    def plain_cattrs(self) -> Any:
        """Cattrs as it comes, which is lax, into a class of the same values."""
        return _PLAIN.structure(json.loads(self.body), self.plain_class)

    def with_pydantic(self) -> Callable[[], Any] | None:
        """Strict models of pydantic, if it is installed."""
        try:
            import pydantic
        except ImportError:
            return None
        entry: Any = pydantic.create_model(
            "Entry", value=str, pageviews=int, visitors=int
        )
        entries: Any = list
        kinds: dict[str, Any] = {
            name: entries[entry] if name in ALL_LISTS else int
            for name in self.asked.fields
        }
        model = pydantic.create_model("Answer", **kinds)
        return partial(model.model_validate_json, self.body, strict=True)


_PLAIN = cattrs.Converter()
_PLAIN.register_structure_hook(
    dt.datetime, lambda text, _: dt.datetime.fromisoformat(text)
)


def large(*, timed: bool = False) -> Reading:
    """Eleven lists of a thousand entries."""
    draw = random.Random(1)

    def entries(name: str) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for number in range(ENTRIES):
            made.append(
                {
                    "value": f"/{name}/{number}-a-title-of-usual-length",
                    "pageviews": draw.randrange(1, 50_000),
                    "visitors": draw.randrange(1, 30_000),
                }
            )
            if timed:
                made[-1]["seconds_on_page"] = draw.randrange(5, 400)
        return made

    fields: dict[str, Any] = {name: entries(name) for name in ALL_LISTS}
    if timed:
        fields["seconds_on_page"] = 31
    names: Any = tuple(fields)
    return Reading(StatsQuery("example.com").fields(*names).limit(ENTRIES), fields)


def small() -> Reading:
    """Two totals."""
    query = StatsQuery("example.com").fields("pageviews", "visitors")
    return Reading(query, {"pageviews": 66, "visitors": 41})


def in_turn(ways: Sequence[Callable[[], Any]], rounds: int, calls: int) -> list[float]:
    """The seconds of one call of each way at its best, all measured in turn.

    The best, as whatever makes a round slower is the machine's.
    """
    times: list[list[float]] = [[] for _ in ways]
    for way in ways:
        way()
    for _ in range(rounds):
        for way, found in zip(ways, times, strict=True):
            # None pays for the garbage of the one before.
            gc.collect()
            started = time.perf_counter()
            for _ in range(calls):
                way()
            found.append((time.perf_counter() - started) / calls)
    return [min(found) for found in times]


def memory(way: Callable[[], Any]) -> int:
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


def compare(title: str, reading: Reading, rounds: int, calls: int) -> None:
    """Print the times of one answer."""
    ways: dict[str, Callable[[], Any] | None] = {
        "json.loads to dicts": reading.to_dicts,
        "sitestats, typed and checked": reading.typed,
        "msgspec into the same classes": reading.msgspec_alone,
        "the slow way of sitestats": reading.slow_way,
        "plain cattrs": reading.plain_cattrs,
        "pydantic": reading.with_pydantic(),
    }
    known = {name: way for name, way in ways.items() if way is not None}
    bests = in_turn(list(known.values()), rounds, calls)
    print(f"\n{title}: {len(reading.body):,} bytes")
    for name, seconds in zip(known, bests, strict=True):
        print(f"  {name:32}{seconds / bests[0]:8.2f}{seconds * 1e6:12,.1f} µs")


def compare_memory(title: str, reading: Reading) -> None:
    """Print the memory of one answer."""
    dicts = memory(reading.to_dicts)
    # The answer's bytes are there before the reading, so they are not counted.
    typed = memory(reading.typed)
    print(f"\nMemory, {title}")
    for name, held in (
        ("dicts", dicts),
        ("sitestats, without the bytes", typed),
        ("sitestats, with the bytes", typed + len(reading.body)),
    ):
        print(f"  {name:32}{held / dicts:8.2f}{held:12,} bytes")


def main() -> None:
    """Print all figures."""
    print(f"Python {sys.version.split()[0]}")
    compare("Eleven lists of 1,000 entries", large(), rounds=25, calls=1)
    compare("The same with seconds_on_page", large(timed=True), rounds=25, calls=1)
    compare("Two totals", small(), rounds=25, calls=1000)
    compare_memory("eleven lists of 1,000 entries", large())
    compare_memory("the same with seconds_on_page", large(timed=True))


if __name__ == "__main__":
    main()
