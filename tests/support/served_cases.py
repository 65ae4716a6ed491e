"""Cases of the fault server for both clients, and one call of each."""

from __future__ import annotations

from typing import Any

from client_variants import API_KEY, QUERY, QUICK
from faults.responses import error_response, response
from faults.script import Case, Finish, ReadRequest, Send, Silence, StartTls
from sitestats import AsyncClient

PLENTY = 120.0
"""Seconds after which something hangs, however busy the machine is."""


GOOD = Case("good", "", ((ReadRequest(), Send(response())),), "value")


TLS = Case(
    "tls",
    "",
    ((StartTls(), ReadRequest(), Send(response()), Finish()),),
    "value",
    options={"scheme": "https"},
)


SILENT = Case("silent", "", ((Silence(),),), "")


FLAKY = Case(
    "flaky",
    "",
    (
        (ReadRequest(), Send(error_response("503 Later", error="later"))),
        (ReadRequest(), Send(response())),
    ),
    "",
    cycles=True,
)


def options(**changes: Any) -> dict[str, Any]:
    """The options of most clients here."""
    return {"api_key": API_KEY, "proxy": None, "retries": QUICK, **changes}


async def get_once(client: AsyncClient) -> int:
    """Request once; the value is the number that every good response has."""
    return (await client.stats.get(QUERY)).pageviews
