"""Build HTTP requests, one function for each endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import quote, unquote

import attrs

from sitestats._base.errors import InvalidInputError
from sitestats._base.text import shown
from sitestats._query import periods, rules
from sitestats._query.requested import Parameters
from sitestats._query.rules import Problems, broken, refusal
from sitestats._wire.messages import Credentials, HttpRequest

JSON: Final = "application/json"

_CALLBACK: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*(\.[A-Za-z_$][A-Za-z0-9_$]*)*")
_METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
_SAFE_METHODS: Final = frozenset(("GET", "HEAD", "OPTIONS"))
# Text that leads elsewhere once a server decodes or resolves it, and "%" by itself.
_ODD_PATH: Final = re.compile(r"[?#\\\x00-\x1f\x7f-\x9f]|(^|/)\.\.?(/|$)")
_ENCODED: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


def jsonp_request(parameters: Parameters, callback: str) -> HttpRequest:
    """Request the same, wrapped for JSONP (section 4.3).

    The document has no rule for the callback's name. The response is a script that
    others will run, so only dotted identifiers of ASCII letters are sent.

    Raises:
        InvalidInputError: *callback* is another text.
    """
    given = cast("object", callback)
    if not isinstance(given, str) or not _CALLBACK.fullmatch(given):
        message = (
            "the callback is one or more JavaScript identifiers with dots between "
            f"them, such as 'show' or 'app.show', not {shown(callback)}"
        )
        raise InvalidInputError([broken("callback-name", message, "callback")])
    params = (*parameters.request.params, ("callback", callback))
    return attrs.evolve(parameters.request, params=params)


def list_request() -> HttpRequest:
    """Request the websites of the user (section 4.1)."""
    return HttpRequest(
        "GET", "/api/websites", content_type=JSON, credentials=Credentials.KEY_AND_USER
    )


def add_request(
    hostname: str,
    *,
    timezone: str | None = None,
    public: bool = False,
    label: str | None = None,
) -> HttpRequest:
    """Request that a website be added (section 4.2).

    What is None is left out; an empty label is sent.

    Raises:
        InvalidInputError: A value breaks a rule; it holds every problem.
    """
    payload: dict[str, str | bool] = {}
    given = {"hostname": hostname, "timezone": timezone, "public": public}
    with Problems() as problems:
        for name, value in {**given, "label": label}.items():
            if value is None and name in {"timezone", "label"}:
                continue
            checked = problems.check(website_value, name, value)
            if checked is not None:
                payload["isPublic" if name == "public" else name] = checked
    return HttpRequest(
        "POST",
        "/api/websites/add",
        body=json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode(),
        content_type=JSON,
        credentials=Credentials.KEY_AND_USER,
        new_connection=True,
    )


def website_value(name: str, value: object, where: str = "") -> str | bool:
    """One value of a website to add, as it is sent (section 4.2)."""
    where = where or name
    if name == "hostname":
        if not isinstance(value, str):
            message = (
                f"give a host name, not {shown(value)}: ensure([spec]) takes a "
                "WebsiteSpec(…) too, and WebsiteSpec.of(website) makes one"
            )
            raise refusal("website-hostname", message, where)
        return rules.hostname(value, where, "website-hostname")
    if name == "timezone":
        return periods.timezone(value, where, "website-timezone")
    if name == "label":
        return rules.text(value, where, "website-label")
    if isinstance(value, bool):
        return value
    message = f"public is true or false, not {shown(value)}"
    raise refusal("website-public", message, where)


def custom_request(
    method: str,
    path: str,
    params: Mapping[str, str | bool | float | None] | None = None,
    json: object = None,
) -> HttpRequest:
    """Call a custom endpoint, which only its owner knows (section 1).

    *path* is percent-encoded where it is not yet. A parameter that is None is
    left out, like a body that is None.

    Raises:
        InvalidInputError: A value can't be sent, or the path would leave the base
            address.
    """
    verb = str(method).upper()
    pairs: list[tuple[str, str]] = []
    with Problems() as problems:
        known = _METHODS, "custom-method", "a method", "method"
        problems.check(rules.one_of, verb, *known)
        problems.check(_checked_path, path)
        for name, value in (params or {}).items():
            where = f"params[{shown(name)}]"
            key = problems.check(rules.text, name, where, "custom-params")
            if value is not None:
                text = problems.check(rules.scalar, value, where, "custom-params")
                pairs.append((key or "", text or ""))
        body = b"" if json is None else problems.check(_body, json)
    return HttpRequest(
        verb,
        quote(path, safe="/%:@!$&'()*+,;=~"),
        tuple(pairs),
        body=body or b"",
        content_type=JSON if body else None,
        credentials=Credentials.KEY_AND_USER,
        # A write that fails on a stale connection may or may not have arrived.
        new_connection=verb not in _SAFE_METHODS,
    )


def _checked_path(path: object) -> str:
    text = rules.text(path, "path", "custom-path")
    is_below = text.startswith("/") and not text.startswith("//")
    if not is_below or _ENCODED.search(text) or _ODD_PATH.search(unquote(text)):
        message = (
            "the path is below the base address and starts with one '/', such as "
            "'/api/custom'; it has no '?', '#', backslash, control character, '.' or "
            f"'..' between slashes, and a '%' only to encode, not {shown(path)}"
        )
        raise refusal("custom-path", message, "path")
    return text


def _body(value: object) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the body can't be JSON: {error}"
    raise refusal("custom-body", message, "json")
