"""Texts of tables and charts: headings, formatted numbers, missing values, periods."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from sitestats._base.fields import FIELD_ROWS
from sitestats._base.text import cut
from sitestats._base.zones import LONGEST_ZONE
from sitestats._results.tables import days_text

if TYPE_CHECKING:
    from sitestats._comparison.comparison import Comparison
    from sitestats._results.stats import Stats
    from sitestats._results.tables import Column

MOST_ROWS: Final = 10
"""The most rows of a table; longer ones are shortened."""

NO_ENTRIES: Final = "nothing in this period"
NOT_OVER: Final = "not over yet"
"""The note for periods whose numbers can still grow."""
CLIPPED: Final = "cut by the period"
"""The note for weeks, months and years that are only partly in the period."""
AGAIN: Final = " again"
"""Marks the second of two hours with one name, when clocks are set back."""
CUT: Final = "others may be beyond the limit"

_HEADINGS: Final = {
    **{row.name: row.heading for row in FIELD_ROWS.values()},
    **dict.fromkeys(("value", "name", "hostname", "field", "direction"), ""),
    "total": "times",
    "percent": "in percent",
    "share": "of all page views",
    "timezone": "time zone",
    "is_public": "public",
}


OF_FILTERED: Final = "of these page views"
"""The heading of the shares of a query with filters."""


def heading(name: str) -> str:
    """The heading of a column or a field: ``"page views"`` for ``"pageviews"``."""
    base, _, side = name.rpartition("_")
    if base and side in {"before", "change", "percent"}:
        name = side
    if not name.isidentifier():
        return name
    return _HEADINGS.get(name, name.replace("_", " "))


IN_ASCII: Final = str.maketrans(
    {"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-", "\N{HORIZONTAL ELLIPSIS}": "..."}
)
"""What displays write, for an encoding that lacks it."""


def joined(*notes: str) -> str:
    """The *notes* that are not empty, as one text."""
    return "; ".join(filter(None, notes))


def marks(*, partial: bool, clipped: bool) -> str:
    """Why the numbers of an entry are not whole; empty if they are."""
    return ", ".join(filter(None, [CLIPPED * clipped, NOT_OVER * partial]))


COUNT_OF_BARS: Final = heading("pageviews")
"""What the bars of a chart count."""


def any_of(reasons: Iterable[str]) -> str:
    """Each of the *reasons* once."""
    return " or ".join(dict.fromkeys(", ".join(reasons).split(", ")))


def cell(value: object) -> str:  # noqa: PLR0911 - one for each type
    """A value as text: thousands are separated, and None is a dash."""
    match value:
        case None:
            return "\N{EN DASH}"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.1f}".removesuffix(".0")
        case dt.datetime():
            return f"{value:%Y-%m-%d %H:%M}{AGAIN * value.fold}"
        case dt.date():
            return f"{value:%Y-%m-%d}"
        case _:
            return cut(str(value))


def text_in(column: Column, value: Any, field: str = "") -> str:
    """A cell of a column as text: changes have a sign, entries of *field* a name."""
    if column.name in {"value", "name"} and value in (None, ""):
        return unknown(field)
    if column.name == "field":
        return heading(value)
    if column.name == "year" and value is not None:
        # Its thousands are not separated.
        value = str(value)
    if column.name == "share" and value is not None:
        # A share below the whole is never rounded up to the whole.
        return f"{100 * (value if value >= 1 else min(value, 0.999)):.1f} %"
    if not isinstance(value, int | float) or not is_change(column):
        return cell(value)
    sign = ""
    if value != 0:
        sign = "+" if value > 0 else "\N{MINUS SIGN}"
    if column.name.endswith("percent"):
        # The number always has one decimal, so that a column is aligned.
        return f"{sign}{abs(value):,.1f} %"
    return sign + cell(abs(value))


def is_change(column: Column) -> bool:
    """Whether a column holds differences, which have a sign and a colour."""
    return column.is_number and column.name.endswith(("change", "percent"))


def unknown(field: str) -> str:
    """The label of an entry of *field* whose value is missing or empty."""
    return FIELD_ROWS[field].unnamed if field in FIELD_ROWS else "(unknown)"


def days(stats: Stats) -> str:
    """The days of a result; empty where they are not known."""
    return days_text(stats.first_day, stats.last_day)


def period(stats: Stats, *, has_zone: bool = True) -> str:
    """The days of a result, their zone, and a note if they are not over."""
    zone = cut(stats.timezone or "", LONGEST_ZONE) if has_zone else ""
    notes = [days(stats), zone, NOT_OVER if stats.partial else ""]
    return ", ".join(filter(None, notes))


def against(comparison: Comparison) -> str:
    """The earlier period of a comparison, and its zone if that differs."""
    is_other = comparison.now.timezone != comparison.before.timezone
    text = period(comparison.before, has_zone=is_other)
    return f"against {text}" if text else ""
