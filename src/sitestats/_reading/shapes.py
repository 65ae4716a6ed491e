"""The schema of what ``to_dict`` returns, for pydantic, and so for FastAPI.

Names and types are those of the table of fields, of the columns of frames, and of the
attributes and properties of the classes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from sitestats._base.errors import Problem, SiteStatsError, error_attributes
from sitestats._base.fields import (
    ENVELOPE,
    FIELD_ROWS,
    TABLES,
    TOTALS,
    TableName,
    entry_counts,
)
from sitestats._comparison.changes import Change, EntryChange, changes_of
from sitestats._comparison.comparison import Comparison, cells_of_totals
from sitestats._comparison.comparisons import ComparedPair, Comparisons
from sitestats._query.builder import StatsQuery
from sitestats._query.periods import NamedPeriod
from sitestats._results.bases import Items
from sitestats._results.entries import (
    Entries,
    Entry,
    EventCount,
    HistogramEntry,
    HourEntry,
    ListEntry,
    PageEntry,
)
from sitestats._results.outcomes import (
    CollectedOutcomes,
    Failed,
    Outcome,
    Succeeded,
    no_entries,
)
from sitestats._results.stats import Stats
from sitestats._results.tables import Column, Kind
from sitestats._results.websites import Website, WebsiteList
from sitestats._wire.messages import HttpRequest
from sitestats._wire.values import attributes_of

from .converting import array_of, is_own, names_in, read_again

_ENTRIES: Final[Mapping[str, Any]] = {
    "histogram": HistogramEntry,
    "pages": PageEntry,
    "list": ListEntry,
    "events": EventCount,
}
"""The classes of the entries of a list, by the kind of its field."""
_ITEMS: Final[Mapping[Any, Any]] = {
    Entries: HistogramEntry | PageEntry | ListEntry | EventCount,
    WebsiteList: Website,
    CollectedOutcomes: Outcome,
}
_TOTALS: Final[Mapping[str, Any]] = {"count": int, "number": float}
_KINDS: Final[Mapping[Kind, Any]] = {
    Kind.TEXT: str,
    Kind.COUNT: int,
    Kind.NUMBER: float,
    Kind.FLAG: bool,
    Kind.DAY: dt.date,
    Kind.MOMENT: dt.datetime,
}
"""The types of the cells of a column."""
_DAYS: Final[Mapping[str, Any]] = {
    "timezone": str | None,
    **dict.fromkeys(("first_day", "last_day"), dt.date | None),
}


def schema_of(source: Any, handler: Any) -> Any:
    """The schema of pydantic of a class, maybe of some fields: its JSON is described by
    its names and types, and read by ``from_dict``.
    """
    from pydantic_core import PydanticSerializationUnexpectedValue
    from pydantic_core import core_schema as schema

    kind: Any = get_origin(source) or source
    shape = handler.generate_schema(shape_of(source))

    def to_json(value: Any) -> Any:
        if not isinstance(value, kind):
            # pydantic asks the next one of a union.
            raise PydanticSerializationUnexpectedValue(f"it is no {kind.__name__}")
        return value.to_dict()

    # The shape is the schema of both ways. Told to serialize it, pydantic before 2.12
    # would leave out fields that a result has more.
    return schema.no_info_wrap_validator_function(
        lambda values, _: read_again(values, source),
        shape,
        serialization=schema.plain_serializer_function_ser_schema(to_json),
    )


# A type is made once, so that it has one definition in the schema of an application.
@cache
def shape_of(source: Any) -> Any:
    """The type of the JSON of *source*, a class of results, maybe of some fields."""
    kind: Any = get_origin(source) or source
    fields = tuple(dict.fromkeys(names_in(get_args(source))))
    if kind in {Stats, Succeeded, Comparison} and fields:
        names = ("".join(map(str.title, name.split("_"))) for name in fields)
        name = f"{kind.__name__}Of{'And'.join(names)}"
    else:
        fields, name = (), kind.__name__
    item = next((one for one in get_args(source) if isinstance(one, type)), None)
    if issubclass(kind, Items) and item is not None:
        name = f"{name}Of{item.__name__}"
    if kind is Stats:
        # A result with more fields than were demanded keeps them.
        return _typed_dict(name, _stats(fields), more=True)
    if kind is Succeeded:
        about = {"hostname": str, "index": int, "error": None}
        return _typed_dict(name, {**_stats(fields), **about}, more=True)
    if kind is Comparison:
        return _typed_dict(name, _comparison(fields), more=True)
    if issubclass(kind, SiteStatsError):
        return _error()
    if issubclass(kind, Entry):
        return _typed_dict(name, _entry(kind))
    hints = _of_attributes(kind)
    if hints and issubclass(kind, Items):
        known = (item for one, item in _ITEMS.items() if issubclass(kind, one))
        hints["items"] = array_of(item or next(known, EntryChange))
    return _typed_dict(name, {**hints, **_more_of(kind)})


def _of_attributes(kind: Any) -> dict[str, Any]:
    """The types of the attributes of a class, and of what is worked out."""
    if kind in {StatsQuery, NamedPeriod, Comparisons}:
        return {}
    hints = get_type_hints(kind)
    types = {name: hints[own] for name, own in attributes_of(kind).items()}
    for name in kind._worked_out:  # noqa: SLF001 - of this package
        types[name] = get_type_hints(getattr(kind, name).fget)["return"]
    return types


def _if_any(kind: Any) -> Any:
    from typing import NotRequired

    return NotRequired[in_json(kind)]


# --- what is more than attributes ---------------------------------------------------


def _more_of(kind: Any) -> Mapping[str, Any]:
    if kind is EntryChange:
        counts = dict.fromkeys(name for one in TABLES for name in entry_counts(one))
        return {**_MORE[kind], **dict.fromkeys(counts, _if_any(Change))}
    if kind is Comparisons:
        rows: Any = tuple[dict[str, Any], ...]
        return {"pairs": tuple[ComparedPair, ...], "rows": rows, "differs": str}
    return _MORE.get(kind, {})


def _entry(kind: Any) -> dict[str, Any]:
    """The values of an entry, which a class below may have more of."""
    hints = _hints(kind)
    for below in kind.__subclasses__():
        more = _hints(below).items() - hints.items()
        hints |= {name: _if_any(hint) for name, hint in more}
    return hints


def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in kind.columns}


def _stats(fields: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, row in FIELD_ROWS.items():
        shape: Any = _TOTALS.get(row.kind)
        if shape is None:
            shape = array_of(_ENTRIES[row.kind])
        if row.nullable:
            shape |= None
        if name in fields:
            values[name] = shape
        elif not fields or name == "events":
            values[name] = _if_any(shape)
    return {
        "query": StatsQuery,
        **ENVELOPE,
        **dict.fromkeys(("start", "end", "responded_at"), dt.datetime | None),
        **_DAYS,
        "partial": bool,
        "page": _if_any(str),
        "filters": _if_any(str),
        "truncated": tuple[str, ...],
        "problems": tuple[Problem, ...],
        **values,
    }


def _comparison(fields: tuple[str, ...]) -> dict[str, Any]:
    side: Any = Stats
    if fields:
        names: Any = Literal
        side = side[names[fields]]
    values: dict[str, Any] = {
        "hostname": str,
        "page": _if_any(str),
        "filters": _if_any(str),
        **_DAYS,
        **{f"{name}_before": _DAYS[name] for name in ("first_day", "last_day")},
        "partial": bool,
        "differs": str,
        "path": str | None,
        "now": side,
        "before": side,
    }
    for total in TOTALS:
        columns = _of_columns(cells_of_totals({total: Change(None, None)}, None)[:4])
        if total in fields:
            values |= columns
        elif not fields:
            values |= {name: _if_any(hint) for name, hint in columns.items()}
    for table in TABLES:
        rows = array_of(_row_of_changes(table))
        if table in fields:
            values[table] = rows
        elif not fields or table == "events":
            values[table] = _if_any(rows)
    return values


def _row_of_changes(table: TableName) -> Any:
    """A row of the frame of a list that is compared; hours have a few columns more."""
    nothing = no_entries(table, None)
    columns = _of_columns(changes_of(nothing, nothing)._table())  # noqa: SLF001 - of all results
    if table == "histogram":
        hours = Entries[Any](name=table, entry_type=HourEntry)
        columns |= {
            name: _if_any(hint)
            for name, hint in _of_columns(changes_of(hours, hours)._table()).items()  # noqa: SLF001 - as above
            if name not in columns
        }
    name = "".join(map(str.title, f"changes_of_{table}".split("_")))
    return _typed_dict(name, columns)


def _of_columns(columns: Sequence[Column]) -> dict[str, Any]:
    return {column.name: _KINDS[column.kind] | None for column in columns}


@cache
def _error() -> Any:
    """The values of all errors; an error has those of its class."""
    hints: dict[str, Any] = {"type": str, "text": str, "retryable": bool}
    for kind in _classes_below(SiteStatsError):
        types = get_type_hints(kind)
        hints |= {name: _if_any(types[name]) for name in error_attributes(kind)}
    return _typed_dict("SiteStatsError", hints)


# --- types in JSON ------------------------------------------------------------------


_FORMATS: Final[Mapping[Any, str]] = {dt.date: "date", dt.datetime: "date-time"}


def in_json(hint: Any) -> Any:
    """The type that values of the type *hint* have in JSON."""
    from typing import Annotated

    from pydantic import Field

    kind, parts = get_origin(hint), get_args(hint)
    hint = getattr(hint, "__supertype__", hint)
    if kind in {Union, UnionType}:
        either: Any = Union
        made = either[tuple(map(in_json, parts))]
    elif kind is tuple:
        array: Any = list
        made = array[in_json(parts[0])]
    elif kind is Mapping:
        made = dict[str, Any]
    elif hint in _FORMATS:
        made = Annotated[str, Field(json_schema_extra={"format": _FORMATS[hint]})]
    elif hint is HttpRequest:
        made = _typed_dict("Request", {"method": str, "path": str})
    else:
        made = shape_of(hint) if is_own(hint) else hint
    return made


def _typed_dict(name: str, hints: Mapping[str, Any], *, more: bool = False) -> Any:
    # pydantic brings it, and needs it before Python 3.12.
    from typing_extensions import TypedDict

    make: Any = TypedDict
    made = make(name, {key: in_json(hint) for key, hint in hints.items()})
    if more:
        made.__pydantic_config__ = {"extra": "allow"}
    return made


def _classes_below(kind: type[SiteStatsError]) -> Iterator[type[SiteStatsError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _classes_below(below)


_MORE: Final[Mapping[Any, Mapping[str, Any]]] = {
    StatsQuery: {
        "hostname": str,
        "page": str | None,
        "parameters": dict[str, str],
        "period": NamedPeriod | None,
        "website_timezone": str | None,
    },
    NamedPeriod: {"unit": str, "count": int, "now": dt.datetime},
    Failed: {"hostname": str, **_DAYS},
    Entries: {"columns": tuple[str, ...]},
    Change: dict.fromkeys(("now", "before", "absolute"), int | float | None),
    EntryChange: dict.fromkeys(("value", "before"), str | None),
}
"""What the JSON of a class has beside its attributes, or in another type."""
