"""JSON from outside becomes a value or one error."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats._common.jsontext import JsonValue, NotJsonError, is_too_deep, load_json

VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(VALUES)
def test_json_round_trip(value: JsonValue) -> None:
    """What the standard library encodes is decoded to the same value."""
    assert load_json(json.dumps(value).encode()) == value


@given(st.binary())
def test_any_bytes_are_a_value_or_our_error(body: bytes) -> None:
    """No bytes raise anything but NotJsonError."""
    with suppress(NotJsonError):
        load_json(body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"\xef\xbb\xbf{}", {}),
        (b' {"a": 1, "a": 2} ', {"a": 2}),
        (b'"\\ud800"', "\ud800"),
        (b"1" * 4000, int("1" * 4000)),
        (b"[%s, 7]" % (b"1" * 5000), [math.inf, 7]),
        (b"-" + b"1" * 5000, -math.inf),
    ],
)
def test_odd_but_readable(body: bytes, value: JsonValue) -> None:
    """A byte order mark, equal keys, lone surrogates and huge numbers are accepted."""
    assert load_json(body) == value


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"NaN", "holds NaN"),
        (b'{"a": -Infinity}', "holds -Infinity"),
        (b'{"a": "\xff"}', "is no UTF-8 at byte 7"),
        (b'{"a": "\xed\xa0\x80"}', "is no UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "is no UTF-8"),
        (b"{", "is no JSON at character 1"),
        (b"{}x", "is no JSON at character 2"),
        (b"[" * 10_000 + b"]" * 10_000, "is nested too deeply"),
        (b'{"a":' * 101, "is nested too deeply"),
        (b"[ {}," * 101, "is nested too deeply"),
    ],
)
def test_why_bytes_are_no_json(body: bytes, why: str) -> None:
    """The error names the reason why bytes are no JSON."""
    with pytest.raises(NotJsonError, match=why):
        load_json(body)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 101 + b'\\"' * 40_000,
        b'<script>self.__next_f.push([1,"' + b'[{\\"a\\":' * 20_000,
    ],
)
def test_no_json_is_refused_in_time_that_grows_with_its_length(body: bytes) -> None:
    """Nor do strings without an end, as in a web page cut off, take longer."""
    started = time.perf_counter()
    with pytest.raises(NotJsonError):
        load_json(body)
    assert time.perf_counter() - started < 5


WRAPS: list[Callable[[JsonValue], JsonValue]] = [
    lambda value: [value],
    lambda value: [0, value],
    lambda value: {"x": value},
    lambda value: {"x": {}, "y": value},
    lambda value: {"x": [], '\\"]}]}': value},
    lambda value: {"x,": value},
]
"""Each is a level more."""
SEPARATORS = [(",", ":"), (", ", ": "), (",\r\n", ":\t")]


@given(
    st.sampled_from([*([wrap] for wrap in WRAPS), WRAPS[1:3], WRAPS]),
    st.sampled_from(SEPARATORS),
    st.sampled_from([0, "[", "{[", "]", [], {}]),
    st.randoms(use_true_random=False),
)
def test_a_body_may_have_a_hundred_levels(
    wraps: list[Callable[[JsonValue], JsonValue]],
    separators: tuple[str, str],
    value: JsonValue,
    random: Random,
) -> None:
    """A body is too deep from 101 levels on, whatever its strings and spaces are."""
    for _ in range(97):
        value = random.choice(wraps)(value)
    while depth(value) < 101:
        value = random.choice(wraps)(value)
        body = json.dumps(value, separators=separators).encode()
        assert is_too_deep(body) == (depth(value) > 100)


def depth(value: JsonValue) -> int:
    """How many arrays and objects are within each other."""
    if not isinstance(value, dict | list):
        return 0
    items = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth, items), default=0)
