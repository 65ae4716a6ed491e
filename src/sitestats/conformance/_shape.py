"""The shape of a response: what stands at each place, such as ``$.pages[].value``.

It has no host names and no numbers of visitors.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final, cast

from sitestats._common.text import plain
from sitestats._common.wire import HttpResponse

from ._observation import Case

Shape = dict[str, str]
"""A text for each place: ``{"$.version": "6", "$.pages[].value": "a path"}``."""
NULLS: Final = "entries with null"
HISTOGRAMS: Final = ("$.histogram", "$.visits")
"""The places of histograms: version 1 and 2 name it visits."""

_HOST: Final = re.compile(r"(?:[\w@+-]+\.)+[^\W\d][\w-]*")
_CALL: Final = re.compile(r"([^{\[(]*show\s*\()(.*)(\).*)", re.DOTALL)
_SHOWN: Final = re.compile(r"\d{1,4}|[\d-]{7,10}(?:T[\d:.]{5,15}(?:Z|[+-][\d:]+))?")
"""Versions, dates and times, which are not numbers of visitors."""
_TIMES: Final = ("date", "hour", "week", "year")
"""What the entries of a histogram have of the period, and not of visitors."""
_FORMS: Final = {
    "own_hostname": ("str or null", r"null None|str .+"),
    "seconds_on_page": ("number or null", r"(null|int|float) .*"),
    "$.device_types[].value": ("known device", r"str (mobile|tablet|desktop|tv)"),
    "$.countries[].value": ("two capitals", r"str [A-Z]{2}"),
    "$.referrers[].value": ("name", r"str [^/:?]+"),
    "$.pages[].value": ("path", r"str /.*"),
}
"""What a type and a value are called by their form, at a name or a place."""
_LONGEST: Final = 200
_HOUR: Final = 3600
_MANY: Final = 100
"""Page views from which on a website has a median, and one below an hour."""


def anonymised(text: object) -> str:
    """*text* of the service, without host names and numbers."""
    without_names = _HOST.sub("HOST", str(text)[: 10 * _LONGEST])
    return plain(re.sub(r"\d+", "N", without_names)[:_LONGEST])


def absent(where: str) -> str:
    """What a place has whose text is not there; only a mistake has one of its own."""
    return "missing" if where.startswith(("$", "call")) else "as documented"


def load(response: HttpResponse) -> Any:
    """The data of *response*, wrapped for JSONP or not; None without."""
    text = response.body.decode(errors="replace")
    call = _CALL.fullmatch(text)
    try:
        return json.loads(call[2] if call else text)
    except (ValueError, RecursionError):
        return None


def named(data: Any) -> dict[str, Any]:
    """The values of *data* by name, if it is an object."""
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def message(data: Any) -> str:
    """The message of an error response, where it has one."""
    text = named(data).get("error") or named(data).get("message")
    return anonymised(text or "")


def lists_of(data: Any) -> dict[str, list[Any]]:
    """The lists of a response by their places, such as ``$.pages``."""
    if isinstance(data, list):
        return {"$": data}
    items = named(data).items()
    return {f"$.{name}": one for name, one in items if isinstance(one, list)}


def shape(response: HttpResponse, case: Case) -> Shape:
    """The shape of *response*, with the values that *case* compares."""
    data = load(response)
    found = defaultdict[str, set[str]](set)
    kind = response.headers.get("content-type", "missing").partition(";")[0]
    found["content-type"].add(anonymised(kind))
    found["date"].add("missing" if response.date is None else "a date")
    if call := _CALL.fullmatch(response.body.decode(errors="replace")):
        found["call"].add(anonymised(call[1] + "…" + call[3]).strip())
    for where, text in (*_places("$", data, case), *_wholes(data, case)):
        found[where].add(text)
    return {where: " or ".join(sorted(texts)) for where, texts in found.items()}


def _places(where: str, value: Any, case: Case) -> Iterator[tuple[str, str]]:
    """What stands at *where*, and at the places within."""
    name = where.rpartition(".")[2]
    if isinstance(value, dict):
        yield where, "dict"
        yield from _odd(named(value))
        for key, inner in named(value).items():
            if key.startswith("__"):
                yield f"{where}.__…", "some"
            elif key == "value" and inner is None:
                # Only one case asks for it.
                if case.option == "null_entries":
                    yield f"{where}: {NULLS}", "some"
            elif not (where.startswith(HISTOGRAMS) and key in _TIMES):
                yield from _places(f"{where}.{anonymised(key)}", inner, case)
    elif isinstance(value, list):
        entries = cast("Sequence[Any]", value)
        yield where, f"{len(entries)} entries" if name in case.values else "list"
        for entry in entries:
            yield from _places(f"{where}[]", entry, case)
    else:
        yield where, _text(where, name, value, case)


def _text(where: str, name: str, value: object, case: Case) -> str:
    if name in case.values:
        return "more than 0" if name == "pageviews" and value else _shown(value)
    called, form = _FORMS.get(where, _FORMS.get(name, ("", "(?!)")))
    kind = "null" if value is None else type(value).__name__
    return called if re.fullmatch(form, f"{kind} {value}", re.DOTALL) else kind


def _shown(value: object) -> str:
    return str(value) if _SHOWN.fullmatch(str(value)) else anonymised(value)


def _odd(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Numbers of one object that contradict each other."""
    visitors = map(entry.get, ("visitors", "uniques", "uniqueVisits"))
    if any(isinstance(n, int) and n > _count(entry) > 0 for n in visitors):
        yield "visitors", "more than page views"
    for where, entries in lists_of(entry).items():
        total = sum(map(_count, entries))
        if where in HISTOGRAMS and total != entry.get("pageviews", total):
            yield "pageviews", "not the sum of the histogram"
        if where in HISTOGRAMS and isinstance(entry.get("visitors"), int):
            days: list[Any] = [named(day).get("visitors") for day in entries]
            if all(isinstance(n, int) for n in days) and sum(days) != entry["visitors"]:
                yield "visitors", "not the sum of the histogram"
        seconds = entry.get("seconds_on_page", 0)
        is_median = isinstance(seconds, int | float) and seconds <= _HOUR
        if where == "$.pages" and total > _MANY and not is_median:
            yield "seconds_on_page", "not a number up to an hour"


def _wholes(data: Any, case: Case) -> Iterator[tuple[str, str]]:
    """What the entries of each list are together: their names, times and order."""
    for where, values in lists_of(data).items():
        entries: list[dict[str, Any]] = [e for e in values if isinstance(e, dict)]
        keys: list[Any] = [-_count(entry) for entry in entries]
        if where in HISTOGRAMS:
            keys = [str(entry.get("date")) for entry in entries]
            for name, end in product(_TIMES, entries[:1] + entries[-1:]):
                if name in end:
                    text = f"{type(end[name]).__name__} {_shown(end[name])}"
                    yield f"{where}[].{name}", text
        elif where != "$.agents":
            # In agents, unknown names are missing.
            for name in {name for entry in entries for name in entry} - {"value"}:
                if any(name not in entry for entry in entries):
                    yield f"{where}[].{anonymised(name)}", "missing in some"
        if keys != sorted(keys) and where not in {"$", "$.websites"}:
            yield f"order of {where}", "not as documented"
        if case.option == "null_entries" and -sum(keys) < _count(data):
            yield f"{where}[]: {NULLS}", "none"


def _count(entry: Any) -> int:
    """The page views of an entry, or how often an event was."""
    found = map(named(entry).get, ("pageviews", "visits", "total", "count"))
    return next((count for count in found if isinstance(count, int)), 0)
