"""Single values of a query: path, version, limit, fields, events, parameters."""

from __future__ import annotations

import pytest

from rule_cases import Step, assert_refused, refused_by
from same_text import SameText

pytestmark = pytest.mark.standard_library


@pytest.mark.parametrize(("rule", "build"), **refused_by("values"))
def test_refused_at_once(rule: str, build: Step, same_text: SameText) -> None:
    """What the document forbids is refused by its step, citing the section."""
    assert_refused(rule, build, same_text)
