"""Exceptions and warnings: one class tree.

It is split by what the caller can do::

    * SiteStatsError
      x ConfigurationError            set the client up differently
        + BusyError                   wait for the other run's end
        + ReadOnlyError
        + ClientClosedError
      x InvalidInputError             correct the value; also a ValueError
        + QueryError
        + SpecError
      x FieldNotRequestedError        request the field; also an AttributeError
      x MissingExtraError             install the extra; also an ImportError
      x TransportError                try later
        + ConnectionFailedError
        + RequestTimeoutError         also a TimeoutError
      x ServiceError                  an error response
        + BadRequestError
        + AuthenticationError
        + PermissionDeniedError
        + NotFoundError
        + WebsiteLockedError
        + RateLimitedError
        + ServerError
      x ResponseError                 the response does not match the document
        + ResponseTooLargeError

Every error pickles, JSON can hold its ``args``, and none holds a credential: a request
has none.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from importlib import import_module
from itertools import islice
from types import FrameType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Literal,
    ParamSpec,
    TypeVar,
    cast,
)

from .advice import Message
from .plain_errors import from_plain, to_plain
from .problems import Problem, grouped_lines
from .retryable import TOO_MANY_REQUESTS, is_temporary, may_repeat
from .wire import Headers, HttpRequest

if TYPE_CHECKING:
    from .jsontext import JsonValue

E = TypeVar("E", bound="SiteStatsError")
P = ParamSpec("P")

_PACKAGE: Final = __name__.partition(".")[0]

_NO_HEADERS: Final = Headers({})

MOST_PROBLEMS: Final = 50
"""The most problems of one response: a hostile one may be wrong in a million places."""


def _or_args(
    init: Callable[Concatenate[E, P], None],
) -> Callable[Concatenate[E, P], None]:
    """Let a constructor also take the ``args`` of an error of its class."""

    @wraps(init)
    def make(self: E, /, *args: P.args, **options: P.kwargs) -> None:
        details = args[1] if len(args) > 1 else None
        if isinstance(details, dict):
            state = from_plain(cast("dict[str, JsonValue]", details))
            Exception.__init__(self, state.pop("message", args[0]))
            self.__setstate__(state)
        else:
            init(self, *args, **options)

    return make


class SiteStatsError(Exception):
    """Base class of every error that this package raises on purpose."""

    @_or_args
    def __init__(self, message: str = "") -> None:
        super().__init__(message)

    if not TYPE_CHECKING:  # for checkers it is what any exception has

        @property
        def args(self) -> tuple[Any, ...]:
            """The text, and a dict with the rest, but for the body of a response.

            JSON can hold both, and ``type(error)(*error.args)`` makes the error again.
            So Celery sends errors as JSON.
            """
            message = self._text
            plain = {name: one for name, one in self._state.items() if name[0] != "_"}
            if isinstance(message, Message):
                plain["message"] = message
            return (message, to_plain(plain)) if plain else (message,)

        @args.setter
        def args(self, args: tuple[Any, ...]) -> None:
            Exception.__init__(self, *args)

    @property
    def _text(self) -> str:
        text: str = super().args[0] if super().args else ""
        return text

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later, and does no harm then.

        It is false for a write that may have been done.

        >>> NotFoundError("no such website", status=404).retryable
        False
        >>> RateLimitedError("too many requests", status=429).retryable
        True
        """
        match self:
            case BusyError():
                return True
            case TransportError():
                return self.temporary and may_repeat(
                    self.request, maybe_done=self.maybe_sent
                )
            case ServiceError(status=status):
                return is_temporary(status) and may_repeat(
                    self.request, maybe_done=status != TOO_MANY_REQUESTS
                )
            case _:
                return False

    def __bool__(self) -> Literal[True]:
        # So that type checkers know of “if outcome.error:” what it means.
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), super().args), self._state

    @property
    def _state(self) -> dict[str, Any]:
        return vars(self).copy()


