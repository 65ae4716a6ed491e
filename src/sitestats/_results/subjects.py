"""What a query is about: website, page and filters, as columns and as a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sitestats._query.builder import requested
from sitestats._query.periods import ending

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from sitestats._query.builder import StatsQuery

    from .tables import Column

_NO_FILTERS: Final = frozenset(
    (
        *("version", "start", "end", "limit", "timezone", "info"),
        *("events", "interval", "fields", "page"),
    )
)
"""Parameters that leave no traffic out, and that of the page, which stands alone."""


def subject(query: StatsQuery | None) -> dict[str, str | None]:
    """What a query is about, as columns: ``hostname``, ``page`` and ``filters``, such
    as ``"country=NL, device_type=mobile"``; None for a page or filters that it lacks.
    """
    if query is None:
        return dict.fromkeys(("hostname", "page", "filters"))
    wanted = requested(query)
    filters = (
        f"{name}={value}"
        for name, value in wanted.params.items()
        if name not in _NO_FILTERS
    )
    page = wanted.path or wanted.params.get("page")
    return {
        "hostname": wanted.hostname,
        "page": page,
        "filters": ", ".join(filters) or None,
    }


def label_of(query: StatsQuery) -> str:
    """The website, page and filters: ``"example.com/blog, country=NL"``."""
    about = subject(query)
    page = about["page"] or ""
    if page and not page.startswith("/"):
        page = f", page={page}"
    return ", ".join(filter(None, [f"{about['hostname']}{page}", about["filters"]]))


def without_unused(columns: Sequence[Column]) -> list[Column]:
    """The *columns* without the page and the filters where no row has one."""
    return [
        column
        for column in columns
        if column.name not in {"page", "filters"} or any(column.cells)
    ]


def days_text(first: dt.date | None, last: dt.date | None) -> str:
    """Days as a text; a month by its name."""
    if first is None or last is None or first == last:
        return str(first or "")
    if first.day == 1 and last == ending(first, "month"):
        return f"{first:%Y-%m}"
    return f"{first} to {last}"
