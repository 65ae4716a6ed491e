"""Strict JSON decoding: standard JSON in UTF-8, or one error.

The standard library's decoder is the reference. It accepts a lone surrogate,
which other decoders refuse. What it accepts beyond the standard (NaN, other
encodings than UTF-8) is refused here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, Final, NoReturn, TypeAlias

JsonValue: TypeAlias = (
    "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
)
"""A JSON value as plain Python values."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_DEEPEST: Final = 100
"""Levels of arrays and objects: what is decoded can be pickled, copied and compared
from anywhere. How far Python itself can follow depends on where it is called."""
_CONTAINERS: Final = frozenset((dict, list))
_values: Callable[..., Iterable[Any]] = dict[str, Any].values


class NotJsonError(ValueError):
    """Bytes are no JSON; the message says why, after "the response"."""


def load_json(body: bytes) -> JsonValue:
    """Decode *body*, or raise ``NotJsonError`` and nothing else.

    Of two equal keys the last one counts.
    """
    if not body.strip():
        raise NotJsonError("is empty")
    try:
        text = body.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError as error:
        raise NotJsonError(f"is no UTF-8 at byte {error.start}") from None
    try:
        value = _loads(text)
    except RecursionError:
        raise NotJsonError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise NotJsonError(
            f"is no JSON at character {error.pos}: {error.msg}"
        ) from None
    if _is_too_deep(value):
        raise NotJsonError("is nested too deeply")
    return value


def _is_too_deep(value: Any) -> bool:
    # Without a call for each item, as there may be millions: so not by isinstance.
    level: list[Any] = [value] if type(value) in _CONTAINERS else []
    for _ in range(_DEEPEST + 1):
        objects: list[dict[str, Any]] = [one for one in level if type(one) is dict]
        arrays = [one for one in level if type(one) is not dict]
        if not level:
            return False
        inside = map(_values, objects), arrays
        items = chain.from_iterable(chain.from_iterable(inside))
        # An empty one is no level of its own, and there may be millions.
        level = [one for one in items if one and type(one) in _CONTAINERS]
    return True


def _loads(text: str) -> JsonValue:
    try:
        plain: JsonValue = json.loads(text, parse_constant=_refuse_constant)
    except (json.JSONDecodeError, NotJsonError):
        raise
    except ValueError:
        # A number has more digits than int() accepts. Only then is each integer
        # parsed by a function, since that takes half as long again.
        lenient: JsonValue = json.loads(
            text, parse_constant=_refuse_constant, parse_int=_parse_int
        )
        return lenient
    return plain


def _refuse_constant(name: str) -> NoReturn:
    raise NotJsonError(f"holds {name}, which is not JSON")


def _parse_int(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        # No field has a use for so many digits.
        return float(digits)
