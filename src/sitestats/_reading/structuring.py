"""Structure decoded JSON into models with cattrs, and name what can't be read.

Null, booleans, integers, other numbers and strings are never converted into one
another, but for an integer where the document has "number". Where a value is refused,
cattrs says which one by its path, the model is made without it, and there is a problem.

Lists may have thousands of entries, which are structs of msgspec. A hook hands a whole
list to msgspec, as JSON. If that refuses the list, cattrs structures it entry by entry.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache, partial
from types import NoneType
from typing import Any, Final, TypeAlias, TypeVar, cast, get_args, get_origin

import attrs
import cattrs
import msgspec
from cattrs.errors import (
    AttributeValidationNote,
    BaseValidationError,
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
    IterableValidationNote,
)
from cattrs.gen import make_dict_structure_fn, override

from sitestats._base.errors import InvalidInputError, Problem
from sitestats._base.fields import ENVELOPE, FIELD_ROWS, IF_REQUESTED, NULLABLE, TOTALS
from sitestats._base.forks import LockHeldAcrossForks
from sitestats._base.text import shown
from sitestats._base.zones import find_zone
from sitestats._results.entries import entry_class
from sitestats._results.tables import Count, Hour, Name, Seconds
from sitestats._results.websites import AddedWebsite, Website
from sitestats._wire.messages import JsonValue, load_json
from sitestats._wire.values import attributes_of

ModelT = TypeVar("ModelT", Website, AddedWebsite)
Hook: TypeAlias = Callable[[Any, Any], Any]
"""What reads a value of JSON, for a type that cattrs gives as well."""

_REFUSALS: Final = (msgspec.ValidationError, UnicodeEncodeError)
"""The errors of ``msgspec.convert``, the second for half of a surrogate pair."""
_WRONG: Final = (BaseValidationError, KeyError, ValueError)
"""The errors of hooks and of cattrs about a value."""
_FIRST_USE: Final = LockHeldAcrossForks()
"""msgspec 0.22 may crash if threads use a type for the first time at once."""
_LARGEST: Final = 2**63 - 1
"""The largest count that frames and databases hold."""
_MOST: Final = 100
"""Entries of a list whose problems are told one by one: a response may have a million
of them."""


# --- single values ------------------------------------------------------------------


class UnreadableError(ValueError):
    """A value that is not what the document has there."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__(f"expected {expected}, got {_in_words(value)}")
        self.expected = expected


def _in_words(value: object) -> str:
    """A value of JSON for a message."""
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() | float():
            return f"the number {shown(value)}"
        case str():
            return f"the string {shown(value)}"
        case list():
            return "an array"
        case _:
            return "an object"


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _as_it_is(expected: str, kind: type) -> Hook:
    """What reads a value of this *kind*, which is not converted."""

    def read(value: Any, _: object) -> object:
        if not isinstance(value, kind):
            raise UnreadableError(expected, value)
        return value

    return read


def _integer_in(known: range, expected: str) -> Hook:
    """What reads an integer within bounds."""
    least, most = known[0], known[-1]

    def read(value: Any, _: object) -> int:
        # A flag of Python is an integer, of a type of its own.
        if type(value) is int and least <= value <= most:
            return value
        raise UnreadableError(expected if _is_integer(value) else "an integer", value)

    return read


def _number(value: Any, _: object) -> float:
    if not _is_integer(value) and not isinstance(value, float):
        raise UnreadableError("a number", value)
    with suppress(OverflowError):
        if math.isfinite(number := float(value)):
            return number
    raise UnreadableError("a number below 1e308", value)


def _seconds(value: Any, _: object) -> float:
    if (seconds := _number(value, float)) < 0:
        raise UnreadableError("a number from 0", value)
    return seconds


def _name(value: Any, _: object) -> object:
    if value == "":
        raise UnreadableError("a string that is not empty", value)
    return _text(value, str)


def _date(value: Any, _: object) -> dt.date:
    with suppress(TypeError, ValueError):
        return dt.date.fromisoformat(value)
    raise UnreadableError("a date as 2026-03-01", value)


