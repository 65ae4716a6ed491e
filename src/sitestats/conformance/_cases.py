"""The cases of the comparison, which ``cases.toml`` has, and the request of each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, Final

import attrs

from sitestats._common.wire import Credentials, HttpRequest
from sitestats._protocol.requests import list_request
from sitestats._query.builder import StatsQuery, requested

_PARAMS: Final = {
    "version": "6",
    "info": "false",
    "start": "{first}",
    "end": "{last}",
    "fields": "pageviews",
}


@attrs.frozen
class Case:
    """One question, and the request that decides it."""

    name: str
    section: str
    decides: str
    rule: str
    of: str = "site"
    key: str = ""
    path: str = ""
    params: Mapping[str, str] = attrs.field(factory=dict[str, str])
    without: Sequence[str] = ()
    values: Sequence[str] = ()
    option: str = ""

    def request(self, hostname: str, now: datetime) -> HttpRequest:
        """The request of this case about a website; the list is about none."""
        request = list_request() if self.of == "list" else self._query(hostname, now)
        if not self.key:
            return request
        return attrs.evolve(request, credentials=Credentials[self.key])

    def _query(self, hostname: str, now: datetime) -> HttpRequest:
        query = StatsQuery(hostname)
        # Days that are over in every zone.
        last = now.date() - timedelta(days=2)
        days = {"first": str(last - timedelta(days=6)), "last": str(last)}
        params = {
            name: value.format_map(days)
            for name, value in {**_PARAMS, **self.params}.items()
            if name not in self.without
        }
        address = requested(query.path(self.path) if self.path else query).address
        pairs = tuple(params.items())
        return HttpRequest("GET", address, pairs, credentials=Credentials.KEY)


@cache
def read_table() -> dict[str, Any]:
    """The whole table; its cases are each a ``Case``."""
    text = files("sitestats.conformance").joinpath("cases.toml").read_text("utf-8")
    table = tomllib.loads(text)
    return {**table, "case": [Case(**one) for one in table["case"]]}
