"""The schema of what ``to_dict`` returns, for pydantic, and so for FastAPI.

Each class has a ``TypedDict`` of the types that ``json_types`` tells.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Final, Union, cast, get_args, get_origin, get_type_hints

from sitestats._base.errors import SiteStatsError
from sitestats._base.fields import FIELDS
from sitestats._comparison.changes import EntryChange
from sitestats._query.builder import StatsQuery
from sitestats._query.periods import NamedPeriod
from sitestats._results.entries import (
    Entries,
    Entry,
    EventCount,
    HistogramEntry,
    ListEntry,
    PageEntry,
)
from sitestats._results.stats import ABOUT, Stats
from sitestats._wire.messages import HttpRequest, JsonValue

from .converting import classes_of_errors, read_again
from .json_types import (
    attribute_types,
    canonical,
    class_of,
    classes_in,
    fields_of,
    is_value,
    worked_out_types,
)


def schema_of(source: Any, handler: Any) -> Any:
    """The schema of pydantic of a class, maybe of some fields: its JSON is described by
    its names and types, and read by ``from_dict``.
    """
    from pydantic_core import PydanticSerializationUnexpectedValue, to_jsonable_python
    from pydantic_core import core_schema as schema

    kind = class_of(source)
    shape = handler.generate_schema(_shape_of(canonical(source)))

    def to_json(value: Any, info: Any) -> Any:
        if not isinstance(value, kind):
            # pydantic asks the next one of a union.
            raise PydanticSerializationUnexpectedValue(f"it is no {kind.__name__}")
        made = value.to_dict()
        if info.exclude_none:
            made = _without_nulls(made)
        return to_jsonable_python(made, include=info.include, exclude=info.exclude)

    # The shape is the schema of both ways. Told to serialize it, pydantic before 2.12
    # would leave out fields that a result has more.
    return schema.no_info_wrap_validator_function(
        lambda values, _: read_again(values, source),
        shape,
        serialization=schema.plain_serializer_function_ser_schema(
            to_json, info_arg=True
        ),
    )


def _without_nulls(value: JsonValue) -> JsonValue:
    """JSON without the names whose value is null: pydantic leaves them in dicts."""
    if isinstance(value, list):
        return [*map(_without_nulls, value)]
    if isinstance(value, dict):
        items = value.items()
        return {name: _without_nulls(one) for name, one in items if one is not None}
    return value


# A type is made once, so that it has one definition in the schema of an application.
@cache
def _shape_of(source: Any) -> Any:
    """The type of the JSON of *source*, a class of results, maybe of some fields."""
    kind, fields = class_of(source), fields_of(source)
    known = (types for one, types in _TYPES.items() if issubclass(kind, one))
    types = next(known, _of_attributes)(source)
    name = "SiteStatsError" if issubclass(kind, SiteStatsError) else kind.__name__
    parts = [*fields, *(one.__name__ for one in classes_in(source))]
    if parts:
        titles = (
            "".join(p[:1].upper() + p[1:] for p in part.split("_")) for part in parts
        )
        name = f"{name}Of{'And'.join(titles)}"
    # A result with more fields than were demanded keeps them.
    return _typed_dict(name, types, more=kind is Stats)


def _of_attributes(source: Any) -> dict[str, Any]:
    return {**attribute_types(source), **worked_out_types(class_of(source))}


# --- what is more than attributes ---------------------------------------------------


def _stats(source: Any) -> dict[str, Any]:
    """What is known of a result, and its fields: those that are named, or any."""
    named, hints = fields_of(source), get_type_hints(Stats)
    types: dict[str, Any] = {name: hints[name] for name in ("query", *ABOUT)}
    types |= {name: _if_any(str) for name in ("page", "filters")}
    types |= {"truncated": tuple[str, ...]}
    types["problems"] = _returned("problems")
    # No type demands events, and a query may.
    for name in (*(named or FIELDS), "events"):
        hint = _returned(name)
        if class_of(hint) is Entries:
            hint = attribute_types(hint)["items"]
        types[name] = hint if name in named else _if_any(hint)
    return types


def _returned(name: str) -> Any:
    """The type of a property of results."""
    return get_type_hints(getattr(Stats, name).fget)["return"]


def _entry(kind: Any) -> dict[str, Any]:
    """The values of an entry, which a class below may have more of."""
    types = _columns(kind)
    for below in kind.__subclasses__():
        more = _columns(below).items() - types.items()
        types |= {name: _if_any(hint) for name, hint in more}
    return types


def _columns(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in kind.columns}


def _error(_: Any) -> dict[str, Any]:
    """The values of all errors; an error has the values of its class."""
    types: dict[str, Any] = {"type": str, "text": str, "retryable": bool}
    for kind in classes_of_errors(SiteStatsError):
        types |= {name: _if_any(hint) for name, hint in attribute_types(kind).items()}
    return types


def _query(_: Any) -> dict[str, Any]:
    return {
        "hostname": str,
        "page": str | None,
        "parameters": dict[str, str],
        "period": NamedPeriod | None,
        "website_timezone": str | None,
    }


def _entry_change(source: Any) -> dict[str, Any]:
    return {**_of_attributes(source), **dict.fromkeys(("value", "before"), str | None)}


_TYPES: Final[Mapping[Any, Any]] = {
    Stats: _stats,
    Entry: _entry,
    SiteStatsError: _error,
    StatsQuery: _query,
    EntryChange: _entry_change,
}
"""The classes whose JSON is more than their attributes by their names."""


# --- types in JSON ------------------------------------------------------------------


_FORMATS: Final[Mapping[Any, str]] = {dt.date: "date", dt.datetime: "date-time"}
_ANY_ENTRY: Final[Any] = HistogramEntry | PageEntry | ListEntry | EventCount


def _in_json(hint: Any) -> Any:
    """The type that values of the type *hint* have in JSON."""
    from typing import Annotated

    from pydantic import Field

    kind, parts = get_origin(hint), get_args(hint)
    hint = getattr(hint, "__supertype__", hint)
    made: Any
    either, array, names = cast("tuple[Any, Any, Any]", (Union, list, dict))
    if kind in {Union, UnionType}:
        made = either[tuple(map(_in_json, parts))]
    elif kind is tuple:
        made = array[_in_json(parts[0])]
    elif kind is Mapping:
        made = names[str, _in_json(parts[1]) if is_value(parts[1]) else Any]
    elif kind is type:
        made = str
    elif hint in _FORMATS:
        made = Annotated[str, Field(json_schema_extra={"format": _FORMATS[hint]})]
    elif hint is HttpRequest:
        made = _typed_dict("Request", {"method": str, "path": str})
    elif hint is Entry:
        made = _in_json(_ANY_ENTRY)
    else:
        made = _shape_of(canonical(hint)) if is_value(hint) else hint
    return made


def _if_any(hint: Any) -> Any:
    from typing import NotRequired

    return NotRequired[_in_json(hint)]


def _typed_dict(name: str, types: Mapping[str, Any], *, more: bool = False) -> Any:
    # pydantic brings it, and needs it before Python 3.12.
    from typing_extensions import TypedDict

    make: Any = TypedDict
    made = make(name, {key: _in_json(hint) for key, hint in types.items()})
    if more:
        made.__pydantic_config__ = {"extra": "allow"}
    return made
