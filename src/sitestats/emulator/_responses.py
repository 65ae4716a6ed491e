"""Response bodies of versions 1 to 6, headers, JSON and JSONP."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sitestats._common.wire import HttpResponse

from ._aggregate import Count, Numbers
from ._parameters import FIELDS, LISTS, WITH_PAGES, Query
from ._periods import buckets

DOCS: Final = "https://docs.example.com/api"

NEW_NAMES: Final = 5
"""The first version with ``pageviews`` and ``visitors`` in the lists; 3 and 4 still
have ``visits`` and ``uniqueVisits``."""

CORS: Final = {"access-control-allow-origin": "*"}
"""Scripts of any website may send requests (section 5)."""

_OBSERVED: Final = {
    **CORS,
    "content-security-policy": "default-src 'self'",
    "set-cookie": "visit=1; Path=/; HttpOnly",
    "x-frame-options": "SAMEORIGIN",
}
"""Headers that the hosted service was observed to send; clients ignore cookies."""

_AGENT: Final = (*("browser_name", "browser_version", "os_name", "os_version"), "type")
"""The keys of an agent in versions 1 and 2, in the order of ``Numbers.agents``."""

_PROSE: Final = {
    "__about": "Keys that start with two underscores explain; leave them out with "
    "info=false.",
    "__seconds_on_page": "The median of the seconds that visitors spent on a page.",
}


def encode(data: object) -> bytes:
    """JSON as the service writes it: without spaces, in UTF-8."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A label may have half of a surrogate pair, which JSON has as an escape.
        return json.dumps(data, separators=(",", ":")).encode()


def json_response(
    status: int, data: object, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """A JSON response, with the service's headers."""
    content_type = {"content-type": "application/json; charset=utf-8"}
    return HttpResponse(
        status, {**content_type, **_OBSERVED, **(headers or {})}, encode(data)
    )


def stats_response(
    status: int,
    data: Mapping[str, object],
    *,
    info: str | None = None,
    callback: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """A response of the Stats API: with prose unless *info* is false, JSONP if
    *callback* is given.
    """
    if info != "false":
        data = {**_PROSE, **data}
    response = json_response(status, data, headers)
    if callback is None:
        return response
    # These two characters end a line in JavaScript, but not in JSON.
    body = response.body.replace(b"\xe2\x80\xa8", b"\\u2028")
    body = body.replace(b"\xe2\x80\xa9", b"\\u2029")
    return HttpResponse(
        status,
        {**response.headers, "content-type": "text/javascript; charset=utf-8"},
        callback.encode() + b"(" + body + b");",
    )


def number(value: float | None) -> float | None:
    """*value* as JavaScript writes numbers: 12, not 12.0."""
    return int(value) if value is not None and value == int(value) else value


def stats_data(hostname: str, query: Query, numbers: Numbers, took: int) -> Any:
    """The response's data, in the form of the query's version (section 9)."""
    if query.version == 1:
        return _version_1(query, numbers)
    if query.version == WITH_PAGES:
        return _version_2(hostname, query, numbers)
    return _version_3_to_6(hostname, query, numbers, took)


def _version_1(query: Query, numbers: Numbers) -> dict[str, object]:
    body: dict[str, object] = {
        "timezone": query.timezone,
        "pageviews": numbers.total.pageviews,
        "visits": [
            {"date": entry["date"], "pageviews": entry["pageviews"]}
            for entry in _histogram(query, numbers)
        ],
        "agents": _agents(numbers),
    }
    return body | _events(query, numbers)


def _version_2(hostname: str, query: Query, numbers: Numbers) -> dict[str, object]:
    # The hosted service was observed to send fewer names than later versions do.
    body: dict[str, object] = {
        "ok": True,
        "error": None,
        "docs": DOCS,
        **_identity(hostname, query),
        "pageviews": numbers.total.pageviews,
        "visits": [
            {
                "date": entry["date"],
                "pageviews": entry["pageviews"],
                "uniques": entry["visitors"],
            }
            for entry in _histogram(query, numbers)
        ],
        "agents": _agents(numbers),
    }
    for name in LISTS:
        body[name] = [
            {"value": value, "visits": count.pageviews, "uniqueVisits": count.visitors}
            for value, count in numbers.lists[name]
        ]
    return body | _events(query, numbers)


def _identity(hostname: str, query: Query) -> dict[str, object]:
    """The website, the page, the period and the version of a response."""
    return {
        "hostname": hostname,
        "url": f"https://{hostname}",
        "path": query.path,
        "start": _instant(query.period.start),
        "end": _instant(query.period.end - timedelta(milliseconds=1)),
        "version": query.version,
    }


def _version_3_to_6(
    hostname: str, query: Query, numbers: Numbers, took: int
) -> dict[str, object]:
    body: dict[str, object] = {
        "ok": True,
        "docs": DOCS,
        "info": True if query.info is None else query.info,
        **_identity(hostname, query),
        "timezone": query.timezone,
    }
    medians = "seconds_on_page" in query.fields
    old = query.version < NEW_NAMES
    make: dict[str, Callable[[], object]] = {
        "pageviews": lambda: numbers.total.pageviews,
        "visitors": lambda: numbers.total.visitors,
        "histogram": lambda: _histogram(query, numbers),
        "seconds_on_page": lambda: number(numbers.total.seconds_on_page),
    }
    for name in FIELDS:
        if name in query.fields:
            body[name] = (
                make[name]()
                if name in make
                else [
                    _entry(value, count, medians=medians, old=old)
                    for value, count in numbers.lists[name]
                ]
            )
    return body | _events(query, numbers) | {"generated_in_ms": took}


def _entry(
    value: str | None, count: Count, *, medians: bool, old: bool
) -> dict[str, object]:
    names = ("visits", "uniqueVisits") if old else ("pageviews", "visitors")
    entry: dict[str, object] = {
        "value": value,
        names[0]: count.pageviews,
        names[1]: count.visitors,
    }
    if medians:
        entry["seconds_on_page"] = number(count.seconds_on_page)
    return entry


def _histogram(query: Query, numbers: Numbers) -> list[dict[str, object]]:
    """One entry for each bucket, including those without visits (section 2.3)."""
    entries: list[dict[str, object]] = []
    nothing = Count()
    for bucket in buckets(query.period, query.interval):
        count = numbers.histogram.get(bucket, nothing)
        entry: dict[str, object] = {"date": bucket.wall.date().isoformat()}
        if query.interval == "hour":
            entry["hour"] = bucket.wall.hour
        elif query.interval == "week":
            year, week, _ = bucket.wall.isocalendar()
            entry |= {"year": year, "week": week}
        entries.append(
            entry | {"pageviews": count.pageviews, "visitors": count.visitors}
        )
    return entries


def _events(query: Query, numbers: Numbers) -> dict[str, object]:
    if query.events is None:
        return {}
    return {
        "events": [{"name": name, "total": total} for name, total in numbers.events]
    }


def _agents(numbers: Numbers) -> list[dict[str, object]]:
    return [
        {
            key: value
            for key, value in (("count", count), *zip(_AGENT, agent, strict=True))
            if value is not None
        }
        for count, *agent in numbers.agents
    ]


def _instant(moment: datetime) -> str:
    return f"{moment.isoformat(timespec='milliseconds')}Z"
