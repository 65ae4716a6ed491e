"""Decode the body of a response: the first step of reading it."""

from __future__ import annotations

import re
from http import HTTPStatus

import attrs

from sitestats._wire.messages import HttpRequest, HttpResponse, JsonValue, load_json

from .errors import OK, invalid_response, is_page, of_page, status_error


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
