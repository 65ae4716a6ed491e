"""What the JSON of results looks like, for pydantic, and so for FastAPI.

Names and types come from the table of fields and from the classes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import attrs
import msgspec

from sitestats._base.errors import Problem
from sitestats._base.fields import ENVELOPE, FIELD_ROWS
from sitestats._results.entries import (
    Entries,
    Entry,
    EventCount,
    HistogramEntry,
    ListEntry,
    PageEntry,
)
from sitestats._results.outcomes import Failed, Succeeded
from sitestats._results.stats import Stats
from sitestats._results.websites import AddedWebsite, Website, WebsiteList

_ENTRIES: Mapping[str, Any] = {
    "histogram": HistogramEntry,
    "pages": PageEntry,
    "list": ListEntry,
    "events": EventCount,
}
"""The classes of the entries of a list, by the kind of its field."""
_TOTALS: Mapping[str, Any] = {"count": int, "number": float}


def shape_of(source: Any) -> Any:
    """The type of the JSON of *source*, a class of results, maybe of some fields."""
    kind = get_origin(source) or source
    fields = get_args(source)
    shape: Any = dict[str, Any] if hasattr(kind, "to_dict") else list[dict[str, Any]]
    if kind is Stats:
        shape = _typed_dict(_name("Stats", fields), _stats(fields), more=True)
    elif kind is Succeeded:
        hints = {**_stats(fields), "hostname": str}
        shape = _typed_dict(_name("Succeeded", fields), hints, more=True)
    elif kind is Failed:
        days = dict.fromkeys(("timezone", "first_day", "last_day"), str | None)
        shape = _typed_dict("Failed", {"hostname": str, **days, "error": str})
    elif kind is WebsiteList:
        shape = _list_of(Website)
    elif kind is Entries:
        classes = [one for one in fields if isinstance(one, type)]
        shape = _list_of(classes[0] if classes else _either(*_ENTRIES.values()))
    elif issubclass(kind, Entry):
        shape = _entry(kind)
    elif kind in {Website, AddedWebsite, Problem}:
        names = [field.name for field in attrs.fields(kind) if field.name != "problems"]
        shape = _of_values(kind, get_type_hints(kind), names)
    return shape


def _entry(kind: Any) -> Any:
    """The shape of an entry, which a class below may have more values of."""
    from typing import NotRequired

    hints = {name: _in_json(hint) for name, hint in _hints(kind).items()}
    for below in kind.__subclasses__():
        more = _hints(below).items() - _hints(kind).items()
        hints |= {name: NotRequired[_in_json(hint)] for name, hint in more}
    return _typed_dict(kind.__name__, hints)


def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in kind.columns}


def _of_values(kind: Any, hints: Mapping[str, Any], names: Iterable[str]) -> Any:
    return _typed_dict(kind.__name__, {name: _in_json(hints[name]) for name in names})


def _list_of(kind: Any) -> Any:
    generic: Any = list
    return generic[_in_json(kind)]


def _either(*shapes: Any) -> Any:
    either: Any = Union
    return either[shapes]


def _stats(fields: tuple[Any, ...]) -> dict[str, Any]:
    from typing import NotRequired

    day = _in_json(dt.date | None)
    moments = dict.fromkeys(("start", "end"), _in_json(dt.datetime | None))
    names = [*_names_in(fields)]
    values: dict[str, Any] = {}
    for name, row in FIELD_ROWS.items():
        shape: Any = _TOTALS.get(row.kind)
        if shape is None:
            shape = _list_of(_ENTRIES[row.kind])
        if row.nullable:
            shape |= None
        if name in names:
            values[name] = shape
        elif not names or name == "events":
            values[name] = NotRequired[shape]
    return {
        **ENVELOPE,
        **moments,
        "first_day": day,
        "last_day": day,
        "partial": bool,
        "page": NotRequired[str],
        "filters": NotRequired[str],
        "truncated": list[str],
        **values,
    }


def _names_in(types: tuple[Any, ...]) -> Iterator[str]:
    """The names of fields in a ``Literal``, or in a union of some."""
    for one in types:
        if isinstance(one, str):
            yield one
        else:
            yield from _names_in(get_args(one))


def _name(kind: str, fields: tuple[Any, ...]) -> str:
    """``StatsOfPagesAndVisitors``: a generator of code makes a type of each."""
    names = ["".join(map(str.title, name.split("_"))) for name in _names_in(fields)]
    return f"{kind}Of{'And'.join(names)}" if names else kind


def _in_json(hint: Any) -> Any:
    """The type that values of the type *hint* have in JSON."""
    from typing import Annotated

    from pydantic import Field

    origin = get_origin(hint)
    if origin in {Union, UnionType}:
        return _either(*map(_in_json, get_args(hint)))
    if origin is tuple:
        sequence: Any = Sequence
        return sequence[_in_json(get_args(hint)[0])]
    if origin in {Mapping, dict}:
        return dict[str, Any]
    hint = getattr(hint, "__supertype__", hint)
    formats = {dt.date: "date", dt.datetime: "date-time"}
    if hint in formats:
        return Annotated[str, Field(json_schema_extra={"format": formats[hint]})]
    kind: Any = hint
    if isinstance(kind, type) and issubclass(kind, Problem | Entry | Website):
        return shape_of(kind)
    return hint


def _typed_dict(name: str, hints: dict[str, Any], *, more: bool = False) -> Any:
    # pydantic brings it, and needs it before Python 3.12.
    from typing_extensions import TypedDict

    make: Any = TypedDict
    made = make(name, hints)
    if more:
        # A result with more fields than were demanded keeps them.
        made.__pydantic_config__ = {"extra": "allow"}
    return made


def json_of(kind: Any) -> Callable[[Any], Any]:
    """What makes the JSON of a result of this class."""
    if issubclass(kind, Entries):
        return lambda entries: [entry.to_dict() for entry in entries]
    to_json: Callable[[Any], Any] = getattr(kind, "to_dict", None) or kind.to_dicts
    return to_json


# --- read again ----------------------------------------------------------------------


def reader_of(source: Any) -> Callable[[Any], Any]:
    """What makes a result of its JSON, and takes a result as it is.

    It raises a ValueError for other values: pydantic makes an error of its own of it.
    """
    kind: Any = get_origin(source) or source

    def read(value: Any) -> Any:
        if isinstance(value, kind):
            return value
        if issubclass(kind, Website | AddedWebsite):
            return _website(kind, value)
        if not issubclass(kind, Entry):
            raise ValueError(f"give a {kind.__name__}: its JSON can't be read here")  # noqa: TRY004 - pydantic asks for it
        try:
            return msgspec.convert(value, _class_for(kind, value))
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None

    return read


def _website(kind: Any, value: Any) -> Any:
    from pydantic import TypeAdapter

    shape: Any = shape_of(kind)
    values = TypeAdapter(shape).validate_python(value, strict=True)
    if "differences" in values:
        values["differences"] = tuple(Problem(**one) for one in values["differences"])
    return kind(**values)


def _class_for(kind: Any, value: Any) -> Any:
    """The class of an entry that has the names in *value*."""
    is_dict = isinstance(value, dict)
    names = set(cast("dict[str, Any]", value)) if is_dict else set[str]()
    below = [one for one in kind.__subclasses__() if {*one.columns} <= names]
    return below[0] if issubclass(kind, Entry) and below else kind
