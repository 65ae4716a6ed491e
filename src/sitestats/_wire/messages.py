"""HTTP requests and responses as plain values, without credentials."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache
from typing import Final, NoReturn, Protocol, TypeAlias, cast
from urllib.parse import quote

import attrs

from sitestats._public import Public

from .cached import cached_property

JsonValue: TypeAlias = (
    "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
)
"""A JSON value as plain Python values."""


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
    new_connection: bool = False
    """Whether it needs a new connection."""

    @cached_property
    def target(self) -> str:
        """The path with its encoded query: what follows the base address."""
        if not self.params:
            return self.path
        pairs = [f"{_encoded(name)}={_encoded(value)}" for name, value in self.params]
        return f"{self.path}?{'&'.join(pairs)}"

    def __reduce__(self) -> tuple[type[HttpRequest], tuple[object, ...]]:
        # Tools that hash arguments, such as Streamlit, hash this.
        return HttpRequest, tuple(getattr(self, name) for name in self.__match_args__)

    def to_dict(self) -> dict[str, JsonValue]:
        """The method and the path, for the JSON of an error."""
        return {"method": self.method, "path": self.path}

    def __json__(self) -> dict[str, JsonValue]:
        """For Celery, which sends the arguments of an error as JSON."""
        return self.to_dict()

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Headers(Public, Mapping[str, str]):
    """The headers of a response, without credentials; a name is found in any case.

    >>> headers = Headers({"Via": "1.1 gateway"})
    >>> headers["VIA"], headers.get("X-Request-Id"), list(headers)
    ('1.1 gateway', None, ['via'])
    """

    _later: Callable[[], dict[str, str]] | None = None

    def __init__(
        self, values: Mapping[str, str], redact: Callable[[str], str] | None = None
    ) -> None:
        if redact is None:
            self._values = {name.lower(): values[name] for name in values}
        else:
            # Few programs look at the headers of a success, and to redact them takes a
            # tenth of the time of a call. No attribute has them as they came.
            self._later = lambda: {n.lower(): redact(values[n]) for n in values}

    def _all(self) -> dict[str, str]:
        later = self._later
        if later is not None:
            self._values = later()
            # Another thread may read them meanwhile, so this comes last.
            self._later = None
        return self._values

    def __reduce__(self) -> tuple[type[Headers], tuple[dict[str, str]]]:
        return Headers, (self._all(),)

    def __repr__(self) -> str:
        return f"Headers({self._all()})"

    def __getitem__(self, name: str) -> str:
        return self._all()[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


class Redacts(Protocol):
    """Takes credentials out of what a service sent."""

    def text(self, text: str) -> str:
        """*text* without credentials."""
        ...

    def body(self, body: bytes) -> bytes:
        """*body* without credentials."""
        ...


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
    redactor: Redacts | None = attrs.field(default=None, eq=False, repr=False)
    """What takes the credentials of its request out of it, if it was received."""

    def redacted(self) -> HttpResponse:
        """The same without credentials, for an error."""
        if self.redactor is None:
            return self
        text = self.redactor.text
        headers = {name: text(value) for name, value in self.headers.items()}
        body = self.redactor.body(self.body)
        return attrs.evolve(self, headers=headers, body=body, redactor=None)

    def redacted_text(self, text: str) -> str:
        """*text* of this response without credentials."""
        return text if self.redactor is None else self.redactor.text(text)

    @property
    def shown_headers(self) -> Headers:
        """The headers without credentials, for a result."""
        redact = None if self.redactor is None else self.redactor.text
        return Headers(self.headers, redact)

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

_TIME: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}"
# email.utils accepts nearly any words and numbers; a date of HTTP is one of the three
# forms of RFC 9110, section 5.6.7. Two that a proxy joins with a comma are not a date.
_LIKE_A_DATE: Final = (
    rf"\s*([A-Z][a-z]+, [A-Za-z0-9 -]* {_TIME} GMT"
    rf"|[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ 0-9][0-9] {_TIME} [0-9]{{4}})\s*"
)
"""``Fri, 20 Nov 2026 12:00:30 GMT``, ``Friday, 20-Nov-26 12:00:30 GMT``, and what C's
``asctime`` writes, ``Fri Nov 20 12:00:30 2026``, which is in GMT too."""


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
    >>> parse_http_date("Thu Jan  1 00:01:00 1970")
    datetime.datetime(1970, 1, 1, 0, 1, tzinfo=datetime.timezone.utc)
    """
    if not re.fullmatch(_LIKE_A_DATE, value):
        return None
    # This module and its imports would take a tenth of our own import.
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(value)
        return moment.replace(tzinfo=moment.tzinfo or UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


# --- JSON -------------------------------------------------------------------------


def load_json(body: bytes) -> JsonValue:
    """Decode *body*. Of two equal keys the last one counts.

    The standard library decodes what msgspec refuses: a byte order mark, and half of a
    surrogate pair, as an emoji that was cut off has. A number such as 1e400, which no
    float holds, stays text: JSON has no infinity.

    Raises:
        ValueError: It is not JSON; the message says why, after "the response".
    """
    # A program that only makes queries needs neither module.
    import json

    import msgspec

    # In a browser, the stack ends and Python with it before either of them notices.
    if sys.platform == "emscripten" and is_deep(body):
        raise ValueError("is not JSON of the service: it is nested too deeply")
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        decoded: JsonValue = msgspec.json.decode(body)
        return decoded
    if not body.strip():
        raise ValueError("is empty")
    try:
        text = body.decode("utf-8-sig")
        return cast(
            "JsonValue",
            json.loads(text, parse_constant=_refuse_constant, parse_float=_finite),
        )
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON: {error}") from None


_DEEPEST: Final = 100
"""No response of the service has a tenth of these levels."""
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_OTHERS: Final = bytes(set(range(256)).difference(b"[]{}"))


def is_deep(body: bytes) -> bool:
    """Whether lists and objects are within each other at more than 300 levels.

    It is false up to 100 levels; what is between depends on whether JSON is complete.
    """
    brackets = _STRING.sub(b"", body).translate(None, _OTHERS)
    for _ in range(_DEEPEST):
        if not brackets:
            break
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return brackets.count(b"[") + brackets.count(b"{") > _DEEPEST


def _finite(text: str) -> float | str:
    return number if math.isfinite(number := float(text)) else text


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}")
