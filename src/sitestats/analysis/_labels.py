"""Texts of tables and charts: headings, formatted numbers, missing values, periods."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

from sitestats._common.text import bounded, cut
from sitestats._common.zones import LONGEST_ZONE

if TYPE_CHECKING:
    from sitestats._results.stats import Stats

MOST_ROWS: Final = 10
"""The most rows of a table; longer ones are shortened."""

MOST_BARS: Final = 1000
"""The most bars of a chart: more would be narrower than a point of the screen."""

NOTHING: Final = "\N{EN DASH}"
NO_ENTRIES: Final = "nothing in this period"
NOT_OVER: Final = "not over yet"
"""The note for periods whose numbers can still grow."""

CLIPPED: Final = "cut by the period"
"""The note for weeks, months and years that the period has only a part of."""


def marks(*, partial: bool, clipped: bool) -> str:
    """Why the numbers of a part of the period are not whole; empty if they are."""
    notes = ((CLIPPED, clipped), (NOT_OVER, partial))
    return ", ".join(note for note, is_so in notes if is_so)


_HEADINGS: Final = {
    "value": "",
    "pageviews": "page views",
    "seconds_on_page": "median seconds",
    "browser_names": "browsers",
    "os_names": "operating systems",
    "device_types": "devices",
    "total": "times",
}


def heading(name: str) -> str:
    """The heading of a column or a field: ``"page views"`` for ``"pageviews"``."""
    return _HEADINGS.get(name, name.replace("_", " ").replace("utm ", "UTM "))


def cell(value: object) -> str:
    """A value as text: thousands are separated, and None is a dash."""
    match value:
        case None:
            text = NOTHING
        case bool():
            text = "yes" if value else "no"
        case int():
            text = f"{value:,}"
        case float():
            text = f"{value:,.1f}".removesuffix(".0")
        case dt.datetime():
            text = f"{value:%Y-%m-%d %H:%M}"
        case dt.date():
            text = f"{value:%a %Y-%m-%d}"
        case _:
            text = str(bounded(value))
    return text


def signed(value: float | None) -> str:
    """A difference as text, with its sign."""
    if value is None:
        return NOTHING
    return (
        f"+{cell(value)}" if value > 0 else cell(value).replace("-", "\N{MINUS SIGN}")
    )


def percent(value: float | None) -> str:
    """A difference in percent as text, with its sign."""
    if value is None:
        return NOTHING
    # Always with one decimal, so that a column of them is aligned.
    rounded = round(value, 1)
    sign = "+" if rounded > 0 else "\N{MINUS SIGN}" if rounded < 0 else ""
    return f"{sign}{abs(rounded):,.1f} %"


def left_out(total: int, shown: int, *, truncated: bool, partial: bool = False) -> str:
    """The note below a list's last row; empty if the list is complete and final."""
    parts: list[str] = []
    if total > shown:
        parts.append(f"… {total - shown:,} more")
    if truncated:
        parts.append("cut by the limit: there may be others")
    if partial:
        parts.append(f"the period is {NOT_OVER}")
    return "; ".join(parts)


def unknown(field: str) -> str:
    """The label of an entry of *field* whose value is missing or empty."""
    return "(none)" if field.startswith(("referrers", "utm")) else "(unknown)"


def title(stats: Stats) -> str:
    """The website of a result, with the page if it is about one."""
    where: str = bounded(stats.hostname or stats.query.hostname)
    return where if stats.path in {None, "*"} else f"{where}{bounded(stats.path)}"


def about(stats: Stats) -> str:
    """The days of a result, their zone, and a note if they are not over."""
    parts: list[str] = []
    if stats.first_day is not None and stats.last_day is not None:
        parts.append(f"{stats.first_day} to {stats.last_day}")
    if stats.timezone:
        parts.append(cut(stats.timezone, LONGEST_ZONE))
    if stats.partial:
        parts.append(NOT_OVER)
    return ", ".join(parts)
