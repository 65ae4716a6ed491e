"""Retry-After and Date headers, in every form that servers send; and all headers."""

from __future__ import annotations

import json
import math
import pickle
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats.types import Headers
from wire.inside import is_deep, parse_http_date, parse_retry_after

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        ("9" * 400, 1e9),
        (" 7 ", 7.0),
        ("1.5", 1.5),
        ("7.", 7.0),
        ("-3", 0.0),
        ("-0", 0.0),
        ("+3", 3.0),
        ("Fri, 20 Nov 2026 12:00:30 GMT", 30.0),
        ("Friday, 20-Nov-26 12:00:30 GMT", 30.0),
        ("Fri Nov 20 12:00:30 2026", 30.0),
        ("Fri Nov  6 12:00:30 2026", 0.0),
        ("Fri, 20 Nov 2026 11:59:30 GMT", 0.0),
    ],
)
def test_every_form_gives_seconds(value: str, seconds: float) -> None:
    """Seconds, fractions, signs and the dates of HTTP give a wait."""
    assert parse_retry_after(value, NOON) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "soon",
        "nan",
        "inf",
        "1e3",
        "1_0",
        "٣",
        "7 seconds",
        "-",
        ".5",
        "2026-11-20T12:00:30Z",
        "Fri, 99 Nov 2026 12:00:30 GMT",
        "Fri, 20 Nov 2026 25:00:30 GMT",
        "Fri, 20 Nov 99999999 12:00:30 GMT",
        "Fri, 20 Nov 2026 13:00:30 +0100",
        "20 11 2026",
        "Fri, 20 Nov 2026 12:00:30 GMT, Fri, 20 Nov 2026 12:00:30 GMT",
        # Python's own reading would guess at these.
        "3 may 2099 5:1",
        "Fri, 20 Nov 2026",
        "Fri, 20 Nov 2026 12:00",
        "Fri Nov 20 12:00:30 GMT 2026",
        "Fri Nov 99 12:00:30 2026",
        "Fri, 20 Nov 2026 12.00.30",
        "Fri, ٢٠ Nov 2026 12:00:30 GMT",
    ],
)
def test_garbage_is_no_wait(value: str) -> None:
    """A text that is neither seconds nor a date gives None, and never raises."""
    assert parse_retry_after(value, NOON) is None


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2},? .{0,20}[0-9:]{0,9}.{0,9}"))
def test_any_text_gives_a_wait_or_none(value: str) -> None:
    """No header's value raises, and no wait is negative or endless."""
    seconds = parse_retry_after(value, NOON)
    assert seconds is None or (seconds >= 0 and math.isfinite(seconds))


@given(st.integers(1970, 9998), st.integers(0, 10**6))
def test_a_written_date_is_read_back(year: int, seconds: int) -> None:
    """An HTTP date is parsed to the moment that it was formatted from, and so is one of
    C's ``asctime``.
    """
    moment = datetime.fromtimestamp(seconds, UTC).replace(year=year, month=1)
    assert parse_http_date(moment.ctime()) == moment
    assert parse_http_date(format_datetime(moment, usegmt=True)) == moment


# --- headers ------------------------------------------------------------------------


@given(st.dictionaries(st.text("abAB-", min_size=1), st.text(max_size=5)))
def test_a_header_is_found_in_any_case(values: dict[str, str]) -> None:
    """A header is found by its name in capitals as in small letters."""
    headers = Headers(values)
    small = {name.lower(): value for name, value in values.items()}
    assert dict(headers) == headers == small
    for name, value in small.items():
        assert headers[name] == headers[name.upper()] == value
        assert name.title() in headers
    assert headers.get("c") is None
    assert pickle.loads(pickle.dumps(headers)) == headers


TEXTS = st.text(st.sampled_from('[]{}"\\a'), max_size=9)


@given(st.integers(0, 99) | st.integers(300, 500), st.integers(0, 500), st.lists(TEXTS))
def test_json_that_is_deep(depth: int, missing: int, texts: list[str]) -> None:
    """JSON with more than 300 levels is deep, and JSON with at most 100 is not,
    whatever its texts are, and whether its end is missing or not.
    """
    data: object = texts
    for level in range(depth):
        data = {"[": data} if level % 3 else [texts, data]
    body = json.dumps(data)
    cut = body[: len(body) - min(missing, depth)].encode()
    assert is_deep(cut) == (depth >= 300)
