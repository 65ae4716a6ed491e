"""The answers of all six versions, and the ways in which the service says no."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sitestats._common.wire import HttpResponse

from ._aggregate import Count, Numbers
from ._parameters import FIELDS, LISTS, WITH_PAGES, Question
from ._periods import buckets

DOCS: Final = "https://docs.example.com/api"

NEW_NAMES: Final = 5
"""The first version with ``pageviews`` and ``visitors`` in the lists; 3 and 4 still
have ``visits`` and ``uniqueVisits``."""

CORS: Final = {"access-control-allow-origin": "*"}
"""Any website may ask (section 5)."""

_SEEN: Final = {
    **CORS,
    "content-security-policy": "default-src 'self'",
    "set-cookie": "visit=1; Path=/; HttpOnly",
    "x-frame-options": "SAMEORIGIN",
}
"""Headers that the hosted service was seen to send; cookies are to be ignored."""

_PROSE: Final = {
    "__about": "Keys that start with two underscores explain; leave them out with "
    "info=false.",
    "__seconds_on_page": "The median of the seconds that visitors spent on a page.",
}


def encode(data: object) -> bytes:
    """JSON as the service writes it: without spaces, in UTF-8."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def json_response(
    status: int, data: object, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """An answer of the Admin API, or a plain one."""
    return HttpResponse(
        status,
        {"content-type": "application/json; charset=utf-8", **_SEEN, **(headers or {})},
        encode(data),
    )


def stats_response(
    status: int,
    data: Mapping[str, object],
    *,
    info: str | None = None,
    callback: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """An answer of the Stats API: with prose if wanted, wrapped when asked."""
    if info != "false":
        data = {**_PROSE, **data}
    response = json_response(status, data, headers)
    if callback is None:
        return response
    # These two end a line in JavaScript and not in JSON.
    body = response.body.replace(b"\xe2\x80\xa8", b"\\u2028")
    body = body.replace(b"\xe2\x80\xa9", b"\\u2029")
    return HttpResponse(
        status,
        {**response.headers, "content-type": "text/javascript; charset=utf-8"},
        callback.encode() + b"(" + body + b");",
    )


def number(value: float | None) -> float | None:
    """A number as JavaScript writes it: 12, not 12.0."""
    return int(value) if value is not None and value == int(value) else value


def shape(hostname: str, question: Question, numbers: Numbers, took: int) -> Any:
    """The answer in the shape of the question's version (section 9)."""
    if question.version == 1:
        return _version_1(question, numbers)
    if question.version == WITH_PAGES:
        return _version_2(question, numbers)
    return _version_3_to_6(hostname, question, numbers, took)


def _version_1(question: Question, numbers: Numbers) -> dict[str, object]:
    answer: dict[str, object] = {
        "timezone": question.timezone,
        "pageviews": numbers.total.pageviews,
        "visits": [
            {"date": entry["date"], "pageviews": entry["pageviews"]}
            for entry in _histogram(question, numbers)
        ],
        "agents": _agents(numbers),
    }
    return answer | _events(question, numbers)


def _version_2(question: Question, numbers: Numbers) -> dict[str, object]:
    answer: dict[str, object] = {
        "ok": True,
        "error": None,
        "visits": [
            {
                "date": entry["date"],
                "pageviews": entry["pageviews"],
                "uniques": entry["visitors"],
            }
            for entry in _histogram(question, numbers)
        ],
        "agents": _agents(numbers),
    }
    for name in LISTS:
        answer[name] = [
            {"value": value, "visits": count.pageviews, "uniqueVisits": count.visitors}
            for value, count in numbers.lists[name]
        ]
    return answer | _events(question, numbers)


def _version_3_to_6(
    hostname: str, question: Question, numbers: Numbers, took: int
) -> dict[str, object]:
    answer: dict[str, object] = {
        "ok": True,
        "docs": DOCS,
        "info": True if question.info is None else question.info,
        "hostname": hostname,
        "url": f"https://{hostname}",
        "path": question.path,
        "start": _instant(question.period.start),
        "end": _instant(question.period.end - timedelta(milliseconds=1)),
        "version": question.version,
        "timezone": question.timezone,
    }
    medians = "seconds_on_page" in question.fields
    old = question.version < NEW_NAMES
    make: dict[str, Callable[[], object]] = {
        "pageviews": lambda: numbers.total.pageviews,
        "visitors": lambda: numbers.total.visitors,
        "histogram": lambda: _histogram(question, numbers),
        "seconds_on_page": lambda: number(numbers.total.seconds_on_page),
    }
    for name in FIELDS:
        if name in question.fields:
            answer[name] = (
                make[name]()
                if name in make
                else [
                    _entry(value, count, medians=medians, old=old)
                    for value, count in numbers.lists[name]
                ]
            )
    return answer | _events(question, numbers) | {"generated_in_ms": took}


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


def _histogram(question: Question, numbers: Numbers) -> list[dict[str, object]]:
    """One entry for each bucket, also for those without visits (section 2.3)."""
    entries: list[dict[str, object]] = []
    nothing = Count()
    for bucket in buckets(question.period, question.interval):
        count = numbers.histogram.get(bucket, nothing)
        entry: dict[str, object] = {"date": bucket.wall.date().isoformat()}
        if question.interval == "hour":
            entry["hour"] = bucket.wall.hour
        elif question.interval == "week":
            year, week, _ = bucket.wall.isocalendar()
            entry |= {"year": year, "week": week}
        entries.append(
            entry | {"pageviews": count.pageviews, "visitors": count.visitors}
        )
    return entries


def _events(question: Question, numbers: Numbers) -> dict[str, object]:
    if question.events is None:
        return {}
    return {
        "events": [{"name": name, "total": total} for name, total in numbers.events]
    }


def _agents(numbers: Numbers) -> list[dict[str, object]]:
    return [
        {
            key: value
            for key, value in (
                ("count", count),
                ("browser_name", browser),
                ("os_name", system),
                ("type", device),
            )
            if value is not None
        }
        for count, browser, system, device in numbers.agents
    ]


def _instant(moment: datetime) -> str:
    return f"{moment.isoformat(timespec='milliseconds')}Z"
