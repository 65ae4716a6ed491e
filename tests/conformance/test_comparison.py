"""``ServiceComparison``: its text and its JSON."""

from __future__ import annotations

import json

import attrs
import pytest

from sitestats.conformance import CaseDifference, ComparedCase, ServiceComparison

pytestmark = pytest.mark.once

SAME = ComparedCase("a", "1", "whether a", "emulator/a.py", "same")
OPEN = ComparedCase("b", "2", "whether b", "emulator/b.py", "not decided", "no data")
OTHER = ComparedCase(
    *("c", "3", "whether c", "emulator/c.py", "different"),
    differences=(CaseDifference("$.x", "text", "integer"),),
)
NOT_TRIED = [{"section": "7", "what": "how d", "why": "it is a write"}]
AGAIN = attrs.evolve(OTHER, name="d", decides="whether d")
ALL = ServiceComparison(
    (OTHER, SAME, OPEN, AGAIN), NOT_TRIED, {"bare_list": True}, 3, "429"
)


def test_what_differs_stands_last() -> None:
    """There it is seen in a terminal; it names the rules that it touches."""
    assert str(ALL).splitlines() == [
        "✓ a                        whether a (1)",
        "- b                        whether b (2)",
        "    not decided: no data",
        "- not tried: how d: it is a write",
        "✗ c                        whether c (3)",
        "    $.x: text; emulator: integer",
        "    it touches emulator/c.py",
        "✗ d                        whether d (3)",
        "    as above",
        "1 same, 2 different, 1 not decided",
        "not everything was requested: 429",
        "the emulator follows with Emulator(bare_list=True)",
    ]


def test_json_has_all_of_it() -> None:
    """It is what is attached to an issue."""
    found = json.loads(json.dumps(ALL.to_dict()))
    assert [case["result"] for case in found["cases"]] == [
        "different",
        "same",
        "not decided",
        "different",
    ]
    assert found["cases"][0]["differences"] == [
        {"where": "$.x", "service": "text", "emulator": "integer"}
    ]
    assert (found["requests"], found["ended"]) == (3, "429")
    assert found["options"] == {"bare_list": True}
    assert found["not_tried"] == NOT_TRIED
    assert ALL.different == (OTHER, AGAIN)
