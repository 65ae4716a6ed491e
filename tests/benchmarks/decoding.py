"""Benchmark of decoding: the time to read a response, and the memory of the result."""

from __future__ import annotations

import datetime as dt
import json
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import attrs
import cattrs

from measuring import (
    Goal,
    Scale,
    Table,
    compared,
    held_by,
    in_turn,
    installed,
    seconds,
    size,
)
from sitestats._common.fields import LISTS
from sitestats._common.jsontext import load_json
from sitestats._common.wire import HttpResponse
from sitestats._protocol.converter import expected, structure_stats
from sitestats._protocol.requests import stats_request
from sitestats._protocol.responses import read_stats
from sitestats._query.builder import StatsQuery, requested
from sitestats._query.requested import Requested

ALL_LISTS = ("pages", *LISTS)
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
    """One response, and several decoders for it."""

    def __init__(self, query: StatsQuery, fields: dict[str, Any]) -> None:
        data = {**ENVELOPE, **fields}
        self.body = json.dumps(data, separators=(",", ":")).encode()
        self.query = query
        self.requested: Requested = requested(query)
        self.request = stats_request(self.requested)
        self.response = HttpResponse(200, {}, self.body)
        self.expected = expected(self.requested.fields, False, None)  # noqa: FBT003
        types = {"start": dt.datetime, "end": dt.datetime, "generated_in_ms": int}
        types |= {"version": int}
        types |= dict.fromkeys(("hostname", "path", "timezone"), str)
        types |= self.expected.kinds
        attributes = {name: attrs.field(type=type_) for name, type_ in types.items()}
        self.plain_class: type[object] = attrs.make_class(
            "Response", attributes, frozen=True
        )

    def to_dicts(self) -> Any:
        """Decode without this package."""
        return json.loads(self.body)

    def typed(self) -> Any:
        """Decode with this package: typed, and checked against the query."""
        return read_stats(self.response, self.request, self.query, self.requested)

    def structured(self) -> Any:
        """Decode and structure, without checks and without a result."""
        data: Any = load_json(self.body)
        return structure_stats(data, self.expected)

    def plain_cattrs(self) -> Any:
        """Decode with plain cattrs, which is lax, into a class of the same values."""
        return _PLAIN.structure(json.loads(self.body), self.plain_class)

    def with_pydantic(self) -> Callable[[], Any] | None:
        """Decode into strict models of pydantic, if it is installed."""
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
            for name in self.requested.fields
        }
        model = pydantic.create_model("Response", **kinds)
        return partial(model.model_validate_json, self.body, strict=True)


_PLAIN = cattrs.Converter()
_PLAIN.register_structure_hook(
    dt.datetime, lambda text, _: dt.datetime.fromisoformat(text)
)


def large(entries_each: int, *, timed: bool = False) -> Reading:
    """Eleven lists of *entries_each* entries."""
    draw = random.Random(1)

    def entries(name: str) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for number in range(entries_each):
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
    return Reading(StatsQuery("example.com").fields(*names).limit(entries_each), fields)


def small() -> Reading:
    """Two totals."""
    query = StatsQuery("example.com").fields("pageviews", "visitors")
    return Reading(query, {"pageviews": 66, "visitors": 41})


_MSGSPEC: Final = (
    "It depends on the processor: msgspec alone takes 0.58 of the time of json.loads "
    "on one and 0.88 on another."
)
_CHECKS: Final = "A small response is checked as thoroughly as a large one."


def _times(
    title: str,
    reading: Reading,
    scale: Scale,
    calls: int,
    *goals: tuple[str, float, str],
) -> Table:
    names, variants = installed(
        {
            "json.loads to dicts": reading.to_dicts,
            "sitestats, typed and checked": reading.typed,
            "the package's cattrs and msgspec alone": reading.structured,
            "plain cattrs": reading.plain_cattrs,
            "pydantic": reading.with_pydantic(),
        }
    )
    bests = in_turn(variants, scale.rounds(25), scale.size(calls, 1), time.process_time)
    by_name = dict(zip(names, bests, strict=True))
    return Table(
        f"Reading {title}",
        f"{len(reading.body):,} bytes, from the response's bytes to the result, in "
        "processor time.",
        compared(names, bests, seconds),
        [
            Goal(
                f"reading {title}, beside {other}",
                by_name["sitestats, typed and checked"] / by_name[other],
                limit,
                obstacle,
            )
            for other, limit, obstacle in goals
        ],
    )


def _memory(title: str, reading: Reading, goals: tuple[float, float] | None) -> Table:
    dicts = held_by(reading.to_dicts)
    # The response's bytes exist before the reading, so they are not counted.
    typed = held_by(reading.typed)
    values = [dicts, typed, typed + len(reading.body)]
    names = ["dicts", "sitestats, without the bytes", "sitestats, with the bytes"]
    reached = [value / dicts for value in values[1:]]
    return Table(
        f"Memory of {title}",
        "The memory that the result holds, by tracemalloc. It keeps the response's "
        "bytes for `.raw()`.",
        compared(names, values, size),
        [
            Goal(f"memory of {title}, {how} the bytes", ratio, limit)
            for how, ratio, limit in zip(
                ("without", "with"), reached, goals or (), strict=False
            )
        ],
    )


def tables(scale: Scale) -> list[Table]:
    """The times and the memory of large responses and of a small one."""
    entries = scale.size(1000, 10)
    plain, timed = large(entries), large(entries, timed=True)
    lists = f"eleven lists of {entries:,} entries"
    with_medians = "the same with seconds_on_page"
    return [
        _times(lists, plain, scale, 1, ("json.loads to dicts", 0.7, _MSGSPEC)),
        _times(with_medians, timed, scale, 1),
        _times("two totals", small(), scale, 1000, ("plain cattrs", 1.0, _CHECKS)),
        _memory(lists, plain, (0.75, 1.0)),
        _memory(with_medians, timed, None),
    ]
