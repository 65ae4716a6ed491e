"""Read the parameters of a dashboard's address: search and period.

The service's document describes the parameters of data. A dashboard's address has
some of its own, which are known from public links alone. What is certain is read;
everything else is a problem, since the numbers would silently be different from
those that the dashboard shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sitestats._common.problems import Problem
from sitestats._common.text import shown

from .filters import PAGE_FILTERS, filter_value
from .periods import last_days
from .requested import is_documented
from .rules import broken

_PATHS: Final = "paths:"
"""What a search for a text in paths starts with."""

_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_COUNT: Final = re.compile(r"[1-9][0-9]{0,5}")
_PERIOD: Final = frozenset(("start", "end"))
_WHERE: Final = "from_url"


def documented_parameters(
    params: Mapping[str, str], page: str | None
) -> tuple[dict[str, str], list[Problem]]:
    """The parameters of data for those of a dashboard, and what to warn of.

    Args:
        params: The parameters of the address, without a callback.
        page: The page that the address names.
    """
    read, problems = dict(params), list[Problem]()
    problems += _read_period(read)
    if page is None and PAGE_FILTERS.isdisjoint(read):
        _read_search(read)
    problems += [
        _unknown(name, value) for name, value in read.items() if not is_documented(name)
    ]
    return read, problems


def _read_period(read: dict[str, str]) -> list[Problem]:
    if "period" not in read or not _PERIOD.isdisjoint(read):
        return []
    count = read.get("count", "1")
    days = _DAYS.get(read["period"], 0)
    days *= int(count) if _COUNT.fullmatch(count) else 0
    period = last_days(days, today=True)
    if isinstance(period, list):
        return []
    names = [name for name in ("period", "count") if name in read]
    given = "&".join(f"{name}={read.pop(name)}" for name in names)
    read["start"], read["end"] = period
    return [
        _warned(
            f"the parameter {shown(given)} of a dashboard is not documented, and "
            f"was read as the last {days} days, today included: .last(days=…) or "
            ".between(…, …) sets others"
        )
    ]


def _read_search(read: dict[str, str]) -> None:
    """Make a search for a text in paths a contains search, where it can be one."""
    text = read.get("search", "")
    found = text.removeprefix(_PATHS)
    if found != text and "*" not in found:
        pattern = filter_value("page", f"*{found}*")
        if isinstance(pattern, str):
            del read["search"]
            read["page"] = pattern


def _unknown(name: str, value: str) -> Problem:
    advice = ""
    if name == "search":
        advice = (
            "; a filter page='*…*' finds a text of at least 12 characters other than "
            "'/' in paths"
        )
    return _warned(
        f"the parameter {shown(f'{name}={value}')} of a dashboard is not documented: "
        f"it is sent as it is, and the numbers are probably not filtered by it{advice}"
    )


def _warned(message: str) -> Problem:
    return broken("address-parameter", message, _WHERE)