def _moment(value: Any, _: object) -> dt.datetime:
    with suppress(TypeError, ValueError):
        moment = in_all_zones(dt.datetime.fromisoformat(value))
        if moment.tzinfo is not None:
            # Another object would make another pickle.
            is_utc = moment.utcoffset() == dt.timedelta()
            return moment.replace(tzinfo=dt.UTC) if is_utc else moment
    raise UnreadableError("a time as 2026-03-01T00:00:00+00:00", value)


def in_all_zones(moment: dt.datetime) -> dt.datetime:
    """A *moment*, unless it is at an end of the calendar, where some zones have none.

    Raises:
        UnreadableError: It is there.
    """
    if not dt.MINYEAR < moment.year < dt.MAXYEAR:
        raise UnreadableError("a time of the years 2 to 9998", moment.isoformat())
    return moment


_text: Final = _as_it_is("a string", str)
_count: Final = _integer_in(range(_LARGEST + 1), f"an integer from 0 to {_LARGEST}")
_BY_KIND: Final[Mapping[Any, Hook]] = {
    bool: _as_it_is("a boolean", bool),
    int: _integer_in(range(-_LARGEST, _LARGEST + 1), "an integer of 64 bits"),
    float: _number,
    str: _text,
    dt.date: _date,
    dt.datetime: _moment,
    NoneType: _as_it_is("null", NoneType),
}
_BY_ALIAS: Final[Mapping[Any, Hook]] = {
    Count: _count,
    Hour: _integer_in(range(24), "an hour from 0 to 23"),
    Name: _name,
    Seconds: _seconds,
}
"""How types that are not classes are read."""


def strict_converter() -> cattrs.Converter:
    """A converter that converts no value of JSON into another kind."""
    converter = cattrs.Converter(detailed_validation=True)
    for kind, hook in _BY_KIND.items():
        converter.register_structure_hook(kind, hook)
    for alias, hook in _BY_ALIAS.items():
        converter.register_structure_hook_func(partial(operator.eq, alias), hook)
    converter.register_structure_hook_factory(_is_plain_union, _union_hook)
    converter.register_structure_hook_factory(_is_optional, _optional_hook)
    converter.register_structure_hook_factory(_is_struct, struct_hook)
    converter.register_structure_hook_factory(_is_list, _list_hook)
    return converter


def _is_optional(kind: Any) -> bool:
    return len({NoneType, *(parts := get_args(kind))}) == len(parts) == 2  # noqa: PLR2004


def _optional_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """What reads a value or null: cattrs would look for its hook each time."""
    (one,) = {*get_args(kind)} - {NoneType}
    hook = converter.get_structure_hook(one)
    return lambda value, _: None if value is None else hook(value, one)


def _is_plain_union(kind: Any) -> bool:
    members = {*get_args(kind)} - {NoneType}
    return len(members) > 1 and members <= _BY_KIND.keys()


def _union_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """What reads a value of one of several plain types: the first that it is of."""
    hooks = [(one, converter.get_structure_hook(one)) for one in get_args(kind)]

    def read(value: Any, _: object) -> Any:
        expected = list[str]()
        for one, hook in hooks:
            try:
                return hook(value, one)
            except UnreadableError as error:
                expected.append(error.expected)
        raise UnreadableError(" or ".join(expected), value)

    return read


# --- objects of the Admin API -------------------------------------------------------


_WORKED_OUT: Final = ("extra", "problems", "differences")
"""What the package adds to the values of the service."""
_SENT_AS: Final = {"custom_domain": "customDomain", "valid_dns": "validDNS"}
"""The attributes that have another name in JSON (section 2.2)."""


def _sent_as(attribute: str) -> str:
    return _SENT_AS.get(attribute, attribute.removeprefix("_"))


@cache
def _sent_names(model: type[Any]) -> frozenset[str]:
    """The names of the service's values that a model has."""
    names = {field.name for field in attrs.fields(model)}
    return frozenset(map(_sent_as, names.difference(_WORKED_OUT)))


