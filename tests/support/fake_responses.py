"""Responses of the service, built for tests."""

from __future__ import annotations

import datetime as dt
import json
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from both_clients import faked, opened
from inside import SENT_VERSION, HttpResponse
from sitestats import InvalidResponseError, Stats, StatsQuery
from sitestats.types import HttpRequest

RECEIVED = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)

Read = Callable[[bytes], Any]

REQUEST = HttpRequest("GET", "/example.com.json")

ENVELOPE: dict[str, Any] = {
    "ok": True,
    "docs": "https://docs.example.com/api",
    "info": "false",
    "hostname": "example.com",
    "url": "https://example.com",
    "path": "*",
    "start": "2026-10-20T00:00:00.000Z",
    "end": "2026-11-20T23:59:59.999Z",
    "version": SENT_VERSION,
    "timezone": "UTC",
    "generated_in_ms": 398,
}


def stats_json(**more: Any) -> dict[str, Any]:
    """The JSON of a Stats response about example.com."""
    return {**ENVELOPE, **more}


def entry(value: Any = "/", pageviews: Any = 3, visitors: Any = 2, **more: Any) -> Any:
    """An entry of a list."""
    return {"value": value, "pageviews": pageviews, "visitors": visitors, **more}


def http_response(data: Any, status: int = 200, **headers: str) -> HttpResponse:
    """A response whose body is *data*, encoded as JSON unless it is bytes."""
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(status, names, body)


def read_response(
    query: StatsQuery,
    data: Any,
    *,
    received: dt.datetime | None = None,
    **headers: str,
) -> Stats:
    """The statistics of the response *data* to *query*, whose headers need a client."""
    response = http_response(data, **headers)
    if not headers:
        return Stats.from_body(query, response.body, responded_at=received)
    assert received is None, "a client has its own clock"
    with faked() as routes, opened("blocking") as client:
        routes.get().respond(content=response.body, headers=response.headers)
        found: Stats = client.stats.get(query)
    return found


def problems(query: StatsQuery, data: Any, **more: Any) -> list[str]:
    """The problems of this response to *query*."""
    with pytest.raises(InvalidResponseError) as caught:
        read_response(query, data, **more)
    assert caught.value.body == http_response(data).body
    assert caught.value.request is not None
    assert all(str(one) in str(caught.value) for one in caught.value.problems)
    return [f"{one.where}: {one.message}" for one in caught.value.problems]


def left_out(query: StatsQuery, data: Any) -> list[str]:
    """What is left out of the statistics, each with a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stats = read_response(query, data)
    found = [f"{one.where}: {one.message}" for one in stats.problems]
    said = [str(one.message) for one in caught if "left out" in str(one.message)]
    # Each value has a warning, which tells its first problem.
    first = {re.split(r"[.[]", one.where)[1]: one for one in reversed(stats.problems)}
    assert len(said) == len(first)
    assert all(any(str(one) in text for text in said) for one in first.values())
    return found


def reads(query: StatsQuery) -> Read:
    """What reads the statistics that *query* requested."""
    return lambda body: read_response(query, body, received=RECEIVED)
