"""Structure decoded JSON into models with cattrs, strictly.

Null, booleans, integers, other numbers and strings are never converted into one
another, but for an integer where the document has "number". ``msgspec.convert`` is the
hook for single values, for lists of entries, and for all of them at once: a response
may have thousands.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import (
    Any,
    Final,
    TypedDict,
    TypeVar,
    cast,
    get_args,
    get_origin,
    is_typeddict,
)

import attrs
import cattrs
import msgspec
from cattrs.gen import make_dict_structure_fn, override

from sitestats._common.errors import Problem
from sitestats._common.fields import COUNTS, ENVELOPE, FIELDS
from sitestats._results.entries import HistogramEntry, entry_class, histogram_class
from sitestats._results.websites import AddedWebsite, Website

ModelT = TypeVar("ModelT", Website, AddedWebsite)

_REFUSALS: Final = (msgspec.ValidationError, UnicodeEncodeError)
"""What ``msgspec.convert`` raises: the second for half of a surrogate pair."""
_FIRST_USE: Final = threading.Lock()
"""msgspec 0.22 may crash if threads use a type for the first time at once."""
_SENT: Final = {"custom_domain": "customDomain", "valid_dns": "validDNS"}
"""The attributes that have another name in JSON."""
_IN_WORDS: Final = {
    "bool": "a boolean",
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "date": "a date",
    "object": "an object",
    "array": "an array",
}


def _model(model: type[ModelT]) -> Callable[[object, Any], ModelT]:
    """A hook that makes a *model*; what the document does not name is in ``extra``."""
    names = attrs.fields_dict(model)
    sent: dict[str, str] = {name: _SENT.get(name, name) for name in names}
    known = {"ok", "success", *sent.values()} - {"extra"}
    overrides: dict[str, Any] = {n: override(rename=as_) for n, as_ in sent.items()}
    overrides["differences"] = override(omit=True)
    # Whatever it holds, it is left as it is.
    overrides["extra"] = override(struct_hook=lambda value, _: value)
    make = make_dict_structure_fn(model, _CONVERTER, **overrides)

    def hook(value: object, _: Any) -> ModelT:
        data = msgspec.convert(value, dict[str, Any])
        extra = {n: v for n, v in data.items() if n not in known and n[:2] != "__"}
        return make({**data, "extra": extra}, model)

    return hook


def _is_list_of_entries(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _entries(rows: object, kind: Any) -> Any:
    try:
        return msgspec.convert(rows, kind)
    except _REFUSALS:
        is_histogram = issubclass(get_args(kind)[0], HistogramEntry)
        if not is_histogram or not isinstance(rows, list):
            raise
    return msgspec.convert([*map(_with_whole_date, cast("Iterable[Any]", rows))], kind)


def _with_whole_date(row: Any) -> Any:
    """*row* with a day in place of a month ("2026-03"), a year or a moment: section 2.3
    does not show the entries of a histogram.
    """
    try:
        return row | {"date": (row["date"] + "-01-01")[: len("2026-03-01")]}
    except (KeyError, TypeError):
        return row


_CONVERTER: Final = cattrs.Converter()
for _kind in (bool, int, float, str):
    _CONVERTER.register_structure_hook(_kind, msgspec.convert)
_CONVERTER.register_structure_hook_func(_is_list_of_entries, _entries)
_CONVERTER.register_structure_hook_func(is_typeddict, msgspec.convert)
_CONVERTER.register_structure_hook(Website, _model(Website))
_CONVERTER.register_structure_hook(AddedWebsite, _model(AddedWebsite))


# --- what a response should have ----------------------------------------------------


@attrs.frozen
class Expected:
    """What a response to a query should have."""

    kinds: Mapping[str, Any]
    """The types of what was requested, by name in the document's order."""
    whole: Any
    """The type of a response that has that and the envelope."""


@lru_cache(maxsize=256)
def expected(
    fields: tuple[str, ...],
    has_events: bool,  # noqa: FBT001  a cache's key
    interval: str | None,
) -> Expected:
    """What a response to a query for *fields* should have.

    Names that are not in the document are left out: ``Stats.extra`` has them.
    """
    timed = "seconds_on_page" in fields
    names = [*(name for name in FIELDS if name in fields), *["events"] * has_events]
    kinds = {name: _kind_of(name, interval, timed=timed) for name in names}
    # Made at run time, which type checkers can't follow.
    make_typed_dict: Any = TypedDict
    whole = make_typed_dict("Whole", {**ENVELOPE, **kinds}, total=False)
    with _FIRST_USE:
        msgspec.convert({}, whole)
    return Expected(kinds, whole)


def _kind_of(name: str, interval: str | None, *, timed: bool) -> Any:
    if name in COUNTS:
        return int
    if name == "seconds_on_page":
        return float | None
    # Made at run time, as above.
    entry: Any = entry_class(name, timed=timed)
    if name == "histogram":
        entry = histogram_class(interval)
    return tuple[entry, ...]


# --- values, or problems by JSON path -----------------------------------------------


def structure(
    value: object, kind: Any, path: str, section: str
) -> tuple[Any, list[Problem]]:
    """*value* as a *kind*, or the problems at and below its *path*."""
    try:
        return _CONVERTER.structure(value, kind), []
    except (cattrs.BaseValidationError, *_REFUSALS) as error:
        return None, [*_problems(error, path, section)]


def structure_stats(
    data: Mapping[str, Any], wanted: Expected
) -> tuple[dict[str, Any], dict[str, Problem]]:
    """The values in *data* that are as *wanted*, and a problem of each other by name: a
    list of which some entries are wrong has both.
    """
    try:
        return _CONVERTER.structure(data, wanted.whole), {}
    except _REFUSALS:
        values, wrong = dict[str, Any](), dict[str, Problem]()
    for name, kind in {**ENVELOPE, **wanted.kinds}.items():
        if name not in data:
            continue
        try:
            values[name] = _CONVERTER.structure(data[name], kind)
        except _REFUSALS as error:
            (wrong[name],) = _problems(error, f"$.{name}", "2.3")
            if entries := tuple(_right_entries(data[name], kind)):
                values[name] = entries
    return values, wrong


def _right_entries(rows: object, kind: Any) -> Iterator[Any]:
    if isinstance(rows, list) and _is_list_of_entries(kind):
        for row in map(_with_whole_date, cast("Iterable[Any]", rows)):
            with suppress(*_REFUSALS):
                yield msgspec.convert(row, get_args(kind)[0])


def _problems(error: Exception, path: str, section: str) -> Iterator[Problem]:
    for line in cattrs.transform_error(error, path, _describe):
        message, below, where = line.split(" @ ")
        first, _, name = where.rpartition(".")
        where = f"{first}.{_SENT.get(name, name)}{below}" if first else where + below
        yield Problem(message, section=section, where=where)


def _describe(error: BaseException, _kind: type | None) -> str:
    """What is wrong, and where below the value: "is missing @ [3].visitors"."""
    if isinstance(error, KeyError):
        return "is missing @ "
    message, _, place = str(error).partition(" - at `$")
    message, place = message[:1].lower() + message[1:], place.rstrip("`")
    if missing := re.match(r"object missing required field `(.*)`", message):
        return f"is missing @ {place}.{missing[1]}"
    return f"{re.sub('`(.*?)`', _in_words, message)} @ {place}"


def _in_words(types: re.Match[str]) -> str:
    return " or ".join(_IN_WORDS.get(kind, kind) for kind in types[1].split(" | "))