@cache
def _of_admin_api(*, may_be_unknown: bool) -> cattrs.Converter:
    """What makes websites: null is refused where the document never has it, or stands
    for what can't be read.
    """
    converter = strict_converter()
    for model in (Website, AddedWebsite):
        attrs.resolve_types(model)
        hints: dict[str, Any] = {}
        for field in attrs.fields(model):
            if field.name in _WORKED_OUT:
                hints[field.name] = override(omit=True)
                continue
            kind = field.type
            if not may_be_unknown and field.default is attrs.NOTHING:
                kind = next((one for one in get_args(kind) if _is_optional(kind)), kind)
            hook, name = converter.get_structure_hook(kind), _sent_as(field.name)
            hints[field.name] = override(rename=name, struct_hook=hook)
        hook = make_dict_structure_fn(model, converter, **hints)
        converter.register_structure_hook(model, hook)
    return converter


def structure(
    value: JsonValue, model: type[ModelT], path: str, section: str
) -> tuple[ModelT | None, list[Problem]]:
    """A *model* of what can be read of *value*, None where that has no host name, and
    the problems at and below its *path*. What the document does not name is in
    ``extra``.
    """
    if not isinstance(value, dict):
        why = str(UnreadableError("an object", value))
        return None, [Problem(why, section=section, where=path)]
    problems: dict[str, Problem] = {}
    try:
        made = _of_admin_api(may_be_unknown=False).structure(value, model)
    except ClassValidationError as error:
        for attribute, problem in problems_of(error, path, section):
            problems.setdefault(_sent_as(attribute), problem)
        try:
            readable = value | dict.fromkeys(problems, None)
            made = _of_admin_api(may_be_unknown=True).structure(readable, model)
        except ClassValidationError:
            return None, [*problems.values()]
    kind: Any = model
    known = _sent_names(kind) | {"ok", "success"}
    if extra := {n: v for n, v in value.items() if n not in known and n[:2] != "__"}:
        made = attrs.evolve(made, extra=extra)
    return made, [*problems.values()]


# --- statistics ---------------------------------------------------------------------


class DayRow(msgspec.Struct, gc=False):
    """What is read of an entry of a histogram by day, month or year."""

    date: dt.date
    pageviews: Count
    visitors: Count


class HourRow(DayRow, gc=False):
    """What is read of an entry of a histogram by hour."""

    hour: Hour


class WeekRow(DayRow, gc=False):
    """What is read of an entry of a histogram by week.

    Nobody requests the last two and the document does not name them: what can't be read
    is None.
    """

    year: Any = None
    week: Any = None

    def __post_init__(self) -> None:
        """Leave out what is not a number of a year or a week."""
        with suppress(UnreadableError):
            self.year = _count(self.year, int)
            self.week = _count(self.week, int)
            return
        self.year = self.week = None


_ROWS: Final[Mapping[str, type[DayRow]]] = {"hour": HourRow, "week": WeekRow}
"""What is read of the entries of a histogram, by interval, where DayRow is not it."""


@attrs.frozen
class Shape:
    """What a response to a query should have."""

    names: tuple[str, ...]
    """What was requested and the document names, in its order."""
    model: type[Any]
    """The class of all values that a response can have, and of the envelope."""
    entries: Mapping[str, type[Any]]
    """The classes of the entries of requested lists, by name."""
    others: frozenset[str]
    """What the document names and was not requested."""


@lru_cache(maxsize=256)
def shape_of(
    fields: tuple[str, ...],
    has_events: bool,  # noqa: FBT001  a cache's key
    interval: str | None,
) -> Shape:
    """What a response to a query for *fields* should have.

    Names that are not in the document are left out: ``Stats.extra`` has them.
    """
    names = [name for name in FIELD_ROWS if name in fields and name != "events"]
    if has_events:
        names.append("events")
    in_entries = tuple(name for name in IF_REQUESTED if name in names)
    entries = {
        name: entry_class(name, names, interval) for name in names if name not in TOTALS
    }
    others = frozenset(FIELD_ROWS.keys() - names)
    return Shape(tuple(names), _model(in_entries, interval), entries, others)


