"""The form of a response: names, types, and values that a case compares, by place.

It has no host name, and no number that is a visitor's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from sitestats._common.jsontext import JsonValue, NotJsonError, load_json
from sitestats._common.wire import HttpResponse

from ._cases import Case

Shape = dict[str, str]
"""A text for each place, such as ``{"$.version": "6", "[].value": "text"}``."""
_HOST: Final = re.compile(r"(?:[\w@+-]+\.)+[^\W\d][\w-]*")
_CALL: Final = re.compile(r"([^{\[]*?show\s*\()(.*)(\).*)", re.DOTALL)
_DATE: Final = re.compile(r"\d|[\d-]{10}T[\d:.]{5,15}(?:Z|[+-][\d:]+)")
"""A version, or when a period begins or ends: numbers that are no visitor's."""
_LITERAL: Final = {"ok", "success", "code"}
_OPTIONAL: Final[dict[str, tuple[str, tuple[type, ...]]]] = {
    "own_hostname": ("text or null", (str,)),
    "seconds_on_page": ("number or null", (int, float)),
}
_KINDS: Final = {
    bool: "true or false",
    int: "integer",
    float: "number",
    str: "text",
    list: "array",
    dict: "object",
}
_FORMS: Final = {
    "device_types": {"a known device": re.compile("mobile|tablet|desktop|tv")},
    "countries": {
        "two capitals": re.compile("[A-Z]{2}"),
        "two small letters": re.compile("[a-z]{2}"),
    },
}
"""The forms of the values of some lists."""
_LONGEST: Final = 200


def clean(text: object) -> str:
    """*text* of the service, without host names and numbers."""
    return re.sub(r"\d+", "N", _HOST.sub("HOST", str(text)))[:_LONGEST]


def load(response: HttpResponse) -> JsonValue:
    """The data of *response*, wrapped for JSONP or not; None without."""
    text = response.body.decode(errors="replace")
    call = _CALL.fullmatch(text)
    try:
        return load_json((call[2] if call else text).encode())
    except NotJsonError:
        return None


def shape(response: HttpResponse, case: Case) -> Shape:
    """The form of *response*, with the values that *case* compares."""
    kind = response.headers.get("content-type", "missing").partition(";")[0]
    found = {"content-type": {clean(kind)}}
    if call := _CALL.fullmatch(response.body.decode(errors="replace")):
        found["call"] = {clean(call[1] + "…" + call[3]).strip()}
    for where, text in _places(load(response), case):
        found.setdefault(where, set()).add(text)
    return {where: " or ".join(sorted(texts)) for where, texts in found.items()}


def _places(data: JsonValue, case: Case) -> Iterator[tuple[str, str]]:
    yield "$", _KINDS.get(type(data), "no JSON")
    for name, value in rows_of(data):
        if name.startswith("__"):
            yield "$.__…", "some"
            continue
        if name:
            yield f"$.{clean(name)}", _text(name, value, case)
        for entry in value if isinstance(value, list) else ():
            pairs = cast("Mapping[str, Any]", entry) if isinstance(entry, dict) else {}
            if not pairs:
                yield "[]", _KINDS.get(type(entry), "null")
            for key, inner in pairs.items():
                # Whether there are entries for nothing is another question.
                if not (key == "value" and inner is None):
                    yield f"[].{clean(key)}", _text(key, inner, case, name)


def rows_of(data: JsonValue) -> list[tuple[str, Any]]:
    """The names and values of an object; a list has no name."""
    return [*data.items()] if isinstance(data, dict) else [("", data)]


def message(data: JsonValue) -> str:
    """The message of an error response, where it has one."""
    found = dict(rows_of(data))
    return clean(found.get("error") or found.get("message") or "")


def _text(name: str, value: Any, case: Case, within: str = "") -> str:
    if name in _LITERAL and isinstance(value, (bool, str)):
        return clean(value).lower() if isinstance(value, bool) else clean(value)
    if name in case.values:
        if isinstance(value, list):
            return f"{len(value)} entries"
        is_date = _DATE.fullmatch(str(value))
        return str(value) if is_date else clean(value)
    if name in _OPTIONAL:
        text, kind = _OPTIONAL[name]
        if value is None or isinstance(value, kind):
            return text
    for text, form in _FORMS.get(within, {}).items():
        if name == "value" and isinstance(value, str) and form.fullmatch(value):
            return text
    return _KINDS.get(type(value), "null")


# --- what a case needs to be decided --------------------------------------------------


def order(data: JsonValue) -> Shape | str:
    """Whether days ascend and pages descend; or why that is not decided."""
    rows = dict(rows_of(data))
    days = [str(row.get("date")) for row in _rows(rows, "histogram")]
    counts = [-_count(row) for row in _rows(rows, "pages")]
    keys: list[Any] = days or counts
    if len(set(keys)) <= 1:
        return "no two entries differ"
    return {"order": "as documented" if keys == sorted(keys) else "another"}


def limit(data: JsonValue) -> Shape | str:
    """That there is more than what a limit leaves."""
    rows = dict(rows_of(data))
    is_all = sum(map(_count, _rows(rows, "pages")[:1])) == rows.get("pageviews")
    return "there is only one page" if is_all else {}


def nulls(data: JsonValue) -> Shape | str:
    """Whether there are entries with null, where some visits have no value."""
    rows = dict(rows_of(data))
    found = [_rows(rows, name) for name in ("countries", "referrers")]
    if any(row.get("value", "") is None for entries in found for row in entries):
        return {"entries with null": "some"}
    if all(sum(map(_count, entries)) == rows.get("pageviews") for entries in found):
        return "every visit has a country and a referrer"
    return {"entries with null": "none"}


def _rows(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = data.get(name)
    entries = found if isinstance(found, list) else []
    return [row for row in entries if isinstance(row, dict)]


def _count(row: Mapping[str, Any]) -> int:
    count = row.get("pageviews")
    return count if isinstance(count, int) else 0


CHECKS: Final = {"order": order, "limit": limit, "nulls": nulls}
