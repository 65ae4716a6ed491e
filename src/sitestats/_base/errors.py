"""Exceptions and warnings: one class tree, and the problems that errors list.

The tree is split by what the caller can do::

    * SiteStatsError
      x ConfigurationError            set the client up differently
      x UsageError                    call the package in another way
      x BusyError                     wait for the other run's end
      x ReadOnlyError                 use another client
      x ClientClosedError             use another client
      x InvalidInputError             correct the value; also a ValueError
      x FieldNotRequestedError        request the field
        + UnrequestedAttributeError   also an AttributeError
      x MissingExtraError             install the extra; also an ImportError
      x TransportError                try later
        + ConnectionFailedError
        + RequestTimeoutError         also a TimeoutError
      x StatusError                   an error response
        + BadRequestError
        + AuthenticationError
        + PermissionDeniedError
        + NotFoundError
        + WebsiteLockedError
        + RateLimitedError
        + ServerError
        + NotTheServiceError          another program responded: check the address
      x InvalidResponseError          the response does not match the document
        + ResponseTooLargeError
      x UnexpectedError               look at its cause

The attributes of an error are its arguments too, so that it pickles by them. None
holds a credential: a request has none.
"""

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from importlib import import_module
from itertools import islice
from typing import Any, Final, Literal, Self, cast

import attrs

from sitestats._public import Public, missing
from sitestats._wire.messages import Headers, HttpRequest, JsonValue
from sitestats._wire.values import JsonName, Value

_PACKAGE: Final = __name__.partition(".")[0]
_MOST_LINES: Final = 20
"""A file may have thousands of mistakes."""
TOO_MANY_REQUESTS: Final = HTTPStatus.TOO_MANY_REQUESTS.value


@attrs.frozen
class Problem(Value):
    """One broken rule, or one wrong place in a response or a file."""

    message: str
    """What is wrong and what to do, as one sentence."""
    rule: str = ""
    """The name of the rule, such as ``"limit-range"``. It is empty if the problem is
    not about a rule.
    """
    section: str = ""
    """The section of the service's document, such as ``"4.3"``, or empty. The page
    "What the service does" explains each.
    """
    where: str = ""
    """The step (``"limit"``), the JSON path (``"$.pages[3].visitors"``), or
    the place in a file (``"websites.toml:12:5"``)."""

    def __json__(self) -> dict[str, JsonValue]:
        """For Celery, which sends the arguments of an error as JSON."""
        return self.to_dict()

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        cited = f" (section {self.section})" if self.section else ""
        return f"{place}{self.message}{cited}"


def lines_of(problems: Iterable[Problem]) -> Iterator[str]:
    """A line for each of *problems*; those that differ in their place alone are one."""
    alike: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        alike.setdefault((problem.rule, problem.message), []).append(problem)
    for first, *others in islice(alike.values(), _MOST_LINES):
        if len(others) > 1:
            yield f"{first} (and {len(others):,} more, up to {others[-1].where})"
        elif others and others[0].where != first.where:
            yield f"{first} (also at {others[0].where})"
        else:
            yield str(first)
    if (more := len(alike) - _MOST_LINES) > 0:
        yield f"… and {more:,} more"


# --- what may be repeated -----------------------------------------------------------


TEMPORARY: Final = frozenset(
    (HTTPStatus.REQUEST_TIMEOUT, TOO_MANY_REQUESTS, *range(500, 600))
)
"""The statuses after which a later response may differ, whoever sent this one."""


def is_harmless(request: HttpRequest | None, *, maybe_done: bool) -> bool:
    """Whether it is harmless to send *request* again, even if it is *maybe_done*.

    Adding a website can cost money and can't be undone.
    """
    return not maybe_done or request is None or request.method == "GET"


# --- errors -------------------------------------------------------------------------


# Celery sends errors as JSON: what that can't hold comes back as a text.
def _problems(
    given: str | Iterable[Problem | Mapping[str, str]],
) -> tuple[Problem, ...]:
    if isinstance(given, str):
        return (Problem(given),)
    return tuple(one if isinstance(one, Problem) else Problem(**one) for one in given)


