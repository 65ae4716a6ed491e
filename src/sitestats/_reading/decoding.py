"""Decode the body of a response: the first step of reading it."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

import attrs
import msgspec

from sitestats._wire.messages import HttpRequest, HttpResponse, JsonValue, load_json

from .errors import (
    OK,
    invalid_response,
    is_page,
    kind_of_page,
    of_page,
    said,
    status_error,
)

_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


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
        why_not += said(response, None)
        if is_page(response):
            why_not = (
                f"is {kind_of_page(response)}, not JSON{of_page(response)}: check the "
                "base address and its path, and whether a page to log in is on the way"
            )
        raise invalid_response(response, request, why_not)
    return data


def decode_members(
    response: HttpResponse, request: HttpRequest, lists: Collection[str]
) -> Any:
    """The decoded body of a successful response, as ``decode_json`` has it, except that
    its *lists* are JSON still.

    A list may have thousands of entries. They are decoded once it is known what they
    are to become, without a dict for each.
    """
    body = response.body
    if not lists:
        return decode_json(response, request)
    # What one of these refuses may be readable all the same, or needs a message.
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if not body.isascii():
            # A list that stays JSON is not looked at.
            body.decode()
        data = {
            name: member if name in lists else msgspec.json.decode(member)
            for name, member in _MEMBERS.decode(body).items()
        }
        refused = data.get("ok") is False or data.get("success") is False
        if response.status in OK and not refused:
            return data
    return decode_json(response, request)


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
