"""One call after the other: a query on a kept connection, typed and checked."""

from __future__ import annotations

import json
from contextlib import ExitStack
from functools import partial
from typing import Any

import httpx

from measuring import Goal, Scale, Table, Way, compared, in_turn, installed, seconds
from service import serving
from sitestats import Client, StatsQuery

QUERY = StatsQuery("example.com").fields("pageviews", "visitors").last(days=30)
HEADERS = {"Api-Key": "sa_api_key_0123456789"}


def _httpx(http: httpx.Client, url: str) -> Any:
    return http.get(url, headers=HEADERS).json()


def _slot(transport: httpx.HTTPTransport, url: str) -> Any:
    response = transport.handle_request(httpx.Request("GET", url, headers=HEADERS))
    return json.loads(response.read())


def _requests(url: str, stack: ExitStack) -> Way | None:
    try:
        import requests
    except ImportError:
        return None
    session = stack.enter_context(requests.Session())
    session.trust_env = False
    return lambda: session.get(url, headers=HEADERS).json()


def tables(scale: Scale) -> list[Table]:
    """The time of one blocking call, beside what one would do by hand."""
    with ExitStack() as stack:
        address = stack.enter_context(serving())
        slot = stack.enter_context(httpx.HTTPTransport())
        http = stack.enter_context(httpx.Client(trust_env=False))
        client = stack.enter_context(Client(address, api_key=HEADERS["Api-Key"]))
        url = QUERY.url(address)
        names, ways = installed(
            {
                "httpx.Client.get, and .json()": partial(_httpx, http, url),
                "sitestats, client.stats.get": partial(client.stats.get, QUERY),
                "httpx.HTTPTransport alone, and json.loads": partial(_slot, slot, url),
                "requests.Session.get, and .json()": _requests(url, stack),
            }
        )
        bests = in_turn(ways, scale.rounds(40), scale.size(100, 5))
    goal = Goal(
        "one blocking `stats.get`",
        bests[1] / bests[0],
        0.9,
        "The transport alone takes 0.7 to 0.8 of it. The checks of query and answer, "
        "limits, retries and the pool take the rest, each of their many parts at most "
        "2 %. Tried and kept: to join the address, which saves 6 % over parsing it, to "
        "trace no connection that is known, 3.5 %, and to encode no parameter twice, "
        "2 %. Runs differ by some 3 %.",
    )
    return [
        Table(
            "One call",
            "A query for two totals on a connection that is kept, from a server on "
            "loopback in a process of its own. By hand the result is a dict that "
            "nobody checked.",
            compared(names, bests, seconds),
            [goal],
        )
    ]
