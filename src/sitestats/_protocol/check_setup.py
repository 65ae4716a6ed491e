"""Check a set-up: where its settings are from, and whether the service takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

import attrs

from sitestats._common.errors import (
    AuthenticationError,
    PermissionDeniedError,
    SiteStatsError,
    TransportError,
)
from sitestats._common.jsontext import JsonValue
from sitestats._common.settings import Settings, certificates_of_environment
from sitestats._common.text import counted
from sitestats._common.wire import Credentials, HttpRequest, HttpResponse
from sitestats._query.builder import StatsQuery, requested

from .failures import decode_json
from .flow import Flow, Send, now
from .requests import list_request
from .responses import read, read_websites

_STEPS: Final = {
    "name": ("the host's name was not found", "check the base address"),
    "tcp": ("nobody took the connection (TCP)", "check the address and firewalls"),
    "proxy": ("the proxy did not connect", "check its address and login"),
    "tls": ("TLS failed", "check the address and the certificates"),
    "response": ("connected, but no response came", "check the address, or try later"),
}
"""What failed, and what to do."""
_CLOSE: Final = 60
"""Seconds that clocks may differ: days and hours are right all the same."""
_MARKS: Final = {True: "✓", False: "✗", None: "-"}


@attrs.frozen
class SetupRow:
    """One thing that was checked.

    >>> client.check().rows[0].name
    'base address'
    """

    name: str
    """What was checked, such as ``"connection"``."""
    text: str
    """What was found, or what to do. It has no credential."""
    ok: bool | None
    """Whether it is right; None where it was not checked."""

    def to_dict(self) -> dict[str, JsonValue]:
        """The row as plain values, ready for JSON."""
        return {"name": self.name, "ok": self.ok, "text": str(self.text)}

    def __str__(self) -> str:
        return f"{_MARKS[self.ok]} {self.name:16} {self.text}"


@attrs.frozen
class SetupReport:
    """Whether a set-up works: where each setting is from, and what the service takes.

    >>> report = client.check()
    >>> report.ok
    True
    >>> [row.name for row in report.rows if row.ok is False]
    []
    """

    rows: tuple[SetupRow, ...]
    """What was checked, in its order."""
    error: SiteStatsError | None = attrs.field(default=None, repr=False)
    """The first thing that failed; None if nothing did."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; what was not checked does not count."""
        return all(row.ok is not False for row in self.rows)

    def to_dict(self) -> dict[str, JsonValue]:
        """The report as plain values, ready for JSON."""
        return {"ok": self.ok, "rows": [row.to_dict() for row in self.rows]}

    def __str__(self) -> str:
        return "\n".join(map(str, self.rows))


def _unchecked(name: str, why: str) -> SetupRow:
    return SetupRow(name, f"not checked: {why}", ok=None)


def check_setup(
    settings: Settings, hostname: str | None = None, *, is_given: bool = False
) -> Flow[SetupReport]:
    """Check *settings*, by two requests that read.

    Args:
        settings: Those of the client.
        hostname: A private website, by which a key shows without a user ID.
        is_given: Whether the user gave what sends, which has settings of its own.
    """
    rows = [*_settings_rows(settings, is_given=is_given)]
    request = list_request()
    if settings.api_key is None or settings.user_id is None:
        # A key is not sent for nothing.
        request = attrs.evolve(request, credentials=Credentials.NONE)
    try:
        response, _ = yield from send_once(request, settings)
    except SiteStatsError as error:
        step = error.step if isinstance(error, TransportError) else "response"
        what, to_do = _STEPS[step]
        rows.append(SetupRow("connection", f"{what}: {error}: {to_do}", ok=False))
        return SetupReport(tuple(rows), error)
    rows.append(SetupRow("connection", "the service responds", ok=True))
    found: SiteStatsError | None = None
    try:
        rows += yield from _check_credentials(settings, hostname, response, request)
    except (AuthenticationError, PermissionDeniedError) as error:
        text = f"{error}: compare it with your account's settings"
        rows.append(SetupRow("credentials", text, ok=False))
        found = error
    except SiteStatsError as error:
        rows.append(_unchecked("credentials", str(error)))
        found = error
    rows.append(_clock(response))
    try:
        # Again, since the first call connected.
        _, seconds = yield from send_once(request, settings)
    except SiteStatsError as error:
        rows.append(SetupRow("call", str(error), ok=False))
        found = found or error
    else:
        rows.append(SetupRow("call", f"takes {seconds * 1000:,.0f} ms", ok=True))
    return SetupReport(tuple(rows), found)


