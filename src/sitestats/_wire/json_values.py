"""JSON as plain values: decoded by msgspec, and what that refuses by Python."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import NoReturn, TypeAlias, cast

JsonValue: TypeAlias = (
    "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
)
"""A JSON value as plain Python values."""


def load_json(body: bytes) -> JsonValue:
    """Decode *body*. Of two equal keys the last one counts.

    The standard library decodes what msgspec refuses: a byte order mark, and half of a
    surrogate pair, as an emoji that was cut off has. A number such as 1e400, which no
    float holds, stays text: JSON has no infinity.

    Raises:
        ValueError: It is not JSON; the message says why, after "the response".
    """
    # A program that only makes queries needs neither module.
    import json

    import msgspec

    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return cast("JsonValue", msgspec.json.decode(body))
    if not body.strip():
        raise ValueError("is empty")
    try:
        text = body.decode("utf-8-sig")
        return cast(
            "JsonValue",
            json.loads(text, parse_constant=_refuse_constant, parse_float=_finite),
        )
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON: {error}") from None


def _finite(text: str) -> float | str:
    return number if math.isfinite(number := float(text)) else text


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}")
