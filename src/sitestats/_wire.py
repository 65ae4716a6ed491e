"""HTTP as plain values: no socket, no HTTP library, and never a credential."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from functools import lru_cache
from urllib.parse import quote

import attrs


@lru_cache(maxsize=256)
def _encoded(text: str) -> str:
    # Names and most values are those of the request before.
    return quote(text, safe="*,:")


class Credentials(Enum):
    """Which credentials a request wants; the transport adds them (section 5)."""

    NONE = "none"
    KEY = "key"
    KEY_AND_USER = "key and user"


@attrs.frozen
class HttpRequest:
    """One request, relative to the base address.

    It says which credentials it wants and holds none, so it may be logged,
    pickled and kept in an error.
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
    """Whether a connection that was used before must not carry it."""

    @property
    def target(self) -> str:
        """The path with its encoded query: what follows the base address."""
        if not self.params:
            return self.path
        pairs = (f"{_encoded(name)}={_encoded(value)}" for name, value in self.params)
        return f"{self.path}?{'&'.join(pairs)}"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@attrs.frozen
class HttpResponse:
    """One whole answer, its body decompressed."""

    status: int
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """Names are lower case."""
    body: bytes = b""


# --- dates and Retry-After --------------------------------------------------------


# Seconds as HTTP has them, and with a fraction or a sign, as some servers send
# them. float() alone would also take "1e3", "1_0", "nan" and "٣".
_SECONDS = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")

# email.utils guesses at nearly any row of words and numbers; a date of HTTP has
# a month's name, a time of the day and a year (RFC 9110, section 5.6.7).
_LIKE_A_DATE = re.compile(r"[A-Za-z].* [0-9]{2}:[0-9]{2}:[0-9]{2}(?: [A-Za-z0-9+-]+)?")


def parse_retry_after(value: str, *, unix_now: float) -> float | None:
    """Give the seconds to wait from now, at least 0, or None for garbage.

    A date is turned into seconds with *unix_now*, the time of the answer in
    seconds since 1970.

    >>> parse_retry_after("7", unix_now=0)
    7.0
    >>> parse_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", unix_now=20.0)
    40.0
    >>> parse_retry_after("soon", unix_now=0) is None
    True
    """
    text = value.strip()
    if _SECONDS.fullmatch(text):
        seconds = float(text)
        # Hundreds of digits overflow: nobody means to wait that long.
        return max(0.0, seconds) if math.isfinite(seconds) else None
    moment = parse_http_date(text)
    return None if moment is None else max(0.0, moment.timestamp() - unix_now)


# All answers of a second have the same date.
@lru_cache(maxsize=8)
def parse_http_date(value: str) -> datetime | None:
    """Give the moment of a date as HTTP writes it, in UTC, or None for garbage.

    >>> parse_http_date("Thu, 01 Jan 1970 00:01:00 GMT")
    datetime.datetime(1970, 1, 1, 0, 1, tzinfo=datetime.timezone.utc)
    """
    text = value.strip()
    if not text.isascii() or not _LIKE_A_DATE.fullmatch(text):
        return None
    try:
        moment = parsedate_to_datetime(text)
        # Two of HTTP's three forms say GMT, and the third means it.
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
