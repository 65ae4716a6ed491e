"""Structure decoded JSON into models with cattrs, strictly.

It decides what is an error, and names every wrong place by its JSON path. Null,
booleans, whole numbers, other numbers and strings are never converted into one
another. The one exception is a number without a fraction where the document
has "number".

``decoder`` alone reads most responses, faster.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeVar, cast, get_args, get_origin

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, override

from sitestats._common.errors import MOST_PROBLEMS
from sitestats._common.jsontext import JsonValue
from sitestats._common.problems import Problem
from sitestats._results.entries import (
    Entry,
    EventCount,
    IncompleteListEntry,
    IncompletePageEntry,
    IncompleteTimedListEntry,
    IncompleteTimedPageEntry,
    ListEntry,
    PageEntry,
    TimedListEntry,
    TimedPageEntry,
)
from sitestats._results.histogram import Bucket
from sitestats._results.websites import AddedWebsite, Website

T = TypeVar("T")

_EXCERPT: Final = 60
"""Characters of a wrong value in a message."""


# --- strict types -----------------------------------------------------------------


class UnexpectedValueError(ValueError):
    """A value is not of the expected type."""

    def __init__(self, expected: str, got: object) -> None:
        super().__init__(f"expected {expected}, got {_excerpt(got)}")


def _excerpt(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, str) and len(value) > _EXCERPT:
        return f"{json.dumps(value[:_EXCERPT])[:-1]}…"
    text = json.dumps(value)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"


def _strictly(wanted: type) -> Callable[[object, Any], Any]:
    def check(value: object, _: Any) -> object:
        # Not isinstance: True is an instance of int.
        if type(value) is not wanted:
            raise UnexpectedValueError(wanted.__name__, value)
        return value

    return check


def _number(value: object, _: Any) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            pass
    raise UnexpectedValueError("a number", value)


@cache
def _converter() -> cattrs.Converter:
    """What makes models. Few programs need it, and to make it takes some 8 ms."""
    converter = cattrs.Converter()
    for kind in (bool, int, str):
        converter.register_structure_hook(kind, _strictly(kind))
    converter.register_structure_hook(float, _number)
    for cls, overrides in _OVERRIDES.items():
        converter.register_structure_hook(cls, _object(cls, converter, **overrides))
    for complete, incomplete in _INCOMPLETE.items():
        hook = _entry(converter, complete, incomplete)
        converter.register_structure_hook(complete, hook)
    return converter


def _object(
    cls: type[T], converter: cattrs.Converter, **overrides: Any
) -> Callable[[object, Any], T]:
    """A hook that makes a *cls* of an object, and of nothing else."""
    structure = make_dict_structure_fn(cls, converter, **overrides)

    def hook(value: object, _: Any) -> T:
        if not isinstance(value, dict):
            raise UnexpectedValueError("an object", value)
        return structure(cast("dict[str, Any]", value), cls)

    return hook


def _as_it_is(value: JsonValue, _: Any) -> JsonValue:
    return value


# --- the entries of lists -----------------------------------------------------------


@attrs.frozen
class _PartialEntry:
    """An entry that may lack values, but has none of a wrong type."""

    value: str | None = None
    pageviews: int | None = None
    visitors: int | None = None


@attrs.frozen
class _TimedPartialEntry(_PartialEntry):
    """The same for an entry that was requested with ``seconds_on_page``."""

    seconds_on_page: float | None = None


def _entry(
    converter: cattrs.Converter,
    complete: type[Entry],
    incomplete: Callable[[dict[str, Any]], Entry],
) -> Callable[[object, Any], Entry]:
    columns = complete.columns
    make: Callable[..., Entry] = complete
    wanted = _TimedPartialEntry if "seconds_on_page" in columns else _PartialEntry
    may_be_none = {"seconds_on_page"}
    if not issubclass(complete, PageEntry):
        may_be_none.add("value")

    structure = converter.get_structure_hook(wanted)
    unknown: dict[str, Any] = {}
    if "seconds_on_page" in columns:
        unknown = {"seconds_on_page": None}

    def hook(value: object, _: Any) -> Entry:
        if isinstance(value, str):
            return incomplete({"value": value, **unknown})
        if not isinstance(value, dict):
            raise UnexpectedValueError("an object or a string", value)
        entry = structure(value, wanted)
        values = {name: getattr(entry, name) for name in columns}
        known = {
            name: value
            for name, value in values.items()
            if value is not None or name in may_be_none
        }
        return make(**values) if known == values else incomplete(known)

    return hook


_INCOMPLETE: Final[Mapping[type[Entry], Callable[[dict[str, Any]], Entry]]] = {
    ListEntry: IncompleteListEntry,
    TimedListEntry: IncompleteTimedListEntry,
    PageEntry: IncompletePageEntry,
    TimedPageEntry: IncompleteTimedPageEntry,
}


# --- the entries of the histogram ---------------------------------------------------


_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2})(?:[T ].*)?)?", re.ASCII)
_LEADING_NUMBER: Final = re.compile(r"\d{1,4}", re.ASCII)


def _date(value: object, _: Any) -> dt.date | None:
    """A day, or the first day of a month or year; None for anything else, since
    section 2.3 does not show the entries of the histogram.
    """
    match = _DATE.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        year, month, day = match.groups(default="1")
        try:
            return dt.date(int(year), int(month), int(day))
        except ValueError:
            pass
    return None


def _part(value: object, _: Any) -> int | None:
    """An hour, a week or a year, whose types are not documented."""
    if type(value) is int:
        return value
    # Such as "9" and "09:00".
    match = _LEADING_NUMBER.match(value) if isinstance(value, str) else None
    return None if match is None else int(match[0])


# --- the classes of objects ---------------------------------------------------------

_ADDED_NAMES: Final = {"custom_domain": "customDomain", "valid_dns": "validDNS"}
_OVERRIDES: Final[Mapping[type, Mapping[str, Any]]] = {
    _PartialEntry: {},
    _TimedPartialEntry: {},
    EventCount: {},
    Bucket: {
        "date": override(struct_hook=_date),
        **dict.fromkeys(("hour", "year", "week"), override(struct_hook=_part)),
    },
    Website: {"extra": override(struct_hook=_as_it_is)},
    AddedWebsite: {
        **{name: override(rename=sent) for name, sent in _ADDED_NAMES.items()},
        "differences": override(omit=True),
        "extra": override(struct_hook=_as_it_is),
    },
}


# --- responses of the Admin API -----------------------------------------------------

_WEBSITE_NAMES: Final = frozenset(attrs.fields_dict(Website)) - {"extra"}
_ADDED_KNOWN: Final = frozenset(
    ("ok", "success", "hostname", "customDomain", "public", "timezone", "validDNS")
)


def structure_websites(
    items: list[JsonValue], path: str
) -> tuple[list[Website], list[Problem]]:
    """The websites of the list at *path*, and the problems in it."""
    # The document has both for every website, null where there is none; a
    # website without them is no reason to lose the list.
    defaults = {"own_hostname": None, "label": None}
    values = (_with_extra(item, _WEBSITE_NAMES, defaults) for item in items)
    return _structure_list(values, Website, path, section="2.1")


def structure_added(value: JsonValue) -> tuple[AddedWebsite | None, list[Problem]]:
    """The result of adding a website, or its problems."""
    defaults = {"customDomain": None}
    return _structure(
        _with_extra(value, _ADDED_KNOWN, defaults), AddedWebsite, "$", section="2.2"
    )


def _with_extra(
    value: JsonValue, known: frozenset[str], defaults: Mapping[str, JsonValue]
) -> JsonValue:
    if not isinstance(value, dict):
        return value
    extra = {
        name: item
        for name, item in value.items()
        if name not in known and not name.startswith("__")
    }
    found = {name: item for name, item in value.items() if name in known}
    return {**defaults, **found, "extra": extra}


# --- responses of the Stats API -----------------------------------------------------


def structure_stats(
    data: Mapping[str, JsonValue], types: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, list[Problem]]]:
    """The values in *data* that fit *types*, and the problems of the others by name."""
    values: dict[str, Any] = {}
    wrong: dict[str, list[Problem]] = {}
    for name, wanted in types.items():
        if name not in data:
            continue
        value, path = data[name], f"$.{name}"
        if get_origin(wanted) is not list:
            result: Any = _structure(value, wanted, path, section="2.3")
        elif isinstance(value, list):
            (kind,) = get_args(wanted)
            result = _structure_list(value, kind, path, section="2.3")
        else:
            # cattrs would take a string for a list of its characters.
            problem = str(UnexpectedValueError("an array", value))
            result = None, [Problem(problem, section="2.3", where=path)]
        found, problems = result
        if problems:
            wrong[name] = problems
        else:
            values[name] = found
    return values, wrong


# --- problems by JSON path -----------------------------------------------------------


def _structure(
    value: JsonValue, wanted: type[T], path: str, *, section: str
) -> tuple[T | None, list[Problem]]:
    try:
        return _converter().structure(value, wanted), []
    except (cattrs.BaseValidationError, UnexpectedValueError) as error:
        return None, [*_problems(error, path, section)]


def _structure_list(
    items: Iterable[JsonValue], wanted: type[T], path: str, *, section: str
) -> tuple[list[T], list[Problem]]:
    """The items, or the problems of the first wrong ones.

    cattrs would go on to the end: the problems of a million items take a gigabyte.
    """
    structure = _converter().get_structure_hook(wanted)
    values: list[T] = []
    problems: list[Problem] = []
    for index, item in enumerate(items):
        try:
            values.append(structure(item, wanted))
        except (cattrs.BaseValidationError, UnexpectedValueError) as error:
            problems += _problems(error, f"{path}[{index}]", section)
            if len(problems) >= MOST_PROBLEMS:
                break
    return ([] if problems else values), problems


def _problems(error: BaseException, path: str, section: str) -> Iterator[Problem]:
    """One problem for each wrong place that cattrs found under *path*."""
    if isinstance(error, cattrs.ClassValidationError):
        for inner, field in error.group_exceptions()[0]:
            name = _ADDED_NAMES.get(field.name, field.name)
            yield from _problems(inner, f"{path}.{name}", section)
    elif isinstance(error, UnexpectedValueError):
        yield Problem(str(error), section=section, where=path)
    elif isinstance(error, KeyError):
        yield Problem("is missing", section=section, where=path)
    else:
        raise error
