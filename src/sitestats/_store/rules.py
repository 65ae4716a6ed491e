"""Which responses may be stored, and when a stored one may be used. Pure.

A good response to a Stats query is stored if its period was over by the service's
own clock and by this machine's. A wrong result is worse than a request: where it is not
certain which days a query is about, the request is sent.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import attrs

from sitestats._common.errors import QueryError
from sitestats._common.wire import HttpResponse, parse_http_date
from sitestats._common.zones import same_zone
from sitestats._query import periods

if TYPE_CHECKING:
    from sitestats._query.requested import Requested
    from sitestats._results.stats import Stats

MAX_AGE: Final = timedelta(days=30)
_TOLERANCE: Final = timedelta(minutes=1)
"""How far two clocks may be apart when a response is used."""
_MARGIN: Final = timedelta(minutes=10)
"""How long a period must have been over when a response about it is stored: both clocks
may be some minutes ahead."""
_SEAL_BYTES: Final = 16
_PERIOD: Final = frozenset(("start", "end"))


@attrs.frozen
class ResponseKey:
    """What a stored response is found by."""

    hostname: str
    address: str
    """The path of the address: the website, and the page if there is one."""
    params: tuple[tuple[str, str], ...]
    """All parameters but the period, sorted."""
    first_day: str
    last_day: str

    @property
    def text(self) -> str:
        """All of it as text; two keys with the same text are equal."""
        return json.dumps(
            [self.address, self.params, self.first_day, self.last_day],
            separators=(",", ":"),
        )


def response_key(requested: Requested, now: datetime) -> ResponseKey | None:
    """What a stored response to *requested* is found by at the moment *now*.

    None where none is stored: a part of the period is left to the service, it has words
    and no time zone, or a parameter was not checked.
    """
    start, end = requested.params.get("start"), requested.params.get("end")
    if start is None or end is None or requested.unchecked or requested.problems:
        return None
    if has_words(requested):
        if requested.timezone is None:
            return None
        try:
            start, end = periods.pinned(start, end, requested.timezone, now)
        except QueryError:
            return None
    return _of_days(requested, start, end)


def has_words(requested: Requested) -> bool:
    """Whether the period of *requested* has words, which are other days tomorrow."""
    return any(
        periods.as_date(text) is None
        for name, text in requested.params.items()
        if name in _PERIOD
    )


def _of_days(requested: Requested, first_day: str, last_day: str) -> ResponseKey:
    params = requested.params.items()
    return ResponseKey(
        requested.hostname,
        requested.address,
        tuple(sorted(pair for pair in params if pair[0] not in _PERIOD)),
        first_day,
        last_day,
    )


@attrs.frozen
class StoreEntry:
    """A response as it is stored."""

    date: str
    """When the service responded: its ``Date`` header."""
    timezone: str
    """The zone of its days."""
    body: bytes

    def to_bytes(self) -> bytes:
        """The packed response, compressed."""
        head = json.dumps({"date": self.date, "timezone": self.timezone})
        return zlib.compress(head.encode() + b"\n" + self.body, 1)

    @classmethod
    def from_bytes(cls, data: bytes, *, most_bytes: int) -> StoreEntry | None:
        """The response that was packed; None where it is larger than *most_bytes*, or
        *data* is none.
        """
        unpacker = zlib.decompressobj()
        try:
            # One more for the head, which is short.
            text = unpacker.decompress(data, most_bytes + 1_000)
            if unpacker.unconsumed_tail or not unpacker.eof:
                return None
            head, _, body = text.partition(b"\n")
            values: dict[str, Any] = json.loads(head)
            return cls(str(values["date"]), str(values["timezone"]), body)
        except (zlib.error, ValueError, LookupError, TypeError):
            return None

    def is_usable(self, now: datetime, max_age: timedelta | None) -> bool:
        """Whether it may be used at the moment *now*.

        It may not where this machine's clock is before the service's of then: the
        days that words mean are not certain.
        """
        moment = parse_http_date(self.date)
        return (
            moment is not None
            and moment <= now + _TOLERANCE
            and (max_age is None or now - moment < max_age)
        )

    @property
    def response(self) -> HttpResponse:
        """The response as it came; of its headers only the date matters."""
        return HttpResponse(200, {"date": self.date}, self.body)


def seal(key: str, value: bytes) -> bytes:
    """*value* with a digest of it and of its *key* in front."""
    return _digest(key, value) + value


def unseal(key: str, data: bytes) -> bytes | None:
    """The value that was sealed as that of *key*.

    None where it was not: a damaged store may return the value of another key.
    """
    digest, value = data[:_SEAL_BYTES], data[_SEAL_BYTES:]
    return value if digest == _digest(key, value) else None


def _digest(key: str, value: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=_SEAL_BYTES)
    # A key has no null character.
    digest.update(key.encode("utf-8", "surrogatepass") + b"\0" + value)
    return digest.digest()


def to_store(
    requested: Requested, response: HttpResponse, stats: Stats, now: datetime
) -> tuple[ResponseKey, StoreEntry] | None:
    """What to store of *response*, which was read as *stats* at the time *now*; None
    for nothing.

    The days are those of the response: at midnight "yesterday" is another day here
    than at the service. The period must be over by this machine's clock and by the
    service's, its ``Date``, since either may be a day ahead.
    """
    moment, date_header = response.date, response.headers.get("date")
    if (
        moment is None
        or date_header is None
        or stats.start is None
        or stats.end is None
        or stats.timezone is None
        or stats.first_day is None
        or stats.last_day is None
        or requested.unchecked
        or response.status != 200  # noqa: PLR2004  a good response
    ):
        return None
    first, last = stats.first_day, stats.last_day
    if min(moment, now) <= stats.end + _MARGIN or not _is_as_requested(
        requested, stats, first, last
    ):
        return None
    found = _of_days(requested, first.isoformat(), last.isoformat())
    return found, StoreEntry(date_header, stats.timezone, response.body)


def _is_as_requested(
    requested: Requested, stats: Stats, first: date, last: date
) -> bool:
    """Whether the response, from *first* to *last*, is about exactly the days, zone,
    version and page.
    """
    start, end = requested.params.get("start"), requested.params.get("end")
    return (
        start is not None
        and end is not None
        and _fit(start, end, first, last)
        and (
            requested.timezone is None or same_zone(stats.timezone, requested.timezone)
        )
        and stats.version in {None, requested.version}
        and (requested.path is None or stats.path in {None, requested.path})
        and _has_all_events(requested, stats)
    )


def _has_all_events(requested: Requested, stats: Stats) -> bool:
    """Whether no event that was requested is missing, which would count 0 for good."""
    if not isinstance(requested.events, tuple):
        return True
    events: list[object] | None = json.loads(stats.body).get("events")
    return events is None or len(events) == len(stats.events)


def _fit(start: str, end: str, first: date, last: date) -> bool:
    """Whether dates are themselves, and words are as many days apart."""
    back = periods.days_back(start), periods.days_back(end)
    if back[0] is not None and back[1] is not None:
        return (last - first).days == back[0] - back[1]
    # A word is no date.
    dates = periods.as_date(start) or first, periods.as_date(end) or last
    return dates == (first, last)
