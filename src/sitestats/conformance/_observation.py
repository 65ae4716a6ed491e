"""The cases, which ``cases.toml`` has, and a flow that requests each of the service.

Nothing but GET is sent. A 429 ends it at once, and so do two failures in a row.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode
from warnings import catch_warnings

import attrs

from sitestats._common.errors import SiteStatsError
from sitestats._common.hostnames import normalise_hostname
from sitestats._common.settings import Settings
from sitestats._common.wire import Credentials, HttpRequest, HttpResponse
from sitestats._protocol.failures import OK
from sitestats._protocol.flow import Flow, Sleep, now, send_once
from sitestats._protocol.requests import list_request
from sitestats._protocol.responses import decode_json, read_stats, read_websites
from sitestats._query.builder import StatsQuery, requested

# --- the cases ----------------------------------------------------------------------

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


# --- their requests -----------------------------------------------------------------

_UNKNOWN: Final = "sitestats-check.example"
"""A website that no account has."""
_ADDRESS: Final = "https://service.example"
_ENOUGH: Final = "the service refused further requests (429)"
_NO_RESPONSE: Final = HttpResponse(0)

Responses: TypeAlias = dict[HttpRequest, HttpResponse]


@attrs.frozen
class Observation:
    """What the service responded, and which websites it was about."""

    hosts: Mapping[str, str]
    """The website of each kind of case that can be requested."""
    zones: Mapping[str, str]
    """The time zone of each website, as far as it is known."""
    has_key: bool
    now: datetime
    """When it began: the days of the cases are counted from it."""
    responses: Responses
    """The response to each request that was sent."""
    ended: str
    """Why other requests were not sent; empty if all were."""


def failure_of(response: HttpResponse) -> str:
    """Why a response can't be compared; empty if it can."""
    if response.status == HTTPStatus.TOO_MANY_REQUESTS:
        return _ENOUGH
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return f"the service failed ({response.status})"
    return "no complete response came" if response is _NO_RESPONSE else ""


def as_read(response: HttpResponse, request: HttpRequest) -> HttpResponse:
    """What the client makes of *response*: its values, or the error that it raises."""
    try:
        with catch_warnings(action="ignore"):
            if request.path == list_request().path:
                found: Any = [one.to_dict() for one in read_websites(response, request)]
            else:
                params = urlencode(request.params)
                query = StatsQuery.from_url(f"{_ADDRESS}{request.path}?{params}")
                found = read_stats(response, request, query, requested(query)).to_dict()
    except SiteStatsError as error:
        return HttpResponse(0, {"content-type": type(error).__name__})
    return HttpResponse(OK[0], {}, json.dumps(found).encode())


def _why_ended(responses: Responses) -> str:
    """Why no other request is sent: a 429, or two failures in a row; empty without."""
    last = [*map(failure_of, responses.values())][-2:]
    return last[-1] if all(last) or last[-1] == _ENOUGH else ""


def observe(settings: Settings, hostname: str, pause: float) -> Flow[Observation]:
    """Request each case about *hostname*, and about others of the account's list.

    Args:
        settings: Those of the client.
        hostname: The website that most cases are about.
        pause: Seconds between two requests.

    Raises:
        SiteStatsError: The website can't be read at all.
    """
    hostname = normalise_hostname(hostname)
    began = datetime.fromtimestamp((yield from now()).unix, UTC)
    probe, without_key = (
        Case("probe", "4.3", "", key=key).request(hostname, began)
        for key in ("", "NONE")
    )
    found = yield from send_once(probe, settings)
    is_locked = found.status == HTTPStatus.LOCKED
    data = None if is_locked else decode_json(found, probe)
    zone = data.get("timezone") if isinstance(data, dict) else None
    zones = {hostname: str(zone or "UTC")}
    responses: Responses = {probe: found}
    yield from _send_all([without_key], settings, pause, responses)
    opened = responses[without_key]
    is_public = opened.status in OK and b'"pageviews"' in opened.body
    hosts = {
        "unknown": _UNKNOWN,
        "locked" if is_locked else "site": hostname,
        "public" if is_public else "private": hostname,
    }
    if settings.api_key is not None and settings.user_id is not None:
        hosts["list"], request = "", list_request()
        yield from _send_all([request], settings, pause, responses)
        with suppress(SiteStatsError):
            for website in read_websites(responses.get(request, _NO_RESPONSE), request):
                name = normalise_hostname(website.hostname)
                zones[name] = website.timezone or "UTC"
                hosts.setdefault("public" if website.is_public else "private", name)
    requests = (
        case.request(hosts[case.of], began)
        for case in read_table()["case"]
        if case.of in hosts
    )
    yield from _send_all(requests, settings, pause, responses)
    has_key, ended = settings.api_key is not None, _why_ended(responses)
    return Observation(hosts, zones, has_key, began, responses, ended)


def _send_all(
    requests: Iterable[HttpRequest],
    settings: Settings,
    pause: float,
    responses: Responses,
) -> Flow[None]:
    """Send each request that has no response, until the service fails or refuses."""
    for request in requests:
        if request not in responses and not _why_ended(responses):
            yield Sleep(pause)
            try:
                responses[request] = yield from send_once(request, settings)
            except SiteStatsError:
                responses[request] = _NO_RESPONSE
