"""The cases of the comparison: what each requests, and that it reads alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sitestats._protocol.requests import list_request
from sitestats.conformance._cases import Case, read_table
from sitestats.conformance._shape import CHECKS

pytestmark = pytest.mark.once

CASES, NOT_TRIED = read_table()["case"], read_table()["not_tried"]
NOW = datetime(2026, 3, 10, 23, 30, tzinfo=UTC)


def test_each_case_has_a_name_a_question_and_a_rule() -> None:
    """A difference is reported by them, with the section of the document."""
    assert len({case.name for case in CASES}) == len(CASES)
    assert len({case.decides for case in CASES}) == len(CASES)
    for case in CASES:
        assert case.section.partition(".")[0] in "2345789"
        assert case.rule.startswith("emulator/")
        assert case.of in {"list", "site", "public", "private", "unknown", "locked"}
        assert case.of == "unknown" or case.of in read_table()["missing"]
        assert case.check in {"", *CHECKS}
    assert {*NOT_TRIED[0]} == {"section", "what", "why"}


def test_at_most_sixty_requests_read() -> None:
    """A comparison costs the service little, and changes nothing."""
    requests = {case.request("a.example", NOW) for case in CASES}
    assert len(requests) <= 56
    assert {(request.method, request.body) for request in requests} == {("GET", b"")}


def test_a_case_requests_days_that_are_over_in_every_zone() -> None:
    """Their numbers no longer change while they are compared."""
    case = Case("x", "4.3", "", "", path="/a", params={"limit": "1"}, without=("info",))
    request = case.request("A.Example", NOW)
    assert request.path == "/a.example/a.json"
    assert dict(request.params) == {
        "version": "6",
        "start": "2026-03-02",
        "end": "2026-03-08",
        "fields": "pageviews",
        "limit": "1",
    }


def test_the_list_has_no_parameters() -> None:
    """It is requested as the client does."""
    assert Case("x", "4.1", "", "", of="list").request("", NOW) == list_request()
