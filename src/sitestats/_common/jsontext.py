"""Strict JSON decoding: standard JSON in UTF-8, or one error.

The standard library's decoder is the reference. It accepts a lone surrogate,
which other decoders refuse. What it accepts beyond the standard (NaN, other
encodings than UTF-8) is refused here.
"""

from __future__ import annotations

import json
from typing import Final, NoReturn, TypeAlias

JsonValue: TypeAlias = (
    "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
)
"""A JSON value as plain Python values."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


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
        return _loads(text)
    except RecursionError:
        raise NotJsonError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise NotJsonError(
            f"is no JSON at character {error.pos}: {error.msg}"
        ) from None


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