@cache
def _model(in_entries: tuple[str, ...], interval: str | None) -> type[Any]:
    """An attrs class with a value for each row of the table of fields, None where the
    response has none. Entries have the totals *in_entries*, too.
    """
    kinds: dict[str, Any] = {
        name: _kind_of(name, in_entries, interval) for name in FIELD_ROWS
    }
    values = {
        name: attrs.field(default=None, type=kind)
        for name, kind in {**ENVELOPE, **kinds}.items()
    }
    return attrs.make_class("StatsBody", values)


def _kind_of(name: str, in_entries: Collection[str], interval: str | None) -> Any:
    row = FIELD_ROWS[name]
    match row.kind:
        case "count":
            count: Any = Count
            return count | None if row.nullable else count
        case "number":
            seconds: Any = Seconds
            return seconds | None if row.nullable else seconds
        case "histogram":
            read: Any = _ROWS.get(interval or "day", DayRow)
            return tuple[read, ...]
        case _:
            entry: Any = entry_class(name, in_entries, interval)
            return tuple[entry, ...]


@cache
def _of_stats_api() -> cattrs.Converter:
    return strict_converter()


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _is_array(value: object) -> bool:
    return isinstance(value, list)


def _decoded(value: Any) -> Any:
    """The value of what is JSON still."""
    return load_json(bytes(value)) if isinstance(value, msgspec.Raw) else value


def _list_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """What structures a list; if its entries are structs, msgspec does it at once."""
    (entry, _) = get_args(kind)
    if not _is_struct(entry):
        return partial(
            _read_rows, entry=entry, hook=converter.get_structure_hook(entry)
        )
    with _FIRST_USE:
        decoder = msgspec.json.Decoder(kind)
        msgspec.convert([], kind)

    def structure_list(value: Any, _: object) -> Any:
        with suppress(*_REFUSALS):
            if isinstance(value, msgspec.Raw):
                return decoder.decode(value)
            return msgspec.convert(value, kind)
        return _read_rows(_decoded(value), None, entry, structure_row)

    def structure_row(row: Any, _: object) -> Any:
        with suppress(*_REFUSALS):
            return msgspec.convert(row, entry)
        return converter.structure(row, entry)

    return structure_list


class PartlyReadError(IterableValidationError):
    """A list of which some entries can't be read, and those that can."""

    readable: tuple[Any, ...] = ()


def _read_rows(rows: Any, _: object, entry: Any, hook: Hook) -> tuple[Any, ...]:
    """The *rows* as entries, one by one.

    Raises:
        UnreadableError: They are not an array.
        PartlyReadError: Some can't be read.
    """
    if not _is_array(rows):
        raise UnreadableError("an array", rows)
    readable, errors = list[Any](), list[Exception]()
    for place, row in enumerate(rows):
        try:
            readable.append(hook(row, entry))
        except _WRONG as error:
            if len(errors) < _MOST:
                where = f"Structuring an entry @ index {place}"
                error.add_note(_note(IterableValidationNote, where, place, entry))
                errors.append(error)
    if errors:
        refused = PartlyReadError("some entries can't be read", errors, entry)  # pyright: ignore[reportCallIssue] - of cattrs
        refused.readable = tuple(readable)
        raise refused
    return tuple(readable)


def _note(kind: Any, where: str, place: int | str, of: Any) -> str:
    """Where a value is, as cattrs says it: its notes have no types."""
    note: str = kind(where, place, of)
    return note


