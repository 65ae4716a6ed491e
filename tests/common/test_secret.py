"""Credentials: which ones are refused, and that none of them shows."""

from __future__ import annotations

from typing import Any

import pytest

from sitestats import Client, ConfigurationError

pytestmark = pytest.mark.slow
BAD_KEYS = ["", " ", "a b", "a\nb", "a\r\nX: y", "é", "\x00", "\x7f", "a\t", "ключ"]


@pytest.mark.parametrize("name", ["api_key", "user_id"])
@pytest.mark.parametrize("value", BAD_KEYS, ids=ascii)
def test_a_credential_that_no_header_carries(name: str, value: Any) -> None:
    """A credential that no header can hold is refused, and not shown in the error."""
    with pytest.raises(ConfigurationError) as caught:
        Client(**{"base_url": "https://analytics.example", name: value})
    assert name in str(caught.value)
    if value.strip():
        assert value not in str(caught.value)
