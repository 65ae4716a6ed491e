"""Read HTTP responses: an ``HttpResponse`` becomes a model, or an error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, get_args

import attrs

from sitestats._base.errors import (
    AuthenticationError,
    InvalidInputError,
    InvalidResponseError,
    PermissionDeniedError,
    Problem,
    StatusError,
    warn,
)
from sitestats._base.fields import FIELD_ROWS, NULLABLE, TOTALS
from sitestats._base.text import counted, cut, shown
from sitestats._base.zones import same_zone
from sitestats._configuration.settings import Settings, credentials_from
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._query.requested import Parameters
from sitestats._results.entries import Entries, mark_entries
from sitestats._results.stats import Stats
from sitestats._results.websites import AddedWebsite, Website, WebsiteList
from sitestats._wire.json_values import JsonValue, load_json
from sitestats._wire.messages import HttpRequest, HttpResponse

from .checks import Period, check_response, same_host
from .converter import Expected, expected, structure, structure_stats
from .error_responses import (
    OK,
    invalid_response,
    is_own,
    is_page,
    of_page,
    status_error,
)

T = TypeVar("T")
P = ParamSpec("P")

_MOST_EVENTS: Final = 1000
"""The most events that a response has (section 8)."""
_WRONG: Final = "does not match the service's documentation"
_NO_DATA: Final = (
    ": it has nothing of what was requested; the website may be private and need an "
    "API key (section 5)"
)


def read(
    settings: Settings,
    reader: Callable[Concatenate[HttpResponse, HttpRequest, P], T],
    response: HttpResponse,
    request: HttpRequest,
    *args: P.args,
    **options: P.kwargs,
) -> T:
    """What *reader* makes of *response*. An error shows no credential, and tells where
    refused credentials are from, or which proxy it came by.
    """
    try:
        return reader(response, request, *args, **options)
    except StatusError as error:
        if isinstance(error, (AuthenticationError, PermissionDeniedError)):
            error.credentials_from = credentials_from(settings, request.credentials)
        error.message += _by_proxy(settings, response)
        # The frames that have read the response have it as it came.
        raise error.with_traceback(None) from None
    except InvalidResponseError:
        # It is read again, since the error quotes it.
        response = response.redacted()
    try:
        return reader(response, request, *args, **options)
    except InvalidResponseError as error:
        error.message += _by_proxy(settings, response)
        raise


def _by_proxy(settings: Settings, response: HttpResponse) -> str:
    """Which proxy a response came by that the service itself may not have sent."""
    if settings.proxy is None or is_own(response):
        return ""
    source = settings.sources["proxy"]
    return f"; it came by the proxy {settings.shown_proxy}, from {source}"


def decode_json(response: HttpResponse, request: HttpRequest) -> JsonValue:
    """The decoded body of a successful response.

    Raises:
        StatusError: It is an error response, by its status or its body.
        InvalidResponseError: It is not JSON.
    """
    data, why_not = None, ""
    try:
        data = load_json(response.body)
    except ValueError as error:
        why_not = str(error)
    fields = data if isinstance(data, dict) else {}
    if (
        response.status not in OK
        or fields.get("ok") is False
        or fields.get("success") is False
    ):
        raise status_error(response, request, data)
    if why_not:
        if is_page(response):
            why_not = (
                f"is a page of HTML, not JSON{of_page(response)}: check the base "
                "address and its path, and whether a page to log in is on the way"
            )
        raise invalid_response(response, request, why_not)
    return data


def read_json(response: HttpResponse, request: HttpRequest) -> JsonValue:
    """The decoded response of a custom endpoint (section 1); None without a body.

    A GET has a body, so an empty success may be one that was cut: that is an error.
    """
    may_be_empty = response.status == HTTPStatus.NO_CONTENT or request.method != "GET"
    if may_be_empty and response.status in OK and not response.body.strip():
        return None
    return decode_json(response, request)


# --- the Admin API ------------------------------------------------------------------


def read_websites(response: HttpResponse, request: HttpRequest) -> WebsiteList:
    """The websites of a list (section 4.1).

    The document has them in an object; a bare array is read as well.
    """
    items, path = decode_json(response, request), "$"
    if isinstance(items, dict):
        items, path = items.get("websites"), "$.websites"
    if not isinstance(items, list):
        problem = Problem("expected an array", section="4.1", where=path)
        raise invalid_response(response, request, _WRONG, [problem])
    websites, problems = list[Website](), list[Problem]()
    for place, item in enumerate(items):
        website, wrong = structure(item, Website, f"{path}[{place}]", "2.1")
        problems += wrong
        if website and website.hostname:
            websites.append(
                attrs.evolve(website, problems=(*wrong,)) if wrong else website
            )
    if problems and not websites:
        raise invalid_response(response, request, _WRONG, problems)
    if problems:
        number = counted(len(problems), "value")
        warn(f"{number} of the list of websites can't be read: {problems[0]}")
    return WebsiteList(
        websites,
        responded_at=response.responded_at,
        problems=tuple(problems),
        incomplete=len(websites) < len(items),
    )


def read_added(
    response: HttpResponse,
    request: HttpRequest,
    asked: tuple[str, str | None, bool],
    *,
    warned: bool = True,
) -> AddedWebsite:
    """The result of adding a website (section 4.2), compared with the host name, the
    time zone and the flag that were *asked* for.

    With *warned*, differences and what can't be read are in the result and in a
    warning: they are no error, since the website exists and can't be removed. Without,
    the caller has the list to look at, and what can't be read is an error.
    """
    data = decode_json(response, request)
    added, problems = structure(data, AddedWebsite, "$", "2.2")
    if problems and not (warned and added and added.hostname):
        why = f"{_WRONG}, but the website was added"
        raise invalid_response(response, request, why, problems)
    hostname, zone, public = asked
    # A request without a time zone leaves the zone to the service.
    zone = zone or added.timezone
    differences = tuple(
        Problem(
            f"requested {requested!r}, but the service made it {shown(applied)}",
            section="2.2",
            where=name,
        )
        for name, requested, applied, is_same in (
            ("hostname", hostname, added.hostname, same_host(hostname, added.hostname)),
            ("timezone", zone, added.timezone, same_zone(zone, added.timezone)),
            ("public", public, added.public, public is added.public),
        )
        if not is_same and applied is not None
    )
    if warned and (wrong := (*problems, *differences)):
        what = "; ".join(map(str, wrong))
        warn(f"{cut(added.hostname)} was added, but not all is as requested: {what}")
    website: AddedWebsite
    website = attrs.evolve(added, differences=differences, problems=(*problems,))
    return website


# --- JSONP --------------------------------------------------------------------------


def read_jsonp(response: HttpResponse, request: HttpRequest, callback: str) -> str:
    """The statistics wrapped in a call of *callback*, as served (section 4.3).

    An error response may be wrapped too, so the call is unwrapped to check it.
    Text around the call is not documented, and left as it is.
    """
    # A body that is not UTF-8 may still be an error of the service.
    text = response.body.decode("utf-8-sig", "surrogateescape")
    name = re.escape(callback)
    call = re.search(rf"(?<![\w$.]){name}\s*\((.*)\)", text, re.DOTALL)
    inside = (call[1] if call else text).encode(errors="surrogateescape")
    data = decode_json(attrs.evolve(response, body=inside), request)
    if call is None or not isinstance(data, dict):
        why = f"is not a call of {callback} with an object of statistics"
        raise invalid_response(response, request, why)
    return text


# --- statistics ---------------------------------------------------------------------


def read_stats(
    response: HttpResponse,
    request: HttpRequest,
    query: StatsQuery,
    parameters: Parameters,
    *,
    looked_up_at: datetime | None = None,
) -> Stats:
    """The statistics that *query* requested (section 4.3).

    Args:
        response: The response.
        request: Its request.
        query: The query of the result.
        parameters: What the response is checked against.
        looked_up_at: When a stored response was looked up; None for a new response.

    Raises:
        StatusError: It is an error response.
        InvalidResponseError: The response does not match the service's document, or
            does not match the query.
    """
    body = decode_json(response, request)
    if not isinstance(body, dict):
        problem = Problem("expected an object", section="2.3", where="$")
        raise invalid_response(response, request, _WRONG, [problem])
    interval, zone = map(parameters.params.get, ("interval", "timezone"))
    shape = expected(parameters.fields, parameters.events is not None, interval)
    data, wrong = structure_stats(body, shape, interval, zone)
    date = response.date
    period, problems, warnings = check_response(
        data, wrong, parameters, looked_up_at or date
    )
    if not parameters.has_documented_shape:
        # Older lists have shapes of their own, which are in raw() alone.
        for name in wrong.keys() - TOTALS:
            del wrong[name]
            data.pop(name, None)
    elif wrong or not shape.kinds.keys() <= data.keys():
        for name in NULLABLE & (shape.kinds.keys() - wrong.keys()):
            # It may be left out where there were too few visits.
            data.setdefault(name, None)
        problems += [
            Problem(
                "was requested and is missing",
                section=FIELD_ROWS[name].section,
                where=f"$.{name}",
            )
            for name in shape.kinds
            if name not in data and name not in wrong
        ]
    if problems or (wrong and shape.kinds.keys().isdisjoint(data)):
        is_empty = shape.kinds and shape.kinds.keys().isdisjoint(body)
        why = _WRONG + _NO_DATA if is_empty else _WRONG
        raise invalid_response(response, request, why, [*wrong.values(), *problems])
    for name, problem in wrong.items():
        what = f"some entries of {name!r} are" if name in data else f"{name!r} is"
        of = parameters.hostname
        warnings.append(f"{what} left out of the result for {of}: {problem}")
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
        headers=response.shown_headers,
        from_store=looked_up_at is not None,
        values=_values(data, wrong, shape, parameters, period, moment),
        wrong=wrong,
        warnings=tuple(warnings),
    )


def read_body(query: StatsQuery, body: bytes, responded_at: datetime | None) -> Stats:
    """A stored body, checked as the response to *query*.

    Raises:
        InvalidInputError: The query breaks a rule, or *responded_at* has no time zone.
        StatusError: The body is an error response.
        InvalidResponseError: The body does not match the service's document, or does
            not match the query.
    """
    parameters = parameters_of(query)
    query.validate()
    if responded_at is not None and responded_at.tzinfo is None:
        message = "responded_at is a datetime with a time zone"
        raise InvalidInputError([Problem(message, where="responded_at")])
    response = HttpResponse(OK[0], {}, body, responded_at)
    return read_stats(response, parameters.request, query, parameters)


def _values(  # noqa: PLR0917  what is known of one response
    data: Mapping[str, Any],
    wrong: Mapping[str, Problem],
    shape: Expected,
    parameters: Parameters,
    period: Period,
    moment: datetime | None,
) -> dict[str, Any]:
    """What was requested and can be read, in the document's order."""
    values = {name: data[name] for name in shape.kinds if name in data}
    for name in values.keys() - TOTALS:
        value, most, zone = values[name], float(parameters.limit), None
        if name == "histogram":
            most, zone = math.inf, data.get("timezone") or parameters.timezone
            is_open = moment and (period.end is None or moment < period.end)
            value = mark_entries(
                value,
                parameters.interval,
                period.zone,
                (period.first_day, period.last_day),
                moment if is_open else None,
            )
        elif name == "events":
            most = _MOST_EVENTS if parameters.events == "*" else math.inf
        values[name] = Entries(
            value,
            name=name,
            entry_type=get_args(shape.kinds[name])[0],
            truncated=len(value) >= most,
            incomplete=name in wrong,
            timezone=zone,
            total_pageviews=data.get("pageviews"),
        )
    return values
