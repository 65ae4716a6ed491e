"""Check a set-up: where its settings are from, and whether the service accepts them."""

from __future__ import annotations

from typing import Final

import attrs

from sitestats._base.errors import (
    AuthenticationError,
    PermissionDeniedError,
    SiteStatsError,
)
from sitestats._base.text import counted
from sitestats._configuration.settings import Settings
from sitestats._public import Public
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._wire.json_values import JsonValue
from sitestats._wire.messages import Credentials, HttpRequest, HttpResponse

from .flow import Flow, send_once
from .requests import list_request
from .responses import decode_json, read, read_websites

_MARKS: Final = {True: "✓", False: "✗", None: "-"}


@attrs.frozen
class SetupRow(Public):
    """One thing that was checked.

    >>> client.check().rows[0].name
    'base address'
    """

    name: str
    """What was checked, such as ``"connection"``."""
    text: str
    """What was found. It contains no credential."""
    ok: bool | None
    """Whether it is right; None where it was not checked."""

    def __str__(self) -> str:
        return f"{_MARKS[self.ok]} {self.name:16} {self.text}"


@attrs.frozen
class SetupReport(Public):
    """Whether a set-up works: where each setting is from, and what the service says.

    >>> report = client.check()
    >>> report.ok
    True
    >>> [row.name for row in report.rows if row.ok is False]
    []
    """

    rows: tuple[SetupRow, ...]
    """What was checked, in this order."""
    error: SiteStatsError | None = attrs.field(default=None, repr=False)
    """What failed; None if nothing did."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; what was not checked does not count."""
        return all(row.ok is not False for row in self.rows)

    def to_dict(self) -> dict[str, JsonValue]:
        """The report as plain values, ready for JSON."""
        return {"ok": self.ok, "rows": [*map(attrs.asdict, self.rows)]}

    def __str__(self) -> str:
        return "\n".join(map(str, self.rows))


def check_setup(settings: Settings, hostname: str | None = None) -> Flow[SetupReport]:
    """Check *settings* by requests that only read.

    Without a user ID, a key can be checked with a private website: *hostname*.

    Raises:
        InvalidInputError: *hostname* is not a valid host name. No request is sent.
    """
    website = None
    if hostname is not None:
        website = parameters_of(
            StatsQuery(hostname).fields("pageviews").last(days=1)
        ).request
    sources = settings.sources
    base = f"{settings.base}, from {sources.get('base_url', 'a client')}"
    rows = [SetupRow("base address", base, ok=True)]
    for name, title in (("api_key", "API key"), ("user_id", "user ID")):
        given = getattr(settings, name) is not None
        text = f"from {sources.get(name, 'a client')}" if given else "none"
        rows.append(SetupRow(title, text, ok=given or None))
    if settings.api_key is None and settings.user_id is not None:
        text = "none, but there is a user ID: look whether the key is empty"
        rows[1] = SetupRow("API key", text, ok=False)
    request = list_request()
    if settings.api_key is None or settings.user_id is None:
        # The list needs both, so one alone is not sent.
        request = attrs.evolve(request, credentials=Credentials.NONE)
    step, failure = "connection", None
    try:
        response = yield from send_once(request, settings)
        rows.append(SetupRow("connection", "the service responds", ok=True))
        step = "credentials"
        row = yield from _check_credentials(settings, website, response, request)
        rows.append(row)
    except SiteStatsError as error:
        failure = error
        rows.append(SetupRow(step, str(error), ok=False))
    return SetupReport(tuple(rows), failure)


def _check_credentials(
    settings: Settings,
    website: HttpRequest | None,
    response: HttpResponse,
    request: HttpRequest,
) -> Flow[SetupRow]:
    """Whether the service accepts the key with the user ID for its list of websites, or
    the key alone for the private *website*.
    """
    listed = request.credentials is not Credentials.NONE and read(
        settings, read_websites, response, request
    )
    if website is not None and settings.api_key is not None:
        response = yield from send_once(website, settings)
        read(settings, decode_json, response, website)
    if listed is not False:
        return SetupRow(
            "credentials",
            f"the service accepts them, and lists {counted(len(listed), 'website')}",
            ok=True,
        )
    if settings.api_key is None:
        why = "there is no key, and public websites need none"
    elif website is None:
        why = "that needs a user ID, or the name of a private website"
    else:
        website = attrs.evolve(website, credentials=Credentials.NONE)
        response = yield from send_once(website, settings)
        try:
            decode_json(response, website)
        except (AuthenticationError, PermissionDeniedError):
            text = "the service accepts the key, and refuses the website without it"
            return SetupRow("credentials", text, ok=True)
        why = "this website is public, so any key works"
    return SetupRow("credentials", f"not checked: {why}", ok=None)