def struct_hook(kind: type[msgspec.Struct], converter: cattrs.Converter) -> Hook:
    """What structures a struct as cattrs structures a class, with its detailed errors:
    ``msgspec.convert`` names the first value alone, in a message.
    """
    fields = msgspec.structs.fields(kind)
    hooks = {
        field.name: (converter.get_structure_hook(field.type), field.type)
        for field in fields
    }
    required = {field.name for field in fields if field.required}

    def structure_struct(value: Any, _: object) -> Any:
        row = as_object(value)
        read = {n: hook for n, hook in hooks.items() if n in row or n in required}
        return kind(**read_members(row, read, kind))

    return structure_struct


def as_object(value: Any) -> dict[str, Any]:
    """An object of JSON.

    Raises:
        UnreadableError: It is something else.
    """
    if not isinstance(value, dict):
        raise UnreadableError("an object", value)
    return cast("dict[str, Any]", value)


def read_members(
    row: Any, hooks: Mapping[str, tuple[Hook, Any]], kind: type
) -> dict[str, Any]:
    """The values of an object, each by its hook for a type.

    Raises:
        ClassValidationError: Some can't be read.
    """
    values, errors = dict[str, Any](), list[Exception]()
    for name, (hook, hint) in hooks.items():
        try:
            values[name] = hook(row[name], hint)
        except _WRONG as error:
            where = f"Structuring class {kind.__name__} @ attribute {name}"
            error.add_note(_note(AttributeValidationNote, where, name, kind))
            errors.append(error)
    if errors:
        raise ClassValidationError(f"in {kind.__name__}", errors, kind)  # pyright: ignore[reportCallIssue] - of cattrs
    return values


def structure_stats(
    body: Mapping[str, JsonValue], shape: Shape, interval: str | None, zone: str | None
) -> tuple[Any, dict[str, tuple[Problem, ...]]]:
    """The model of what can be read of *body*, and the problems of the rest, by name: a
    list of which some entries can't be read has both.

    What was not requested is not looked at. The days of a histogram by *interval* are
    in the zone of *body*, else in the requested *zone*.
    """
    values: Mapping[str, Any] = body
    if not shape.others.isdisjoint(body):
        values = {name: body[name] for name in body if name not in shape.others}
    problems: dict[str, tuple[Problem, ...]] = {}
    lists: dict[str, tuple[Any, ...]] = {}
    try:
        made = _of_stats_api().structure(values, shape.model)
    except ClassValidationError:
        values = dict(values)
        rows: Any = _decoded(values.get("histogram"))
        if _is_array(rows):
            days = find_zone(str(body.get("timezone") or zone))
            values["histogram"] = [as_row(row, interval, days) for row in rows]
        made, problems, lists = _readable(values, shape)
    for name in shape.names:
        is_known = getattr(made, name) is not None or name in NULLABLE
        if not is_known and name not in problems:
            what = "was requested and is missing"
            problems[name] = (Problem(what, section="2.3", where=f"$.{name}"),)
    for name, entries in lists.items():
        setattr(made, name, entries)
    return made, problems


def _readable(
    values: dict[str, Any], shape: Shape
) -> tuple[Any, dict[str, tuple[Problem, ...]], dict[str, tuple[Any, ...]]]:
    """The model without the *values* that can't be read, the problems of those that
    were requested, and the entries that can be read of lists with others.
    """
    problems = dict[str, list[Problem]]()
    lists = dict[str, tuple[Any, ...]]()
    try:
        return _of_stats_api().structure(values, shape.model), {}, {}
    except ClassValidationError as error:
        for name, problem in problems_of(error, "$", "2.3"):
            values.pop(name, None)
            # Nobody requested the envelope, and the document does not name it.
            if name in shape.names:
                problems.setdefault(name, []).append(problem)
        for cause, note in error.group_exceptions()[0]:
            if isinstance(cause, PartlyReadError) and cause.readable:
                lists[note.name] = cause.readable
    made = _of_stats_api().structure(values, shape.model)
    return made, {name: tuple(found) for name, found in problems.items()}, lists


_SHORT_DATES: Final = {"month": len("2026-03"), "year": len("2026")}
_HOUR_OF_DAY: Final = re.compile("[0-9]{1,2}")


