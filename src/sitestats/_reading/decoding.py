"""Decode the body of a response: the first step of reading it."""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Concatenate, ParamSpec, TypeVar

import attrs

from sitestats._base.errors import (
    AuthenticationError,
    InvalidResponseError,
    PermissionDeniedError,
    StatusError,
)
from sitestats._configuration.settings import Settings, credentials_from
from sitestats._wire.json_values import JsonValue, load_json
from sitestats._wire.messages import HttpRequest, HttpResponse

from .errors import OK, invalid_response, is_own, is_page, of_page, status_error

T = TypeVar("T")
P = ParamSpec("P")


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
    except (StatusError, InvalidResponseError) as error:
        if isinstance(error, (AuthenticationError, PermissionDeniedError)):
            error.credentials_from = credentials_from(settings, request.credentials)
        error.message += _by_proxy(settings, response)
        # The frames that have read the response have it as it came.
        raise error.with_traceback(None) from None


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
