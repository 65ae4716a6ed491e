"""What the tests of HTTP's values know of the inside."""

from __future__ import annotations

from sitestats._wire.messages import is_deep, parse_http_date, parse_retry_after

__all__ = ["is_deep", "parse_http_date", "parse_retry_after"]
