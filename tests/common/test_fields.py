"""Names of the fields: the fifteen of the document, and no other."""

from __future__ import annotations

import pytest

from sitestats._common.fields import FIELDS, is_field_name

pytestmark = pytest.mark.slow


def test_field_names_are_known() -> None:
    """is_field_name accepts the fifteen names, and nothing else."""
    names = (
        *("pageviews", "visitors", "histogram", "pages", "countries", "referrers"),
        *("utm_sources", "utm_mediums", "utm_campaigns", "utm_contents", "utm_terms"),
        *("browser_names", "os_names", "device_types", "seconds_on_page"),
    )
    assert names == FIELDS
    assert len(names) == 15
    assert all(map(is_field_name, names))
    assert not any(map(is_field_name, ["", "page", "Pages", None, 5, ["pages"]]))