def _restore(cls: type[E], args: tuple[Any, ...]) -> E:
    # The constructors take keywords that BaseException's own way of pickling
    # would leave out, so an error is rebuilt without calling them.
    error = cls.__new__(cls)
    error.args = args
    return error


class ConfigurationError(SiteStatsError):
    """The client can't do this the way it was set up."""


class BusyError(ConfigurationError):
    """Another run of ``ensure`` uses the account or the journal, or another update the
    warehouse; nothing was sent.
    """


class ReadOnlyError(ConfigurationError):
    """A write was requested of a client that is read-only; nothing was sent."""


class ClientClosedError(ConfigurationError):
    """The client was used after it was closed."""


class InvalidInputError(SiteStatsError, ValueError):
    """A value breaks a rule; nothing was sent.

    Its text has a line for each problem. Equal ones are one line with their number,
    and of many that differ in a value alone the first five are shown.
    """

    @_or_args
    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        """Every broken rule, with what to do about it."""
        lines = grouped_lines(self.problems, place_of=lambda problem: problem.where)
        super().__init__("\n".join(lines))


class QueryError(InvalidInputError):
    """A query breaks a rule of the service's document; nothing was sent."""


class SpecError(InvalidInputError):
    """A website's specification, a file, or a callback's name is not valid."""


class FieldNotRequestedError(SiteStatsError, AttributeError):
    """A value was read that the query did not request.

    It is an ``AttributeError`` too, so that ``hasattr`` and ``getattr`` with a
    default work.
    """

    @_or_args
    def __init__(self, message: str, *, name: str) -> None:
        # With obj= as well the error would keep the whole result alive.
        super().__init__(message)
        self.name: str | None = name
        """What was read, such as ``"pages"``."""

    @property
    def _state(self) -> dict[str, Any]:
        # It is not among the attributes that vars() has, as in any AttributeError.
        return {**super()._state, "name": self.name}


class MissingExtraError(SiteStatsError, ImportError):
    """A library of an optional extra is not installed."""

    @_or_args
    def __init__(self, library: str, *, extra: str) -> None:
        self.library = library
        """What is missing, such as ``"pandas"``."""
        self.extra = extra
        """The extra that brings it: ``pip install 'sitestats[pandas]'``."""
        super().__init__(
            f"{library} is not installed: pip install 'sitestats[{extra}]'"
        )


class TransportError(SiteStatsError):
    """No complete response arrived; a retry later may succeed."""

    @_or_args
    def __init__(
        self,
        message: str,
        *,
        request: HttpRequest | None = None,
        maybe_sent: bool = True,
        temporary: bool = True,
        step: str = "response",
    ) -> None:
        super().__init__(message)
        self.step = step
        """What failed: ``"name"``, ``"tcp"``, ``"proxy"`` or ``"tls"`` while it was
        connecting, and else ``"response"``."""
        self.request = request
        """The request, without credentials; None if there was none."""
        self.temporary = temporary
        """Whether a retry may succeed. It can't where a certificate is not trusted, or
        nobody knows the host name."""
        self.maybe_sent = maybe_sent
        """Whether the request may have reached the service. False only where
        nothing left the machine."""


class ConnectionFailedError(TransportError):
    """The connection could not be made, or it broke."""


class RequestTimeoutError(TransportError, TimeoutError):
    """No complete response within ``timeout`` or ``total_timeout``."""


