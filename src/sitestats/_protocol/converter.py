"""Structure decoded JSON into models with cattrs, strictly.

Null, booleans, integers, other numbers and strings are never converted into one
another, but for an integer where the document has "number". ``msgspec.convert`` is the
hook for single values and for lists of entries: a response may have thousands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import (
    Any,
    Final,
    TypeAlias,
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

from sitestats._common.fields import COUNTS, ENVELOPE, FIELDS
from sitestats._common.problems import Problem
from sitestats._results.entries import Entry, entry_class
from sitestats._results.histogram import HistogramEntry, histogram_class
from sitestats._results.websites import AddedWebsite, Website

ModelT = TypeVar("ModelT", Website, AddedWebsite)
Hook: TypeAlias = Callable[[object, Any], Any]

_REFUSALS: Final = (msgspec.ValidationError, UnicodeEncodeError)
"""What ``msgspec.convert`` raises: the second for half of a surrogate pair."""
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


_REST_OF_DATE: Final = {len("2026"): "-01-01", len("2026-03"): "-01"}


class LeftOutError(ValueError):
    """Entries of a list are left out; there may be others."""

    def __init__(self, entries: list[Any], index: int, cause: ValueError) -> None:
        super().__init__(cause)
        self.entries = entries
        """Those that are as they should be."""
        self.index = index
        """The place of the first that is not."""
        self.cause = cause
        """What is wrong with it."""


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
    return get_origin(kind) is tuple and issubclass(get_args(kind)[0], Entry)


def _entries(rows: object, kind: Any) -> Any:
    try:
        return msgspec.convert(rows, kind)
    except _REFUSALS:
        if not isinstance(rows, list):
            raise
    entry_type, _ = get_args(kind)
    is_histogram = issubclass(entry_type, HistogramEntry)
    entries: list[Any] = []
    first: tuple[int, Any] | None = None
    for index, row in enumerate(cast("Sequence[Any]", rows)):
        try:
            found = _with_whole_date(row) if is_histogram else row
            entries.append(msgspec.convert(found, entry_type))
        except _REFUSALS as error:
            if first is None:
                first = index, error
    if first is None:
        return tuple(entries)
    raise LeftOutError(entries, *first)


def _with_whole_date(row: Any) -> Any:
    """*row* with a day in place of a month ("2026-03"), a year or a moment: section
    2.3 does not show the entries of the histogram.
    """
    named = cast("dict[str, Any]", row) if isinstance(row, dict) else {}
    if not isinstance(date := named.get("date"), str):
        return cast("object", row)
    return named | {"date": date[:10] + _REST_OF_DATE.get(len(date[:10]), "")}


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
    hooks: Mapping[str, tuple[Hook, Any]]
    """What structures that and the envelope, with the type."""
    singles: tuple[Hook, Any]
    """What structures all that is a single value at once, and the type."""


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
    names: list[str] = [name for name in FIELDS if name in fields]
    names += ["events"] * has_events
    kinds = {name: _kind_of(name, interval, timed=timed) for name in names}
    all_kinds = {"ok": bool, "success": bool, **ENVELOPE, **kinds}
    hooks = {n: (_CONVERTER.get_structure_hook(k), k) for n, k in all_kinds.items()}
    singles = {
        n: kind for n, kind in all_kinds.items() if get_origin(kind) is not tuple
    }
    # Made at run time, which type checkers can't follow.
    make_typed_dict: Any = TypedDict
    at_once = make_typed_dict("Singles", singles, total=False)
    return Expected(kinds, hooks, (_CONVERTER.get_structure_hook(at_once), at_once))


def _kind_of(name: str, interval: str | None, *, timed: bool) -> Any:
    if name in COUNTS:
        return int
    if name == "seconds_on_page":
        return float | None
    # Made at run time, which type checkers can't follow.
    entry: Any = entry_class(name, timed=timed)
    if name == "histogram":
        entry = histogram_class(interval)
    # What Entries holds.
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
    values: dict[str, Any] = {}
    wrong: dict[str, Problem] = {}
    structure_singles, singles = wanted.singles
    # One by one it takes twice as long, and only then is it known which is wrong.
    with suppress(*_REFUSALS):
        values = structure_singles(data, singles)
    for name, (hook, kind) in wanted.hooks.items():
        if name in values or name not in data:
            continue
        try:
            values[name] = hook(data[name], kind)
        except LeftOutError as error:
            if error.entries:
                values[name] = tuple(error.entries)
            path = f"$.{name}[{error.index}]"
            (wrong[name],) = _problems(error.cause, path, "2.3")
        except _REFUSALS as error:
            (wrong[name],) = _problems(error, f"$.{name}", "2.3")
    return values, wrong


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
    if isinstance(error, UnicodeEncodeError):
        return "expected another value, got a string that is no text @ "
    message, _, place = str(error).partition(" - at `$")
    message, place = message[:1].lower() + message[1:], place.rstrip("`")
    if missing := re.match(r"object missing required field `(.*)`", message):
        return f"is missing @ {place}.{missing[1]}"
    return f"{re.sub('`(.*?)`', _in_words, message)} @ {place}"


def _in_words(types: re.Match[str]) -> str:
    return " or ".join(_IN_WORDS.get(kind, kind) for kind in types[1].split(" | "))
