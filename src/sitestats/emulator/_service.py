"""The emulated service: turn a request into a response, and hold the websites.

This module knows no sockets, no httpx and no simulated failures.
"""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast
from urllib.parse import unquote_to_bytes

import attrs

from sitestats._common.wire import HttpResponse

from . import _access
from ._access import Denied, Key, Website, host_name
from ._http import RecordedRequest
from ._numbers import Numbers, count
from ._parameters import FORMS, WITH_FIELDS, Query, read
from ._periods import is_zone
from ._responses import CORS, json_response, stats_data, stats_response
from ._rows import Rows

_MINUTE: Final = 60.0

_HTML: Final = b"<!doctype html><title>Analytics</title><p>There is nothing here."
_PREFLIGHT: Final = {
    **CORS,
    "access-control-allow-methods": "GET, POST, OPTIONS",
    "access-control-allow-headers": "Api-Key, User-Id, Content-Type",
}


@attrs.define
class Service:
    """The state of one emulator, and its endpoints."""

    rows: Rows
    user_id: str
    keys: list[Key]
    fixed: datetime | None = None
    """The fixed present, or None for the clock."""
    role: str = "owner"
    website_limit: int | None = None
    contains_per_minute: int | None = 60
    null_entries: bool = False
    ignore_unknown_keys: bool = False
    bare_list: bool = False
    websites: dict[str, Website] = attrs.field(factory=dict[str, Website])
    clock: Callable[[], float] = time.monotonic
    _searches: dict[str, deque[float]] = attrs.field(
        factory=dict[str, "deque[float]"], init=False
    )
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def now(self) -> datetime:
        """The emulator's present."""
        return datetime.now(UTC) if self.fixed is None else self.fixed

    def respond(self, request: RecordedRequest) -> HttpResponse:
        """Respond to a request; many threads may call this."""
        if request.method == "OPTIONS":
            return HttpResponse(204, _PREFLIGHT)
        if request.path == "/api/websites":
            return self._admin(request, "GET", self._list)
        if request.path == "/api/websites/add":
            return self._admin(request, "POST", self._add)
        if request.path.startswith("/api/"):
            # Observed on the hosted service: an HTML page with status 200.
            return HttpResponse(
                200, {"content-type": "text/html; charset=utf-8"}, _HTML
            )
        if request.method not in {"GET", "HEAD"}:
            return _failure(
                Denied(405, f"{request.method} is not possible here"),
                headers={"allow": "GET, HEAD, OPTIONS"},
            )
        return self._stats(request)

    # -- the Admin API (sections 4.1 and 4.2)

    def _admin(
        self,
        request: RecordedRequest,
        method: str,
        endpoint: Callable[[RecordedRequest, Key], HttpResponse],
    ) -> HttpResponse:
        if request.method != method:
            error = f"{request.method} is not possible here"
            return _admin_failure(405, error, {"allow": f"{method}, OPTIONS"})
        key = _access.admin(request.headers, self.keys, self.user_id)
        if isinstance(key, Denied):
            return _admin_failure(key.status, key.error)
        return endpoint(request, key)

    def _list(self, request: RecordedRequest, key: Key) -> HttpResponse:
        # All websites of the user, even those that the key has no access to.
        del request, key
        recent = self.rows.recent(self.now())
        websites: list[dict[str, object]] = []
        for website in list(self.websites.values()):
            views, events = recent.get(website.hostname, (0, 0))
            websites.append(
                {
                    "hostname": website.hostname,
                    "is_public": website.public,
                    "timezone": website.timezone,
                    "has_ssl": website.has_ssl,
                    "has_script": website.hostname in recent,
                    "own_hostname": website.own_hostname,
                    "label": website.label,
                    "pageviews": views,
                    "events": events,
                }
            )
        enveloped = {"success": True, "websites": websites}
        return json_response(200, websites if self.bare_list else enveloped)

    def _add(self, request: RecordedRequest, key: Key) -> HttpResponse:
        website = self._requested_website(request)
        # Within the lock, or two requests could add the same website.
        with self._lock:
            if isinstance(website, Website):
                website = self._put_new(website, key)
        if isinstance(website, str):
            return _admin_failure(400, website)
        return json_response(
            200,
            {
                "ok": True,
                "success": True,
                "hostname": website.hostname,
                "customDomain": website.own_hostname,
                "public": website.public,
                "timezone": website.timezone,
                "validDNS": True,
            },
        )

    def _put_new(self, website: Website, key: Key) -> Website | str:
        """Add a website that the user of *key* requested, or say why that can't be."""
        hostname, limit = website.hostname, self.website_limit
        if hostname in self.websites:
            return f"{hostname} was added before"
        if limit is not None and len(self.websites) >= limit:
            return f"The plan's limit of {limit} websites is reached"
        self.websites[hostname] = website
        if key.access is not None:
            place = self.keys.index(key)
            self.keys[place] = attrs.evolve(key, access=key.access | {hostname})
        return website

    def _requested_website(self, request: RecordedRequest) -> Website | str:
        """The website that is to be added, or why it can't be added."""
        payload = _payload(request)
        if isinstance(payload, str):
            return payload
        hostname = host_name(payload.get("hostname"))
        public = payload.get("isPublic", False)
        label = payload.get("label", "")
        zone = payload.get("timezone")
        if self.role not in _access.MAY_ADD:
            return f"The role {self.role} can't add websites to this team"
        if hostname is None:
            return "The hostname is not valid"
        if not isinstance(public, bool):
            return "isPublic is true or false"
        if not isinstance(label, str):
            return "The label must be a string"
        zone = zone if is_zone(zone) else "UTC"
        return Website(hostname, timezone=zone, public=public, label=label)

    # -- the Stats API (section 4.3)

    def _stats(self, request: RecordedRequest) -> HttpResponse:
        began = self.clock()
        hostname, path = _parse_path(request.path) or ("", None)
        website = self.websites.get(hostname)
        if website is None:
            callback = request.params.get("callback", "")
            return stats_response(
                404,
                {"ok": False, "status": 404, "message": request.path},
                info="false",
                callback=callback if FORMS["callback"].fits(callback) else None,
            )
        text = request.headers.get("api-key")
        key = _access.find(text, self.keys)
        query, problems = read(
            request.pairs,
            path=path,
            has_key=key is not None,
            zone=website.timezone,
            now=self.now(),
        )
        sent = key is not None or (text is not None and not self.ignore_unknown_keys)
        denied = _access.stats(website, query, key, sent=sent)
        if denied is None and problems:
            denied = Denied(400, "; ".join(problems))
        if denied is not None:
            return _failure(denied, query)
        wait = self._search(text or "") if query.searches else None
        if wait is not None:
            denied = Denied(429, "Too many contains searches (section 7)")
            return _failure(denied, query, {"retry-after": str(wait)})
        numbers = self._count(hostname, query)
        took = round((self.clock() - began) * 1000)
        return stats_response(
            200,
            stats_data(hostname, query, numbers, took),
            # Versions 1 and 2 are older than the explanations.
            info=query.given.get("info") if query.version >= WITH_FIELDS else "false",
            callback=query.given.get("callback"),
        )

    def _count(self, hostname: str, query: Query) -> Numbers:
        return count(self.rows, hostname, query, null_entries=self.null_entries)

    def _search(self, key: str) -> int | None:
        """Count a contains search, or return the seconds to wait.

        Refused searches do not count, so that waiting helps.
        """
        most = self.contains_per_minute
        with self._lock:
            now = self.clock()
            done = self._searches.setdefault(key, deque())
            while done and now - done[0] >= _MINUTE:
                done.popleft()
            if most is None or len(done) < most:
                done.append(now)
                return None
            return max(1, math.ceil(_MINUTE - (now - done[0] if done else 0)))