class ServiceError(SiteStatsError):
    """The service returned an error response, whatever its status (section 7)."""

    @_or_args
    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] = _NO_HEADERS,
        request: HttpRequest | None = None,
        retry_after: float | None = None,
        credentials_from: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status. It may be 200: the body can report an error all the same."""
        self.code = code
        """The service's own code, such as ``"BADGE_REQUIRED"``; None without one."""
        self.body = body
        """The response's body as received, with credentials redacted."""
        self.headers: Mapping[str, str] = Headers(headers)
        """Its headers, redacted too: the names are lower case, and found in any case.
        By those of a gateway a response can be traced."""
        self.request = request
        """The request, without credentials."""
        self.retry_after = retry_after
        """Seconds that ``Retry-After`` requests, or None without a usable one."""
        self.credentials_from = credentials_from
        """With a 401: the variables, arguments or settings of a profile that the
        credentials are from."""

    @property
    def message(self) -> str:
        """The service's own message, or a sentence about a response without one."""
        return self._text

    def __str__(self) -> str:
        request = f", {self.request}" if self.request is not None else ""
        text = f"{self.message} (status {self.status}{request})"
        if self.credentials_from:
            text += f"; {self.credentials_from}"
        if self.retry_after is None or not self.retryable:
            return text
        return f"{text}: try again in {math.ceil(self.retry_after):,} s"


class BadRequestError(ServiceError):
    """The service found the request wrong: 400, and other 4xx."""


class AuthenticationError(ServiceError):
    """Credentials are missing or wrong (section 5)."""


class PermissionDeniedError(ServiceError):
    """The credentials do not allow this (section 5)."""


class NotFoundError(ServiceError):
    """The service does not know this website or address."""


class WebsiteLockedError(ServiceError):
    """The website is locked, as the service's badge is missing from it
    (sections 3 and 7).
    """


class RateLimitedError(ServiceError):
    """Too many requests (section 7)."""


class ServerError(ServiceError):
    """The service failed: 5xx."""


class ResponseError(SiteStatsError):
    """The response does not match the service's document."""

    @_or_args
    def __init__(
        self,
        message: str,
        *,
        problems: Iterable[Problem] = (),
        body: bytes = b"",
        headers: Mapping[str, str] = _NO_HEADERS,
        request: HttpRequest | None = None,
    ) -> None:
        self.problems: tuple[Problem, ...] = tuple(islice(problems, MOST_PROBLEMS))
        """The wrong places, by their JSON paths. Reading stops after 50."""
        lines = "".join(f"\n{problem}" for problem in self.problems)
        if len(self.problems) == MOST_PROBLEMS:
            lines += "\n… there may be more: reading stopped here"
        super().__init__(message + lines)
        self.body = body
        """The response's body as received, with credentials redacted."""
        self.headers: Mapping[str, str] = Headers(headers)
        """Its headers, redacted too: the names are lower case, and found in any case.
        By those of a gateway a response can be traced."""
        self.request = request
        """The request, without credentials."""


class ResponseTooLargeError(ResponseError):
    """The response is larger than ``max_response_bytes``; the rest was not read."""


class SiteStatsWarning(UserWarning):
    """A call goes on, but not quite as you may expect.

    A response has another zone, version, path or period than its query, a filter's
    value will match literally, a store or a key's file is not as it should be, or a
    run of ``ensure`` waits or can't exclude others.
    """


def _name_as_users_do() -> None:
    # In tracebacks and pickles: sitestats.QueryError.
    for value in list(globals().values()):
        if isinstance(value, type) and issubclass(value, Exception):
            value.__module__ = _PACKAGE


_name_as_users_do()


def load_extra(library: str, *, extra: str) -> Any:
    """Import *library*, which is of an extra.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return import_module(library)
    except ImportError:
        missing = MissingExtraError(library, extra=extra)
    raise missing


# --- warnings ---------------------------------------------------------------------


def warn(message: str) -> None:
    """Issue a ``SiteStatsWarning`` that names the user's line.

    The number of frames between here and the user varies, so the first frame
    outside of the package is searched for. Awaited calls may have none, and are
    reported at the event loop's.
    """
    level = 2
    frame = sys._getframe(1)  # noqa: SLF001  as warnings itself does
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
        level += 1
    warnings.warn(message, SiteStatsWarning, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    # By the name: pathlib, which would tell folders, takes long to import.
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == _PACKAGE
