"""Response bodies of all versions, headers, JSON and JSONP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sitestats._wire.messages import HttpResponse

from ._numbers import AGENT, Numbers
from ._parameters import LISTS, WITH_FIELDS, WITH_PAGES, Query

NEW_NAMES: Final = 5
"""The first version with ``pageviews`` and ``visitors`` in the lists; 2 to 4 have
``visits`` and ``uniqueVisits``."""

CORS: Final = {"access-control-allow-origin": "*"}
"""Scripts of any website may send requests (section 5)."""

WITHOUT_BODY: Final = frozenset({204, 304})
"""The statuses of responses without a body."""

_PROSE: Final = {
    "__about": "Keys that start with two underscores explain; leave them out with "
    "info=false.",
    "__seconds_on_page": "The median of the seconds that visitors spent on a page.",
}


def encode(data: object) -> bytes:
    """JSON as the service writes it: without spaces, in UTF-8."""
    # A label may have half of a surrogate pair, which UTF-8 does not.
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(
        errors="replace"
    )


def json_response(
    status: int, data: object, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """A JSON response, with the service's headers."""
    content_type = {"content-type": "application/json; charset=utf-8"}
    return HttpResponse(
        status, {**content_type, **CORS, **(headers or {})}, encode(data)
    )


def framed(response: HttpResponse) -> dict[str, str]:
    """The headers of a response, with the length of its body if it can have one."""
    if response.status in WITHOUT_BODY:
        return dict(response.headers)
    return {**response.headers, "content-length": str(len(response.body))}


def stats_response(
    status: int,
    data: Mapping[str, object],
    *,
    info: str | None = None,
    callback: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """A response of the Stats API, with explanations unless *info* is false, and as
    JSONP if there is a *callback*.
    """
    if info != "false":
        data = {**_PROSE, **data}
    response = json_response(status, data, headers)
    if callback is None:
        return response
    return HttpResponse(
        status,
        {**response.headers, "content-type": "text/javascript; charset=utf-8"},
        callback.encode() + b"(" + response.body + b");",
    )


def stats_data(hostname: str, query: Query, numbers: Numbers) -> dict[str, object]:
    """The response's data, in the form of the query's version (section 9)."""
    old = query.version < WITH_FIELDS
    body = _old_fields(query, numbers) if old else _fields(query, numbers)
    if query.events is not None:
        events = numbers.events(query.events)
        body["events"] = [{"name": name, "total": total} for name, total in events]
    zone: dict[str, object] = {"timezone": query.period.zone.key}
    if query.version == 1:
        return zone | body
    about: dict[str, object] = {
        "docs": "https://docs.example.com/api",
        "hostname": hostname,
        "url": f"https://{hostname}",
        "path": query.path,
        "start": _instant(query.period.start),
        "end": _instant(query.period.end - timedelta(milliseconds=1)),
        "version": query.version,
    }
    if old:
        # The hosted service was observed to send fewer names than later versions do.
        return {"ok": True, "error": None} | about | body
    return {"ok": True, "info": query.given.get("info", True)} | about | zone | body


def _old_fields(query: Query, numbers: Numbers) -> dict[str, Any]:
    """The totals and lists of versions 1 and 2."""
    visits = [
        {"date": entry["date"], "pageviews": entry["pageviews"]}
        | ({"uniques": entry["visitors"]} if query.version == WITH_PAGES else {})
        for entry in _histogram(query, numbers)
    ]
    agents = [
        {"count": count}
        | {name: v for name, v in zip(AGENT.values(), agent, strict=True) if v}
        for count, *agent in numbers.agents()
    ]
    lists = {
        n: _entries(query, numbers, n) for n in LISTS if query.version == WITH_PAGES
    }
    total = numbers.total().pageviews
    return {"pageviews": total, "visits": visits, "agents": agents, **lists}


def _fields(query: Query, numbers: Numbers) -> dict[str, Any]:
    """The requested fields, from version 3 on."""
    total = numbers.total()
    values: dict[str, Any] = {
        "pageviews": total.pageviews,
        "visitors": total.visitors,
        "seconds_on_page": _number(total.seconds_on_page),
    }
    for name in query.fields:
        if name == "histogram":
            values[name] = _histogram(query, numbers)
        elif name in LISTS:
            values[name] = _entries(query, numbers, name)
    return {name: values[name] for name in query.fields}


def _entries(query: Query, numbers: Numbers, name: str) -> list[dict[str, Any]]:
    old = query.version < NEW_NAMES
    views, visitors = ("visits", "uniqueVisits") if old else ("pageviews", "visitors")
    timed = "seconds_on_page" in query.fields
    return [
        {"value": value, views: count.pageviews, visitors: count.visitors}
        | ({"seconds_on_page": _number(count.seconds_on_page)} if timed else {})
        for value, count in numbers.entries(name)
    ]


def _histogram(query: Query, numbers: Numbers) -> list[dict[str, Any]]:
    """One entry for each bucket, including those without visits (section 2.3)."""
    entries: list[dict[str, Any]] = []
    for bucket, count in numbers.histogram():
        entry: dict[str, Any] = {"date": bucket.wall.date().isoformat()}
        if query.interval == "hour":
            entry["hour"] = bucket.wall.hour
        elif query.interval == "week":
            entry["year"], entry["week"], _ = bucket.wall.isocalendar()
        entries.append(
            entry | {"pageviews": count.pageviews, "visitors": count.visitors}
        )
    return entries


def _number(value: float | None) -> float | None:
    """*value* as JavaScript writes numbers: 12, not 12.0."""
    return int(value) if value is not None and value == int(value) else value


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
