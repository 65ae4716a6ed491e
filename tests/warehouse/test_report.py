"""The report of an update: in a line, as plain data, and as an error."""

from __future__ import annotations

import json
from datetime import date

import pytest

from sitestats import SiteStatsError
from sitestats.warehouse import Coverage, Update
from sitestats.warehouse._held import Stretch

pytestmark = pytest.mark.once

DAY = date(2026, 3, 1)


def a_report(good: int, failed: int) -> Update:
    """A report of so many websites; the failed ones have no day."""
    sites = {
        f"s{number}.example": Coverage(
            first=DAY,
            held=() if number >= good else (Stretch(DAY, DAY),),
            failed=(DAY,) if number >= good else (),
            timezone="UTC",
            lists=frozenset(),
            error="ServerError: it failed" if number >= good else None,
        )
        for number in range(good + failed)
    }
    return Update((), 2_000, sites)


def test_a_report_fails_if_a_website_did() -> None:
    """Its error names five websites and counts them all; without one there is none."""
    a_report(3, 0).raise_for_failures()
    with pytest.raises(SiteStatsError) as raised:
        a_report(1_000, 7).raise_for_failures()
    text = str(raised.value)
    assert text.startswith("7 of 1,007 websites failed: s1000.example: ServerError: ")
    assert text.endswith("; s1004.example: ServerError: it failed; …")


def test_a_report_is_a_line_and_plain_data() -> None:
    """Its repr is one line, whatever dlt reports, and JSON can have its dict."""
    report = a_report(2, 1)
    assert repr(report) == (
        "<Update: 2,000 requests, 0 loads, 2 of 3 websites up to date>"
    )
    plain = report.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["failed"] == {"s2.example": "ServerError: it failed"}
    assert (plain["websites"], plain["oldest"]) == (3, None)
    assert a_report(2, 0).to_dict()["oldest"] == "2026-03-01"
