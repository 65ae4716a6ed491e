"""The control of an emulator over HTTP, for programs in any language.

Each path below ``/-/`` does what a method of ``Emulator`` does, with its arguments as
JSON. ``docs/testing-in-any-language.md`` lists them.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from functools import partial
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


def respond(emulator: Emulator, request: RecordedRequest) -> HttpResponse:
    """The response to a request that controls *emulator*.

    It may not be read from web pages: a page in a browser, which can send requests to
    this machine, must not control it.
    """
    if _is_from_a_page(request):
        error = "a web page can't control the emulator: send this from a program"
        return _response(403, {"ok": False, "error": error})
    try:
        return _response(200, _result(emulator, request))
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


def _result(emulator: Emulator, request: RecordedRequest) -> object:
    """What the path's function or method returns."""
    name = request.path.removeprefix(PREFIX)
    check_names([name], _READ | _CALLS, f"a path below {PREFIX}")
    if request.method == "GET" and name in _READ:
        return _READ[name](emulator)
    if name not in _CALLS or request.method != "POST":
        method = "POST" if name in _CALLS else "GET"
        raise ValueError(f"{request.path} takes {method}, not {request.method}")
    call = _CALLS[name]
    if isinstance(call, str):
        do = getattr(emulator, call)
    else:
        do = partial(call, emulator, request)
    done: dict[str, object] | None = _call(do, _arguments(name, request))
    return {"ok": True, **(done or {})}


def _arguments(name: str, request: RecordedRequest) -> object:
    """The arguments: an object of JSON, or nothing; or rows, in JSON or not."""
    body, given = request.body, dict[str, Any](request.params)
    # No column of a CSV file begins like JSON.
    is_file = name == "load" and body.lstrip()[:1] not in {b"", b"[", b"{"}
    try:
        data = body if is_file else json.loads(body.strip() or b"{}")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the body is not JSON: {error}") from None
    if isinstance(data, dict):
        return given | cast("dict[str, Any]", data)
    has_rows = name in {"load", "websites"}
    return given | {"rows": data} if has_rows else data


def _call(do: Callable[..., Any], given: Any) -> Any:
    """Call *do* with arguments that it has, or say which one is meant."""
    if not isinstance(given, dict):
        raise TypeError(f"give a JSON object, not {given!r}")
    arguments = cast("dict[str, Any]", given)
    signature = inspect.signature(do)
    if not any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        check_names(arguments, signature.parameters, "an argument")
    signature.bind(**arguments)
    return do(**arguments)


# --- what the paths do ----------------------------------------------------------------


def _about(emulator: Emulator) -> dict[str, object]:
    return {
        "ok": True,
        "api_key": emulator.api_key,
        "user_id": emulator.user_id,
        "now": emulator._service.now().isoformat(),  # noqa: SLF001 - for this folder
        "websites": list(emulator.websites),
    }


def _requests(emulator: Emulator) -> object:
    return [record.to_dict() for record in emulator.requests]


def _websites(emulator: Emulator) -> object:
    websites = emulator._service.websites  # noqa: SLF001 - for this folder
    return [attrs.asdict(website) for website in list(websites.values())]


def _add_websites(
    emulator: Emulator, _request: object, rows: Any = None, **website: Any
) -> object:
    before = emulator.websites
    try:
        for one in [website] if rows is None else rows:
            _call(emulator.add_website, one)
    except (TypeError, ValueError):
        # All of them are added, or none.
        for name in emulator.websites[len(before) :]:
            emulator.remove_website(name)
        raise
    return {"websites": list(emulator.websites)}


def _add_key(emulator: Emulator, _request: object, access: Any = ()) -> object:
    return {"key": emulator.add_key(access=access)}


def _load(
    emulator: Emulator, _request: object, rows: Any, hostname: Any = None
) -> object:
    if not isinstance(rows, list | bytes):
        raise TypeError("rows must be a list of JSON objects")
    return attrs.asdict(emulator.load(rows, hostname=hostname))


def _set_clock(emulator: Emulator, _request: object, now: Any) -> object:
    emulator.now = now
    return _about(emulator)


def _made(emulator: Emulator, options: dict[str, Any]) -> Emulator:
    """Another emulator, as the options describe it."""
    make = kind = cast("Any", type(emulator))
    known = [*inspect.signature(kind).parameters, "demo", "made_up"]
    if "made_up" in options:
        make = partial(kind.made_up, options.pop("made_up"))
        known = [*known[:-2], "days"]
    elif "demo" in options:
        check_flag("demo", options["demo"])
        make = kind.demo if options.pop("demo") else kind
    check_names(options, known, "a setting")
    return make(**options)


def _reset(emulator: Emulator, _request: object, **options: Any) -> object:
    own = {"api_key": emulator.api_key, "user_id": emulator.user_id}
    emulator._become(_made(emulator, own | options))  # noqa: SLF001 - for this folder
    return _about(emulator)


def _start(emulator: Emulator, request: RecordedRequest, **options: Any) -> object:
    other = _made(emulator, options)
    host = re.sub(":[0-9]*$", "", request.headers.get("host", HOST))
    port = emulator._start_beside(other)  # noqa: SLF001 - for this folder
    return {**_about(other), "base_url": f"http://{host}:{port}"}


_READ: Final[dict[str, Callable[[Emulator], object]]] = {
    "": _about,
    "websites": _websites,
    "requests": _requests,
}
"""What each path that is read returns."""
_CALLS: Final[dict[str, str | Callable[..., Any]]] = {
    "reset": _reset,
    "clock": _set_clock,
    "websites": _add_websites,
    "change_website": "change_website",
    "remove_website": "remove_website",
    "add_key": _add_key,
    "load": _load,
    "forget_requests": "forget_requests",
    "fail_next": "fail_next",
    "clear_faults": "clear_faults",
    "emulators": _start,
    "stop": "_stop_beside",
}
"""What each path that changes something calls: a method, or a function."""