def _headers(given: str | Mapping[str, str]) -> Mapping[str, str]:
    return Headers({} if isinstance(given, str) else given)


_NOT_IN_JSON: Final = {"in_json": False}
"""What the service sent may be long, and is not for the readers of an error."""


def _few(problems: tuple[Problem, ...]) -> str:
    """The beginning of *problems*, for a repr."""
    shown = ", ".join(map(repr, problems[:3]))
    more = len(problems) - 3
    return f"({shown}, … {more:,} more)" if more > 0 else repr(problems)


def _request(given: Mapping[str, str] | HttpRequest | None) -> HttpRequest | None:
    if isinstance(given, Mapping):
        return HttpRequest(given["method"], given["path"])
    return given


class SiteStatsError(Value, Exception):
    """Base class of every error that this package raises on purpose."""

    def __reduce__(self) -> str | tuple[Any, ...]:
        known: tuple[attrs.Attribute[Any], ...] = getattr(self, "__attrs_attrs__", ())
        if not known:
            return Exception.__reduce__(self)
        # Exception has each attribute twice, and tools that hash arguments hash this.
        names = [field.name for field in known]
        notes = {n: value for n, value in vars(self).items() if n not in names}
        return type(self), tuple(getattr(self, n) for n in names), notes or None

    def __str__(self) -> str:
        return str(getattr(self, "message", super().__str__()))

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later, and does no harm then.

        It is false for a write that the service may have done.

        >>> NotFoundError("no such website", status_code=404).retryable
        False
        >>> RateLimitedError("too many requests", status_code=429).retryable
        True
        """
        return False

    def to_dict(self) -> dict[str, JsonValue]:
        """The error as plain values, ready for JSON: the name of its class as ``type``,
        its ``text``, whether it is ``retryable``, and its attributes by their names,
        without the body and the headers of the response.

        >>> NotFoundError("no such website", status_code=404).to_dict()["type"]
        'NotFoundError'
        """
        return {
            "type": type(self).__name__,
            "text": str(self),
            "retryable": self.retryable,
            **super().to_dict(),
        }

    def __bool__(self) -> Literal[True]:
        # It tells type checkers what “if outcome.error:” means.
        return True


class ConfigurationError(SiteStatsError):
    """A setting is missing or wrong, or the client lacks what the call needs."""


class UsageError(SiteStatsError):
    """The program uses an object in a way that can't work, such as a block of
    ``get_many`` twice, or a sheet of Excel for more rows than it can hold.
    """


class BusyError(SiteStatsError):
    """Another run of ``ensure`` uses the account or the journal, or another update uses
    the warehouse. No request was sent.
    """

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later: it may."""
        return True


class ReadOnlyError(SiteStatsError):
    """The client is read-only, and the call writes. No request was sent."""


class ClientClosedError(SiteStatsError):
    """The client was used after it was closed."""


@attrs.define(slots=False)
class InvalidInputError(SiteStatsError, ValueError):
    """A value breaks a rule. No request was sent.

    Its text has a line for each problem, up to 20. Equal problems share a line.
    """

    problems: tuple[Problem, ...] = attrs.field(converter=_problems, repr=_few)
    """Every broken rule, with what to do about it."""

    def __str__(self) -> str:
        return "\n".join(lines_of(self.problems))


@attrs.define(slots=False)
class FieldNotRequestedError(SiteStatsError):
    """A value was read that the query did not request.

    It is not a ``LookupError``, because templates show a ``LookupError`` as an empty
    value.
    """

    message: str
    """What to request."""
    # If it had obj as well, the error would keep the whole result alive.
    name: str | None
    """What was read, such as ``"pages"``."""


class UnrequestedAttributeError(FieldNotRequestedError, AttributeError):
    """A value was read as an attribute, as in ``stats.pages``.

    It is also an ``AttributeError``, so that ``hasattr`` and ``getattr`` with a default
    work.
    """


@attrs.define(slots=False)
class MissingExtraError(SiteStatsError, ImportError):
    """A library of an optional extra is not installed."""

    library: str
    """What is missing, such as ``"pandas"``."""
    extra: str
    """The extra that brings it: ``pip install 'sitestats[pandas]'``."""

    def __str__(self) -> str:
        command = f"pip install 'sitestats[{self.extra}]'"
        if sys.platform == "emscripten":
            # micropip adds no extra to a package that is installed, and says nothing.
            command = f"await micropip.install({self.library.partition('.')[0]!r})"
        return f"{self.library} is not installed: {command}"


