"""What a caller asks of a source: a first day, and days to read again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable

import attrs

from sitestats import StatsQuery
from sitestats._base.errors import InvalidInputError, Problem
from sitestats._base.text import did_you_mean, shown
from sitestats._query.periods import as_date, day, days_back

from ._days import DAY, Period

ALL = "all"
"""What stands for every website."""


def checked_day(value: object, where: str) -> str:
    """*value* as the text of a day, which may depend on the present.

    Raises:
        InvalidInputError: It is not a day.
    """
    try:
        return day(value, where)
    except InvalidInputError:
        why = (
            f"{shown(value)} is not a day: give a date such as 2026-03-01, yesterday "
            "or today-30d; a datetime counts at midnight without a zone"
        )
        raise InvalidInputError([Problem(why, where=where)]) from None


def as_day(text: str, today: dt.date) -> dt.date:
    """The day that *text*, which was checked, means *today*."""
    return as_date(text) or today - (days_back(text) or 0) * DAY


@attrs.frozen
class Refresh:
    """Days of a website, or of all, that are to be read again."""

    hostname: str
    """The website, or ``all``."""
    first: str | None = None
    """The first day; all days without it."""
    last: str | None = None

    @classmethod
    def parse(cls, text: object) -> Refresh:
        """Read ``example.com``, ``all``, and either with ``:2026-01-10..2026-01-20`` or
        with one day.

        Raises:
            InvalidInputError: It has another form.
        """
        if not isinstance(text, str):
            why = f"name a website and days, not {shown(text)}"
            raise InvalidInputError([Problem(why, where="refresh")])
        name, colon, days = text.strip().partition(":")
        try:
            hostname = name if name == ALL else StatsQuery(name).hostname
        except InvalidInputError:
            why = (
                f"{shown(text)} names no website: give a host name or 'all', alone or "
                "before days, such as example.com:2026-01-10..2026-01-20"
            )
            raise InvalidInputError([Problem(why, where="refresh")]) from None
        if not colon:
            return cls(hostname)
        first, _, last = days.partition("..")
        return cls(
            hostname,
            checked_day(first, "refresh"),
            checked_day(last or first, "refresh"),
        )

    def period(self, begin: dt.date, last_day: dt.date, today: dt.date) -> Period:
        """Its days, of a dataset that has those from *begin* to *last_day*.

        Raises:
            InvalidInputError: It begins before *begin*, ends before it begins, or is
                not over.
        """
        first = begin if self.first is None else as_day(self.first, today)
        last = last_day if self.last is None else as_day(self.last, today)
        why = ""
        if first < begin:
            why = (
                f"the dataset begins on {begin}, after {first}: name days from then "
                "on, or give an earlier first day (--since)"
            )
        elif last < first:
            why = f"{last} is before {first}: swap them"
        elif first > max(last_day, today - DAY):
            why = f"{first} is not over: name days until {last_day}"
        if why:
            raise InvalidInputError([Problem(why, where="refresh")])
        return first, min(last, last_day)


def check_names(asked: Iterable[Refresh], hostnames: Collection[str]) -> None:
    """Check that each website to refresh is one of *hostnames*.

    Raises:
        InvalidInputError: Not all are.
    """
    problems = [
        Problem(
            f"this update has no website {shown(each.hostname)}"
            f"{did_you_mean(each.hostname, hostnames)}",
            where="refresh",
        )
        for each in asked
        if each.hostname not in {ALL, *hostnames}
    ]
    if problems:
        raise InvalidInputError(problems)
