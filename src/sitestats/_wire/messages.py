"""HTTP requests and responses as plain values, without credentials."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from enum import Enum
from functools import cached_property, lru_cache
from typing import Final
from urllib.parse import quote

import attrs

from sitestats._public import Public


@lru_cache(maxsize=256)
def _encoded(text: str) -> str:
    # Most names and values repeat from request to request.
    return quote(text, safe="*,:")


class Credentials(Public, Enum):
    """Which credentials a request needs; the transport adds them (section 5)."""

    NONE = "none"
    KEY = "key"
    KEY_AND_USER = "key and user"
    MADE_UP = "a key that nobody has"


@attrs.frozen
class HttpRequest(Public):
    """One request, relative to the base address.

    It names the credentials that it needs and holds none, so it may be logged,
    pickled, and put into an error.
    """

    method: str
    path: str
    """Percent-encoded, with a leading slash: ``/example.com.json``."""
    params: tuple[tuple[str, str], ...] = ()
    """Query parameters in the order they are sent, not yet encoded."""
    body: bytes = b""
    content_type: str | None = None
    credentials: Credentials = Credentials.NONE
    fresh_connection: bool = False
    """Whether it needs a new connection."""

    @cached_property
    def target(self) -> str:
        """The path with its encoded query: what follows the base address."""
        if not self.params:
            return self.path
        pairs = [f"{_encoded(name)}={_encoded(value)}" for name, value in self.params]
        return f"{self.path}?{'&'.join(pairs)}"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Headers(Public, Mapping[str, str]):
    """The headers of a response, without credentials; a name is found in any case.

    >>> headers = Headers({"Via": "1.1 gateway"})
    >>> headers["VIA"], headers.get("X-Request-Id"), list(headers)
    ('1.1 gateway', None, ['via'])
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = {name.lower(): values[name] for name in values}

    def __repr__(self) -> str:
        return f"Headers({self._values})"

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@attrs.frozen
class HttpResponse:
    """One complete response, its body decompressed."""

    status: int
    # The service may repeat a credential in these two attributes.
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)
    """Names are lower case."""
    body: bytes = attrs.field(default=b"", repr=False)
    received_at: datetime | None = None
    """When it arrived, by this machine's clock."""
    credentials_from: str = ""
    """Where the credentials of its request are from, if it says that they are wrong."""
    redact: Callable[[HttpResponse], HttpResponse] | None = attrs.field(
        default=None, eq=False, repr=False
    )
    """What takes credentials out of a successful response, if one was received."""

    def redacted(self) -> HttpResponse:
        """The same without credentials, for an error."""
        return self if self.redact is None else self.redact(self)

    @property
    def date(self) -> datetime | None:
        """When the service responded, by its own clock; None without a ``Date``."""
        return parse_http_date(self.headers.get("date", ""))

    @property
    def responded_at(self) -> datetime | None:
        """When the service responded: its ``Date``, else when it was received."""
        return self.date or self.received_at

    @property
    def retry_after(self) -> float | None:
        """Seconds that ``Retry-After`` asks to wait; None without a usable one.

        It is a date of the service's clock, as the ``Date`` beside it is.
        """
        value = self.headers.get("retry-after", "")
        return parse_retry_after(value, self.responded_at)


# --- dates and Retry-After --------------------------------------------------------


# HTTP has whole seconds; some servers send them with a fraction or a sign.
_SECONDS: Final = r"[+-]?[0-9]+(\.[0-9]*)?"

# email.utils accepts nearly any words and numbers; a date of HTTP has a day's name, a
# date, a time of the day and GMT (RFC 9110, section 5.6.7). Two that a proxy joins with
# a comma are no date.
_LIKE_A_DATE: Final = (
    r"\s*[A-Z][a-z]+, [A-Za-z0-9 -]* [0-9]{2}:[0-9]{2}:[0-9]{2} GMT\s*"
)


def parse_retry_after(value: str, responded_at: datetime | None) -> float | None:
    """Give the seconds to wait, at least 0, or None for garbage.

    A date counts from *responded_at*; without it a date is of no use.

    >>> parse_retry_after("7", None)
    7.0
    >>> from datetime import UTC, datetime
    >>> minute = datetime(2026, 11, 20, 12, 1, tzinfo=UTC)
    >>> parse_retry_after("Fri, 20 Nov 2026 12:01:30 GMT", minute)
    30.0
    >>> parse_retry_after("soon", minute) is None
    True
    """
    if re.fullmatch(_SECONDS, value.strip()):
        # A number of hundreds of digits would be infinite.
        return min(max(0.0, float(value)), 1e9)
    moment = parse_http_date(value)
    if moment is None or responded_at is None:
        return None
    return max(0.0, (moment - responded_at).total_seconds())


# All responses within a second have the same date.
@lru_cache(maxsize=8)
def parse_http_date(value: str) -> datetime | None:
    """Give the moment of a date as HTTP writes it, in UTC, or None for garbage.

    >>> parse_http_date("Thu, 01 Jan 1970 00:01:00 GMT")
    datetime.datetime(1970, 1, 1, 0, 1, tzinfo=datetime.timezone.utc)
    """
    if not re.fullmatch(_LIKE_A_DATE, value):
        return None
    # This module and its imports would take a tenth of our own import.
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
