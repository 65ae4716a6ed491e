"""Read HTTP responses: an ``HttpResponse`` becomes a model, or an error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, get_args

import attrs

from sitestats._common.errors import (
    MOST_PROBLEMS,
    QueryError,
    ResponseError,
    ServiceError,
    warn,
)
from sitestats._common.fields import COUNTS, FIELDS, TOTALS
from sitestats._common.jsontext import JsonValue
from sitestats._common.problems import Problem
from sitestats._common.settings import Settings, credentials_from
from sitestats._common.text import bounded, shown
from sitestats._common.wire import HttpRequest, HttpResponse, parse_http_date
from sitestats._query.builder import StatsQuery, requested
from sitestats._query.requested import Requested
from sitestats._query.rules import LATEST_SHAPE
from sitestats._results.entries import Entries
from sitestats._results.histogram import mark_entries
from sitestats._results.stats import Stats
from sitestats._results.websites import AddedWebsite, Website, WebsiteList

from .checks import (
    Period,
    differences,
    missing_events,
    read_period,
    same_value,
)
from .converter import Expected, expected, structure, structure_stats
from .failures import (
    OK,
    decode_json,
    not_as_documented,
    page_title,
    unreadable,
)

T = TypeVar("T")
P = ParamSpec("P")

_OWN_FIELDS: Final = 3
"""From this version on, a query names its fields."""
_WITH_PAGES: Final = 2
"""The version whose responses always include pages."""
_NO_CONTENT: Final = 204
_MOST_EVENTS: Final = 1000
"""Of all events (section 8)."""
_NECESSARY: Final = ("ok", "success", "hostname")
"""What a response may lack, and which is an error where it can't be read."""


def read(
    settings: Settings,
    reader: Callable[Concatenate[HttpResponse, HttpRequest, P], T],
    response: HttpResponse,
    request: HttpRequest,
    *args: P.args,
    **options: P.kwargs,
) -> T:
    """What *reader* makes of *response*; an error of it shows no credential, and tells
    where those that were refused are from.
    """
    with suppress(ResponseError, ServiceError):
        return reader(response, request, *args, **options)
    # Again, since an error quotes what it was made of.
    response = response.redacted()
    if response.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        source = credentials_from(settings, request.credentials)
        response = attrs.evolve(response, credentials_from=source)
    return reader(response, request, *args, **options)


def read_json(response: HttpResponse, request: HttpRequest) -> JsonValue:
    """The decoded response of a custom endpoint (section 1); None for 204."""
    return None if response.status == _NO_CONTENT else decode_json(response, request)


# --- the Admin API ------------------------------------------------------------------


