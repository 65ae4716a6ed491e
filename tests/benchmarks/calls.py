"""Benchmark of single calls on an open connection, compared with httpx and requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from itertools import count
from typing import Any

import httpx

from measuring import Goal, Scale, Table, Work, compared, in_turn, installed, seconds
from service import serving
from sitestats import AsyncClient, Client, StatsQuery

QUERY = (
    StatsQuery("example.com")
    .fields("pageviews", "visitors")
    .between("2026-10-20", "2026-11-20")
)
HEADERS = {"Api-Key": "sa_api_key_0123456789"}


def _httpx(http: httpx.Client, url: str) -> Any:
    return http.get(url, headers=HEADERS).json()


def _bare_transport(transport: httpx.HTTPTransport, url: str) -> Any:
    response = transport.handle_request(httpx.Request("GET", url, headers=HEADERS))
    return json.loads(response.read())


def _requests(url: str, stack: ExitStack) -> Work | None:
    try:
        import requests
    except ImportError:
        return None
    session = stack.enter_context(requests.Session())
    session.trust_env = False
    return lambda: session.get(url, headers=HEADERS).json()


def tables(scale: Scale) -> list[Table]:
    """The time of one sync call, compared with the same by hand."""
    with ExitStack() as stack:
        address = stack.enter_context(serving())
        transport = stack.enter_context(httpx.HTTPTransport())
        http = stack.enter_context(httpx.Client(trust_env=False))
        client = stack.enter_context(Client(address, api_key=HEADERS["Api-Key"]))
        url = QUERY.url(address)
        new, new_too = count(), count()
        names, variants = installed(
            {
                "httpx.Client.get, and .json()": partial(_httpx, http, url),
                "sitestats, client.stats.get": partial(client.stats.get, QUERY),
                "httpx.HTTPTransport alone, and json.loads": partial(
                    _bare_transport, transport, url
                ),
                "requests.Session.get, and .json()": _requests(url, stack),
                "httpx.Client.get, and .json(), each address new": lambda: _httpx(
                    http, f"{url}&pages=/{next(new)}"
                ),
                "sitestats, client.stats.get, each address new": lambda: (
                    client.stats.get(QUERY.where(page=f"/{next(new_too)}"))
                ),
            }
        )
        bests = in_turn(variants, scale.rounds(40), scale.size(100, 5))
        names_async, bests_async = _async(address, url, scale)
    helped = (
        "What helped: an `httpx.URL` that is stored for its address, headers that are "
        "made once, no cookies, and connections of httpcore without its pool."
    )
    what = (
        "A query for two totals on an open connection, to a server on loopback in "
        "another process. The other variants return an unchecked dict."
    )
    return [
        Table(
            "One call",
            what,
            compared(names, bests, seconds),
            [
                Goal(
                    "one `stats.get` of the sync client",
                    bests[1] / bests[0],
                    0.9,
                    helped,
                ),
                Goal(
                    "the same, with an address that is new each time",
                    bests[-1] / bests[-2],
                    1.0,
                    helped,
                ),
            ],
        ),
        Table(
            "One call, async",
            "The same with asyncio.",
            compared(names_async, bests_async, seconds),
            [
                Goal(
                    "one `stats.get` of the async client",
                    bests_async[1] / bests_async[0],
                    0.9,
                    helped,
                )
            ],
        ),
    ]


def _async(address: str, url: str, scale: Scale) -> tuple[list[str], list[float]]:
    """The time of one awaited call, each client on a loop that goes on."""
    calls = scale.size(100, 5)

    async def many(call: Callable[[], Awaitable[object]]) -> None:
        for _ in range(calls):
            await call()

    async def by_httpx(http: httpx.AsyncClient) -> Any:
        return (await http.get(url, headers=HEADERS)).json()

    with asyncio.Runner() as runner:
        http = httpx.AsyncClient(trust_env=False)
        client = AsyncClient(address, api_key=HEADERS["Api-Key"])
        variants: dict[str, Work] = {
            "httpx.AsyncClient.get, and .json()": lambda: runner.run(
                many(partial(by_httpx, http))
            ),
            "sitestats, await client.stats.get": lambda: runner.run(
                many(partial(client.stats.get, QUERY))
            ),
        }
        bests = in_turn(list(variants.values()), scale.rounds(40))
        runner.run(http.aclose())
        runner.run(client.aclose())
    return list(variants), [best / calls for best in bests]
