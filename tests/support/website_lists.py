"""Lists of websites as a file or a stream gives them."""

from __future__ import annotations

import io
import warnings
from typing import Any

from sitestats import SiteStatsWarning, WebsiteSpec


def load(data: bytes | str, name: str = "list.csv", **options: Any) -> Any:
    """The specifications of a file with this in it, and its notes."""
    stream = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    stream.name = name  # type: ignore[attr-defined]  # as an opened file has it
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        specs = WebsiteSpec.load(stream, **options)
    assert all(warning.category is SiteStatsWarning for warning in caught)
    return specs, [str(warning.message) for warning in caught]
