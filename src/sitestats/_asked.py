"""What a query asked for: the question that its answer is checked against."""

from __future__ import annotations

import re
from typing import Literal

import attrs

from . import _rules
from ._fields import FIELDS
from ._query import StatsQuery, page_path


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


def asked(query: StatsQuery) -> Asked:
    """What the answer to *query* is checked against.

    Values that were given through the escape hatch count as they would be
    sent.
    """
    params = query.params()
    fields = [name for name in params.get("fields", "").split(",") if name]
    known = [name for name in FIELDS if name in fields]
    names = params.get("events")
    events: tuple[str, ...] | Literal["*"] | None = None
    if names is not None:
        events = "*" if names == "*" else tuple(names.split(","))
    return Asked(
        hostname=query.hostname,
        path=page_path(query),
        fields=(*known, *(name for name in fields if name not in FIELDS)),
        events=events,
        limit=_int(params.get("limit"), _rules.DEFAULT_LIMIT),
        timezone=params.get("timezone"),
        version=_int(params.get("version"), _rules.LATEST_VERSION),
        interval=params.get("interval"),
    )


def _int(text: str | None, default: int) -> int:
    # What came through the escape hatch may be anything.
    return (
        int(text) if text is not None and re.fullmatch(r"[0-9]{1,9}", text) else default
    )
