"""The form of a response: names, types and values, without names and numbers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats._common.wire import HttpResponse
from sitestats.conformance._cases import Case
from sitestats.conformance._shape import anonymised, limit, load, nulls, order, shape

pytestmark = pytest.mark.once
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def form(data: Any, **options: Any) -> dict[str, str]:
    """The form of a response with these data."""
    response = HttpResponse(200, {}, json.dumps(data).encode())
    return shape(response, Case("x", "1", "", "", **options), set())


def test_names_and_types_by_place() -> None:
    """Entries of all lists are together, and null besides a value is left out."""
    data = {
        "ok": True,
        "__about": "…",
        "pageviews": 3,
        "pages": [{"value": "/", "seconds_on_page": None}, {"value": None}],
        "countries": [{"value": "NL"}],
    }
    assert form(data) == {
        "content-type": "missing",
        "$": "object",
        "$.ok": "true",
        "$.__…": "some",
        "$.pageviews": "integer",
        "$.pages": "array",
        "$.countries": "array",
        "[].value": "text or two capitals",
        "[].seconds_on_page": "number or null",
    }


def test_values_that_a_case_compares() -> None:
    """Dates and versions are shown, the length of a list, and no other number."""
    data = {"start": "2026-03-01T23:00:00.000Z", "end": 1234, "version": 6, "x": [1, 2]}
    assert form(data, values=("start", "end", "version", "x")) == {
        "content-type": "missing",
        "$": "object",
        "$.start": "2026-03-01T23:00:00.000Z",
        "$.end": "N",
        "$.version": "6",
        "$.x": "2 entries",
        "[]": "integer",
    }


def test_a_call_is_read_and_shown() -> None:
    """Its name and what is around it are documented nowhere."""
    response = HttpResponse(200, {"content-type": "a/b; c"}, b'/**/show({"ok":true});')
    assert shape(response, Case("x", "1", "", ""), set()) == {
        "content-type": "a/b",
        "call": "/**/show(…);",
        "$": "object",
        "$.ok": "true",
    }


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("no website a-b.example.com", "no website HOST"),
        ("ask ann@mail.example, or 127.0.0.1", "ask HOST, or N.N.N.N"),
        ("bücher.example has 1,234 views", "HOST has N,N views"),
        ("fields is required", "fields is required"),
    ],
)
def test_host_names_and_numbers_are_left_out(text: str, cleaned: str) -> None:
    """What a report repeats of the service may be about a website."""
    assert anonymised(text) == cleaned


@given(JSON)
def test_any_data_have_a_form(data: Any) -> None:
    """The service may send anything."""
    found = form(data)
    assert found["$"]
    for check in (order, limit, nulls):
        assert isinstance(check(data), (str, dict))


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", b"show("])
def test_what_is_no_json_has_no_data(body: bytes) -> None:
    """It is reported so, in place of an error."""
    response = HttpResponse(200, {}, body)
    assert load(response) is None
    assert shape(response, Case("x", "1", "", ""), set()) == {
        "content-type": "missing",
        "$": "no JSON",
    }


def test_an_order_needs_two_entries() -> None:
    """One alone is in any order."""
    pages = [{"pageviews": 2}, {"pageviews": 1}]
    assert order({"pages": pages}) == {"order": "as documented"}
    assert order({"pages": pages[::-1]}) == {"order": "another"}
    assert isinstance(order({"pages": pages[:1]}), str)
    days = [{"date": "2026-01-02"}, {"date": "2026-01-01"}]
    assert order({"histogram": days}) == {"order": "another"}


def test_a_limit_needs_more_than_it_leaves() -> None:
    """A website of one page does not show it."""
    assert limit({"pageviews": 3, "pages": [{"pageviews": 2}]}) == {}
    assert isinstance(limit({"pageviews": 2, "pages": [{"pageviews": 2}]}), str)


def test_nulls_need_visits_without_a_value() -> None:
    """Where every visit has one, nobody knows how the others would show."""
    full = {"value": "x", "pageviews": 2}
    lists = {"countries": [full], "referrers": [full]}
    assert isinstance(nulls({"pageviews": 2, **lists}), str)
    assert nulls({"pageviews": 3, **lists}) == {"entries with null": "none"}
    lists["referrers"] = [full, {"value": None, "pageviews": 1}]
    assert nulls({"pageviews": 3, **lists}) == {"entries with null": "some"}


@pytest.mark.parametrize("text", ["show(" * 20_000, "a.1" * 33_000, "1-" * 50_000])
def test_a_response_of_the_worst_text_is_read_at_once(text: str) -> None:
    """What a service sends in place of a call is refused in time that grows with it."""
    began = time.perf_counter()
    assert load(HttpResponse(200, {}, text.encode())) is None
    assert len(anonymised(text)) <= 200
    assert time.perf_counter() - began < 5
