"""Check a set-up: where its settings are from, and whether the service accepts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import attrs

from sitestats._base.errors import (
    AuthenticationError,
    InvalidResponseError,
    NotFoundError,
    NotTheServiceError,
    PermissionDeniedError,
    RateLimitedError,
    RequestTimeoutError,
    ServerError,
    SiteStatsError,
    WebsiteLockedError,
)
from sitestats._base.text import counted
from sitestats._configuration.settings import Settings
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._reading.decoding import decode_json
from sitestats._reading.errors import is_own, is_page
from sitestats._reading.websites import read_websites
from sitestats._wire.messages import Credentials, HttpRequest, HttpResponse
from sitestats._wire.values import Value

from .flow import Flow, send_once
from .operations import read
from .requests import list_request
from .session import Session

_MARKS: Final = {True: "✓", False: "✗", None: "-"}


@attrs.frozen
class SetupRow(Value):
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
class SetupReport(Value):
    """Whether a set-up works: where each setting is from, and what the service says.

    >>> report = client.check()
    >>> report.ok
    True
    >>> [row.name for row in report.rows if row.ok is False]
    []
    """

    _worked_out: ClassVar[tuple[str, ...]] = ("ok",)

    rows: tuple[SetupRow, ...]
    """What was checked, in this order."""
    error: SiteStatsError | None = attrs.field(default=None, repr=False)
    """What failed; None if nothing did."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; what was not checked does not count."""
        return all(row.ok is not False for row in self.rows)

    def __str__(self) -> str:
        return "\n".join(map(str, self.rows))


_OWN: Final = "a client"
"""Where a setting is from that no source tells."""


def check_setup(session: Session, hostname: str | None = None) -> Flow[SetupReport]:
    """Check the settings by requests that only read.

    Without a user ID, a key can be checked with a private website: *hostname*.

    Raises:
        InvalidInputError: *hostname* is not a valid host name. No request is sent.
    """
    website = None
    if hostname is not None:
        website = parameters_of(
            StatsQuery(hostname).fields("pageviews").last(days=1)
        ).request
    found = _Found(session, _given(session.settings))
    yield from found.check_service()
    if found.error is None and website is not None:
        yield from found.check_website(website)
    if found.error is None:
        yield from found.check_credentials(website)
    return SetupReport(tuple(found.rows), found.error)


def _given(settings: Settings) -> list[SetupRow]:
    """What is set, and by what."""
    sources = settings.sources
    base = f"{settings.base}, from {sources.get('base_url', _OWN)}"
    rows = [SetupRow("base address", base, ok=True)]
    for name, title in (("api_key", "API key"), ("user_id", "user ID")):
        given = getattr(settings, name) is not None
        text = f"from {sources.get(name, _OWN)}" if given else "none"
        rows.append(SetupRow(title, text, ok=given or None))
    if settings.api_key is None and settings.user_id is not None:
        text = "none, but there is a user ID: look whether the key is empty"
        rows[1] = SetupRow("API key", text, ok=False)
    if settings.proxy is not None:
        text = f"{settings.shown_proxy}, from {sources['proxy']}"
        rows.append(SetupRow("proxy", text, ok=True))
    return rows


