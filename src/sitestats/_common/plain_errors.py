"""Errors as plain data: what an error is made of, as values that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from .advice import Argument, Message, Place, PythonOnly, Step
from .problems import Problem
from .text import shown
from .wire import Headers, HttpRequest

if TYPE_CHECKING:
    from .jsontext import JsonValue

_CLASSES: Final = {
    one.__name__: one
    for one in (
        *(Argument, Message, Place, PythonOnly, Step),
        *(Headers, HttpRequest, Problem, bytes),
    )
} | {"ellipsis": lambda: ...}
"""Nothing else is made of data, whatever it says."""
_KEYS: Final = ("class", "values", "named")


def to_plain(value: object) -> Any:
    """*value* as JSON can hold it; a short text in place of what can't be.

    >>> to_plain("use " + Step("limit", 5))["values"]
    ['use ', {'class': 'Step', 'values': ['limit', 5], 'named': {}}]
    """
    values: tuple[object, ...]
    named: Mapping[str, object] = {}
    if isinstance(value, Message):
        values = value.parts
    elif isinstance(value, Step):
        values, named = (value.name, *value.values), value.named
    elif isinstance(value, HttpRequest):
        values = value.method, value.path, value.params
    elif isinstance(value, Headers):
        values = (dict(value),)
    elif isinstance(value, (Argument, Problem, PythonOnly)):
        values = attrs.astuple(value, recurse=False)
    elif value is ... or isinstance(value, bytes):
        # The body of a response stays behind: it may be large.
        values = ()
    else:
        return _plain_value(value)
    made = type(value).__name__, to_plain(values), to_plain(named)
    return dict(zip(_KEYS, made, strict=True))


def _plain_value(value: object) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {str(name): to_plain(one) for name, one in pairs}
    if isinstance(value, (list, tuple)):
        return [*map(to_plain, cast("list[object]", value))]
    return shown(value)


def from_plain(data: JsonValue) -> Any:
    """What ``to_plain`` was given. A list becomes a tuple, as in all that we hold.

    >>> from_plain(to_plain("use " + Step("limit", 5))).render(lambda step: step.name)
    'use limit'
    """
    if isinstance(data, list):
        return tuple(map(from_plain, data))
    if not isinstance(data, dict):
        return data
    found: dict[str, Any] = {name: from_plain(data[name]) for name in data}
    if {*found} != {*_KEYS}:
        return found
    return _CLASSES[found["class"]](*found["values"], **found["named"])