@attrs.define(slots=False)
class TransportError(SiteStatsError):
    """No complete response arrived. The call may succeed later."""

    message: str
    """What went wrong."""
    request: HttpRequest | None = attrs.field(default=None, converter=_request)
    """The request, without credentials; None if there was none."""
    maybe_sent: bool = True
    """Whether the request may have reached the service. False only if it certainly was
    not sent."""
    temporary: bool = True
    """Whether the call may succeed later. It can't if a certificate is not trusted or
    the host name is unknown."""
    phase: str = "response"
    """The phase that failed: ``"name"``, ``"tcp"``, ``"proxy"`` or ``"tls"`` while
    connecting, otherwise ``"response"``."""

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later, and does no harm then."""
        return self.temporary and is_harmless(self.request, maybe_done=self.maybe_sent)


class ConnectionFailedError(TransportError):
    """The connection could not be made, or it broke."""


class RequestTimeoutError(TransportError, TimeoutError):
    """No complete response arrived within ``timeout`` or ``total_timeout``."""


@attrs.define(slots=False)
class StatusError(SiteStatsError):
    """The service returned an error response, whatever its status (section 7)."""

    message: str
    """The service's own message. If there is none, it is a sentence about the response.
    """
    status_code: int
    """The HTTP status. It can be 200 if only the body reports an error."""
    code: str | None = None
    """The service's own code, such as ``"BADGE_REQUIRED"``, or None if it is missing.
    """
    body: bytes = attrs.field(default=b"", repr=False, metadata=_NOT_IN_JSON)
    """The response's body as received, with credentials redacted."""
    headers: Mapping[str, str] = attrs.field(
        factory=dict[str, str],
        converter=_headers,
        repr=False,
        metadata=_NOT_IN_JSON,
    )
    """The response's headers, redacted too. A name is found in any case."""
    request: HttpRequest | None = attrs.field(default=None, converter=_request)
    """The request, without credentials."""
    retry_after: float | None = None
    """The seconds of ``Retry-After``, or None if it is missing or invalid."""
    credentials_from: str = ""
    """The source of the credentials, after a 401 or a 403: variables, arguments, or
    settings of a profile."""

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later, and does no harm then."""
        return self.status_code in TEMPORARY and is_harmless(
            self.request, maybe_done=self.status_code != TOO_MANY_REQUESTS
        )

    def __str__(self) -> str:
        request = f", {self.request}" if self.request is not None else ""
        source = f"; {self.credentials_from}" if self.credentials_from else ""
        advice = ""
        if self.retry_after is not None and self.retryable:
            advice = f": try again in {math.ceil(self.retry_after):,} s"
        elif self.status_code in TEMPORARY and not self.retryable:
            advice = "; it may have been done: look before you do it again"
        return f"{self.message} (status {self.status_code}{request}){source}{advice}"


class BadRequestError(StatusError):
    """The service refused the request: 400, and other 4xx (section 7)."""


class AuthenticationError(StatusError):
    """Credentials are missing or wrong: 401 (section 5)."""


class PermissionDeniedError(StatusError):
    """The credentials do not allow this: 403 (section 5)."""


class NotFoundError(StatusError):
    """The service does not know this website or address: 404."""


class WebsiteLockedError(StatusError):
    """The website is locked because the service's badge is missing from it: 423
    (sections 3 and 7).
    """


class RateLimitedError(StatusError):
    """Too many requests: 429 (section 7)."""


class ServerError(StatusError):
    """The service failed, or a gateway can't reach it: 5xx."""


class NotTheServiceError(StatusError):
    """Another program responded, such as the web server of a wrong address, a firewall,
    a login page or a proxy. It sent HTML, XML, a redirect or a 407.

    After a 408, 413, 414, 429, 431 or 5xx, the error has the class of that status
    instead, because the status tells you what to do.
    """