def send_once(
    request: HttpRequest, settings: Settings
) -> Flow[tuple[HttpResponse, float]]:
    """The response to *request* without a retry, and the seconds that it took."""
    began = (yield from now()).monotonic
    response = yield Send(request, began + settings.total_timeout)
    assert isinstance(response, HttpResponse)
    return response, (yield from now()).monotonic - began


def _settings_rows(settings: Settings, *, is_given: bool) -> Iterator[SetupRow]:
    sources = settings.sources
    base = f"{settings.base}, from {sources.get('base_url', 'a client')}"
    yield SetupRow("base address", base, ok=True)
    for name, title in (("api_key", "API key"), ("user_id", "user ID")):
        given = getattr(settings, name) is not None
        text = f"from {sources.get(name, 'a client')}" if given else "none"
        yield SetupRow(title, text, True if given else None)
    if is_given:
        yield _unchecked("proxy", "that of http_client=")
        yield _unchecked("certificates", "that of http_client=")
        return
    proxy = "none"
    if settings.proxy is not None:
        parts = urlsplit(settings.proxy)
        # Without its user and password.
        proxy = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        proxy += f", from {sources.get('proxy', 'a client')}"
    yield SetupRow("proxy", proxy, ok=True)
    yield _certificates(settings.verify)


def _certificates(verify: object) -> SetupRow:
    if verify is False:
        text = "not checked: anybody may read the key"
    elif verify is not True:
        named = verify if isinstance(verify, str) else "an SSLContext"
        text = f"those of {named}, from verify"
    elif found := certificates_of_environment():
        text = f"those of {found[1]}, from {found[0]}"
    else:
        text = "those of certifi"
    return SetupRow("certificates", text, ok=verify is not False)


def _check_credentials(
    settings: Settings,
    hostname: str | None,
    response: HttpResponse,
    request: HttpRequest,
) -> Flow[list[SetupRow]]:
    """Whether the service takes the key with the user ID, by its list of websites; or
    the key alone, by the website *hostname*, which is closed without it.
    """
    text = "the service takes the key with the user ID"
    if request.credentials is not Credentials.NONE:
        websites = read(settings, read_websites, response, request)
        return [
            SetupRow("credentials", text, ok=True),
            SetupRow("list of websites", counted(len(websites), "website"), ok=True),
        ]
    if settings.api_key is None:
        why = "there is none: statistics of public websites need none"
    elif hostname is None:
        why = "that needs a user ID, or the name of a private website"
    else:
        query = StatsQuery(hostname).fields("pageviews").last(days=1)
        request = requested(query).request
        response, _ = yield from send_once(request, settings)
        read(settings, decode_json, response, request)
        request = attrs.evolve(request, credentials=Credentials.NONE)
        response, _ = yield from send_once(request, settings)
        try:
            decode_json(response, request)
        except (AuthenticationError, PermissionDeniedError):
            text = "the service takes it: without it the website is closed"
            return [SetupRow("credentials", text, ok=True)]
        why = "this website is public, so it opens for any key"
    return [_unchecked("credentials", why)]


def _clock(response: HttpResponse) -> SetupRow:
    if response.date is None or response.received_at is None:
        return _unchecked("clock", "the response has no Date")
    # A Date has no fractions, and the response took its time.
    seconds = abs((response.received_at - response.date).total_seconds())
    text, is_close = f"{seconds:,.0f} s from the service's", seconds <= _CLOSE
    if not is_close:
        text += ": set the clock of this machine"
    return SetupRow("clock", text, ok=is_close)
