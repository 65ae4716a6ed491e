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

Every error pickles, and none holds a credential: a request keeps none.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from itertools import islice
from types import FrameType
from typing import Any, Final, Literal, TypeVar

from .advice import Message
from .problems import Problem, grouped_lines
from .wire import HttpRequest

E = TypeVar("E", bound=BaseException)

_PACKAGE: Final = __name__.partition(".")[0]

MOST_PROBLEMS: Final = 50
"""The most problems of one response: a hostile one may be wrong in a million places."""


class SiteStatsError(Exception):
    """Base class of every error that this package raises on purpose."""

    def __bool__(self) -> Literal[True]:
        # So that type checkers know of “if outcome.error:” what it means.
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__.copy())


def _restore(cls: type[E], args: tuple[Any, ...], state: dict[str, Any]) -> E:
    # The constructors take keywords that BaseException's own way of pickling
    # would leave out, so an error is rebuilt without calling them.
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
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

    def __init__(self, message: str, *, name: str) -> None:
        # With obj= as well the error would keep the whole result alive.
        super().__init__(message)
        self.name: str | None = name
        """What was read, such as ``"pages"``."""

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.__dict__.copy()
        return _restore_field_error, (type(self), self.args, self.name, state)


def _restore_field_error(
    cls: type[FieldNotRequestedError],
    args: tuple[str],
    name: str,
    state: dict[str, Any],
) -> FieldNotRequestedError:
    error = cls(*args, name=name)
    error.__dict__.update(state)
    return error


class MissingExtraError(SiteStatsError, ImportError):
    """A library of an optional extra is not installed."""

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

    def __init__(
        self,
        message: str,
        *,
        request: HttpRequest | None = None,
        maybe_sent: bool = True,
        temporary: bool = True,
    ) -> None:
        super().__init__(message)
        self.request = request
        """The request, without credentials; None if there was none."""
        self.temporary = temporary
        """Whether a retry may succeed. It can't where a certificate is not trusted."""
        self.maybe_sent = maybe_sent
        """Whether the request may have reached the service. False only where
        nothing left the machine."""


class ConnectionFailedError(TransportError):
    """The connection could not be made, or it broke."""


class RequestTimeoutError(TransportError, TimeoutError):
    """No complete response within ``timeout`` or ``total_timeout``."""


class ServiceError(SiteStatsError):
    """The service returned an error response, whatever its status (section 7)."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str | None = None,
        body: bytes = b"",
        request: HttpRequest | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status. It may be 200: the body can report an error all the same."""
        self.code = code
        """The service's own code, such as ``"BADGE_REQUIRED"``."""
        self.message = message
        """The service's own message, or a sentence about a response without one."""
        self.body = body
        """The response's body as received, with credentials redacted."""
        self.request = request
        """The request, without credentials."""

    def __str__(self) -> str:
        request = f", {self.request}" if self.request is not None else ""
        return f"{self.message} (status {self.status}{request})"


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

    def __init__(
        self,
        message: str,
        *,
        status: int = 429,
        code: str | None = None,
        body: bytes = b"",
        request: HttpRequest | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, status=status, code=code, body=body, request=request)
        self.retry_after = retry_after
        """Seconds that ``Retry-After`` asks for, or None without a usable one."""


class ServerError(ServiceError):
    """The service failed: 5xx."""


class ResponseError(SiteStatsError):
    """The response does not match the service's document."""

    def __init__(
        self,
        message: str,
        *,
        problems: Iterable[Problem] = (),
        body: bytes = b"",
        request: HttpRequest | None = None,
    ) -> None:
        self.problems: tuple[Problem, ...] = tuple(islice(problems, MOST_PROBLEMS))
        """The wrong places, by their JSON paths. Reading stops after 50."""
        lines = [f"\n{problem}" for problem in self.problems]
        if len(self.problems) == MOST_PROBLEMS:
            lines.append("\n… there may be more: reading stopped here")
        super().__init__(Message(message, *lines))
        self.body = body
        """The response's body as received, with credentials redacted."""
        self.request = request
        """The request, without credentials."""


class ResponseTooLargeError(ResponseError):
    """The response is larger than ``max_response_bytes``; the rest was not read."""


class SiteStatsWarning(UserWarning):
    """The response has another zone, version, path or period than the query, or a
    filter's value will match literally; or a run of ``ensure`` can't exclude others,
    or waits for what an interrupted one sent.
    """


def _name_as_users_do() -> None:
    # In tracebacks and pickles: sitestats.QueryError.
    for value in list(globals().values()):
        if isinstance(value, type) and issubclass(value, Exception):
            value.__module__ = _PACKAGE


_name_as_users_do()


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
