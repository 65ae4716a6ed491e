"""Request every case from the service, one after the other: a flow without I/O.

Nothing but GET is sent. A 429 ends it at once, and so do two failures in a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from sitestats._common.errors import ResponseError, SiteStatsError, TransportError
from sitestats._common.hostnames import HostnameError, normalise_hostname
from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._protocol.check_setup import send_once
from sitestats._protocol.failures import OK, check_status
from sitestats._protocol.flow import Sleep, now
from sitestats._protocol.requests import list_request
from sitestats._protocol.responses import read_websites

from ._cases import Case, read_table

if TYPE_CHECKING:
    from sitestats._common.settings import Settings
    from sitestats._protocol.flow import Flow
    from sitestats._results.websites import Website

_UNKNOWN: Final = "sitestats-check.example"
"""A website that no account has."""
_PROBE: Final = Case("probe", "4.3", "", "")
_LOCKED: Final = 423
_TOO_MANY: Final = 429
_FAILED: Final = 500
NOT_SENT: Final = "not sent: "
_ENOUGH: Final = "the service refused further requests (429)"
_MOST_FAILURES: Final = 2
"""The failures in a row after which nothing more is sent."""

Responses: TypeAlias = dict[HttpRequest, HttpResponse | str]
"""The response to each request, or why it can't be compared."""


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
    probe = _PROBE.request(hostname, began)
    found, _ = yield from send_once(probe, settings)
    is_locked = found.status == _LOCKED
    data = None if is_locked else check_status(found, probe)
    zone = data.get("timezone") if isinstance(data, dict) else None
    hosts, zones = {"unknown": _UNKNOWN}, {hostname: str(zone or "UTC")}
    hosts["locked" if is_locked else "site"] = hostname
    responses: Responses = {probe: found}
    without_key = attrs.evolve(_PROBE, key="NONE").request(hostname, began)
    yield from _send_all([without_key], settings, pause, responses)
    hosts["public" if _has_data(responses[without_key]) else "private"] = hostname
    if settings.api_key is not None and settings.user_id is not None:
        hosts["list"], request = "", list_request()
        yield from _send_all([request], settings, pause, responses)
        websites: Sequence[Website] = ()
        if isinstance(listed := responses[request], HttpResponse):
            with suppress(SiteStatsError):
                websites = read_websites(listed, request)
        for website in websites:
            with suppress(HostnameError):
                name = normalise_hostname(website.hostname)
                zones[name] = website.timezone
                hosts.setdefault("public" if website.is_public else "private", name)
    cases = [case for case in read_table()["case"] if case.of in hosts]
    requests = [case.request(hosts[case.of], began) for case in cases]
    yield from _send_all(requests, settings, pause, responses)
    return Observation(hosts, zones, settings.api_key is not None, began, responses)


def _send_all(
    requests: Sequence[HttpRequest],
    settings: Settings,
    pause: float,
    responses: Responses,
) -> Flow[None]:
    """Send what has no response yet, until the service fails or has had enough."""
    for request in requests:
        if request in responses:
            continue
        if why := _why_ended([*responses.values()]):
            responses[request] = NOT_SENT + why
            continue
        yield Sleep(pause)
        try:
            response, _ = yield from send_once(request, settings)
        except TransportError as error:
            responses[request] = f"no complete response came ({error.step})"
        except ResponseError:
            responses[request] = "the response can't be decompressed, or is too large"
        else:
            failed = f"the service failed ({response.status})"
            found = failed if response.status >= _FAILED else response
            responses[request] = _ENOUGH if response.status == _TOO_MANY else found


def _why_ended(found: Sequence[HttpResponse | str]) -> str:
    """Why nothing more is sent, if so: by the last of what was found."""
    failed = [one for one in found[-_MOST_FAILURES:] if isinstance(one, str)]
    if failed and (len(failed) == _MOST_FAILURES or failed[-1] == _ENOUGH):
        return failed[-1].removeprefix(NOT_SENT)
    return ""


def _has_data(response: HttpResponse | str) -> bool:
    if isinstance(response, str):
        return False
    return response.status in OK and b'"pageviews"' in response.body