@attrs.define
class _Found:
    """What was found of a set-up so far; the first failure ends the check."""

    _session: Session
    rows: list[SetupRow]
    error: SiteStatsError | None = None
    _listed: int | None = None
    """How many websites the service lists; None if it was not asked."""

    def check_service(self) -> Flow[None]:
        """Whether the service itself answers, and lists websites for the credentials.

        The list needs both credentials, so one alone is not sent.
        """
        request = list_request()
        has_both = None not in {
            self._session.settings.api_key,
            self._session.settings.user_id,
        }
        if not has_both:
            request = attrs.evolve(request, credentials=Credentials.NONE)
        try:
            response = yield from send_once(request, self._session)
        except RateLimitedError as error:
            self._fail("service", error)
            return
        except SiteStatsError as error:
            self._fail("connection", error)
            return
        try:
            websites = read(self._session.settings, read_websites, response, request)
        except NotFoundError as error:
            # The service has this address, so it is not below this base address.
            if is_own(response):
                self._fail("base address", error)
            else:
                self._fail_to_connect(error, response)
        except SiteStatsError as error:
            self._judge(error, response, is_sent=has_both)
        else:
            self._pass("connection", "the service responds")
            self._listed = len(websites) if has_both else None

    def check_website(self, request: HttpRequest) -> Flow[None]:
        """Whether the website can be read, with the key if there is one."""
        if self._session.settings.api_key is None:
            request = attrs.evolve(request, credentials=Credentials.NONE)
        try:
            response = yield from send_once(request, self._session)
            read(self._session.settings, decode_json, response, request)
        except (NotFoundError, WebsiteLockedError) as error:
            self._fail("website", error)
        except (AuthenticationError, PermissionDeniedError) as error:
            self._fail("credentials", error)
        except NotTheServiceError as error:
            self._fail("connection", error)
        except SiteStatsError as error:
            self._fail("service", error)
        else:
            self._pass("website", "the service has it")

    def check_credentials(self, website: HttpRequest | None) -> Flow[None]:
        """Whether the service accepts the key with the user ID for its list of
        websites, or the key alone for the private *website*.
        """
        if self._listed is not None:
            number = counted(self._listed, "website")
            self._pass("credentials", f"the service accepts them, and lists {number}")
            return
        if self._session.settings.api_key is None:
            why = "there is no key, and public websites need none"
        elif website is None:
            why = "that needs a user ID, or the name of a private website"
        else:
            website = attrs.evolve(website, credentials=Credentials.NONE)
            try:
                response = yield from send_once(website, self._session)
                decode_json(response, website)
            except (AuthenticationError, PermissionDeniedError):
                text = "the service accepts the key, and refuses the website without it"
                self._pass("credentials", text)
                return
            except SiteStatsError as error:
                self._fail("service", error)
                return
            why = "this website is public, so any key works"
        self.rows.append(SetupRow("credentials", f"not checked: {why}", ok=None))

    def _judge(
        self, error: SiteStatsError, response: HttpResponse, *, is_sent: bool
    ) -> None:
        """Whose fault the *error* of a *response* is, whose request *is_sent* with the
        credentials.
        """
        if not is_own(response) or isinstance(error, InvalidResponseError):
            self._fail_to_connect(error, response)
            return
        self._pass("connection", "the service responds")
        if isinstance(error, (ServerError, RateLimitedError)):
            self._fail("service", error)
        elif is_sent:
            self._fail("credentials", error)

    def _pass(self, name: str, text: str) -> None:
        self.rows.append(SetupRow(name, text, ok=True))

    def _fail_to_connect(self, error: SiteStatsError, response: HttpResponse) -> None:
        """Note that another program than the service responded."""
        self._fail("connection", error)
        if not is_page(response) and not isinstance(error, NotTheServiceError):
            text = f"{self.rows[-1].text}: {_NOT_THE_SERVICE}"
            self.rows[-1] = attrs.evolve(self.rows[-1], text=text)

    def _fail(self, name: str, error: SiteStatsError) -> None:
        text, self.error = str(error), error
        advice = _ADVICE.get((name, type(error)))
        if advice is not None:
            text += f": {advice}"
        row = SetupRow(name, text, ok=False)
        names = [row.name for row in self.rows]
        if name not in names:
            self.rows.append(row)
            return
        place = names.index(name)
        if name == "base address":
            row = attrs.evolve(row, text=f"{self.rows[place].text}: {text}")
        self.rows[place] = row


_NOT_THE_SERVICE: Final = (
    "the service responds with JSON to this, so another program responded: check the "
    "base address"
)
_ADVICE: Final[Mapping[tuple[str, type[SiteStatsError]], str]] = {
    ("connection", RequestTimeoutError): "try later, or allow more time",
    ("service", ServerError): "try later",
    ("service", RequestTimeoutError): "try later, or allow more time",
    ("website", NotFoundError): "check how it is written",
    ("website", WebsiteLockedError): "put the badge back, or change the plan",
    ("credentials", AuthenticationError): "compare them with the service's account "
    "settings",
    ("credentials", PermissionDeniedError): "ask for the role, or for access",
}
"""What to do, by the row and the error."""
