"""Check a set-up: where its settings are from, and whether the service takes them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
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


_right = partial(SetupRow, ok=True)
_wrong = partial(SetupRow, ok=False)


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
    has_account = settings.api_key is not None and settings.user_id is not None
    request = list_request()
    if not has_account:
        # A key is not sent for nothing.
        request = attrs.evolve(request, credentials=Credentials.NONE)
    try:
        response, _ = yield from send_once(request, settings)
    except SiteStatsError as error:
        step = error.step if isinstance(error, TransportError) else "response"
        what, to_do = _STEPS[step]
        text = f"{what}: {error}: {to_do}"
        return SetupReport((*rows, _wrong("connection", text)), error)
    rows.append(_right("connection", "the service responds"))
    about_key, found = yield from _check_credentials(
        settings, hostname, response, request
    )
    rows += [*about_key, _clock(response)]
    try:
        # Again, since the first call connected.
        _, seconds = yield from send_once(request, settings)
    except SiteStatsError as error:
        row, found = _wrong("call", str(error)), found or error
    else:
        row = _right("call", f"takes {seconds * 1000:,.0f} ms")
    return SetupReport((*rows, row), found)


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
    yield _right("base address", base)
    for name, title in (("api_key", "API key"), ("user_id", "user ID")):
        source = sources.get(name)
        given = getattr(settings, name) is not None
        text = f"from {source or 'a client'}" if given else "none"
        yield SetupRow(title, text, True if given else None)
    if is_given:
        own = "that of http_client="
        yield _unchecked("proxy", own)
        yield _unchecked("certificates", own)
        return
    proxy: str = "none"
    if settings.proxy is not None:
        parts = urlsplit(settings.proxy)
        source = sources.get("proxy", "a client")
        # Without its user and password.
        name = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        proxy = f"{name}, from {source}"
    yield _right("proxy", proxy)
    yield _certificates(settings.verify)


def _certificates(verify: object) -> SetupRow:
    if verify is False:
        return _wrong("certificates", "not checked: anybody may read the key")
    text = "those of certifi"
    if isinstance(verify, str):
        text = f"those of {verify}, from verify"
    elif verify is not True:
        text = "those of an SSLContext, from verify"
    elif found := certificates_of_environment():
        text = f"those of {found[1]}, from {found[0]}"
    return _right("certificates", text)


def _check_credentials(
    settings: Settings,
    hostname: str | None,
    response: HttpResponse,
    request: HttpRequest,
) -> Flow[tuple[list[SetupRow], SiteStatsError | None]]:
    """Whether the service takes the key with the user ID, by its list of websites; or
    the key alone, by the website *hostname*, which is closed without it.
    """
    right = partial(_right, "credentials")
    is_closed = False
    try:
        if settings.api_key is not None and settings.user_id is not None:
            websites = read(settings, read_websites, response, request)
            number = _right("list of websites", counted(len(websites), "website"))
            return [right("the service takes the key with the user ID"), number], None
        if settings.api_key is None:
            why = "there is none: statistics of public websites need none"
        elif hostname is None:
            why = "that needs a user ID, or the name of a private website"
        else:
            query = StatsQuery(hostname).fields("pageviews").last(days=1)
            request = requested(query).request
            response, _ = yield from send_once(request, settings)
            read(settings, decode_json, response, request)
            is_closed = True
            request = attrs.evolve(request, credentials=Credentials.NONE)
            response, _ = yield from send_once(request, settings)
            read(settings, decode_json, response, request)
            why = "this website is public, so it opens for any key"
    except (AuthenticationError, PermissionDeniedError) as error:
        if is_closed:
            return [
                right("the service takes it: without it the website is closed")
            ], None
        text = f"{error}: compare it with your account's settings"
        return [_wrong("credentials", text)], error
    except SiteStatsError as error:
        return [_unchecked("credentials", str(error))], error
    return [_unchecked("credentials", why)], None


def _clock(response: HttpResponse) -> SetupRow:
    if response.date is None or response.received_at is None:
        return _unchecked("clock", "the response has no Date")
    # A Date has no fractions, and the response took its time.
    seconds = abs((response.received_at - response.date).total_seconds())
    text = f"{seconds:,.0f} s from the service's"
    if seconds <= _CLOSE:
        return _right("clock", text)
    return _wrong("clock", f"{text}: set the clock of this machine")
