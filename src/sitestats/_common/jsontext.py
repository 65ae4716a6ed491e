"""JSON from outside: standard JSON in UTF-8, or one error."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import NoReturn, TypeAlias, cast

import msgspec

JsonValue: TypeAlias = (
    "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
)
"""A JSON value as plain Python values."""


def load_json(body: bytes) -> JsonValue:
    """Decode *body*. Of two equal keys the last one counts.

    The standard library decodes what msgspec refuses: a byte order mark, and half of a
    surrogate pair, as an emoji that was cut off has.

    Raises:
        ValueError: It is not JSON; the message says why, after "the response".
    """
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return cast("JsonValue", msgspec.json.decode(body))
    if not body.strip():
        raise ValueError("is empty")
    try:
        return cast(
            "JsonValue",
            json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant),
        )
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}")
