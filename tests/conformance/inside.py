"""What the tests of the comparison know of the inside."""

from __future__ import annotations

import pytest

from inside import HttpResponse
from sitestats.conformance import _compare, _observation

__all__ = ["only_case", "shape_of"]


def only_case(patch: pytest.MonkeyPatch, name: str) -> None:
    """Compare this case alone: the others take ten times as long."""
    table = _observation.read_table()
    table = {**table, "case": [case for case in table["case"] if case.name == name]}
    for module in (_compare, _observation):
        patch.setattr(module, "read_table", lambda: table)


def shape_of(body: bytes) -> object:
    """The shape of a response, whose pages are compared by their values."""
    response = HttpResponse(200, {}, body)
    case = _observation.Case(
        "x", "1", "", values=("date", "pages"), option="null_entries"
    )
    return _compare.shape(response, case)["$"]
