"""Read a response of the Stats API: the whole way from its bytes to ``Stats``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from sitestats._base.errors import InvalidInputError, Problem
from sitestats._base.fields import TOTALS
from sitestats._query.builder import StatsQuery, check_query, parameters_of
from sitestats._query.requested import Parameters
from sitestats._query.unlikely import counted_nothing, unlikely_values
from sitestats._results.stats import Stats
from sitestats._wire.messages import (
    HttpRequest,
    HttpResponse,
    JsonValue,
    parse_http_date,
)

from .checking import check_response
from .completing import complete
from .decoding import decode_members
from .errors import NOT_AS_DOCUMENTED, OK, invalid_response, redacted, said
from .structuring import UnreadableError, shape_of, structure_stats

_NO_DATA: Final = (
    ": it has nothing of what was requested; the website may be private and need an "
    "API key (section 5)"
)


def read_stats(
    response: HttpResponse,
    request: HttpRequest,
    query: StatsQuery,
    parameters: Parameters,
    *,
    looked_up_at: datetime | None = None,
    known: Mapping[str, Iterable[Problem]] = {},
) -> Stats:
    """The statistics that *query* requested (section 4.3).

    Args:
        response: The response.
        request: Its request.
        query: The query of the result.
        parameters: What the response is checked against.
        looked_up_at: When a stored response was looked up; None for a new response.
        known: Problems that are known already, by name: of JSON that was made from a
            result without what could not be read.

    Raises:
        StatusError: It is an error response.
        InvalidResponseError: Nothing that was requested can be read, or the response is
            about something else than the query.
    """
    interval, has_events = parameters.interval, parameters.events is not None
    shape = shape_of(parameters.fields, has_events, interval)
    # Decoded…
    data: JsonValue = decode_members(response, request, shape.entries)
    if not isinstance(data, dict):
        why = str(UnreadableError("an object", data))
        problem = Problem(why, section="2.3", where="$")
        raise invalid_response(response, request, NOT_AS_DOCUMENTED, [problem])
    # …structured…
    body, unread = structure_stats(data, shape, interval, parameters.timezone)
    # …checked against the query…
    date = parse_http_date(response.headers.get("date", ""))
    clock = looked_up_at or date
    period, problems, warnings = check_response(body, unread, parameters, clock)
    if not parameters.has_documented_shape:
        # Older lists have shapes of their own, which are in raw() alone, and no fields
        # can be requested of the oldest.
        for name in [*unread]:
            if name not in TOTALS or name not in data:
                del unread[name]
                setattr(body, name, None)
    if known:
        told = {name: tuple(found) for name, found in known.items()}
        unread = told | unread | told
    # …completed…
    moment = date or response.received_at
    values = complete(
        body, unread, shape, parameters, period=period, responded_at=moment
    )
    if problems or (unread and not values):
        is_empty = shape.names and data.keys().isdisjoint(shape.names)
        why = NOT_AS_DOCUMENTED
        if is_empty:
            why += _NO_DATA + said(response, data)
        unknown = (problem for found in unread.values() for problem in found)
        raise invalid_response(response, request, why, [*unknown, *problems])
    if unread:
        # Their messages quote no credential.
        unread = {name: redacted(found, response) for name, found in unread.items()}
        warnings += _warnings(unread, values, parameters.hostname)
    if parameters.filters and counted_nothing(values):
        warnings += unlikely_values(parameters)
    # …and a result.
    return Stats(
        query=query,
        hostname=body.hostname,
        path=body.path,
        timezone=body.timezone,
        version=body.version,
        start=period.start,
        end=period.end,
        first_day=period.first_day,
        last_day=period.last_day,
        generated_in_ms=body.generated_in_ms,
        partial=bool(moment and period.end and moment < period.end),
        responded_at=moment,
        body=response.body,
        headers=response.shown_headers,
        from_store=looked_up_at is not None,
        values=values,
        unread=unread,
        warnings=tuple(response.redacted_text(warning) for warning in warnings),
    )


def _warnings(
    unread: Mapping[str, tuple[Problem, ...]], values: Mapping[str, object], host: str
) -> Iterator[str]:
    """A sentence about each value that is unknown, and each list that lacks entries."""
    for name, problems in unread.items():
        what = f"some entries of {name!r} are" if name in values else f"{name!r} is"
        first, *others = problems
        more = f"; and {len(others):,} more" if others else ""
        yield f"{what} left out of the result for {host}: {first}{more}"


def read_body(
    query: StatsQuery,
    body: bytes,
    responded_at: datetime | None,
    known: Mapping[str, Iterable[Problem]] = {},
) -> Stats:
    """A stored body, checked as the response to *query*, with *known* problems.

    Raises:
        InvalidInputError: The query breaks a rule, or *responded_at* has no time zone.
        StatusError: The body is an error response.
        InvalidResponseError: The body does not match the service's document, or does
            not match the query.
    """
    check_query(query)
    parameters = parameters_of(query)
    query.validate()
    if responded_at is not None and responded_at.tzinfo is None:
        message = "responded_at is a datetime with a time zone"
        raise InvalidInputError([Problem(message, where="responded_at")])
    response = HttpResponse(OK[0], {}, body, responded_at)
    return read_stats(response, parameters.request, query, parameters, known=known)
