"""Read what ``to_dict`` made of public values, as cattrs structures it.

JSON may come from anybody, so it is checked as a response is: the JSON of a result has
the names of a response, and is read as the response to its query.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, cast, get_args, get_origin

import attrs
import cattrs
from cattrs.errors import ClassValidationError, IterableValidationError
from cattrs.gen import make_dict_structure_fn, override
from msgspec.structs import replace

from sitestats._base.errors import (
    InvalidInputError,
    InvalidResponseError,
    Problem,
    SiteStatsError,
)
from sitestats._base.fields import (
    COUNTS,
    ENVELOPE,
    FIELD_ROWS,
    HISTOGRAM_COUNTS,
    IF_REQUESTED,
    TABLES,
    entry_counts,
)
from sitestats._base.zones import find_zone
from sitestats._comparison.changes import Change, Changes, Direction, EntryChange
from sitestats._comparison.comparison import Comparison
from sitestats._comparison.comparisons import ComparedPair, Comparisons
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._query.periods import NamedPeriod
from sitestats._results.entries import (
    Entries,
    Entry,
    HistogramEntry,
    HourEntry,
    WeekEntry,
    entry_class,
)
from sitestats._results.outcomes import CollectedOutcomes, Failed, Outcome, Succeeded
from sitestats._results.stats import Stats
from sitestats._results.tables import Hour
from sitestats._results.websites import Website, WebsiteList
from sitestats._wire.messages import JsonValue
from sitestats._wire.values import Value, attributes_of

from .statistics import read_body
from .structuring import (
    UnreadableError,
    problems_at,
    read_each,
    strict_converter,
    struct_hook,
)

_LEFT_OUT: Final = frozenset((*HourEntry.columns, *WeekEntry.columns)) - (
    HistogramEntry.sent
)
"""What entries of a histogram have beside the values of the service."""


def read_again(values: object, kind: Any) -> Any:
    """A value of this *kind*, of what ``to_dict`` made of it.

    Raises:
        InvalidInputError: It is something else.
    """
    try:
        return _converter().structure(values, kind)
    except InvalidInputError:
        raise
    except (ClassValidationError, IterableValidationError, ValueError) as error:
        raise InvalidInputError(problems_at(error, "$")) from None


def names_in(types: tuple[Any, ...]) -> Iterator[str]:
    """The names of fields in a ``Literal``, or in a union of some."""
    for one in types:
        if isinstance(one, str):
            yield one
        else:
            yield from names_in(get_args(one))


def make_converter() -> cattrs.Converter:
    """A converter of cattrs for your own classes with results in them.

    It makes JSON of results, as ``to_dict`` does, and reads it, as ``from_dict`` does,
    wherever they are in attrs classes, dataclasses, lists and dicts.

    >>> from sitestats import make_converter
    >>> query = StatsQuery("semicomplete.com").fields("visitors").last(days=4)
    >>> results = {"now": client.stats.get(query)}
    >>> converter = make_converter()
    >>> made = converter.unstructure(results)
    >>> converter.structure(made, dict[str, Stats]) == results
    True
    """
    from cattrs.preconf.json import make_converter as for_json

    converter = for_json()
    converter.register_unstructure_hook_func(is_own, lambda value: value.to_dict())
    converter.register_structure_hook_func(is_own, read_again)
    return converter


def is_own(kind: Any) -> bool:
    """Whether values of a type are read by ``from_dict``, or are outcomes."""
    if get_origin(kind) in {Union, UnionType}:
        several = {get_origin(one) or one for one in get_args(kind)}
        return several - {NoneType} == {Succeeded, Failed}
    of: Any = get_origin(kind) or kind
    return isinstance(of, type) and issubclass(of, Value)


# --- the converter ------------------------------------------------------------------


@cache
def _converter() -> cattrs.Converter:
    converter = strict_converter()
    converter.register_structure_hook(dt.datetime, _moment)
    converter.register_structure_hook_func(_is_mapping, _json_object)
    converter.register_structure_hook_func(_is_text_or_flag, _text_or_flag)
    converter.register_structure_hook_func(_is_choice, _choice)
    converter.register_structure_hook_factory(_is_array, _array_hook)
    converter.register_structure_hook_factory(is_own, _own_hook)
    return converter


def _own_hook(kind: Any) -> Callable[[Any, Any], Any]:
    """What reads a class, and refuses what is no object."""
    of: Any = get_origin(kind) or kind
    classes: tuple[Any, ...] = (of,)
    read: Callable[[Any, Any], Any] = _outcome
    if of in {Union, UnionType}:
        classes = tuple(get_origin(one) or one for one in get_args(kind))
    else:
        known = (reader for one, reader in _READERS.items() if issubclass(of, one))
        read = next(known, None) or _attrs_reader(of)

    def read_object(given: Any, asked: Any) -> Any:
        values: Any = given
        if not isinstance(given, classes):
            if not isinstance(given, dict):
                raise UnreadableError("an object", given)
            values = read(cast("dict[str, Any]", given), asked)
        if issubclass(type(values), Stats | Succeeded | Comparison):
            for name in names_in(get_args(asked)):
                if name not in parameters_of(values.query).names:
                    message = "was not requested"
                    raise InvalidInputError([Problem(message, where=f"$.{name}")])
        return values

    return read_object


@cache
def _attrs_reader(kind: Any, *others: str) -> Callable[[Any, Any], Any]:
    """What reads the attributes of a class, but for some *others*."""
    attrs.resolve_types(kind)
    names = attributes_of(kind).values()
    hints: dict[str, Any] = {}
    for field in attrs.fields(kind):
        if field.name in names and field.name not in others:
            hook = _converter().get_structure_hook(field.type)
            hints[field.name] = override(struct_hook=hook)
        else:
            hints[field.name] = override(omit=True)
    return make_dict_structure_fn(
        kind,
        _converter(),
        _cattrs_use_alias=True,
        _cattrs_forbid_extra_keys=kind._is_typed,  # noqa: SLF001 - of all values
        **hints,
    )


def _moment(value: Any, _: object) -> dt.datetime:
    with suppress(TypeError, ValueError):
        moment = dt.datetime.fromisoformat(value)
        # At the ends of the calendar, other zones have no such moment.
        is_in_all_zones = dt.MINYEAR < moment.year < dt.MAXYEAR
        if moment.tzinfo is not None and is_in_all_zones:
            # Another object would make another pickle.
            is_utc = moment.utcoffset() == dt.timedelta()
            return moment.replace(tzinfo=dt.UTC) if is_utc else moment
    raise UnreadableError("a time as 2026-03-01T00:00:00+00:00", value)


def _is_mapping(kind: Any) -> bool:
    return get_origin(kind) is Mapping


def _is_text_or_flag(kind: Any) -> bool:
    return {str, bool} <= {*get_args(kind)} <= {str, bool, NoneType}


def _text_or_flag(value: Any, kind: Any) -> str | bool | None:
    if not isinstance(value, get_args(kind)):
        raise UnreadableError("a string or a boolean", value)
    return cast("str | bool | None", value)


def _is_choice(kind: Any) -> bool:
    return get_origin(kind) is Literal


def _choice(value: Any, kind: Any) -> str:
    if value not in (choices := get_args(kind)):
        raise UnreadableError(f"one of {', '.join(choices)}", value)
    return cast("str", value)


def _is_array(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _array_hook(kind: Any) -> Callable[[Any, Any], Any]:
    (item, _) = get_args(kind)

    def read_array(values: Any, _: object) -> Any:
        if not _is_list(values):
            raise UnreadableError("an array", values)
        return read_each(values, item, _converter().structure)

    return read_array


def _json_object(value: Any, _: object) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise UnreadableError("an object", value)
    return cast("dict[str, JsonValue]", value)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def array_of(item: Any) -> Any:
    """The type of arrays of *item*."""
    array: Any = tuple
    return array[item, ...]


def _part(values: Mapping[str, Any], name: str, kind: Any) -> Any:
    """The value of one name.

    Raises:
        InvalidInputError: It is missing, or not of this *kind*.
    """
    if name not in values:
        raise InvalidInputError([Problem("is missing", where=f"$.{name}")])
    try:
        return _converter().structure(values[name], kind)
    except (ClassValidationError, IterableValidationError, ValueError) as error:
        raise InvalidInputError(problems_at(error, f"$.{name}")) from None


# --- each kind ----------------------------------------------------------------------


def _stats(values: dict[str, Any], _: object) -> Stats:
    query = _part(values, "query", StatsQuery)
    moment = _part(values, "responded_at", dt.datetime | None)
    try:
        stats = read_body(query, _as_sent(values), moment)
    except InvalidResponseError as error:
        problems = error.problems or (Problem(error.message),)
        raise InvalidInputError(problems) from None
    unread: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in _part(values, "problems", tuple[Problem, ...]):
        name = re.match(r"\$\.(\w+)", problem.where)
        unread[name[1] if name else ""].append(problem)
    if not unread:
        return stats
    for field, found in stats._unread.items():  # noqa: SLF001 - of all results
        unread.setdefault(field, [*found])
    known = dict(stats._values)  # noqa: SLF001 - of all results
    for field in unread.keys() & known.keys():
        value = known.pop(field)
        if field in TABLES:
            known[field] = attrs.evolve(value, incomplete=True)
    return attrs.evolve(
        stats,
        values={field: known[field] for field in stats.requested if field in known},
        unread={field: tuple(problems) for field, problems in unread.items()},
    )


def _as_sent(values: Mapping[str, Any]) -> bytes:
    """The body of a response with these values."""
    body = {n: values[n] for n in (*ENVELOPE, *FIELD_ROWS) if n in values}
    for bound, day in (("start", "first_day"), ("end", "last_day")):
        body[bound] = values.get(bound) or values.get(day)
    for name, rows in body.items():
        if name in FIELD_ROWS and _is_list(rows):
            body[name] = [*map(_row_as_sent, rows)]
    return json.dumps(body).encode()


def _row_as_sent(row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    values = cast("dict[str, Any]", row)
    return {name: value for name, value in values.items() if name not in _LEFT_OUT}


def _outcome(values: dict[str, Any], _: object) -> Outcome:
    kind: Any = Succeeded if values.get("error") is None else Failed
    return cast("Outcome", _converter().structure(values, kind))


def _succeeded(values: dict[str, Any], _: object) -> Succeeded:
    if values.get("error") is not None:
        raise InvalidInputError([Problem("expected null", where="$.error")])
    stats = _stats(values, None)
    return Succeeded(stats.query, _part(values, "index", int), stats)


def _error(values: dict[str, Any], _: object) -> SiteStatsError:
    name, text = _part(values, "type", str), _part(values, "text", str)
    kind = _errors().get(name, SiteStatsError)
    if hasattr(kind, "__attrs_attrs__"):
        return cast("SiteStatsError", _attrs_reader(kind)(values, kind))
    return cast("SiteStatsError", kind(text))


def _errors(kind: type[SiteStatsError] = SiteStatsError) -> dict[str, Any]:
    """The classes of errors by their names."""
    known: dict[str, Any] = {kind.__name__: kind}
    for below in kind.__subclasses__():
        known |= _errors(below)
    return known


def _entry(values: dict[str, Any], asked: Any) -> Entry:
    below = [kind for kind in asked.__subclasses__() if {*kind.columns} <= {*values}]
    kind = below[0] if below else asked
    return cast("Entry", struct_hook(kind, _converter())(values, kind))


def _table_name(values: dict[str, Any]) -> str:
    """The name of a list of statistics."""
    name = _part(values, "name", str)
    if name not in TABLES:
        raise InvalidInputError([Problem("is not a list", where="$.name")])
    return cast("str", name)


def _entries(values: dict[str, Any], asked: Any) -> Entries[Any]:
    name = _table_name(values)
    columns = _part(values, "columns", tuple[str, ...])
    interval = next((one for one in ("hour", "week") if one in columns), None)
    is_timed = not {*IF_REQUESTED}.isdisjoint(columns)
    kind: Any = entry_class(name, IF_REQUESTED if is_timed else (), interval)
    for wanted in get_args(asked):
        if isinstance(wanted, type) and not issubclass(kind, wanted):
            message = f"has no {wanted.__name__}"
            raise InvalidInputError([Problem(message, where="$.name")])
    items = _part(values, "items", array_of(kind))
    timezone = _part(values, "timezone", str | None)
    if kind is HourEntry:
        zone = find_zone(timezone)
        items = [replace(item, start=_local(item.start, zone)) for item in items]
    return Entries(
        items,
        name=name,
        entry_type=kind,
        truncated=_part(values, "truncated", bool),
        incomplete=_part(values, "incomplete", bool),
        timezone=timezone,
        total_pageviews=_part(values, "total_pageviews", int | None),
        filters=_part(values, "filters", str),
    )


def _listed(item: Any) -> Callable[[Any, Any], Any]:
    """What reads a list of results."""

    def read_list(values: dict[str, Any], asked: Any) -> Any:
        kind: Any = get_origin(asked) or asked
        empty: Any = _attrs_reader(kind, "_items")(values, kind)
        return attrs.evolve(empty, items=_part(values, "items", array_of(item)))

    return read_list


def _changes(values: dict[str, Any], asked: Any) -> Changes:
    table = _table_name(values)
    names = entry_counts(table)
    changes = cast("Changes", _listed(EntryChange)(values, asked))
    keys = (entry_class(table, (), None).columns[0], "start")
    if changes.key not in keys:
        message = f"expected one of {', '.join(keys)}"
        raise InvalidInputError([Problem(message, where="$.key")])
    for place, item in enumerate(changes):
        if missing := [name for name in names if name not in item.counts]:
            where = f"$.items[{place}].{missing[0]}"
            raise InvalidInputError([Problem("is missing", where=where)])
    zone = find_zone(changes.zone)
    items = [
        attrs.evolve(
            item, value=_local(item.value, zone), before=_local(item.before, zone)
        )
        for item in changes
    ]
    return attrs.evolve(changes, items=items)


def _local(value: Any, zone: dt.tzinfo | None) -> Any:
    """A moment in *zone*; other values as they are."""
    if zone is None or not isinstance(value, dt.datetime):
        return value
    return value.astimezone(zone)


def _entry_change(values: dict[str, Any], _: object) -> EntryChange:
    """A change whose values are texts, or the days or hours of a histogram."""
    kind: Any = str
    if any(values.get(name) is not None for name in ("date", "date_before")):
        kind = dt.date
    if any(values.get(name) is not None for name in ("hour", "hour_before")):
        kind = dt.datetime
    counts = {
        name: _part(values, name, Change)
        for name in dict.fromkeys((*COUNTS, *HISTOGRAM_COUNTS, "total"))
        if name in values
    }
    return EntryChange(
        value=_part(values, "value", kind | None),
        counts=counts,
        direction=_part(values, "direction", Direction),
        before=_part(values, "before", kind | None),
        partial=_part(values, "partial", bool),
        date=_part(values, "date", dt.date | None),
        hour=_part(values, "hour", Hour | None),
        date_before=_part(values, "date_before", dt.date | None),
        hour_before=_part(values, "hour_before", Hour | None),
    )


def _change(values: dict[str, Any], _: object) -> Change:
    now, before = (_part(values, one, int | float | None) for one in ("now", "before"))
    return Change(now, before)


def _comparison(values: dict[str, Any], _: object) -> Comparison:
    return Comparison(_part(values, "now", Stats), _part(values, "before", Stats))


def _comparisons(values: dict[str, Any], _: object) -> Comparisons:
    return Comparisons.of(_part(values, "pairs", tuple[ComparedPair, ...]))


_READERS: Final[Mapping[Any, Callable[[dict[str, Any], Any], Any]]] = {
    Stats: _stats,
    Succeeded: _succeeded,
    SiteStatsError: _error,
    Entry: _entry,
    Entries: _entries,
    WebsiteList: _listed(Website),
    CollectedOutcomes: _listed(Outcome),
    Change: _change,
    EntryChange: _entry_change,
    Changes: _changes,
    Comparison: _comparison,
    Comparisons: _comparisons,
    StatsQuery: lambda values, _: StatsQuery.from_dict(values),
    NamedPeriod: lambda values, _: NamedPeriod.from_dict(values),
}
"""The classes whose JSON is not that of their attributes alone."""