def _parse_path(path: str) -> tuple[str, str | None] | None:
    """Host name and page of ``/{hostname}.json`` or ``/{hostname}/{path}.json``."""
    if not path.endswith(".json"):
        return None
    try:
        text = unquote_to_bytes(path[1 : -len(".json")]).decode()
    except UnicodeDecodeError:
        return None
    host, slash, page = text.partition("/")
    name = host_name(host)
    # An empty page is neither form.
    if name is None or (slash and not page) or {".", ".."} & {*page.split("/")}:
        return None
    return name, f"/{page}" if slash else None


def _payload(request: RecordedRequest) -> dict[str, Any] | str:
    kind = request.headers.get("content-type", "")
    if not re.match(r"application/json\s*(;|$)", kind, re.IGNORECASE):
        return "The Content-Type must be application/json"
    try:
        payload = json.loads(request.body)
    except (ValueError, RecursionError):
        return "The payload is not JSON"
    if not isinstance(payload, dict):
        return "The payload is not a JSON object"
    return cast("dict[str, Any]", payload)


def _admin_failure(
    status: int, error: str, headers: dict[str, str] | None = None
) -> HttpResponse:
    body = {"ok": False, "success": False, "error": error}
    return json_response(status, body, headers)


def _failure(
    denied: Denied, query: Query | None = None, headers: dict[str, str] | None = None
) -> HttpResponse:
    given: Mapping[str, str] = query.given if query else {}
    body: dict[str, object] = {"ok": False, "error": denied.error}
    if denied.code is not None:
        body["code"] = denied.code
    return stats_response(
        denied.status,
        body,
        info=given.get("info"),
        callback=given.get("callback"),
        headers=headers,
    )
