"""Read a query's parameters once, for validation, request and response check."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

import attrs

from sitestats._common.fields import FIELDS
from sitestats._common.problems import Problem

from . import periods, rules, units
from .filters import METADATA
from .periods import StoredDay

# The order of the document's tables; metadata and unknown parameters follow.
_ORDER: Final[tuple[str, ...]] = (
    *("version", "start", "end", "limit", "timezone"),
    *("info", "events", "interval", "fields"),
    *rules.FILTERS,
)
_KNOWN: Final = frozenset(_ORDER)
_NUMBER: Final = re.compile(r"[0-9]{1,9}")

Values: TypeAlias = Mapping[str, StoredDay]
"""A query's parameters as it holds them; a moment or a word is no day yet."""
Unchecked: TypeAlias = Mapping[str, tuple[Problem, ...]]
"""Parameters that were not checked, each with its known problems."""


@attrs.frozen
class Requested:
    """A query's parameters as they are sent, and their meaning."""

    hostname: str
    path: str | None = None
    """The page of a page-specific address, decoded: ``/contact``."""
    address: str = ""
    """The path of the address below the base address, encoded."""
    params: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """The parameters in the order in which they are sent."""
    fields: tuple[str, ...] = ()
    """The requested fields in the document's order (section 4.3)."""
    events: tuple[str, ...] | Literal["*"] | None = None
    """The names of events, ``"*"`` for all events, None for no events."""
    limit: int = rules.DEFAULT_LIMIT
    """The limit in force: 50 when none was set (section 8)."""
    timezone: str | None = None
    """The time zone; None leaves it to the website's own."""
    version: int = rules.LATEST_VERSION
    interval: str | None = None
    unchecked: Unchecked = attrs.field(factory=dict[str, tuple[Problem, ...]])
    problems: tuple[Problem, ...] = ()
    """Why it can't be sent: a moment is no day without a time zone."""
    has_moments: bool = False
    """Whether a start or an end was a moment or a word, which is a day now."""

    def checked(self, name: str) -> str | None:
        """A parameter that was checked; None if there is none."""
        return None if name in self.unchecked else self.params.get(name)


def read_requested(
    hostname: str, path: str | None, values: Values, unchecked: Unchecked
) -> Requested:
    """Read the stored *values* of a query."""
    has_moments = _is_moment(values, "start") or _is_moment(values, "end")
    days, problems = with_days(values) if has_moments else (values, [])
    params = sorted_params(days)
    # Only the slashes between segments are not encoded.
    page = "" if path is None else quote(path, safe="/")
    fields, events = params.get("fields"), params.get("events")
    return Requested(
        hostname=hostname,
        path=path,
        address=f"/{hostname}{page}.json",
        params=params,
        fields=_documented_first(fields) if fields else (),
        events=_names(events) if events is not None else None,
        limit=_number(params.get("limit"), rules.DEFAULT_LIMIT),
        timezone=params.get("timezone"),
        version=_number(params.get("version"), rules.LATEST_VERSION),
        interval=params.get("interval"),
        unchecked=unchecked,
        problems=tuple(problems),
        has_moments=has_moments,
    )


def is_documented(name: str) -> bool:
    """Whether the document has a parameter of this name, other than the callback."""
    return name in _KNOWN or name.startswith(METADATA)


def with_days(values: Values) -> tuple[dict[str, StoredDay], list[Problem]]:
    """The *values* with days for moments and words, and the problems of these.

    They are stored as they are, since their days depend on the query's time zone,
    which a later step may set.
    """
    days = dict(values)
    problems: list[Problem] = []
    timezone = values.get("timezone")
    assert timezone is None or isinstance(timezone, str)
    for name in ("start", "end"):
        value = values.get(name)
        if value is None or isinstance(value, str):
            continue
        day = (
            units.day_of_word(value, timezone)
            if isinstance(value, periods.EndOfWord)
            else periods.in_zone(value, timezone, name)
        )
        if isinstance(day, str):
            days[name] = day
        else:
            # A word has one problem for both of its ends.
            problems += [problem for problem in day if problem not in problems]
    return days, problems


def sorted_params(values: Values) -> dict[str, str]:
    """The parameters in an order that depends on nothing but themselves."""
    names = [name for name in _ORDER if name in values]
    if len(names) < len(values):
        # Sorting by the key's kind puts metadata before unknown parameters.
        names += sorted(values.keys() - _KNOWN, key=_metadata_first)
    return {name: str(values[name]) for name in names}


def _metadata_first(name: str) -> tuple[bool, str]:
    return not name.startswith(METADATA), name


def _is_moment(values: Values, name: str) -> bool:
    return not isinstance(values.get(name, ""), str)


def _documented_first(text: str) -> tuple[str, ...]:
    fields = text.split(",")
    known = [name for name in FIELDS if name in fields]
    if len(known) == len(fields):
        return tuple(known)
    return (*known, *(name for name in fields if name and name not in FIELDS))


def _names(text: str) -> tuple[str, ...] | Literal["*"]:
    return "*" if text == "*" else tuple(text.split(","))


def _number(text: str | None, default: int) -> int:
    # An unchecked value may be anything.
    return int(text) if text is not None and _NUMBER.fullmatch(text) else default
