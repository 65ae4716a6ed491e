"""JSON from outside becomes a value or one error."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats._common.wire import JsonValue, load_json

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


@given(st.binary() | VALUES.map(json.dumps).map(str.encode))
def test_any_bytes_are_a_value_or_our_error(body: bytes) -> None:
    """Bytes are the value that the standard library reads, or an error of ours."""
    try:
        value = load_json(body)
    except ValueError as error:
        assert str(error).startswith(("is not JSON", "is empty"))  # noqa: PT017 - or none
        return
    assert value == json.loads(body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"\xef\xbb\xbf{}", {}),
        (b' {"a": 1, "a": 2} ', {"a": 2}),
        (b'"\\ud800"', "\ud800"),
        (b"1" * 4000, int("1" * 4000)),
    ],
)
def test_odd_but_readable(body: bytes, value: JsonValue) -> None:
    """A byte order mark, equal keys and lone surrogates are accepted."""
    assert load_json(body) == value


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"NaN", "holds NaN"),
        (b'{"a": -Infinity}', "holds -Infinity"),
        (b'{"a": "\xff"}', "is not JSON: .*0xff"),
        (b'{"a": "\xed\xa0\x80"}', "is not JSON"),
        ('{"a": 1}'.encode("utf-16"), "is not JSON"),
        (b"{", "is not JSON"),
        (b"{}x", "is not JSON"),
        # Python 3.14 goes deeper than the versions before.
        (b"[" * 1_000_000, "is not JSON"),
        (b"1" * 5000, "is not JSON: Exceeds the limit"),
    ],
)
def test_why_bytes_are_not_json(body: bytes, why: str) -> None:
    """The error names the reason why bytes are not JSON."""
    with pytest.raises(ValueError, match=why):
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
    started = time.thread_time()
    with pytest.raises(ValueError, match="is not JSON"):
        load_json(body)
    assert time.thread_time() - started < 5
