"""The types of what ``to_dict`` returns, by names: reader and schema follow from them.

The JSON of a value has its attributes, and what its class works out beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import (
    Any,
    Generic,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from sitestats._base.fields import FIELD_ROWS
from sitestats._results.outcomes import Failed, Succeeded
from sitestats._wire.values import Value, attributes_of


def is_value(kind: Any) -> bool:
    """Whether *kind* is a class with ``to_dict`` and ``from_dict``."""
    of: Any = class_of(kind)
    return isinstance(of, type) and issubclass(of, Value)


def is_outcome(kind: Any) -> bool:
    """Whether *kind* is an ``Outcome``, maybe of some fields."""
    return {*map(class_of, members_of(kind))} == {Succeeded, Failed}


def class_of(source: Any) -> Any:
    """The class of a type that may name fields, as ``Stats[Literal["pages"]]`` does."""
    return get_origin(source) or source


def members_of(kind: Any) -> tuple[Any, ...]:
    """The types of a union, without None; nothing of another type."""
    is_union = get_origin(kind) in {Union, UnionType}
    return tuple(one for one in get_args(kind) if is_union and one is not NoneType)


def fields_of(source: Any) -> tuple[str, ...]:
    """The fields that a type names, in the document's order."""
    named = {*_names_in(get_args(source))}
    return tuple(name for name in FIELD_ROWS if name in named)


def _names_in(types: tuple[Any, ...]) -> Iterator[str]:
    for one in types:
        if isinstance(one, str):
            yield one
        else:
            yield from _names_in(get_args(one))


def classes_in(source: Any) -> tuple[type[Any], ...]:
    """The classes that a type names, such as the class of its entries."""
    return tuple(one for one in get_args(source) if isinstance(one, type))


def canonical(source: Any) -> Any:
    """The same type with the same fields in one order, or its class without any."""
    of, literal = class_of(source), cast("Any", Literal)
    if names := fields_of(source):
        return of[literal[names]]
    classes = classes_in(source)
    return of[classes[0]] if classes else of


def attribute_types(source: Any) -> dict[str, Any]:
    """The types of the attributes of a class, by their names in JSON."""
    of, given = class_of(source), _variables(source)
    hints = get_type_hints(of, include_extras=True)
    return {name: _filled(hints[own], given) for name, own in attributes_of(of).items()}


def worked_out_types(kind: Any) -> dict[str, Any]:
    """The types of what a class works out, by names."""
    hints = get_type_hints(kind)
    return {
        name: hints[name]
        if name in hints
        else get_type_hints(getattr(kind, name).fget)["return"]
        for name in kind._worked_out  # noqa: SLF001 - of all values
    }


def _variables(source: Any) -> dict[Any, Any]:
    """What stands for each type variable of a class and of its bases."""
    of = class_of(source)
    given = dict(zip(getattr(of, "__parameters__", ()), get_args(source), strict=False))
    for base in getattr(of, "__orig_bases__", ()):
        if class_of(base) is not Generic:
            given = {**_variables(_filled(base, given)), **given}
    return given


def _filled(hint: Any, given: Mapping[Any, Any]) -> Any:
    """*hint* with what stands for its type variables."""
    if isinstance(hint, TypeVar):
        return given.get(hint, hint.__bound__ or Any)
    if isinstance(hint, type) or not (variables := getattr(hint, "__parameters__", ())):
        return hint
    return hint[tuple(_filled(one, given) for one in variables)]