@attrs.define(slots=False)
class InvalidResponseError(SiteStatsError):
    """The response does not match the service's document."""

    message: str
    """What was read, and how it differs, without the problems."""
    problems: tuple[Problem, ...] = attrs.field(
        default=(), converter=_problems, repr=_few
    )
    """The wrong places, by their JSON paths."""
    body: bytes = attrs.field(default=b"", repr=False, metadata=_NOT_IN_JSON)
    """The response's body as received, with credentials redacted."""
    headers: Mapping[str, str] = attrs.field(
        factory=dict[str, str],
        converter=_headers,
        repr=False,
        metadata=_NOT_IN_JSON,
    )
    """The response's headers, redacted too. A name is found in any case."""
    request: HttpRequest | None = attrs.field(default=None, converter=_request)
    """The request, without credentials."""

    def __str__(self) -> str:
        return "\n".join([self.message, *lines_of(self.problems)])


class ResponseTooLargeError(InvalidResponseError):
    """The response is larger than 64 MiB; the rest was not read."""


@attrs.define(slots=False)
class UnexpectedError(SiteStatsError):
    """One query of ``get_many`` was ended by a hook or the authentication of your
    ``http_client``, by a warning that a filter turns into an error, or by a cancelled
    task. The other queries continue.

    Its ``__cause__`` is the exception itself, except after pickling.
    """

    message: str
    """The type and the text of that exception."""

    @classmethod
    def by(cls, cause: BaseException | None, redact: Callable[[str], str]) -> Self:
        """The error because of *cause*, without credentials in its text; None means
        that nothing was begun.
        """
        text = "CancelledError" if cause is None else f"{type(cause).__name__}: {cause}"
        error = cls(f"the query was ended by another error: {redact(text)}")
        error.__cause__ = cause
        return error


class SiteStatsWarning(Public, UserWarning):
    """A call succeeds, but needs your attention.

    For example, a response has another zone, version, page or period than its query; a
    part of a response can't be read; a filter's value is unlikely to match; a store
    fails; a key is very short; or a run of ``ensure`` waits.
    """


def load_extra(library: str, *, extra: str) -> Any:
    """Import *library*, which is of an extra.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return import_module(library)
    except ImportError as error:
        raise MissingExtraError(library, extra) from error


# --- warnings ---------------------------------------------------------------------


def warn(message: str) -> None:
    """Issue a ``SiteStatsWarning`` that names the user's line.

    The number of frames between here and the user varies, so the first frame
    outside of the package is searched for. Awaited calls may have no such frame, and
    are reported at the event loop's.
    """
    level, frame = 1, sys._getframe()  # noqa: SLF001  as warnings itself does
    # The name decides: pathlib, which would compare folders, takes long to import.
    while (
        frame.f_back
        and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, SiteStatsWarning, stacklevel=level)


# --- values by their names ------------------------------------------------------------


def is_attribute(result: Any, name: object) -> bool:
    """Whether ``item_of`` finds *name* as an attribute, or in the JSON."""
    if isinstance(name, JsonName):
        return True
    return (
        isinstance(name, str)
        and name[:1] != "_"
        and hasattr(type(cast("object", result)), name)
    )


def item_of(result: Any, name: object) -> Any:
    """The value of *name*, for a template or for ``dict``.

    Raises:
        FieldNotRequestedError: The query did not request it, or there is no such value.
    """
    kind: Any = type(cast("object", result))
    if isinstance(name, JsonName):
        return name.value
    if not isinstance(name, str):
        raise TypeError(str(missing(kind, name)))
    if not is_attribute(result, name):
        raise FieldNotRequestedError(str(missing(kind, name)), name=name)
    try:
        return getattr(result, name)
    except UnrequestedAttributeError as error:
        raise FieldNotRequestedError(error.message, error.name) from None


# --- names ------------------------------------------------------------------------


def _name_public_module(kind: type[BaseException]) -> None:
    kind.__module__ = _PACKAGE
    for below in kind.__subclasses__():
        _name_public_module(below)


# A traceback names an error as you import it. Annotations are values in this module,
# since that one lacks the names that they use.
_name_public_module(SiteStatsError)
_name_public_module(SiteStatsWarning)
