"""Strict JSON decoding: standard JSON in UTF-8, or one error.

The standard library's decoder is the reference. It accepts a lone surrogate,
which other decoders refuse. What it accepts beyond the standard (NaN, other
encodings than UTF-8) is refused here.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Final, NoReturn, TypeAlias

JsonValue: TypeAlias = (
    "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
)
"""A JSON value as plain Python values."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_DEEPEST: Final = 100
"""The most levels of arrays and objects with which a value can be pickled, copied and
compared from anywhere. How far Python can follow depends on where it is called."""
# A string that has no end reaches to the end of the body: where it did not match, each
# further quotation mark in it would be tried as the beginning of a string.
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_STEPS: Final = bytes({*range(256)}.difference(b"[{]}"))
_NO_MARKS: Final = bytes({*range(256)}.difference(b"[{,:"))


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
    if is_too_deep(body):
        raise NotJsonError("is nested too deeply")
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        raise NotJsonError(
            f"is no JSON at character {error.pos}: {error.msg}"
        ) from None


def is_too_deep(body: bytes) -> bool:
    """Whether *body* has more levels of arrays and objects than a response may have.

    Decoders have limits of their own, which differ from one Python to the next, and
    msgspec has none for what it skips.
    """
    # Ordinary responses need no look at each level: an object is in an array, behind
    # its bracket or a comma, or in another object, behind a colon.
    marks = body.translate(None, _NO_MARKS)
    objects = marks.count(b"{") - marks.count(b",{") - marks.count(b"[{")
    if 2 * marks.count(b"[") + objects <= _DEEPEST:
        return False
    # Each as a byte with a sign: a level down, or a level up.
    steps = _STRING.sub(b"", body).translate(_STEPS, _NO_STEPS)
    return any(map(_DEEPEST.__lt__, accumulate(memoryview(steps).cast("b"))))


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
