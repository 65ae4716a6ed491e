"""The emulated service: turn a request into a response, and hold the websites.

This module knows no sockets, no httpx and no simulated failures.
"""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, cast
from urllib.parse import unquote_to_bytes

import attrs

from sitestats._wire.messages import HttpResponse

from . import _access
from ._access import Denied, Keys, Website, host_name
from ._http import RecordedRequest
from ._numbers import Numbers
from ._parameters import WITH_FIELDS, Query, read
from ._periods import is_zone
from ._responses import CORS, json_response, stats_data, stats_response
from ._rows import Rows
from ._settings import check_moment, flag, whole

_MINUTE: Final = 60.0

_HTML: Final = b"<!doctype html><title>Analytics</title><p>There is nothing here."
_PREFLIGHT: Final = {
    **CORS,
    "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
    "access-control-allow-headers": "Api-Key, User-Id, Content-Type",
}
_READ: Final = "GET, HEAD, OPTIONS"
"""The methods of an address that is read."""
_METHODS: Final = {"/api/websites": _READ, "/api/websites/add": "POST, OPTIONS"}
"""The methods of the Admin API; every other address is read."""


def _role(_service: Service, attribute: attrs.Attribute[str], role: object) -> None:
    if role not in _access.ROLES:
        roles = ", ".join(_access.ROLES)
        raise ValueError(f"{attribute.name} must be one of {roles}, not {role!r}")


def _moment(now: Any) -> datetime | None:
    """A moment as a datetime, from its text too, which other languages give."""
    if isinstance(now, str):
        with suppress(ValueError):
            now = datetime.fromisoformat(now)
    if now is not None:
        check_moment("now", now)
    return cast("datetime | None", now)


@attrs.define
class Service:
    """The state of one emulator, and its endpoints.

    ``Emulator`` explains the settings.

    Raises:
        TypeError: A setting has another type.
        ValueError: A setting is not valid.
    """

    rows: Rows
    user_id: str
    keys: Keys
    fixed: datetime | None = attrs.field(default=None, converter=_moment)
    """The fixed present, or None for the clock."""
    role: str = attrs.field(default="owner", validator=_role)
    website_limit: int | None = attrs.field(default=None, validator=whole(0))
    contains_per_minute: int | None = attrs.field(default=60, validator=whole(0))
    visitors_return: bool = attrs.field(default=False, validator=flag)
    null_entries: bool = attrs.field(default=False, validator=flag)
    ignore_unknown_keys: bool = attrs.field(default=False, validator=flag)
    bare_list: bool = attrs.field(default=False, validator=flag)
    exposes_headers: bool = attrs.field(default=False, validator=flag)
    websites: dict[str, Website] = attrs.field(factory=dict[str, Website])
    clock: Callable[[], float] = time.monotonic
    _searches: dict[str, list[float]] = attrs.field(
        factory=dict[str, "list[float]"], init=False
    )
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def now(self) -> datetime:
        """The emulator's present."""
        return datetime.now(UTC) if self.fixed is None else self.fixed

    def respond(self, request: RecordedRequest) -> HttpResponse:
        """Respond to a request; many threads may call this."""
        allowed = _METHODS.get(request.path, _READ)
        if request.method == "OPTIONS":
            return HttpResponse(204, {**_PREFLIGHT, "allow": allowed})
        if request.path == "/api/websites":
            return self._admin(request, self._list)
        if request.path == "/api/websites/add":
            return self._admin(request, self._add)
        if request.path.startswith("/api/"):
            # The hosted service was observed to send an HTML page with status 200.
            return HttpResponse(
                200, {"content-type": "text/html; charset=utf-8"}, _HTML
            )
        return self._stats(request)

    # -- the Admin API (sections 4.1 and 4.2)

    def _admin(
        self,
        request: RecordedRequest,
        endpoint: Callable[[RecordedRequest, str], object],
    ) -> HttpResponse:
        try:
            _check_method(request)
            key = _access.check_admin(request.headers, self.keys, self.user_id)
            return json_response(200, endpoint(request, key))
        except Denied as denied:
            error = {"ok": False, "success": False, "error": denied.error}
            return json_response(denied.status, error, denied.headers)

    def _list(self, _request: RecordedRequest, _key: str) -> object:
        # The list has websites of the user that the key has no access to, too.
        recent = self.rows.recent(self.now())
        websites: list[dict[str, object]] = [
            {
                "hostname": website.hostname,
                "is_public": website.public,
                "timezone": website.timezone,
                "has_ssl": website.has_ssl,
                "has_script": website.hostname in recent,
                "own_hostname": website.own_hostname,
                "label": website.label,
                "pageviews": recent.get(website.hostname, (0, 0))[0],
                "events": recent.get(website.hostname, (0, 0))[1],
            }
            for website in list(self.websites.values())
        ]
        return websites if self.bare_list else {"success": True, "websites": websites}

    def _add(self, request: RecordedRequest, key: str) -> object:
        if self.role not in _access.MAY_ADD:
            raise Denied(400, f"The role {self.role} can't add websites to this team")
        website = _requested_website(request)
        hostname, limit = website.hostname, self.website_limit
        # Two requests at once may add the same website.
        with self._lock:
            if hostname in self.websites:
                raise Denied(400, f"{hostname} was added before")
            if limit is not None and len(self.websites) >= limit:
                raise Denied(400, f"The plan's limit of {limit} websites is reached")
            self.websites[hostname] = website
        access = self.keys[key]
        if access is not None:
            access.add(hostname)
        return {
            "ok": True,
            "success": True,
            "hostname": hostname,
            "customDomain": website.own_hostname,
            "public": website.public,
            "timezone": website.timezone,
            "validDNS": True,
        }

    # -- the Stats API (section 4.3)

    def _stats(self, request: RecordedRequest) -> HttpResponse:
        began = self.clock()
        hostname, path = _parse_path(request.path)
        website = self.websites.get(hostname)
        key = request.headers.get("api-key")
        if self.ignore_unknown_keys and key not in self.keys:
            key = None
        query, problems = read(
            request.pairs,
            path=path,
            has_key=key in self.keys,
            zone=website.timezone if website else "UTC",
            now=self.now(),
        )
        info, callback = query.given.get("info"), query.given.get("callback")
        if website is None:
            error = {"ok": False, "status": 404, "message": request.path}
            return stats_response(404, error, info="false", callback=callback)
        try:
            _check_method(request)
            _access.check_stats(website, query, key, self.keys)
            self._check(query, problems, key or "")
        except Denied as denied:
            return stats_response(
                denied.status,
                {"ok": False, "error": denied.error, **denied.more},
                info=info,
                callback=callback,
                headers=denied.headers,
            )
        numbers = Numbers(
            self.rows,
            hostname,
            query,
            null_entries=self.null_entries,
            visitors_return=self.visitors_return,
        )
        data = stats_data(hostname, query, numbers)
        if query.version >= WITH_FIELDS:
            data["generated_in_ms"] = round((self.clock() - began) * 1000)
        return stats_response(
            200,
            data,
            # Versions 1 and 2 are older than the explanations.
            info=info if query.version >= WITH_FIELDS else "false",
            callback=callback,
        )

    def _check(self, query: Query, problems: list[str], key: str) -> None:
        """Check the rules for parameters, and the rate of contains searches.

        Refused searches do not count, so that waiting helps.
        """
        if problems:
            raise Denied(400, "; ".join(problems))
        if not query.searches:
            return
        most = self.contains_per_minute
        with self._lock:
            now = self.clock()
            recent = [at for at in self._searches.get(key, ()) if now - at < _MINUTE]
            if most is not None and len(recent) >= most:
                wait = _MINUTE - (now - recent[0] if recent else 0)
                raise Denied(
                    429,
                    "Too many contains searches (section 7)",
                    headers={"retry-after": str(math.ceil(wait))},
                )
            self._searches[key] = [*recent, now]


