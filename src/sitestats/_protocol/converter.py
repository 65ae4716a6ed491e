"""Structure decoded JSON with cattrs, strictly, and leave out what can't be read.

Null, booleans, integers, other numbers and strings are never converted into one
another, but for an integer where the document has "number". ``msgspec.convert`` is the
hook: first for a whole object, since a response may have thousands of entries, then for
each of its values.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import (
    Any,
    Final,
    TypedDict,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs
import cattrs
import msgspec

from sitestats._base.errors import Problem
from sitestats._base.fields import ENVELOPE, FIELD_ROWS, FIELDS
from sitestats._base.forks import LockHeldAcrossForks
from sitestats._base.zones import find_zone
from sitestats._results import websites
from sitestats._results.entries import entry_class
from sitestats._results.tables import Count
from sitestats._wire.json_values import JsonValue

_REFUSALS: Final = (msgspec.ValidationError, UnicodeEncodeError)
"""The errors of ``msgspec.convert``, the second for half of a surrogate pair."""
_FIRST_USE: Final = LockHeldAcrossForks()
"""msgspec 0.22 may crash if threads use a type for the first time at once."""
_SENT: Final = {"custom_domain": "customDomain", "valid_dns": "validDNS"}
"""The attributes that have another name in JSON."""
_NAMES: Final = {sent: name for name, sent in _SENT.items()}
_TOTAL_KINDS: Final[Mapping[str, Any]] = {"count": Count, "number": float}
_SHORT_DATES: Final = {"month": len("2026-03"), "year": len("2026")}
_IN_WORDS: Final = {
    "bool": "a boolean",
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "date": "a date",
    "object": "an object",
    "array": "an array",
}


_CONVERTER: Final = cattrs.Converter()
_CONVERTER.register_structure_hook_func(lambda _: True, msgspec.convert)
# cattrs has hooks of its own for these, which convert whatever they get.
for _kind in (bool, int, float, str):
    _CONVERTER.register_structure_hook(_kind, msgspec.convert)


# --- what a response should have ----------------------------------------------------


@attrs.frozen
class Expected:
    """What a response to a query, or an object of the Admin API, should have."""

    kinds: Mapping[str, Any]
    """The types by name, in the document's order, without the envelope."""
    whole: Any
    """The type with the envelope."""


@lru_cache(maxsize=256)
def expected(
    fields: tuple[str, ...],
    has_events: bool,  # noqa: FBT001  a cache's key
    interval: str | None,
) -> Expected:
    """What a response to a query for *fields* should have.

    Names that are not in the document are left out: ``Stats.extra`` has them.
    """
    names: list[str] = [name for name in FIELDS if name in fields]
    if has_events:
        names.append("events")
    kinds = {name: _kind_of(name, fields, interval) for name in names}
    return Expected(kinds, _whole({**ENVELOPE, **kinds}, total=False))


@lru_cache
def _of_model(model: Any) -> Expected:
    """What the object of the Admin API should have that becomes a *model*."""
    # The model's public module does not have the names that its annotations use.
    hints = get_type_hints(model, websites.__dict__, include_extras=True)
    kinds: dict[str, Any] = {}
    for name, field in attrs.fields_dict(model).items():
        if name not in {"extra", "problems", "differences"}:
            kind = hints[name]
            if field.default is attrs.NOTHING and type(None) in get_args(kind):
                # The document has no null there: None is a value that can't be read.
                kind = get_args(kind)[0]
            kinds[_SENT.get(name, name)] = kind
    return Expected(kinds, _whole(kinds, total=True))


def _whole(kinds: Mapping[str, Any], *, total: bool) -> Any:
    # The class is made at run time, so type checkers don't know it.
    make_typed_dict: Any = TypedDict
    whole = make_typed_dict("Whole", kinds, total=total)
    with _FIRST_USE, suppress(msgspec.ValidationError):
        msgspec.convert({}, whole)
    return whole


def _kind_of(name: str, fields: Collection[str], interval: str | None) -> Any:
    row = FIELD_ROWS[name]
    if row.is_total:
        kind = _TOTAL_KINDS[row.kind]
        return kind | None if row.nullable else kind
    # This class, too, is made at run time.
    entry: Any = entry_class(name, fields, interval)
    return tuple[entry, ...]


# --- values, or problems by JSON path -----------------------------------------------


