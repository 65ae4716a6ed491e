"""Names of the fields: the fifteen of the document, and no other."""

from __future__ import annotations

import pytest

from sitestats._common.fields import FIELDS

pytestmark = pytest.mark.slow


def test_field_names_are_known() -> None:
    """The document has fifteen names."""
    names = (
        *("pageviews", "visitors", "histogram", "pages", "countries", "referrers"),
        *("utm_sources", "utm_mediums", "utm_campaigns", "utm_contents", "utm_terms"),
        *("browser_names", "os_names", "device_types", "seconds_on_page"),
    )
    assert names == FIELDS
    assert len(names) == 15
