"""Benchmark of sizes: the time to read a response grows as its size does."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from measuring import Row, Scale, Table, in_turn, seconds
from sitestats import SiteStatsError, SiteStatsWarning, StatsQuery
from sitestats._common.secret import Secret
from sitestats._common.wire import HttpResponse
from sitestats._protocol.requests import list_request, stats_request
from sitestats._protocol.responses import read_stats, read_websites
from sitestats._query.builder import requested
from sitestats._transport.redaction import Redactor

SIZES = (0.1, 1, 10, 60)
"""Megabytes; a client reads 64 MiB at most."""
WEBSITE = {
    "hostname": "example.com",
    "is_public": False,
    "timezone": "Europe/Amsterdam",
    "has_ssl": True,
    "has_script": True,
    "own_hostname": None,
    "label": "shop",
    "pageviews": 1000,
    "events": 10,
}
_REDACTOR = Redactor([Secret("sa_api_key_0123456789abcdefghijklmn")])

Read = Callable[[HttpResponse], Any]


def _stats(query: StatsQuery) -> Read:
    wanted = requested(query)
    request = stats_request(wanted)
    return lambda response: read_stats(response, request, query, wanted)


def _websites(response: HttpResponse) -> Any:
    return read_websites(response, list_request())


def _array(item: bytes) -> Callable[[int], bytes]:
    return lambda size: b"[%s]" % b",".join([item] * max(1, size // (len(item) + 1)))


def _text(piece: bytes) -> Callable[[int], bytes]:
    return lambda size: b'"%s"' % (piece * (size // len(piece)))


_QUERY = StatsQuery("example.com")
_PAGES = _stats(_QUERY.fields("pages"))
_DAYS = _stats(_QUERY.fields("histogram"))
_TOTALS = _stats(_QUERY.fields("pageviews"))

SHAPES: dict[str, tuple[Read, bytes, Callable[[int], bytes]]] = {
    "websites": (_websites, b"%s", _array(json.dumps(WEBSITE).encode())),
    "zeros for websites": (_websites, b"%s", _array(b"0")),
    "zeros for pages": (_PAGES, b'{"pages":%s}', _array(b"0")),
    "empty strings for pages": (_PAGES, b'{"pages":%s}', _array(b'""')),
    "empty objects for days": (_DAYS, b'{"histogram":%s}', _array(b"{}")),
    "one host name": (_TOTALS, b'{"pageviews":1,"hostname":%s}', _text(b"a")),
    "one page in escapes": (_TOTALS, b'{"pageviews":1,"path":%s}', _text(rb"\u0061")),
}


def tables(scale: Scale) -> list[Table]:
    """One table for each shape, with a row for each size."""
    with warnings.catch_warnings():
        # The page is another one than the requested one.
        warnings.simplefilter("ignore", SiteStatsWarning)
        return [_table(name, scale) for name in SHAPES]


def _table(name: str, scale: Scale) -> Table:
    read, around, make = SHAPES[name]
    rows: list[Row] = []
    for megabytes in SIZES:
        body = around % make(scale.size(round(megabytes * 1e6), 1_000))
        work = partial(_outcome, read, body)
        turns = scale.rounds(5 if megabytes <= 1 else 1)
        base, taken = in_turn(
            [partial(json.loads, body), work], turns, clock=time.process_time
        )
        text = f"{seconds(taken)}, json.loads {seconds(base)}"
        rows.append(Row(f"{megabytes:g} MB", taken / base, text))
    return Table(
        f"Sizes: {name}",
        "From the response's bytes to the result or the error, redaction included, in "
        "processor time; the ratio is to json.loads of the same bytes.",
        rows,
    )


def _outcome(read: Read, body: bytes) -> object:
    try:
        return read(_REDACTOR.response(200, {}, body))
    except SiteStatsError as error:
        return error
