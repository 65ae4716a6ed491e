"""Read what ``to_dict`` made of public values, as cattrs structures it.

JSON may come from anybody, so it is checked as a response is. A class is read by its
attributes, whose types ``json_types`` tells, and the few whose JSON has another form by
a function of ``_READERS``.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from types import NoneType
from typing import Any, Final, Literal, cast, get_args, get_origin

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
from sitestats._base.fields import ENVELOPE, FIELD_ROWS, TableName, entry_counts
from sitestats._base.zones import find_zone
from sitestats._comparison.changes import Changes, EntryChange
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._results.entries import ENTRIES, Entries, Entry, HourEntry, entry_class
from sitestats._results.outcomes import Failed, Succeeded
from sitestats._results.stats import Stats
from sitestats._wire.messages import HttpRequest

from .json_types import (
    attribute_types,
    class_of,
    classes_in,
    fields_of,
    is_outcome,
    is_value,
    members_of,
)
from .statistics import read_body
from .structuring import (
    Hook,
    UnreadableError,
    as_object,
    in_all_zones,
    problems_at,
    read_members,
    strict_converter,
    struct_hook,
)

_DAY: Final[Any] = dt.date | dt.datetime | None
_TEXT: Final[Any] = str | None


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
    return is_value(kind) or is_outcome(kind)


# --- the converter ------------------------------------------------------------------


@cache
def _converter() -> cattrs.Converter:
    converter = strict_converter()
    converter.register_structure_hook_func(_is_choice, _choice)
    converter.register_structure_hook_func(_is_class, _entry_type)
    converter.register_structure_hook_factory(_is_mapping, _mapping_hook)
    converter.register_structure_hook_factory(_is_object, _object_hook)
    converter.register_structure_hook_factory(is_outcome, _outcome_hook)
    converter.register_structure_hook(HttpRequest, _request)
    return converter


def _is_choice(kind: Any) -> bool:
    return get_origin(kind) is Literal


def _choice(value: Any, kind: Any) -> str:
    if value not in (choices := get_args(kind)):
        raise UnreadableError(f"one of {', '.join(choices)}", value)
    return cast("str", value)


def _is_class(kind: Any) -> bool:
    return get_origin(kind) is type


def _entry_type(value: Any, _: object) -> type[Entry]:
    """The class of the entries of a list, by its name."""
    for kind in ENTRIES:
        if kind.__name__ == value:
            return cast("type[Entry]", kind)
    raise UnreadableError("the name of a class of entries", value)


def _is_mapping(kind: Any) -> bool:
    return get_origin(kind) is Mapping


def _mapping_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """What reads an object with any names: JSON stays as it is."""
    (_, item) = get_args(kind)
    if not is_value(item):
        return lambda value, _: as_object(value)
    member = converter.get_structure_hook(item), item
    return lambda value, _: read_members(
        value, dict.fromkeys(as_object(value), member), item
    )


def _is_object(kind: Any) -> bool:
    return is_value(kind)


def _object_hook(source: Any, _: cattrs.Converter) -> Hook:
    """What reads a class, maybe with a type of its fields or entries."""
    of, fields = class_of(source), fields_of(source)
    known = (read for one, read in _READERS.items() if issubclass(of, one))
    read = next(known, None) or _by_attributes(source)

    def read_object(given: Any, _: object) -> Any:
        value = given if isinstance(given, of) else read(as_object(given), source)
        query = getattr(value, "query", None) if fields else None
        for name in fields:
            if query and name not in parameters_of(query).names:
                message = "was not requested"
                raise InvalidInputError([Problem(message, where=f"$.{name}")])
        return value

    return read_object


@cache
def _by_attributes(source: Any, **others: Any) -> Hook:
    """What reads the attributes of a class, some of them as of *other* types."""
    of, types = class_of(source), {**attribute_types(source), **others}
    hints: dict[str, Any] = {
        field.name: override(omit=True) for field in attrs.fields(of)
    }
    for field in attrs.fields(of):
        if kind := types.get(field.alias):
            hook = partial(_of_type, kind, _converter().get_structure_hook(kind))
            hints[field.name] = override(struct_hook=hook)
    if variables := getattr(source, "__parameters__", ()):
        source = source[tuple(Any for _ in variables)]
    read = make_dict_structure_fn(
        source,
        _converter(),
        _cattrs_use_alias=True,
        _cattrs_forbid_extra_keys=of._is_typed,  # noqa: SLF001 - of all values
        **hints,
    )
    # Without its array a value would be an empty one.
    arrays = [name for name, kind in types.items() if get_origin(kind) is tuple]

    def read_attributes(values: Any, _: object) -> Any:
        if missing := [name for name in arrays if name not in values]:
            raise InvalidInputError([Problem("is missing", where=f"$.{missing[0]}")])
        return read(values, source)

    return read_attributes


def _of_type(kind: Any, hook: Hook, value: Any, _: object) -> Any:
    """The value by its hook, to which cattrs would give a type with variables."""
    return hook(value, kind)


def _outcome_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """What reads an outcome, which has an error or has none."""
    succeeded, failed = map(converter.get_structure_hook, members_of(kind))
    may_be_missing = NoneType in get_args(kind)

    def read_outcome(value: Any, _: object) -> Any:
        if value is None and may_be_missing:
            return None
        is_made = isinstance(value, Succeeded | Failed)
        error = value.error if is_made else as_object(value).get("error")
        return (failed if error else succeeded)(value, None)

    return read_outcome


# --- what is read in a way of its own -------------------------------------------------


@attrs.frozen
class _AboutStats:
    query: StatsQuery
    responded_at: dt.datetime | None
    problems: tuple[Problem, ...]


def _stats(values: dict[str, Any], _: object) -> Stats:
    """A result, as the response to its query."""
    about = _converter().structure(values, _AboutStats)
    unread: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in about.problems:
        name = re.match(r"\$\.(\w+)", problem.where)
        unread[name[1] if name else ""].append(problem)
    body = {name: values[name] for name in (*ENVELOPE, *FIELD_ROWS) if name in values}
    for bound, day in (("start", "first_day"), ("end", "last_day")):
        body[bound] = values.get(bound) or values.get(day)
    try:
        return read_body(
            about.query, json.dumps(body).encode(), about.responded_at, unread
        )
    except InvalidResponseError as error:
        problems = error.problems or (Problem(error.message),)
        raise InvalidInputError(problems) from None


@attrs.frozen
class _AboutError:
    type: str
    text: str


def _error(values: dict[str, Any], asked: Any) -> SiteStatsError:
    about = _converter().structure(values, _AboutError)
    known = {kind.__name__: kind for kind in classes_of_errors(class_of(asked))}
    # A later version may have more of them.
    kind: Any = known.get(about.type, asked)
    if not attribute_types(kind):
        return cast("SiteStatsError", kind(about.text))
    error: SiteStatsError = _by_attributes(kind)(values, kind)
    return error


def classes_of_errors(kind: type[SiteStatsError]) -> Iterator[type[SiteStatsError]]:
    """A class of errors, and all below it."""
    yield kind
    for below in kind.__subclasses__():
        yield from classes_of_errors(below)


def _request(value: Any, _: object) -> HttpRequest:
    text = _converter().get_structure_hook(str), str
    return HttpRequest(
        **read_members(as_object(value), {"method": text, "path": text}, HttpRequest)
    )


def _entry(values: dict[str, Any], asked: Any) -> Entry:
    below = [kind for kind in asked.__subclasses__() if {*kind.columns} <= {*values}]
    kind = below[0] if below else asked
    entry = cast("Entry", struct_hook(kind, _converter())(values, kind))
    if isinstance(entry, HourEntry):
        _check_hour(entry)
    return entry


def _check_hour(entry: HourEntry) -> None:
    start = entry.start
    if start and (start.date(), start.hour) != (entry.date, entry.hour):
        message = f"the hour begins at {start}, not on {entry.date} at {entry.hour}"
        raise InvalidInputError([Problem(message, where="$.start")])


@attrs.frozen
class _AboutEntries:
    name: TableName
    entry_type: type[Entry]
    timezone: str | None


def _entries(values: dict[str, Any], asked: Any) -> Entries[Any]:
    about = _converter().structure(values, _AboutEntries)
    kind: Any = about.entry_type
    for wanted in (entry_class(about.name, (), None), *classes_in(asked)):
        if not issubclass(kind, wanted):
            message = f"{about.name} has no {wanted.__name__} here"
            raise InvalidInputError([Problem(message, where="$.entry_type")])
    of: Any = Entries
    entries = cast("Entries[Any]", _by_attributes(of[kind])(values, of))
    if kind is not HourEntry:
        return entries
    zone = find_zone(about.timezone)
    items = [replace(item, start=_local(item.start, zone)) for item in entries]
    for item in items:
        _check_hour(item)
    return attrs.evolve(entries, items=items)


def _entry_change(values: dict[str, Any], _: object) -> EntryChange:
    """A change whose values are texts, or the days or hours of a histogram."""
    is_timed = any(values.get(name) is not None for name in ("date", "date_before"))
    kind = _DAY if is_timed else _TEXT
    read = _by_attributes(EntryChange, value=kind, before=kind)
    return cast("EntryChange", read(values, EntryChange))


def _changes(values: dict[str, Any], asked: Any) -> Changes:
    changes = cast("Changes", _by_attributes(asked)(values, asked))
    keys = (entry_class(changes.name, (), None).columns[0], "start")
    if changes.key not in keys:
        message = f"expected one of {', '.join(keys)}"
        raise InvalidInputError([Problem(message, where="$.key")])
    zone, items = find_zone(changes.zone), list[EntryChange]()
    for place, item in enumerate(changes):
        for name in entry_counts(changes.name):
            if name not in item.counts:
                where = f"$.items[{place}].counts.{name}"
                raise InvalidInputError([Problem("is missing", where=where)])
        value, before = _local(item.value, zone), _local(item.before, zone)
        items.append(attrs.evolve(item, value=value, before=before))
    return attrs.evolve(changes, items=items)


def _local(value: Any, zone: dt.tzinfo | None) -> Any:
    """A moment in *zone*; other values as they are."""
    if not isinstance(value, dt.datetime):
        return value
    moment = in_all_zones(value)
    return moment.astimezone(zone) if zone else moment


_READERS: Final[Mapping[Any, Callable[[dict[str, Any], Any], Any]]] = {
    Stats: _stats,
    SiteStatsError: _error,
    Entry: _entry,
    Entries: _entries,
    EntryChange: _entry_change,
    Changes: _changes,
    StatsQuery: lambda values, _: StatsQuery.from_dict(values),
}
"""The classes whose JSON is more than their attributes by their names."""
