"""The control of an emulator over HTTP, for programs in any language.

Each path below ``/-/`` does what a method of ``Emulator`` does, with its arguments as
JSON. ``docs/testing-in-any-language.md`` lists them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, TypeAlias, cast

import attrs

from sitestats._wire.messages import HttpResponse

from ._http import HOST, RecordedRequest
from ._responses import encode
from ._settings import check_flag, check_names

PREFIX: Final = "/-/"
"""The start of the paths that control an emulator; no host name is a hyphen."""

Emulator: TypeAlias = Any
"""The class ``Emulator``, whose module imports this one."""
Call: TypeAlias = Callable[[Emulator, RecordedRequest], object]
"""Does what a path is for, and returns the data of the response."""


def respond(emulator: Emulator, request: RecordedRequest) -> HttpResponse:
    """The response to a request that controls *emulator*.

    It may not be read from web pages: a page in a browser, which can send requests to
    this machine, must not control it.
    """
    if _is_from_a_page(request):
        error = "a web page can't control the emulator: send this from a program"
        return _response(403, {"ok": False, "error": error})
    call = _CALLS.get((request.method, request.path.removeprefix(PREFIX)), _unknown)
    try:
        return _response(200, call(emulator, request))
    except (TypeError, ValueError, OSError) as wrong:
        return _response(400, {"ok": False, "error": str(wrong)})


def _response(status: int, data: object) -> HttpResponse:
    headers = {"content-type": "application/json; charset=utf-8"}
    return HttpResponse(status, headers, encode(data))


def _is_from_a_page(request: RecordedRequest) -> bool:
    # Browsers send one of them with whatever a page sends. An address that is typed
    # into a browser comes from no site.
    site = request.headers.get("sec-fetch-site", "none")
    return "origin" in request.headers or site != "none"


# --- the arguments --------------------------------------------------------------------


def _arguments(request: RecordedRequest) -> dict[str, Any]:
    """The arguments of a call: an object of JSON, or nothing."""
    if not request.body.strip():
        return {}
    data = _json(request)
    if not isinstance(data, dict):
        raise TypeError(f"the body must be a JSON object, not {data!r}")
    return cast("dict[str, Any]", data)


def _json(request: RecordedRequest) -> Any:
    try:
        return request.json()
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the body is not JSON: {error}") from None


def _call(method: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a method with arguments that it has, or say which one is meant."""
    parameters = inspect.signature(method).parameters
    is_open = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if not is_open:
        check_names(arguments, parameters, "an argument")
    for name, parameter in parameters.items():
        is_needed = parameter.default is parameter.empty
        if is_needed and parameter.kind is not parameter.VAR_KEYWORD:
            _need(name, arguments)
    return method(**arguments)


def _need(name: str, arguments: Mapping[str, Any]) -> None:
    if name not in arguments:
        raise TypeError(f"{name} is missing")


def _moment(now: object) -> datetime | None:
    if now is None:
        return None
    if isinstance(now, str):
        with suppress(ValueError):
            moment = datetime.fromisoformat(now)
            if moment.tzinfo is not None:
                return moment
    raise ValueError(
        "now must be ISO 8601 with a zone, such as 2026-03-15T12:00:00Z, or null for "
        f"the clock, not {now!r}"
    )


# --- the paths ------------------------------------------------------------------------


def _unknown(_emulator: Emulator, request: RecordedRequest) -> object:
    name = request.path.removeprefix(PREFIX)
    names = list(dict.fromkeys(name for _, name in _CALLS))
    check_names([name], names, f"a path below {PREFIX}")
    methods = " or ".join(method for method, known in _CALLS if known == name)
    raise ValueError(f"{request.path} takes {methods}, not {request.method}")


def _same(name: str) -> Call:
    """Call the method *name*, which returns nothing."""

    def call(emulator: Emulator, request: RecordedRequest) -> object:
        _call(getattr(emulator, name), _arguments(request))
        return {"ok": True}

    return call


def _about(emulator: Emulator, _request: RecordedRequest | None = None) -> object:
    return {
        "ok": True,
        "api_key": emulator.api_key,
        "user_id": emulator.user_id,
        "now": emulator._service.now().isoformat(),  # noqa: SLF001 - for this folder
        "websites": list(emulator.websites),
    }


def _requests(emulator: Emulator, _request: RecordedRequest) -> object:
    return [record.to_dict() for record in emulator.requests]


