"""The table of the fields, the emulator's own lists, and what stands beside the table.

Type checkers can't read a table, so some names are written twice.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args, get_type_hints

from base.inside import EMULATED_FIELDS, EMULATED_LISTS, Field
from inside import StatsValues
from sitestats import (
    Entries,
    EventCount,
    FieldName,
    HistogramEntry,
    ListEntry,
    PageEntry,
    Stats,
)
from sitestats.types import (
    CountName,
    HourEntry,
    ListName,
    TableName,
    TimedListEntry,
    TimedPageEntry,
    TotalName,
    WeekEntry,
)

_VALUES: Final[Mapping[str, Any]] = {
    "count": int,
    "number": float,
    "list": Entries[ListEntry],
    "pages": Entries[PageEntry],
    "histogram": Entries[HistogramEntry],
    "events": Entries[EventCount],
}
"""The type of a property of ``Stats``, by the kind of the field."""
_ENTRIES: Final = (ListEntry, TimedListEntry, PageEntry, TimedPageEntry)
_HISTOGRAM: Final = (HistogramEntry, HourEntry, WeekEntry)
_NAMES: Final = (
    ("FieldName", FieldName, {"count", "number", *_VALUES} - {"events"}),
    ("TotalName", TotalName, {"count", "number"}),
    ("ListName", ListName, {"list", "pages"}),
    ("TableName", TableName, {"list", "pages", "histogram", "events"}),
)
"""The types of names, each with the kinds of the fields that it has."""


def differences(rows: Mapping[str, Field]) -> list[str]:
    """What differs between the table and what is written beside it, in words."""
    return [*_names(rows), *_properties(rows), *_values(rows), *_entries(rows)]


def emulator_differences(rows: Mapping[str, Field]) -> list[str]:
    """What differs between the table and the emulator's own lists of fields."""
    lists = [n for n, row in rows.items() if row.kind in {"list", "pages"}]
    requested = [n for n, row in rows.items() if row.kind != "events"]
    return [
        *_compare("the fields of the emulator", EMULATED_FIELDS, requested),
        *_compare("the lists of the emulator", EMULATED_LISTS, lists),
    ]


def _compare(what: str, there: Any, expected: Any) -> Iterator[str]:
    for name in expected:
        if name not in there:
            yield f"{what} lack {name}"
    for name in there:
        if name not in expected:
            yield f"{what} have {name}, which has no row"


def _names(rows: Mapping[str, Field]) -> Iterator[str]:
    for what, literal, kinds in _NAMES:
        expected = [name for name, row in rows.items() if row.kind in kinds]
        yield from _compare(f"the names of {what}", get_args(literal), expected)
    counts = [name for name, row in rows.items() if row.in_entries == "always"]
    yield from _compare("the names of CountName", get_args(CountName), counts)


def _properties(rows: Mapping[str, Field]) -> Iterator[str]:
    found = {
        name: get_type_hints(value.fget)["return"]
        for name, value in vars(Stats).items()
        if isinstance(value, property) and f'_value("{name}")' in _source(value)
    }
    yield from _compare("the properties of Stats", found, rows)
    for name in rows.keys() & found.keys():
        kind = _VALUES[rows[name].kind]
        expected = kind | None if rows[name].nullable else kind
        if found[name] != expected:
            yield f"Stats.{name} is annotated with {found[name]}, not {expected}"


def _source(found: property) -> str:
    assert found.fget is not None
    return inspect.getsource(found.fget)


def _values(rows: Mapping[str, Field]) -> Iterator[str]:
    there = StatsValues.__annotations__
    yield from _compare("the keys of StatsValues", there, rows)


def _entries(rows: Mapping[str, Field]) -> Iterator[str]:
    for kind in _ENTRIES:
        carried = {"always"}
        if kind in {TimedListEntry, TimedPageEntry}:
            carried = {"always", "if requested"}
        expected = [n for n, row in rows.items() if row.in_entries in carried]
        values = [name for name in kind.__struct_fields__ if name != "value"]
        yield from _compare(f"the values of {kind.__name__}", values, expected)
    for kind in _HISTOGRAM:
        for name, row in rows.items():
            if row.in_histogram and name not in kind.__struct_fields__:
                yield f"the values of {kind.__name__} lack {name}"
