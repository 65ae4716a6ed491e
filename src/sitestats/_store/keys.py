"""Which responses may be stored, and when a stored one may be used. Pure.

A response to a Stats query that came without a warning is stored if its period was
over by the service's own clock and by this machine's. A wrong result is worse than a
request: where it is not certain which days a query is about, the request is sent.
"""

from __future__ import annotations

import json
import zlib
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import attrs
import msgspec

from sitestats._base.errors import InvalidInputError
from sitestats._query import periods
from sitestats._wire.messages import HttpResponse, parse_http_date

if TYPE_CHECKING:
    from sitestats._query.requested import Parameters
    from sitestats._results.stats import Stats

MAX_AGE: Final = timedelta(days=30)
_TOLERANCE: Final = timedelta(minutes=1)
"""How far two clocks may be apart when a response is used."""
_MARGIN: Final = timedelta(minutes=10)
"""How long a period must have been over when a response about it is stored: both clocks
may be some minutes ahead."""


def response_key(parameters: Parameters, now: datetime) -> str | None:
    """The key of a stored response to *parameters* at the moment *now*.

    None if the response is not stored: the service chooses a part of the period, words
    have no time zone, or a parameter was not checked.
    """
    start, end = parameters.params.get("start"), parameters.params.get("end")
    if start is None or end is None or not parameters.is_documented:
        return None
    # Words mean other days tomorrow.
    if periods.as_date(start) is None or periods.as_date(end) is None:
        if parameters.timezone is None:
            return None
        try:
            start, end = periods.pinned(start, end, parameters.timezone, now)
        except InvalidInputError:
            return None
    return _key_of_days(parameters, start, end)


def _key_of_days(parameters: Parameters, first_day: str, last_day: str) -> str:
    params = parameters.params.items()
    others = sorted(pair for pair in params if pair[0] not in {"start", "end"})
    return json.dumps([parameters.address, others, first_day, last_day])


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
        return zlib.compress(msgspec.msgpack.encode(self), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> StoreEntry | None:
        """The response that was packed; None where *data* is damaged."""
        try:
            return msgspec.msgpack.decode(zlib.decompress(data), type=cls)
        except (zlib.error, msgspec.MsgspecError, ValueError):
            return None

    def is_usable(self, now: datetime, max_age: timedelta | None) -> bool:
        """Whether it may be used at the moment *now*."""
        moment = parse_http_date(self.date)
        return moment is not None and (max_age is None or now - moment < max_age)

    def seconds_ahead(self, parameters: Parameters, now: datetime) -> float:
        """How far the service's clock was ahead of this machine's clock, which shows
        *now*, if it is uncertain for that reason which days the *parameters* name; else
        0. Dates are certain, and so are words that name the same days by both clocks.
        """
        moment = parse_http_date(self.date)
        if moment is None or moment <= now + _TOLERANCE:
            return 0
        if response_key(parameters, moment) == response_key(parameters, now):
            return 0
        return (moment - now).total_seconds()

    @property
    def response(self) -> HttpResponse:
        """The response as it came; of its headers only the date matters."""
        return HttpResponse(200, {"date": self.date}, self.body)


def to_store(
    parameters: Parameters, response: HttpResponse, stats: Stats, now: datetime
) -> tuple[str, StoreEntry] | None:
    """The key of *response*, which was read as *stats* at the time *now*, and what to
    store; None means nothing.

    The days are the response's days: at midnight "yesterday" is another day here
    than at the service. The period must be over by this machine's clock and by the
    service's, its ``Date``, since either may be a day ahead.
    """
    moment, first, last = response.date, stats.first_day, stats.last_day
    if (
        response.status != 200  # noqa: PLR2004  a good response
        or not {"start", "end"} <= parameters.params.keys()
        or not parameters.is_documented
        or stats._warnings  # noqa: SLF001 - for this folder
        or moment is None
        or stats.end is None
        or stats.timezone is None
        or first is None
        or last is None
        or min(moment, now) <= stats.end + _MARGIN
    ):
        return None
    key = _key_of_days(parameters, first.isoformat(), last.isoformat())
    return key, StoreEntry(response.headers["date"], stats.timezone, response.body)
