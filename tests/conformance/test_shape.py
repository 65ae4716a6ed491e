"""The shape of a response: names, types and values, without names and numbers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats._common.wire import HttpResponse
from sitestats.conformance._observation import Case
from sitestats.conformance._shape import anonymised, load, shape

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.text()
            | st.sampled_from(["histogram", "pages", "date", "value", "visits"]),
            inner,
        )
    ),
    max_leaves=20,
)
REST = {"content-type": "missing", "date": "missing", "$": "dict"}


def form(data: Any, **options: Any) -> dict[str, str]:
    """The shape of a response with these data."""
    response = HttpResponse(200, {}, json.dumps(data).encode())
    return shape(response, Case("x", "1", "", **options))


def test_names_and_types_by_place() -> None:
    """Each list has places of its own, and null besides a value is left out."""
    data = {
        "ok": True,
        "__about": "…",
        "pageviews": 3,
        "pages": [{"value": "/", "seconds_on_page": None}, {"value": None}],
        "countries": [{"value": "NL"}, {"value": "nl"}],
    }
    assert form(data) == REST | {
        "$.ok": "bool",
        "$.__…": "some",
        "$.pageviews": "int",
        "$.pages": "list",
        "$.pages[]": "dict",
        "$.pages[].value": "path",
        "$.pages[].seconds_on_page": "missing in some or number or null",
        "$.countries": "list",
        "$.countries[]": "dict",
        "$.countries[].value": "str or two capitals",
    }


def test_values_that_a_case_compares() -> None:
    """Dates and versions are shown, the length of a list, and no number of visitors."""
    data = {"start": "2026-03-01T23:00:00.000Z", "end": 12345, "version": 6, "x": [1]}
    data["histogram"] = [{"date": f"2026-03-0{n}", "pageviews": 7} for n in (2, 1)]
    found = form(data, values=("start", "end", "version", "x"))
    assert found == REST | {
        "$.start": "2026-03-01T23:00:00.000Z",
        "$.end": "N",
        "$.version": "6",
        "$.x": "1 entries",
        "$.x[]": "int",
        "$.histogram": "list",
        "$.histogram[]": "dict",
        "$.histogram[].date": "str 2026-03-01 or str 2026-03-02",
        "$.histogram[].pageviews": "int",
        "order of $.histogram": "not as documented",
    }


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("no website a-b.example.com", "no website HOST"),
        ("ask ann@mail.example, or 127.0.0.1", "ask HOST, or N.N.N.N"),
        ("bücher.example has 1,234 views", "HOST has N,N views"),
        ("a \x1b[2J\nline", "a \\x1b[NJ\\nline"),
    ],
)
def test_host_names_and_numbers_are_left_out(text: str, cleaned: str) -> None:
    """What a report repeats of the service may be about a website."""
    assert anonymised(text) == cleaned


@given(JSON)
def test_any_data_have_a_shape(data: Any) -> None:
    """The service may send anything."""
    assert form(data)["$"]
    assert form(data, values=("value", "date", "pages"), option="null_entries")["$"]


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", b"show(", b"[" * 100_000])
def test_what_is_no_json_has_no_data(body: bytes) -> None:
    """It is reported so, in place of an error."""
    assert load(HttpResponse(200, {}, body)) is None


def test_a_long_body_is_read_once() -> None:
    """What looks like many calls takes time that grows with the length."""
    began = time.thread_time()
    long = HttpResponse(200, {}, b"show(" * 20_000)
    assert shape(long, Case("x", "1", ""))["$"] == "null"
    assert time.thread_time() - began < 5
