"""Mutated responses: each becomes a result, or one of the package's errors.

``nox -s evidence`` tries 200,000, and a fifth of them through a socket.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import ssl
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import httpx
import pytest

from both_clients import KEY, QUERY, faked, opened
from displayed import terminal
from fault_cases import CASES
from loopback import Connection, serve
from sitestats import (
    Client,
    Entries,
    SiteStatsError,
    Stats,
    StatsQuery,
    WebsiteList,
)

# A response may well be odd here.
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]

INPUTS = int(os.environ.get("FUZZ_INPUTS", "1000"))
SEED = int(os.environ.get("FUZZ_SEED", "7"))

LISTS = ("pages", "countries", "referrers", "browser_names")
EVERYTHING = QUERY.fields("pageviews", "histogram", "seconds_on_page", *LISTS)
CALLS: dict[str, Callable[[Any], Any]] = {
    "totals": lambda c: c.stats.get(QUERY),
    "everything": lambda c: c.stats.get(EVERYTHING.events("signup").on("2024-03-01")),
    "hours": lambda c: c.stats.get(QUERY.fields("histogram").interval("hour")),
    "weeks": lambda c: c.stats.get(QUERY.fields("histogram").interval("week")),
    "version 2": lambda c: c.stats.get(EVERYTHING.version(2)),
    "version 1": lambda c: c.stats.get(EVERYTHING.version(1)),
    "page": lambda c: c.stats.get(StatsQuery("example.com").fields("pages").path("/a")),
    "jsonp": lambda c: c.stats.get_jsonp(QUERY, callback="show"),
    "list": lambda c: c.websites.list(),
    "add": lambda c: c.websites.add("example.com", timezone="UTC"),
    "custom": lambda c: c.request("GET", "/api/x"),
}

# -- valid responses

ENTRIES = [
    {"value": name, "pageviews": 3, "visitors": 2, "seconds_on_page": 9.5}
    for name in ("/", "/blog/ünïcode", "/\ud800")
]
STATS: dict[str, Any] = {
    "ok": True,
    "hostname": "example.com",
    "path": "*",
    "start": "2024-03-01T00:00:00.000Z",
    "end": "2024-03-01T23:59:59.999Z",
    "version": 6,
    "timezone": "UTC",
    "pageviews": 3,
    "seconds_on_page": 17.5,
    "histogram": [
        {"date": "2024-03-01", "hour": "1", "pageviews": 3, "visitors": 2},
        {"date": "2024-12-30", "year": 2025, "week": 1, "pageviews": 1, "visitors": 1},
    ],
    "events": [{"name": "signup", "total": 3}, {"name": "purchase", "total": 0}],
    **dict.fromkeys(LISTS, ENTRIES),
}
OLD = {
    "timezone": "UTC",
    "pageviews": 3,
    "visits": [{"date": "2024-03-01", "pageviews": 3, "uniques": 2}],
    "agents": [{"count": 1, "browser_name": "Firefox"}],
    "pages": [{"value": "/", "visits": 3, "uniqueVisits": 2}],
}
WEBSITE = dict.fromkeys(("is_public", "has_ssl", "has_script", "public"), False) | {
    "hostname": "example.com",
    "timezone": "UTC",
    "label": "",
    "own_hostname": None,
    "pageviews": 100,
    "events": 5,
    "ok": True,
    "success": True,
    "customDomain": None,
    "validDNS": True,
}
"""In the list, and as the result of adding."""
TREES: list[Any] = [
    *(STATS, OLD, WEBSITE, {"success": True, "websites": [WEBSITE, WEBSITE]}),
    {"ok": False, "success": False, "error": "no", "code": "BADGE_REQUIRED"},
    # These broke something once.
    STATS | {"path": "\ud800", "timezone": "other.example", "": True},
    STATS | {"start": "9999-12-31T23:59:59.999Z", "end": "2024-03-31T23:59:59.999Z"},
    STATS | {"end": "9999-12-31T23:59:59.999Z", "timezone": "Europe/Amsterdam"},
    OLD | {"timezone": "\ud800", "pages": [{"uniqueVisits": "9999-12-31"}]},
]
BODIES = [b"", b"<html><title>502</title></html>", b"show({})", b"[" * 2000]

# -- mutations

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 3, 1.5, 1e400, float("nan"), 2**63, 10**30),
    *("", "3", "\0", "\ud800", "\x1b[2J", "\u202e", "a" * 300, "*", "europe/paris"),
    *("2024-02-30", "0000-00-00", "0001-01-01", "9999-12-31"),
    *("9999-12-31T23:59:59.999Z", "../../etc/passwd"),
    *([], [None], [[]], {}, {"a": 1}, {"value": None}, {"name": None, "total": -1}),
)
KEYS = ("ok", "error", "hostname", "start", "pages", "value", "hour", "", "\ud800")
PIECES = (
    *(b"{", b"}", b"[", b'"', b",", b"null", b"NaN", b"\xff", b"\xef\xbb\xbf", b"\0"),
    *(b"\\ud800", b"1e999", b"-", b"show(", b")", b"9" * 5000, b"\xed\xa0\x80"),
    *(b"\r\n", b"\r\n\r\n", b": ", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 C\r\n\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n", b"0\r\n\r\n"),
    *(b"Content-Encoding: gzip\r\n", b"\x1f\x8b\x08", b"Location: //h\r\n"),
)
STATUSES = (200, 200, 200, 201, 204, 302, 400, 401, 403, 404, 423, 429, 503, 799)
HEADERS = (
    *({"retry-after": text} for text in ("7", "-1", "nan", "9" * 400, "\xb2", "")),
    {"retry-after": "Fri, 31 Dec 9999 23:59:59 -2359", "date": "x"},
    {"location": "http://[::1"},
    {"location": "https://u:p@h/?k=1#f"},
    {"content-type": "application/json; charset=utf-7"},
)


def changed(tree: Any, draw: random.Random) -> Any:
    """*tree* with one node changed."""
    deeper = draw.random() < 0.75
    if isinstance(tree, dict) and tree:
        key = draw.choice([*tree] if deeper else [*tree, *KEYS])
        value = changed(tree.get(key), draw) if deeper else draw.choice(VALUES)
        return {**tree, key: value}
    if isinstance(tree, list) and tree:
        place = draw.randrange(len(tree))
        inside = [changed(tree[place], draw)] if deeper else draw.choice(([], tree))
        return [*tree[:place], *inside, *tree[place + 1 :]]
    return draw.choice(VALUES)


def mutated(data: bytes, other: bytes, draw: random.Random) -> bytes:
    """*data*, changed in one place."""
    place = draw.randint(0, len(data))
    match draw.randrange(4):
        case 0:
            return data[:place] + draw.choice(PIECES) + data[place:]
        case 1:
            return data[:place] + draw.randbytes(2) + data[place + 1 :]
        case 2:
            return data[:place] + data[place + draw.randint(1, 30) :]
        case _:
            return data[:place] + other[draw.randint(0, len(other)) :]


def response(draw: random.Random) -> httpx.Response:
    """A response that is mutated in a few places."""
    body = draw.choice(BODIES)
    if draw.random() < 0.9:
        tree = draw.choice(TREES)
        for _ in range(draw.randint(0, 3)):
            tree = changed(tree, draw)
        body = json.dumps(tree).encode()
    if draw.random() < 0.2:
        body = b"show(" + body + b")"
    if draw.random() < 0.4:
        body = mutated(body, draw.choice(BODIES), draw)
    status = draw.choice(STATUSES) if draw.random() < 0.2 else 200
    headers = draw.choice(HEADERS) if draw.random() < 0.1 else {}
    pairs = [(name.encode(), text.encode("latin-1")) for name, text in headers.items()]
    return httpx.Response(status, headers=pairs, content=body)


# -- what comes of it


def outcome(call: Callable[[], Any], shown: object) -> str:
    """The name of the error, or "result"; what is not ours shows the input."""
    try:
        try:
            result = call()
        except SiteStatsError as error:
            check_error(error)
            return type(error).__name__
        check_result(result)
    except BaseException as error:
        error.add_note(f"The response was {shown!r}.")
        raise
    return "result"


def check_error(error: SiteStatsError) -> None:
    """Check that it does not control a terminal, nor fill a log, and is pickled."""
    text = str(error)
    assert all(line.isprintable() for line in text.split("\n")), ascii(text)
    assert 0 < len(text) < 20_000
    assert str(pickle.loads(pickle.dumps(error))) == text


def check_result(result: Any) -> None:
    """Check that it is displayed, pickled, converted and read again, in every way."""
    assert repr(result)
    assert repr(pickle.loads(pickle.dumps(result))) == repr(result)
    if hasattr(result, "from_dict"):
        values = json.loads(json.dumps(result.to_dict()))
        again = type(result).from_dict(values)
        assert again.to_dict() == values
        assert again == result or has_half_of_a_pair(values)
    if isinstance(result, Stats):
        assert isinstance(result.raw(), dict)
        json.dumps(result.to_dict())
        json.dumps(result.compare_to(result).to_dict())
        for entries in lists_of(result):
            values = entries.to_dict()
            again = type(entries).from_dict(values)
            assert again == entries or has_half_of_a_pair(values)
            assert len(entries.to_arrow()) == len(entries)
    if isinstance(result, Stats | WebsiteList):
        json.dumps(result.to_dicts())
        assert (result._repr_html_() + terminal(result)).encode()
        frames = [result.to_pandas(), result.to_polars(), result.to_arrow()]
        assert {len(frame) for frame in frames} == {len(result.to_dicts())}
        result.to_excel(io.BytesIO())


def has_half_of_a_pair(values: object) -> bool:
    """Whether JSON has half of a surrogate pair, which is an escape there."""
    return r"\\ud" in json.dumps(values)


def lists_of(stats: Any) -> list[Entries[Any]]:
    """The lists that were requested and can be read."""
    values = []
    for name in stats.requested:
        with suppress(SiteStatsError):
            values.append(stats[name])
    return [value for value in values if isinstance(value, Entries)]


def in_memory(inputs: int, seed: int) -> Counter[str]:
    """The outcomes of so many responses, each to one of the calls."""
    draw, outcomes = random.Random(seed), Counter[str]()
    # Reading the certificates would take most of the time.
    certificates = ssl.create_default_context()
    for _ in range(inputs):
        name, given = draw.choice([*CALLS]), response(draw)
        shown = (name, given.status_code, given.headers, given.content)
        # Each has a client of its own: one with a Retry-After would pause.
        options: Any = {"retries": 0, "verify": certificates}
        with faked() as routes, opened("blocking", **options) as client:
            routes.route().mock(return_value=given)
            outcomes[outcome(partial(CALLS[name], client), shown)] += 1
    return outcomes


def through_a_socket(inputs: int, seed: int) -> Counter[str]:
    """The outcomes of so many mutated responses as bytes of HTTP."""
    draw, outcomes = random.Random(seed), Counter[str]()
    seeds = [
        b"".join(step for step in case.attempts[0] if isinstance(step, bytes))
        for case in CASES.values()
    ]
    sent = b""

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(sent)

    with serve(script) as server:
        for _ in range(inputs):
            sent = draw.choice(seeds)
            for _ in range(draw.randint(1, 2)):
                sent = mutated(sent, draw.choice(seeds), draw)
            with Client(server.address, api_key=KEY, retries=0, proxy=None) as client:
                outcomes[outcome(partial(client.stats.get, QUERY), sent)] += 1
    return outcomes


def test_any_response_is_a_result_or_an_error() -> None:
    """Mutated responses break nothing, and come to results and errors of each kind."""
    outcomes = in_memory(INPUTS, SEED)
    assert outcomes.total() == INPUTS
    assert outcomes["result"] > INPUTS / 20
    assert len(outcomes) > 8


def test_any_bytes_are_a_result_or_an_error() -> None:
    """Mutated bytes of HTTP break nothing either."""
    outcomes = through_a_socket(INPUTS // 5, SEED)
    assert {
        "result",
        "ConnectionFailedError",
        "InvalidResponseError",
    } <= outcomes.keys()
