"""The cases, which ``cases.toml`` has, and a flow that requests each of the service.

Nothing but GET is sent. A 429 or two failures in a row end the flow at once.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlencode
from warnings import catch_warnings

import attrs

from sitestats._base.errors import SiteStatsError
from sitestats._base.hostnames import normalise_hostname
from sitestats._base.zones import zone_names
from sitestats._protocol.flow import Flow, Sleep, now, send_once
from sitestats._protocol.requests import list_request
from sitestats._protocol.session import Session
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._query.versions import SENT_VERSION
from sitestats._reading.decoding import decode_json
from sitestats._reading.errors import OK
from sitestats._reading.statistics import read_stats
from sitestats._reading.websites import read_websites
from sitestats._wire.messages import Credentials, HttpRequest, HttpResponse

# --- the cases ----------------------------------------------------------------------

_PARAMS: Final = {
    "version": str(SENT_VERSION),
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
    without: Collection[str] = ()
    values: Collection[str] = ()
    option: str = ""

    def request(self, hostname: str, now: datetime) -> HttpRequest:
        """The request of this case about a website; the list is about none."""
        request = list_request() if self.of == "list" else self._query(hostname, now)
        credentials = Credentials[self.key] if self.key else request.credentials
        return attrs.evolve(request, credentials=credentials)

    def _query(self, hostname: str, now: datetime) -> HttpRequest:
        query = StatsQuery(hostname)
        # These days are over in every zone.
        last = now.date() - timedelta(days=2)
        days = {"first": str(last - timedelta(days=6)), "last": str(last)}
        params = tuple(
            (name, value.format_map(days))
            for name, value in {**_PARAMS, **self.params}.items()
            if name not in self.without
        )
        address = parameters_of(query.path(self.path) if self.path else query).address
        return HttpRequest("GET", address, params, credentials=Credentials.KEY)


@cache
def read_table() -> dict[str, Any]:
    """The whole table, with a ``Case`` for each case."""
    file = files("sitestats.conformance").joinpath("cases.toml")
    table = tomllib.loads(file.read_text("utf-8"))
    return {**table, "case": [Case(**case) for case in table["case"]]}


# --- their requests -----------------------------------------------------------------

_ENOUGH: Final = "the service refused further requests (429)"
_NOTHING: Final = HttpResponse(0)


@attrs.define
class Observation:
    """What the service responded, and which websites it was about."""

    has_key: bool
    now: datetime
    """When it began: the days of the cases are counted from it."""
    hosts: dict[str, str]
    """The website of each kind of case that can be requested."""
    zones: dict[str, str]
    """The time zone of each website, if it can be read."""
    responses: dict[HttpRequest, HttpResponse]
    """The response to each request that was sent."""

    @property
    def ended(self) -> str:
        """Why no other request is sent: a 429, or two failures in a row; else empty."""
        failures = list(map(failure_of, self.responses.values()))
        last = failures[-2:]
        return last[-1] if all(last) or last[-1] == _ENOUGH else ""


def failure_of(response: HttpResponse) -> str:
    """Why a response can't be compared; empty if it can."""
    if response.status == HTTPStatus.TOO_MANY_REQUESTS:
        return _ENOUGH
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return f"the service failed ({response.status})"
    return "no complete response came" if response is _NOTHING else ""


def as_read(response: HttpResponse, request: HttpRequest) -> HttpResponse:
    """What the client makes of *response*: its values, or the error that it raises."""
    try:
        with catch_warnings(action="ignore"):
            if request.path == list_request().path:
                data: Any = [one.to_dict() for one in read_websites(response, request)]
            else:
                address = f"https://a.example{request.path}?{urlencode(request.params)}"
                query = StatsQuery.from_url(address)
                parameters = parameters_of(query)
                data = read_stats(response, request, query, parameters).to_dict()
                # No two services respond at the same time.
                del data["responded_at"]
    except SiteStatsError as error:
        return HttpResponse(0, {"content-type": type(error).__name__})
    return HttpResponse(OK[0], {}, json.dumps(data).encode())


def _send(request: HttpRequest, session: Session) -> Flow[HttpResponse]:
    """The response to *request*. A report quotes errors, so they have no credential."""
    response = yield from send_once(request, session)
    return response if response.status in OK else response.redacted()


def observe(session: Session, hostname: str, pause: float) -> Flow[Observation]:
    """Request each case about *hostname*, and about others of the account's list.

    Args:
        session: The client's settings and pauses.
        hostname: The website that most cases are about.
        pause: Seconds between two requests.

    Raises:
        SiteStatsError: The website can't be read at all.
    """

    def send_all(requests: Iterable[HttpRequest]) -> Flow[None]:
        for request in requests:
            if request not in seen.responses and not seen.ended:
                yield Sleep(pause)
                try:
                    seen.responses[request] = yield from _send(request, session)
                except SiteStatsError:
                    seen.responses[request] = _NOTHING

    def add(name: str, zone: object, *, is_public: bool | None) -> None:
        with suppress(ValueError):
            name = normalise_hostname(name)
            if isinstance(zone, str) and zone in zone_names():
                seen.zones[name] = zone
            if is_public is not None:
                seen.hosts.setdefault("public" if is_public else "private", name)

    hostname = normalise_hostname(hostname)
    began = datetime.fromtimestamp((yield from now()).unix, UTC)
    # No account has the unknown website.
    hosts = {"unknown": "sitestats-check.example"}
    seen = Observation(session.settings.api_key is not None, began, hosts, {}, {})
    probe, without_key = (
        Case("probe", "4.3", "", key=key).request(hostname, began)
        for key in ("", "NONE")
    )
    seen.responses[probe] = response = yield from _send(probe, session)
    is_locked = response.status == HTTPStatus.LOCKED
    hosts["locked" if is_locked else "site"] = hostname
    data = None if is_locked else decode_json(response, probe)
    zone = data.get("timezone") if isinstance(data, dict) else None
    yield from send_all([without_key])
    opened = seen.responses[without_key]
    is_public = opened.status in OK and b'"pageviews"' in opened.body
    add(hostname, zone, is_public=is_public)
    if session.settings.api_key is not None and session.settings.user_id is not None:
        hosts["list"], request = "", list_request()
        yield from send_all([request])
        with suppress(SiteStatsError), catch_warnings(action="ignore"):
            for site in read_websites(seen.responses.get(request, _NOTHING), request):
                add(site.hostname, site.timezone, is_public=site.is_public)
    yield from send_all(
        case.request(hosts[case.of], began)
        for case in read_table()["case"]
        if case.of in hosts
    )
    return seen
