"""Whether the service said yes, and in JSON: what all answers are judged by."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from ._errors import Problem, ResponseError
from ._failures import failure, is_failure, page_title, redirect
from ._json import JsonValue, NotJsonError, load_json
from ._retry_after import parse_http_date
from ._wire import HttpRequest, HttpResponse
from ._wording import shown

OK: Final = range(200, 300)
"""The statuses of answers that may say yes."""
_LOWEST_FAILURE: Final = 400


def judge(
    response: HttpResponse, request: HttpRequest, received: float | None
) -> JsonValue:
    """The decoded body of an answer that says yes; None when it is no JSON."""
    pointing_elsewhere = redirect(response, request)
    if pointing_elsewhere is not None:
        raise pointing_elsewhere
    try:
        data = load_json(response.body)
    except NotJsonError:
        data = None
    if response.status >= _LOWEST_FAILURE or (
        response.status in OK and is_failure(data)
    ):
        moment = moment_of(response, received)
        raise failure(response, request, data, moment=moment)
    if response.status not in OK:
        raise unreadable(
            response, request, f"has the status {response.status}, which no answer has"
        )
    return data


def decoded(
    response: HttpResponse, request: HttpRequest, received: float | None
) -> JsonValue:
    """The decoded body of an answer that says yes, in JSON."""
    data = judge(response, request, received)
    if data is None:
        try:
            data = load_json(response.body)
        except NotJsonError as error:
            raise unreadable(response, request, str(error)) from None
    return data


def moment_of(response: HttpResponse, received: float | None) -> datetime | None:
    """When the service answered, by its own clock if it tells."""
    date = response.headers.get("date")
    moment = None if date is None else parse_http_date(date)
    if moment is None and received is not None:
        return datetime.fromtimestamp(received, UTC)
    return moment


def unreadable(response: HttpResponse, request: HttpRequest, why: str) -> ResponseError:
    """The error of an answer that can't be read; *why* follows "the answer"."""
    title = page_title(response.body)
    if title is not None:
        named = f" with the title {shown(title)}" if title else ""
        why = f"is a page of HTML{named}, not JSON: check the base address and the path"
    return ResponseError(
        f"the answer to {request} {why}", body=response.body, request=request
    )


def not_as_documented(
    response: HttpResponse,
    request: HttpRequest,
    problems: Iterable[Problem],
    *,
    what: str = "",
    hint: str = "",
) -> ResponseError:
    """The error of an answer with *problems*."""
    what = what or f"the answer to {request}"
    return ResponseError(
        f"{what} is not what the service's document says{hint}",
        problems=problems,
        body=response.body,
        request=request,
    )