def _check_method(request: RecordedRequest) -> None:
    allowed = _METHODS.get(request.path, _READ)
    if request.method not in allowed.split(", "):
        error = f"{request.method} is not allowed here"
        raise Denied(405, error, headers={"allow": allowed})


def _parse_path(path: str) -> tuple[str, str | None]:
    """Host name and page of ``/{hostname}.json`` or ``/{hostname}/{path}.json``.

    The host name of another path is empty.
    """
    # Neither a broken encoding nor an empty page is one of the forms. A dot segment
    # would lead to another website.
    if not re.fullmatch(r"/(%[0-9a-fA-F]{2}|[^%])*\.json", path, re.DOTALL):
        return "", None
    try:
        text = unquote_to_bytes(path[1:].removesuffix(".json")).decode()
        host, slash, page = text.partition("/")
        name = host_name(host)
    except ValueError:
        return "", None
    if (slash and not page) or not {".", ".."}.isdisjoint(page.split("/")):
        return "", None
    return name, f"/{page}" if slash else None


def _requested_website(request: RecordedRequest) -> Website:
    """The website that a request wants to add."""
    kind = request.headers.get("content-type", "")
    if not re.match(r"application/json\s*(;|$)", kind, re.IGNORECASE):
        raise Denied(400, "The Content-Type must be application/json")
    try:
        payload = json.loads(request.body)
    except (ValueError, RecursionError):
        raise Denied(400, "The payload is not JSON") from None
    if not isinstance(payload, dict):
        raise Denied(400, "The payload is not a JSON object")
    given = cast("dict[str, Any]", payload)
    zone = given.get("timezone")
    try:
        return Website(
            host_name(given.get("hostname")),
            zone if is_zone(zone) else "UTC",
            given.get("isPublic", False),
            given.get("label", ""),
        )
    except (TypeError, ValueError) as wrong:
        raise Denied(400, f"The website is not valid: {wrong}") from None