def _websites(emulator: Emulator, _request: RecordedRequest) -> object:
    websites = emulator._service.websites  # noqa: SLF001 - for this folder
    return [attrs.asdict(website) for website in list(websites.values())]


def _add_websites(emulator: Emulator, request: RecordedRequest) -> object:
    data = _json(request)
    websites = cast("list[object]", data) if isinstance(data, list) else [data]
    before = emulator.websites
    try:
        for website in websites:
            _add_website(emulator, website)
    except (TypeError, ValueError):
        # All of them are added, or none.
        for name in emulator.websites[len(before) :]:
            emulator.remove_website(name)
        raise
    return {"ok": True, "websites": list(emulator.websites)}


def _add_website(emulator: Emulator, website: Any) -> None:
    if not isinstance(website, dict):
        raise TypeError(f"a website is a JSON object with a hostname, not {website!r}")
    _call(emulator.add_website, cast("dict[str, Any]", website))


def _add_key(emulator: Emulator, request: RecordedRequest) -> object:
    return {"ok": True, "key": _call(emulator.add_key, _arguments(request))}


def _load(emulator: Emulator, request: RecordedRequest) -> object:
    check_names(request.params, ["hostname"], "a parameter of load")
    hostname, body = request.params.get("hostname"), request.body
    # No column of a CSV file begins like JSON.
    if body.lstrip()[:1] in {b"[", b"{"}:
        data = _json(request)
        if isinstance(data, dict):
            named = cast("dict[str, Any]", data)
            check_names(named, ["rows", "hostname"], "an argument of load")
            _need("rows", named)
            data, hostname = named["rows"], named.get("hostname", hostname)
        if not isinstance(data, list):
            raise TypeError("rows must be a list of JSON objects")
        loaded = emulator.load(data, hostname=hostname)
    else:
        loaded = emulator.load(body, hostname=hostname)
    return {"ok": True, **attrs.asdict(loaded)}


def _set_clock(emulator: Emulator, request: RecordedRequest) -> object:
    emulator.now = _call(_moment, _arguments(request))
    return _about(emulator)


def _made(emulator: Emulator, arguments: dict[str, Any]) -> Emulator:
    """Another emulator, as the arguments describe it."""
    options = dict(arguments)
    if "now" in options:
        options["now"] = _moment(options["now"])
    kind = cast("Any", type(emulator))
    names = [*inspect.signature(kind).parameters]
    check_names(options, [*names, "demo", "made_up", "days"], "a setting")
    is_demo = options.pop("demo", False)
    check_flag("demo", is_demo)
    if is_demo:
        check_names(options, names, "a setting of the demo")
        return kind.demo(**options)
    if "made_up" in options:
        return kind.made_up(options.pop("made_up"), **options)
    check_names(options, names, "a setting without made_up")
    return kind(**options)


def _reset(emulator: Emulator, request: RecordedRequest) -> object:
    own = {"api_key": emulator.api_key, "user_id": emulator.user_id}
    emulator._become(_made(emulator, own | _arguments(request)))  # noqa: SLF001 - for this folder
    return _about(emulator)


def _start(emulator: Emulator, request: RecordedRequest) -> object:
    other = _made(emulator, _arguments(request))
    host = re.sub(":[0-9]*$", "", request.headers.get("host", HOST))
    port = emulator._start_beside(other)  # noqa: SLF001 - for this folder
    about = cast("dict[str, object]", _about(other))
    return {**about, "base_url": f"http://{host}:{port}"}


_CALLS: Final[Mapping[tuple[str, str], Call]] = {
    ("GET", ""): _about,
    ("POST", "reset"): _reset,
    ("POST", "clock"): _set_clock,
    ("GET", "websites"): _websites,
    ("POST", "websites"): _add_websites,
    ("POST", "change_website"): _same("change_website"),
    ("POST", "remove_website"): _same("remove_website"),
    ("POST", "add_key"): _add_key,
    ("POST", "load"): _load,
    ("GET", "requests"): _requests,
    ("POST", "requests"): _requests,
    ("POST", "forget_requests"): _same("forget_requests"),
    ("POST", "fail_next"): _same("fail_next"),
    ("POST", "clear_faults"): _same("clear_faults"),
    ("POST", "emulators"): _start,
    ("POST", "stop"): _same("_stop_beside"),
}
"""What each path does, by method and name."""