def as_row(row: Any, interval: str | None, zone: dt.tzinfo | None) -> Any:
    """*row* with a day in place of a month ("2026-03"), a year or a moment, and with an
    hour in place of a text or a moment, as far as these are certain: section 2.3 does
    not show the entries of a histogram.
    """
    if not isinstance(row, dict):
        return row
    entry = dict(cast("Mapping[str, Any]", row))
    if interval == "hour" and not _is_integer(entry.get("hour")):
        return entry | _hour_in(entry, zone)
    return entry | _day_in(entry, interval, zone)


def _hour_in(entry: Mapping[str, Any], zone: dt.tzinfo | None) -> dict[str, Any]:
    """The hour and the day of an *entry* whose hour is not an integer."""
    hour = entry.get("hour")
    if isinstance(hour, str) and _HOUR_OF_DAY.fullmatch(hour):
        return {**_day_in(entry, "hour", zone), "hour": int(hour)}
    moment = _local(hour, zone) or _local(entry.get("date"), zone)
    if moment is None:
        return {}
    return {"date": str(moment.date()), "hour": moment.hour}


def _day_in(
    entry: Mapping[str, Any], interval: str | None, zone: dt.tzinfo | None
) -> dict[str, Any]:
    """The day of an *entry*, if it has one in another form than a date."""
    day = entry.get("date")
    if interval == "year" and _is_integer(day):
        day = str(day)
    if not isinstance(day, str):
        return {}
    if len(day) == _SHORT_DATES.get(interval or "day"):
        return {"date": (day + "-01-01")[: len("2026-03-01")]}
    if interval == "week":
        # A week as 2026-W10 is a date of ISO 8601, too.
        with suppress(ValueError):
            return {"date": str(dt.date.fromisoformat(day))}
    moment = _local(day, zone)
    # A midnight in UTC may mean its date, or in America the evening before.
    if moment and (day.startswith(str(moment.date())) or moment.hour <= 1):
        return {"date": str(moment.date())}
    return {}


def _local(text: Any, zone: dt.tzinfo | None) -> dt.datetime | None:
    """The moment *text* in *zone*; None for a date alone, and without a known zone."""
    with suppress(TypeError, ValueError, OverflowError):
        if len(text) > len("2026-03-01"):
            moment = dt.datetime.fromisoformat(text)
            if moment.tzinfo is None:
                return moment
            if zone is not None:
                return moment.astimezone(zone)
    return None


# --- what cattrs refused ------------------------------------------------------------


def problems_of(
    error: ClassValidationError, path: str, section: str
) -> Iterator[tuple[str, Problem]]:
    """The problems of a class, each with the name of its attribute."""
    for cause, note in error.group_exceptions()[0]:
        where = f"{path}.{_sent_as(note.name)}"
        for problem in problems_at(cause, where, section):
            yield note.name, problem


def problems_at(cause: Exception, path: str, section: str = "") -> Iterator[Problem]:
    """The problems at *path* and below it."""
    if isinstance(cause, ClassValidationError):
        for _, problem in problems_of(cause, path, section):
            yield problem
        for inner in cause.group_exceptions()[1]:
            yield from problems_at(inner, path, section)
    elif isinstance(cause, IterableValidationError):
        for inner, note in cause.group_exceptions()[0]:
            yield from problems_at(inner, f"{path}[{note.index}]", section)
    elif isinstance(cause, InvalidInputError):
        for problem in cause.problems:
            # A path begins where this value is; a step of a query does not.
            where = f"{path}: {problem.where}".replace(": $", "", 1)
            yield attrs.evolve(problem, where=where)
    elif isinstance(cause, ForbiddenExtraKeysError):
        known = ", ".join(attributes_of(cause.cl))
        for name in sorted(cause.extra_fields):
            yield Problem(f"is unknown: the names are {known}", where=f"{path}.{name}")
    else:
        why = "is missing" if isinstance(cause, KeyError) else str(cause)
        yield Problem(why, section=section, where=path)
