"""``SetupReport``: what it says, as a text and as JSON."""

from __future__ import annotations

import json

from sitestats import SetupReport, SetupRow

ROWS = (
    SetupRow("proxy", "none", ok=True),
    SetupRow("clock", "not checked: …", ok=None),
)


def test_what_was_not_checked_is_not_wrong() -> None:
    """A report is wrong by what is wrong alone."""
    assert SetupReport(ROWS).ok
    assert not SetupReport((*ROWS, SetupRow("call", "…", ok=False))).ok


def test_a_report_is_lines_and_json() -> None:
    """Both have each row, in order."""
    report = SetupReport(ROWS)
    assert str(report) == "✓ proxy            none\n- clock            not checked: …"
    assert json.loads(json.dumps(report.to_dict())) == {
        "ok": True,
        "rows": [
            {"name": "proxy", "ok": True, "text": "none"},
            {"name": "clock", "ok": None, "text": "not checked: …"},
        ],
    }
