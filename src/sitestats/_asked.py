"""What a query asked for: the question that its answer is checked against."""

from __future__ import annotations

from typing import Literal

import attrs


@attrs.frozen
class Asked:
    """The parts of a query that its answer depends on, as they were sent."""

    hostname: str
    path: str | None = None
    """The page of a page-specific address, decoded: ``/contact``."""
    fields: tuple[str, ...] = ()
    """The requested fields in the document's order (section 4.3)."""
    events: tuple[str, ...] | Literal["*"] | None = None
    """The names asked for, ``"*"`` for all events, None for no events."""
    limit: int = 50
    """The limit in force: 50 when none was set (section 8)."""
    timezone: str | None = None
    """The zone asked for; None leaves it to the website's own."""
    version: int = 6
    interval: str | None = None
