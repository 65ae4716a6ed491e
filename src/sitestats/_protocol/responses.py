"""Read HTTP responses: an ``HttpResponse`` becomes a model, or an error.

Each function checks the status (``failures``), then the JSON, and then, for
statistics, whether the response matches the query (``consistency``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, get_args

import attrs

from sitestats._common.errors import (
    QueryError,
    ResponseError,
    ServiceError,
    warn,
)
from sitestats._common.fields import COUNTS, FIELDS, LISTS
from sitestats._common.jsontext import JsonValue
from sitestats._common.problems import Problem
from sitestats._common.text import bounded, shown
from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._query.builder import StatsQuery, requested
from sitestats._query.periods import utc
from sitestats._query.requested import Requested
from sitestats._query.rules import LATEST_SHAPE
from sitestats._query.validation import validate
from sitestats._results.entries import Entries, EventCount
from sitestats._results.histogram import histogram_class, read_histogram
from sitestats._results.stats import Stats
from sitestats._results.websites import AddedWebsite, WebsiteList

from .consistency import (
    differences,
    missing_events,
    negative_count,
    same_value,
)
from .decoder import Shape, shape
from .failures import (
    OK,
    check_status,
    decode_json,
    not_as_documented,
    page_title,
    unreadable,
)
from .length_check import MOST_ENTRIES, lengths_problems
from .period_check import Period, read_period
from .requests import stats_request

T = TypeVar("T")
P = ParamSpec("P")

_OWN_FIELDS: Final = 3
"""From this version on, a query names its fields."""
_WITH_PAGES: Final = 2
"""The version whose responses always include pages."""
_NO_CONTENT: Final = 204
_MAY_BE_NEGATIVE: Final = re.compile(rb":\s*-")


def read(
    reader: Callable[Concatenate[HttpResponse, P], T],
    response: HttpResponse,
    *args: P.args,
    **options: P.kwargs,
) -> T:
    """What *reader* makes of *response*; an error of it shows no credential."""
    with suppress(ResponseError, ServiceError):
        return reader(response, *args, **options)
    # Again, since an error quotes what it was made of.
    return reader(response.redacted(), *args, **options)


def read_json(response: HttpResponse, request: HttpRequest) -> JsonValue:
    """The decoded response of a custom endpoint (section 1); None for 204."""
    if response.status == _NO_CONTENT:
        return None
    return decode_json(response, request)


def read_websites(response: HttpResponse, request: HttpRequest) -> WebsiteList:
    """The websites of a list (section 4.1).

    The document has them in an object; a bare array is taken as well.
    """
    from .converter import structure_websites

    data = decode_json(response, request)
    path = "$"
    flags = _flags(data)
    if isinstance(data, dict):
        path = "$.websites"
        data = data.get("websites")
    if not isinstance(data, list):
        problem = Problem("expected an array", section="4.1", where=path)
        raise not_as_documented(response, request, [*flags, problem])
    websites, problems = structure_websites(data, path)
    problems = [*flags, *problems]
    if problems:
        raise not_as_documented(response, request, problems)
    return WebsiteList(websites, responded_at=response.responded_at)


def read_added(
    response: HttpResponse,
    request: HttpRequest,
    *,
    hostname: str,
    timezone: str | None,
    public: bool,
    warned: bool = True,
) -> AddedWebsite:
    """The result of adding a website (section 4.2), compared with the request.

    Differences are in ``differences`` and, with *warned*, in a warning: the
    website exists, and can't be removed.
    """
    from .converter import structure_added

    data = decode_json(response, request)
    added, problems = structure_added(data)
    problems = [*_flags(data), *problems]
    if added is None or problems:
        raise not_as_documented(
            response, request, problems, what="the website was added, but the response"
        )
    differences = tuple(
        Problem(
            f"requested {wanted!r}, but the service made it {shown(applied)}",
            section="2.2",
            where=name,
        )
        for name, wanted, applied in (
            ("hostname", hostname, added.hostname),
            ("timezone", timezone, added.timezone),
            ("public", public, added.public),
        )
        if wanted is not None and not same_value(name, wanted, applied)
    )
    if differences and warned:
        what = "; ".join(map(str, differences))
        name = bounded(added.hostname)
        warn(f"{name} was added, but differs from what was requested: {what}")
    return attrs.evolve(added, differences=differences)


def _flags(data: JsonValue) -> list[Problem]:
    """The problems of the values that report success."""
    if not isinstance(data, dict):
        return []
    return [
        Problem("expected true or false", section="2.2", where=f"$.{name}")
        for name in ("ok", "success")
        if name in data and not isinstance(data[name], bool)
    ]


# --- JSONP ------------------------------------------------------------------------


def read_jsonp(response: HttpResponse, request: HttpRequest, callback: str) -> str:
    """The statistics wrapped in a call of *callback*, as served (section 4.3).

    An error response may be wrapped too, so the call is unwrapped to check it.
    Text around the call is not documented, and left as it is.
    """
    try:
        text = response.body.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        # Not yet: an error of the service may come in any encoding.
        text, broken = "", f"is no UTF-8 at byte {error.start}"
    else:
        broken = f"is no call of {callback}"
    inside = _unwrap(text, callback)
    unwrapped = response
    if inside is not None:
        unwrapped = attrs.evolve(response, body=inside.encode())
    data = check_status(unwrapped, request)
    if inside is None or page_title(response.body) is not None:
        raise unreadable(response, request, broken)
    if not isinstance(data, dict):
        raise unreadable(response, request, "holds no object of statistics")
    return text


def _unwrap(text: str, callback: str) -> str | None:
    """The argument that *callback* is called with, None when it is not called."""
    start = re.search(rf"(?<![\w$.]){re.escape(callback)}\s*\(", text)
    end = text.rfind(")")
    if start is None or end < start.end():
        return None
    return text[start.end() : end]


# --- statistics -------------------------------------------------------------------


def read_stats(
    response: HttpResponse,
    request: HttpRequest,
    query: StatsQuery,
    requested: Requested,
    *,
    looked_up_at: datetime | None = None,
) -> Stats:
    """The statistics that *query* requested (section 4.3).

    Args:
        response: The response.
        request: Its request.
        query: The query of the result.
        requested: What the response is checked against.
        looked_up_at: When a stored response was looked up; None for one that came now.

    Raises:
        ServiceError: It is an error response.
        ResponseError: The response does not match the service's document, or
            does not match the query.
    """
    if requested.version < _OWN_FIELDS:
        requested = _with_own_fields(requested)
    expected = shape(requested.fields, requested.events is not None)
    wrong: dict[str, list[Problem]] = {}
    data = expected.decode(response.body) if response.status in OK else None
    if data is None or not (data.get("ok", True) and data.get("success", True)):
        data, wrong = _decode_strictly(response, request, expected, requested)
    else:
        _check_lengths(data, response, request, expected, requested)
    date = response.date
    period = read_period(data, requested, looked_up_at or date)
    problems, warnings = differences(data, wrong, expected, requested, period)
    if problems:
        nothing = expected.required and expected.required.isdisjoint(data)
        hint = _NO_DATA if nothing else ""
        raise not_as_documented(response, request, problems, hint=hint)
    for sentence in warnings:
        warn(sentence)
    moment = date or response.received_at
    values = dict(_values(data, expected, requested, period, moment))
    # Reading every count of every response would take longer.
    if _MAY_BE_NEGATIVE.search(response.body) and (found := negative_count(values)):
        warn(found)
    return Stats(
        query=query,
        hostname=data.get("hostname"),
        path=data.get("path"),
        timezone=data.get("timezone"),
        version=data.get("version"),
        start=period.start,
        end=period.end,
        first_day=period.days[0],
        last_day=period.days[1],
        generated_in_ms=data.get("generated_in_ms"),
        partial=bool(moment and period.end and moment < period.end),
        responded_at=moment,
        body=response.body,
        headers=response.headers,
        from_store=looked_up_at is not None,
        requested=requested,
        values=values,
    )


def read_body(query: object, body: object, responded_at: datetime | None) -> Stats:
    """A stored body, checked as the response to *query*.

    Raises:
        QueryError: The query breaks a rule, or a value is of another type.
        ServiceError: The body is an error response.
        ResponseError: The body does not match the service's document, or does
            not match the query.
    """
    if not isinstance(query, StatsQuery):
        message = f"a query is a StatsQuery, not {shown(query)}"
        raise QueryError([Problem(message, where="query")])
    if not isinstance(body, bytes):
        problem = Problem(f"a body is bytes, not {shown(body)}", where="body")
        raise QueryError([problem])
    wanted = requested(query)
    validate(wanted, has_key=None)
    moment = None if responded_at is None else utc(responded_at)
    if moment is None and responded_at is not None:
        message = f"it is a datetime with a time zone, not {shown(responded_at)}"
        raise QueryError([Problem(message, where="responded_at")])
    response = HttpResponse(OK[0], {}, body, moment)
    return read_stats(response, stats_request(wanted), query, wanted)


def _with_own_fields(requested: Requested) -> Requested:
    """*requested* for versions 1 and 2, which send the totals whatever the fields;
    version 2 always includes pages too (section 9).
    """
    sent = (*COUNTS, "pages") if requested.version == _WITH_PAGES else COUNTS
    names = {*requested.fields, *sent}
    others = (name for name in requested.fields if name not in FIELDS)
    fields = (*(name for name in FIELDS if name in names), *others)
    return attrs.evolve(requested, fields=fields)


def _decode_strictly(
    response: HttpResponse, request: HttpRequest, expected: Shape, requested: Requested
) -> tuple[dict[str, Any], dict[str, list[Problem]]]:
    """The values that msgspec refused, and the problems of others by name."""
    from .converter import structure_stats

    data = decode_json(response, request)
    if not isinstance(data, dict):
        problem = Problem("expected an object", section="2.3", where="$")
        raise not_as_documented(response, request, [problem])
    # Before the entries themselves, which take much longer.
    _check_lengths(data, response, request, expected, requested)
    values, wrong = structure_stats(data, expected.types)
    if requested.version < LATEST_SHAPE:
        # Older lists have shapes of their own: they are in raw() alone.
        wrong = {name: found for name, found in wrong.items() if name not in _LISTS}
    return values, wrong


def _check_lengths(
    data: Mapping[str, Any],
    response: HttpResponse,
    request: HttpRequest,
    expected: Shape,
    requested: Requested,
) -> None:
    problems = [*lengths_problems(data, expected, requested, response)]
    if problems:
        raise not_as_documented(response, request, problems)


_LISTS: Final = frozenset((*LISTS, "pages", "histogram", "events"))
_NO_DATA: Final = (
    ": it has nothing of what was requested; the website may be private and need an "
    "API key (section 5)"
)


def _values(
    data: Mapping[str, Any],
    expected: Shape,
    requested: Requested,
    period: Period,
    moment: datetime | None,
) -> Iterator[tuple[str, Any]]:
    """What was requested, in the document's order."""
    for name in expected.names:
        if name == "seconds_on_page":
            # May be left out where there were too few visits.
            yield name, data.get(name)
        elif name not in data:
            continue
        elif name in COUNTS:
            yield name, data[name]
        elif name == "histogram":
            timezone = data.get("timezone") or requested.timezone
            entries = read_histogram(
                data[name],
                interval=requested.interval,
                timezone=timezone,
                period=period.days,
                end=period.end,
                moment=moment,
            )
            kind = histogram_class(requested.interval)
            yield (
                name,
                Entries(entries, name=name, entry_type=kind, timezone=timezone),
            )
        else:
            items = data[name]
            if name == "events":
                missing = missing_events(data, requested)
                items = [*items, *(EventCount(event, 0) for event in missing)]
            yield (
                name,
                Entries(
                    items,
                    name=name,
                    entry_type=get_args(expected.types[name])[0],
                    truncated=len(data[name]) >= _limit(name, requested),
                ),
            )


def _limit(name: str, requested: Requested) -> float:
    if name != "events":
        return requested.limit
    return MOST_ENTRIES if requested.events == "*" else math.inf