def structure(
    value: JsonValue, model: Any, path: str, section: str
) -> tuple[Any, list[Problem]]:
    """A *model* of what can be read of *value*, None where that is no object, and the
    problems at and below its *path*. What the document does not name is in ``extra``.
    """
    shape = _of_model(model)
    wrong: Mapping[str, Problem] = {}
    try:
        values = _CONVERTER.structure(value, shape.whole)
    except _REFUSALS as error:
        if not isinstance(value, dict):
            return None, [_problem(error, path, section)]
        values, wrong = _by_name(value, shape.kinds, path, section)
    known = shape.kinds.keys() | {"ok", "success"}
    items = cast("dict[str, JsonValue]", value).items()
    extra = {n: v for n, v in items if n not in known and n[:2] != "__"}
    fields: Any = {_NAMES.get(name, name): values.get(name) for name in shape.kinds}
    return model(**fields, extra=extra), [*wrong.values()]


def structure_stats(
    data: Mapping[str, JsonValue],
    shape: Expected,
    interval: str | None,
    zone: str | None,
) -> tuple[dict[str, Any], dict[str, Problem]]:
    """The values in *data* that are as *shape*, and a problem of each other by name: a
    list of which some entries are wrong has both. The days of a histogram by *interval*
    are in the zone of *data*, else in the requested *zone*.
    """
    with suppress(*_REFUSALS):
        return _CONVERTER.structure(data, shape.whole), {}
    if isinstance(rows := data.get("histogram"), list):
        days = find_zone(str(data.get("timezone") or zone))
        data = {**data, "histogram": [_with_day(row, interval, days) for row in rows]}
    kinds = {n: kind for n, kind in {**ENVELOPE, **shape.kinds}.items() if n in data}
    values, wrong = _by_name(data, kinds, "$", "2.3")
    for name in wrong:
        if entries := tuple(_right_entries(data[name], kinds[name])):
            values[name] = entries
    return values, wrong


def _by_name(
    data: Mapping[str, Any], kinds: Mapping[str, Any], path: str, section: str
) -> tuple[dict[str, Any], dict[str, Problem]]:
    """The values in *data* that are of these *kinds*, and a problem of each other."""
    values, wrong = dict[str, Any](), dict[str, Problem]()
    for name, kind in kinds.items():
        try:
            values[name] = _CONVERTER.structure(data[name], kind)
        except KeyError:
            # A value that may be null may be missing.
            if type(None) not in get_args(kind):
                where = f"{path}.{name}"
                wrong[name] = Problem("is missing", section=section, where=where)
        except _REFUSALS as error:
            wrong[name] = _problem(error, f"{path}.{name}", section)
    return values, wrong


def _right_entries(rows: object, kind: Any) -> Iterator[Any]:
    if isinstance(rows, list) and get_origin(kind) is tuple:
        for row in cast("Iterable[Any]", rows):
            with suppress(*_REFUSALS):
                yield msgspec.convert(row, get_args(kind)[0])


def _with_day(row: Any, interval: str | None, zone: dt.tzinfo | None) -> Any:
    """*row* with a day in place of a month ("2026-03"), a year or a moment, as far as
    it is certain: section 2.3 does not show the entries of a histogram.
    """
    with suppress(KeyError, TypeError, ValueError, OverflowError):
        text = row["date"]
        if len(text) == _SHORT_DATES.get(interval or ""):
            return row | {"date": (text + "-01-01")[: len("2026-03-01")]}
        moment = local = dt.datetime.fromisoformat(text)
        if moment.tzinfo and zone:
            local = moment.astimezone(zone)
        # A midnight in UTC may mean its date, or in America the evening before.
        is_certain = local.date() == moment.date() or local.hour <= 1
        if is_certain and local.tzinfo in {None, zone}:
            return row | {"date": str(local.date())}
    return row


def _problem(error: Exception, path: str, section: str) -> Problem:
    message, _, place = str(error).partition(" - at `$")
    where = path + place.rstrip("`")
    if missing := re.match(r"Object missing required field `(.*)`", message):
        return Problem("is missing", section=section, where=f"{where}.{missing[1]}")
    message = message[:1].lower() + re.sub("`(.*?)`", _in_words, message[1:])
    return Problem(message, section=section, where=where)


def _in_words(types: re.Match[str]) -> str:
    return " or ".join(_IN_WORDS.get(kind, kind) for kind in types[1].split(" | "))
