"""Build HTTP requests, one function for each endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import quote, unquote

import attrs

from sitestats._common.errors import QueryError, SpecError
from sitestats._common.problems import Problem
from sitestats._common.text import shown
from sitestats._common.wire import Credentials, HttpRequest
from sitestats._query import periods, rules
from sitestats._query.requested import Requested
from sitestats._query.rules import Problems, broken, refusal

JSON: Final = "application/json"

_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
# Reserved everywhere, in strict code, or in modules: a callback may be called
# from any of them.
_WORDS: Final = """
    arguments await break case catch class const continue debugger default delete do
    else enum eval export extends false finally for function if implements import in
    instanceof interface let new null package private protected public return static
    super switch this throw true try typeof var void while with yield
"""
_RESERVED: Final = frozenset(_WORDS.split())
_METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
_SAFE_METHODS: Final = frozenset(("GET", "HEAD", "OPTIONS"))
_ENCODED: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def jsonp_request(requested: Requested, callback: str) -> HttpRequest:
    """Request the same, wrapped for JSONP (section 4.3).

    The document has no rule for the callback's name. The response is a script
    that others will run, so only dotted identifiers of ASCII letters are sent,
    none of them a reserved word of JavaScript.

    Raises:
        SpecError: *callback* is no such name.
    """
    given = cast("object", callback)
    parts = given.split(".") if isinstance(given, str) else [""]
    if not all(_IDENTIFIER.fullmatch(part) for part in parts):
        message = (
            "the callback is one or more JavaScript identifiers with dots between "
            f"them, such as 'show' or 'app.show', not {shown(callback)}"
        )
        raise SpecError([broken("callback-name", message, "callback")])
    reserved = [part for part in parts if part in _RESERVED]
    if reserved:
        message = (
            f"{reserved[0]!r} is a reserved word of JavaScript and can't be part of "
            "the callback's name"
        )
        raise SpecError([broken("callback-name", message, "callback")])
    request, name = requested.request, ".".join(parts)
    return attrs.evolve(request, params=(*request.params, ("callback", name)))


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
        SpecError: A value breaks a rule; it holds every problem.
    """
    payload: dict[str, str | bool] = {}
    problems = Problems()
    for name, key, value in (
        ("hostname", "hostname", hostname),
        ("timezone", "timezone", timezone),
        ("public", "isPublic", public),
        ("label", "label", label),
    ):
        if value is None and name in {"timezone", "label"}:
            continue
        checked = problems.check(website_value, name, value)
        if checked is not None:
            payload[key] = checked
    if problems:
        raise SpecError(problems)
    return HttpRequest(
        "POST",
        "/api/websites/add",
        body=json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode(),
        content_type=JSON,
        credentials=Credentials.KEY_AND_USER,
        fresh_connection=True,
    )


def website_value(name: str, value: object, where: str = "") -> str | bool:
    """One value of a website to add, as it is sent (section 4.2)."""
    where = where or name
    match name:
        case "hostname":
            return rules.hostname(value, where, rule="website-hostname")
        case "timezone":
            return periods.timezone(value, where, rule="website-timezone")
        case "public":
            if isinstance(value, bool):
                return value
            message = f"public is true or false, not {shown(value)}"
            raise refusal("website-public", message, where)
        case _:
            if isinstance(value, str):
                return rules.text(value, where)
            message = f"a label is text, not {shown(value)}"
            raise refusal("website-label", message, where)


def custom_request(
    method: str,
    path: str,
    params: Mapping[str, str | bool | float | None] | None = None,
    json: object = None,
) -> HttpRequest:
    """Call a custom endpoint, which only its owner knows (section 1).

    *path* is percent-encoded where it is not yet. A parameter that is None is
    left out, and so is a body that is None.

    Raises:
        QueryError: A value can't be sent, or the path would leave the base
            address.
    """
    problems = Problems()
    verb = _checked_method(method, problems)
    problems += _path_problems(path)
    pairs = _custom_params(params, problems)
    body = b"" if json is None else _body(json, problems)
    if problems:
        raise QueryError(problems)
    return HttpRequest(
        verb,
        quote(path, safe="/%:@!$&'()*+,;=~"),
        tuple(pairs),
        body=body,
        content_type=JSON if body else None,
        credentials=Credentials.KEY_AND_USER,
        # A write that fails on a stale connection may or may not have arrived.
        fresh_connection=verb not in _SAFE_METHODS,
    )


def _checked_method(method: object, problems: list[Problem]) -> str:
    verb = method.upper() if isinstance(method, str) else ""
    if verb not in _METHODS:
        message = f"the method is one of {', '.join(_METHODS)}, not {shown(method)}"
        problems.append(broken("custom-method", message, "method"))
    return verb


def _path_problems(path: object) -> list[Problem]:
    if not isinstance(path, str) or not path.startswith("/") or path[1:2] == "/":
        message = (
            "the path is below the base address and starts with one '/', such as "
            f"'/api/custom', not {shown(path)}"
        )
        return [broken("custom-path", message, "path")]
    messages: list[str] = []
    if "?" in path or "#" in path:
        messages.append("the path has no '?' and no '#': give parameters as params")
    if _ENCODED.search(path):
        messages.append("a '%' in the path starts percent-encoding: write it as '%25'")
    decoded = unquote(path)
    if "\\" in decoded:
        messages.append("the path has no backslash, also not percent-encoded")
    if _CONTROL.search(decoded):
        messages.append("the path has no control characters, also not percent-encoded")
    if not {".", ".."}.isdisjoint(re.split(r"[/\\]", decoded)):
        messages.append(
            "the path has no '.' or '..' between its slashes, also not "
            "percent-encoded: write the path that they lead to"
        )
    problems = Problems(broken("custom-path", message, "path") for message in messages)
    problems.check(rules.text, path, "path")
    return problems


def _custom_params(params: object, problems: Problems) -> list[tuple[str, str]]:
    if params is None:
        return []
    if not isinstance(params, Mapping):
        message = f"the parameters are a mapping, not {shown(params)}"
        problems.append(broken("custom-params", message, "params"))
        return []
    pairs: list[tuple[str, str]] = []
    for name, value in cast("Mapping[object, object]", params).items():
        where = f"params[{shown(name)}]"
        key = problems.check(rules.text, name, where, "custom-params")
        if value is not None:
            text = problems.check(rules.scalar, value, where, "custom-params")
            pairs.append((key or "", text or ""))
    return pairs


def _body(value: object, problems: list[Problem]) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except Exception as error:  # noqa: BLE001 - a value of the user's may raise anything
        message = (
            "the body is made of dicts with str keys, lists, str, bool, int, finite "
            f"float and None: {type(error).__name__}"
        )
        problems.append(broken("custom-body", message, "json"))
        return b""