def read_websites(response: HttpResponse, request: HttpRequest) -> WebsiteList:
    """The websites of a list (section 4.1).

    The document has them in an object; a bare array is taken as well.
    """
    data = decode_json(response, request)
    items, path, problems = data, "$", _flags(data)
    if isinstance(data, dict):
        items, path = data.get("websites"), "$.websites"
    if not isinstance(items, list):
        problem = Problem("expected an array", section="4.1", where=path)
        raise not_as_documented(response, request, [*problems, problem])
    websites: list[Website] = []
    for index, item in enumerate(items):
        website, wrong = structure(item, Website, f"{path}[{index}]", "2.1")
        websites.append(website)
        problems += wrong
        # Those of a million items would take a gigabyte.
        if len(problems) >= MOST_PROBLEMS:
            break
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
    data = decode_json(response, request)
    added, wrong = structure(data, AddedWebsite, "$", "2.2")
    if problems := [*_flags(data), *wrong]:
        what = "the website was added, but the response"
        raise not_as_documented(response, request, problems, what=what)
    found = tuple(
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
    if found and warned:
        what = "; ".join(map(str, found))
        name = bounded(added.hostname)
        warn(f"{name} was added, but differs from what was requested: {what}")
    website: AddedWebsite = attrs.evolve(added, differences=found)
    return website


def _flags(data: JsonValue) -> list[Problem]:
    """The problems of the values that report success."""
    flags = data if isinstance(data, dict) else {}
    return [
        Problem("expected a boolean", section="2.2", where=f"$.{name}")
        for name in ("ok", "success")
        if not isinstance(flags.get(name, True), bool)
    ]


# --- JSONP --------------------------------------------------------------------------


def read_jsonp(response: HttpResponse, request: HttpRequest, callback: str) -> str:
    """The statistics wrapped in a call of *callback*, as served (section 4.3).

    An error response may be wrapped too, so the call is unwrapped to check it.
    Text around the call is not documented, and left as it is.
    """
    # What is not UTF-8 may still be an error of the service.
    text = response.body.decode("utf-8-sig", "surrogateescape")
    start = re.search(rf"(?<![\w$.]){re.escape(callback)}\s*\(", text)
    is_call = start is not None and ")" in text
    inside = text[start.end() : text.rfind(")")] if start and is_call else text
    body = inside.encode(errors="surrogateescape")
    unwrapped = attrs.evolve(response, body=body)
    data = decode_json(unwrapped, request, may_be_text=True)
    if (
        not is_call
        or not isinstance(data, dict)
        or page_title(response.body) is not None
    ):
        why = f"is not a call of {callback} with an object of statistics"
        raise unreadable(response, request, why)
    return text


# --- statistics ---------------------------------------------------------------------


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
    body = decode_json(response, request)
    if not isinstance(body, dict):
        problem = Problem("expected an object", section="2.3", where="$")
        raise not_as_documented(response, request, [problem])
    has_events = requested.events is not None
    interval = requested.params.get("interval")
    wanted = expected(requested.fields, has_events, interval)
    data, wrong = structure_stats(body, wanted)
    date = parse_http_date(response.headers.get("date", ""))
    period = read_period(data, requested, looked_up_at or date)
    problems, warnings = differences(data, requested, period)
    if wrong or requested.events or not wanted.kinds.keys() <= data.keys():
        _check_fields(data, wrong, wanted, requested, problems, warnings)
    is_unreadable = bool(wrong) and wanted.kinds.keys().isdisjoint(data)
    if problems or is_unreadable or not wrong.keys().isdisjoint(_NECESSARY):
        nothing = wanted.kinds.keys().isdisjoint(body)
        hint = _NO_DATA if nothing and wanted.kinds else ""
        problems = [*wrong.values(), *problems]
        raise not_as_documented(response, request, problems, hint=hint)
    for sentence in warnings:
        warn(sentence)
    moment = date or response.received_at
    return Stats(
        query=query,
        hostname=data.get("hostname"),
        path=data.get("path"),
        timezone=data.get("timezone"),
        version=data.get("version"),
        start=period.start,
        end=period.end,
        first_day=period.first_day,
        last_day=period.last_day,
        generated_in_ms=data.get("generated_in_ms"),
        partial=bool(moment and period.end and moment < period.end),
        responded_at=moment,
        body=response.body,
        headers=response.headers,
        from_store=looked_up_at is not None,
        requested=requested,
        values=_values(data, wanted, requested, period, moment),
        wrong=wrong,
    )


def read_body(query: StatsQuery, body: bytes, responded_at: datetime | None) -> Stats:
    """A stored body, checked as the response to *query*.

    Raises:
        QueryError: The query breaks a rule, or *responded_at* has no time zone.
        ServiceError: The body is an error response.
        ResponseError: The body does not match the service's document, or does
            not match the query.
    """
    wanted = requested(query)
    query.validate()
    if responded_at is not None and responded_at.tzinfo is None:
        message = "responded_at is a datetime with a time zone"
        raise QueryError([Problem(message, where="responded_at")])
    response = HttpResponse(OK[0], {}, body, responded_at)
    return read_stats(response, wanted.request, query, wanted)


def _with_own_fields(requested: Requested) -> Requested:
    """*requested* for versions 1 and 2, which send the totals whatever the fields;
    version 2 always includes pages too (section 9).
    """
    sent = (*COUNTS, "pages") if requested.version == _WITH_PAGES else COUNTS
    names = {*requested.fields, *sent}
    others = (name for name in requested.fields if name not in FIELDS)
    fields = (*(name for name in FIELDS if name in names), *others)
    return attrs.evolve(requested, fields=fields)


def _check_fields(  # noqa: PLR0917  two lists to add to
    data: dict[str, Any],
    wrong: dict[str, Problem],
    wanted: Expected,
    requested: Requested,
    problems: list[Problem],
    warnings: list[str],
) -> None:
    """Add what is missing to *problems*, and what is left out to *warnings*."""
    if requested.version < LATEST_SHAPE:
        # Older lists have shapes of their own, which are in raw() alone.
        for name in wrong.keys() & wanted.kinds.keys() - TOTALS:
            del wrong[name]
            data.pop(name, None)
        return
    if "seconds_on_page" in wanted.kinds and "seconds_on_page" not in wrong:
        # They may be left out where there were too few visits.
        data.setdefault("seconds_on_page", None)
    if absent := wanted.kinds.keys() - data.keys() - wrong.keys():
        problems += [
            Problem("was requested and is missing", section="2.3", where=f"$.{name}")
            for name in wanted.kinds
            if name in absent
        ]
    if isinstance(requested.events, tuple) and "events" in data:
        data["events"] += missing_events(
            data["events"], requested.events, problems, warnings
        )
    for name, problem in wrong.items():
        what = f"the response's {name!r} is"
        if name in data:
            what = f"some entries of the response's {name!r} are"
        warnings.append(f"{what} left out, see .raw(): {problem}")


def _values(
    data: Mapping[str, Any],
    wanted: Expected,
    requested: Requested,
    period: Period,
    moment: datetime | None,
) -> dict[str, Any]:
    """What was requested and can be read, in the document's order."""
    values: dict[str, Any] = {}
    zone = None
    is_open = moment and (period.end is None or moment < period.end)
    most = _MOST_EVENTS if requested.events == "*" else math.inf
    limits = {"histogram": math.inf, "events": most}
    for name, kind in wanted.kinds.items():
        if name not in data:
            continue
        value = data[name]
        if name == "histogram":
            zone = data.get("timezone") or requested.timezone
            value = mark_entries(
                value,
                requested.interval,
                period.zone,
                (period.first_day, period.last_day),
                moment if is_open else None,
            )
        if name not in TOTALS:
            value = Entries(
                value,
                name=name,
                entry_type=get_args(kind)[0],
                truncated=len(value) >= limits.get(name, requested.limit),
                timezone=zone if name == "histogram" else None,
            )
        values[name] = value
    return values


_NO_DATA: Final = (
    ": it has nothing of what was requested; the website may be private and need an "
    "API key (section 5)"
)
