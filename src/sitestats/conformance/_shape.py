"""The shape of a response: names, types, and values that a case compares, by place.

It has no host name, and no number that is a visitor's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from sitestats._common.jsontext import JsonValue, NotJsonError, load_json
from sitestats._common.wire import HttpResponse

from ._cases import Case

Shape = dict[str, str]
"""A text for each place, such as ``{"$.version": "6", "[].value": "text"}``."""
_HOST: Final = re.compile(r"(?:[\w@+-]+\.)+[^\W\d][\w-]*")
_CALL: Final = re.compile(r"([^{\[(]*show\s*\()(.*)(\).*)", re.DOTALL)
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


def anonymised(text: object) -> str:
    """*text* of the service, without host names and numbers."""
    start = str(text)[: 10 * _LONGEST]
    return re.sub(r"\d+", "N", _HOST.sub("HOST", start))[:_LONGEST]


def load(response: HttpResponse) -> JsonValue:
    """The data of *response*, wrapped for JSONP or not; None without."""
    text = response.body.decode(errors="replace")
    call = _CALL.fullmatch(text)
    try:
        return load_json((call[2] if call else text).encode())
    except NotJsonError:
        return None


def message(data: JsonValue) -> str:
    """The message of an error response, where it has one."""
    found = _object(data)
    return anonymised(found.get("error") or found.get("message") or "")


def empty_lists(response: HttpResponse) -> set[str]:
    """The names of the lists of *response* that have no entries."""
    data = load(response)
    lists = {"websites": data} if isinstance(data, list) else _object(data)
    return {name for name, value in lists.items() if value == []}


def shape(response: HttpResponse, case: Case, without: set[str]) -> Shape:
    """The shape of *response*, with the values that *case* compares.

    It has no entries of the lists *without*.
    """
    kind = response.headers.get("content-type", "missing").partition(";")[0]
    found = {"content-type": {anonymised(kind)}}
    if call := _CALL.fullmatch(response.body.decode(errors="replace")):
        found["call"] = {anonymised(call[1] + "…" + call[3]).strip()}
    for where, text in _places(load(response), case, without):
        found.setdefault(where, set()).add(text)
    return {where: " or ".join(sorted(texts)) for where, texts in found.items()}


def _places(
    data: JsonValue, case: Case, without: set[str]
) -> Iterator[tuple[str, str]]:
    yield "$", _kind(data) if data is not None else "no JSON"
    for name, value in (_object(data) or {"": data}).items():
        if name.startswith("__"):
            yield "$.__…", "some"
            continue
        if name:
            yield f"$.{anonymised(name)}", _text(name, value, case)
        for entry in () if name in without else _array(value):
            pairs = _object(entry)
            if not pairs:
                yield "[]", _kind(entry)
            for key, inner in pairs.items():
                # Whether there are entries for nothing is another question.
                if not (key == "value" and inner is None):
                    yield f"[].{anonymised(key)}", _text(key, inner, case, name)


def _text(name: str, value: Any, case: Case, within: str = "") -> str:
    if name in case.values:
        entries = _array(value)
        if entries or value == []:
            return f"{len(entries)} entries"
        return str(value) if _DATE.fullmatch(str(value)) else anonymised(value)
    if name in _LITERAL:
        return anonymised(json.dumps(value))
    if name in _OPTIONAL and (value is None or isinstance(value, _OPTIONAL[name][1])):
        return _OPTIONAL[name][0]
    for text, form in _FORMS.get(within, {}).items():
        if name == "value" and form.fullmatch(str(value)):
            return text
    return _kind(value)


def _kind(value: object) -> str:
    return next(
        (text for kind, text in _KINDS.items() if isinstance(value, kind)), "null"
    )


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _array(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list) else []


# --- what a case needs to be decided --------------------------------------------------


def order(data: JsonValue) -> Shape | str:
    """Whether days ascend and pages descend; or why that is not decided."""
    keys: list[Any] = [str(one.get("date")) for one in _rows(data, "histogram")]
    keys = keys or [-_count(one) for one in _rows(data, "pages")]
    if len(set(keys)) <= 1:
        return "no two entries differ"
    return {"order": "as documented" if keys == sorted(keys) else "another"}


def limit(data: JsonValue) -> Shape | str:
    """That there is more than what a limit leaves."""
    first = sum(map(_count, _rows(data, "pages")[:1]))
    return "there are not two pages" if first == _count(_object(data)) else {}


def nulls(data: JsonValue) -> Shape | str:
    """Whether there are entries with null, where some visits have no value."""
    found = [_rows(data, name) for name in ("countries", "referrers")]
    if any(one.get("value", "") is None for rows in found for one in rows):
        return {"entries with null": "some"}
    if all(sum(map(_count, rows)) == _count(_object(data)) for rows in found):
        return "every visit has a country and a referrer"
    return {"entries with null": "none"}


def _rows(data: JsonValue, name: str) -> list[dict[str, Any]]:
    return [*map(_object, _array(_object(data).get(name)))]


def _count(row: dict[str, Any]) -> int:
    count = row.get("pageviews")
    return count if isinstance(count, int) else 0


CHECKS: Final = {"order": order, "limit": limit, "nulls": nulls}
