"""Everything that can go wrong, as one tree.

It is split by what the caller can do::

    * SiteStatsError
      x ConfigurationError            set the client up differently
        + ReadOnlyError
        + ClientClosedError
      x InvalidInputError             mend the value; also a ValueError
        + QueryError
        + SpecError
      x FieldNotRequestedError        ask for the field; also an AttributeError
      x MissingExtraError             install the extra; also an ImportError
      x TransportError                try later
        + ConnectionFailedError
        + RequestTimeoutError         also a TimeoutError
      x ServiceError                  the service said no
        + BadRequestError
        + AuthenticationError
        + PermissionDeniedError
        + NotFoundError
        + WebsiteLockedError
        + RateLimitedError
        + ServerError
      x ResponseError                 the answer is not what the document says
        + ResponseTooLargeError

Every error pickles, and none holds a credential: a request keeps none.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs

from .wire import HttpRequest

E = TypeVar("E", bound=BaseException)

_SHOWN_PROBLEMS: Final = 50


@attrs.frozen
class Problem:
    """One broken rule, or one wrong place in an answer or a file."""

    message: str
    """What is wrong and what to do, as one sentence."""
    rule: str = ""
    """The rule's name, such as ``"limit-range"``; empty where none has one."""
    section: str = ""
    """Where the service's document states the rule, such as ``"4.3"``."""
    where: str = ""
    """The step (``"limit"``), the JSON path (``"$.pages[3].visitors"``), or
    the place in a file (``"websites.toml:12:5"``)."""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        cited = f" (section {self.section})" if self.section else ""
        return f"{place}{self.message}{cited}"


class SiteStatsError(Exception):
    """Base class of every error that this package raises on purpose."""

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


class ReadOnlyError(ConfigurationError):
    """A write was asked of a client made with ``read_only=True``."""


class ClientClosedError(ConfigurationError):
    """The client was used after it was closed."""


class InvalidInputError(SiteStatsError, ValueError):
    """A value breaks a rule; nothing was sent."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        """Every broken rule, with what to do about it."""
        super().__init__("\n".join(map(str, self.problems)))


class QueryError(InvalidInputError):
    """A query breaks a rule of the service's document; nothing was sent."""


class SpecError(InvalidInputError):
    """A website's specification, a file, or a callback's name is not valid."""


class FieldNotRequestedError(SiteStatsError, AttributeError):
    """A value was read that the query did not ask for.

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

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__.copy())


class TransportError(SiteStatsError):
    """No whole answer arrived; it may be worth trying again later."""

    def __init__(
        self,
        message: str,
        *,
        request: HttpRequest | None = None,
        maybe_sent: bool = True,
    ) -> None:
        super().__init__(message)
        self.request = request
        """What was asked, without credentials; None where nothing was."""
        self.maybe_sent = maybe_sent
        """Whether the request may have reached the service. False only where
        nothing left the machine."""


class ConnectionFailedError(TransportError):
    """The connection could not be made, or it broke."""


class RequestTimeoutError(TransportError, TimeoutError):
    """No whole answer within ``timeout`` or ``total_timeout``."""


class ServiceError(SiteStatsError):
    """The service said no, whatever the status (section 7)."""

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
        """The status of HTTP. It may be 200: an answer can say no all the same."""
        self.code = code
        """The service's own code, such as ``"BADGE_REQUIRED"``."""
        self.message = message
        """The service's own words, or a sentence about an answer without any."""
        self.body = body
        """The answer as it came, but for credentials in it."""
        self.request = request
        """What was asked, without credentials."""

    def __str__(self) -> str:
        asked = f", {self.request}" if self.request is not None else ""
        return f"{self.message} (status {self.status}{asked})"


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
        """Seconds that the service asks to wait, or None when it named none."""


class ServerError(ServiceError):
    """The service failed: 5xx."""


class ResponseError(SiteStatsError):
    """The answer is not what the service's document says."""

    def __init__(
        self,
        message: str,
        *,
        problems: Iterable[Problem] = (),
        body: bytes = b"",
        request: HttpRequest | None = None,
    ) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        """Each wrong place, by its JSON path."""
        # An answer of thousands of entries may be wrong in every one of them.
        lines = [message, *map(str, self.problems[:_SHOWN_PROBLEMS])]
        if len(self.problems) > _SHOWN_PROBLEMS:
            more = len(self.problems) - _SHOWN_PROBLEMS
            lines.append(f"… and {more} more in .problems")
        super().__init__("\n".join(lines))
        self.body = body
        """The answer as it came, but for credentials in it."""
        self.request = request
        """What was asked, without credentials."""


class ResponseTooLargeError(ResponseError):
    """The answer is larger than ``max_response_bytes``; it was not read on."""


class SiteStatsWarning(UserWarning):
    """Something is worth a look: the answer is for another zone, version or
    path than asked, or a value will match literally.
    """


# --- warnings ---------------------------------------------------------------------


_PACKAGE: Final = str(Path(__file__).parent.parent)


def warn(message: str) -> None:
    """Warn of an answer that is worth a look.

    How many frames lie between here and the user differs from client to client
    and with every layer, so the first frame outside of the package is looked
    for. Awaited calls may have none, and are shown at the event loop's.
    """
    level = 2
    frame = sys._getframe(1)  # noqa: SLF001  what warnings itself goes by
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, SiteStatsWarning, stacklevel=level)
