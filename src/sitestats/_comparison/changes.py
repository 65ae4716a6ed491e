"""Changes: of one number, of an entry, of a whole list in two periods."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    Never,
    NoReturn,
    TypeAlias,
    TypeVar,
    get_args,
)

import attrs
from msgspec.structs import replace

from sitestats._base.errors import FieldNotRequestedError, UnrequestedAttributeError
from sitestats._base.fields import CountName, TableName, entry_counts
from sitestats._base.text import shown
from sitestats._base.zones import common_zone
from sitestats._results import late
from sitestats._results.bases import Items, draw
from sitestats._results.entries import Entries, HistogramEntry, check_name
from sitestats._results.tables import Column, Hour, beside, column_of
from sitestats._wire.values import Value, for_json

SIDES: Final = {
    "": "now",
    "_before": "before",
    "_change": "absolute",
    "_percent": "percent",
}
"""What a frame has of each count: the column's ending, and the value."""

DAYS: Final = ("first_day", "last_day", "first_day_before", "last_day_before")
"""The days of both periods, which every frame of a comparison has."""
OF_HOURS: Final = ("date", "hour", "date_before", "hour_before")
"""The day and the hour of an hour in both periods, beside its moment."""

Direction: TypeAlias = Literal["up", "down", "same", "new", "gone", "unknown"]
"""How an entry changed; ``"unknown"`` if one of its counts is not known."""


@attrs.frozen
class Change(Value):
    """One number now and before.

    >>> change = Change(150, 120)
    >>> change.absolute, change.percent
    (30, 25.0)
    """

    _worked_out: ClassVar[tuple[str, ...]] = ("absolute", "percent")

    now: int | float | None
    """The number in the requested period, or None if it is not known."""
    before: int | float | None
    """The number in the other period, or None if it is not known."""

    @property
    def absolute(self) -> int | float | None:
        """The difference, or None if one of the two is not known."""
        if self.now is None or self.before is None:
            return None
        return self.now - self.before

    @property
    def percent(self) -> float | None:
        """The difference in percent of ``before``, or None if that is 0 or one of the
        two is not known.
        """
        if self.absolute is None or not self.before:
            return None
        return 100 * self.absolute / self.before

    def __str__(self) -> str:
        grown = "" if self.percent is None else f" ({self.percent:+.1f} %)"
        return f"{self.before} -> {self.now}{grown}"


NameT = TypeVar("NameT", bound=str)
ValueT = TypeVar("ValueT")


class Compared(dict[NameT, ValueT]):
    """What was compared, by name. Another name is an error in a template, too, where a
    ``KeyError`` would be an empty value.
    """

    def __missing__(self, name: object) -> NoReturn:
        known = ", ".join(self) or "nothing"
        message = f"{shown(name)} was not compared, but {known}"
        raise FieldNotRequestedError(message, name=str(name))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            known = ", ".join(f"[{one!r}]" for one in self) or "nothing"
            message = f"no attribute {name!r}: what was compared is {known}"
            raise AttributeError(message, name=name)


@attrs.frozen
class EntryChange(Value):
    """One entry of a list in both periods."""

    value: Any
    """What is counted, such as a path, a country's code or an event; the day or hour
    of a histogram."""
    counts: Mapping[str, Change] = attrs.field(hash=False)
    """The change of each count, by name."""
    direction: Direction
    """How the first count changed."""
    before: Any = None
    """The other period's day or hour, of a histogram."""
    partial: bool = False
    """Whether its counts will still grow."""
    date: dt.date | None = None
    """The day, of a histogram; None where this period has no such entry."""
    hour: Hour | None = None
    """The hour of the day, of a histogram of hours."""
    date_before: dt.date | None = None
    """The other period's day, of a histogram."""
    hour_before: Hour | None = None
    """The other period's hour of the day, of a histogram of hours."""

    @property
    def pageviews(self) -> Change:
        """Page views."""
        return self._count("pageviews")

    @property
    def visitors(self) -> Change:
        """Visitors."""
        return self._count("visitors")

    @property
    def total(self) -> Change:
        """How often an event happened."""
        return self._count("total")

    def _count(self, name: str) -> Change:
        if name not in self.counts:
            known = ", ".join(self.counts)
            message = f"the entry has no {name!r}, but {known}"
            raise UnrequestedAttributeError(message, name=name)
        return self.counts[name]


@attrs.frozen(repr=False)
class Changes(Items[EntryChange, Never]):
    """A list in both periods: the entries of now, then those that were only before.

    It acts as a sequence. An index is a position or an entry's value, and a slice
    returns ``Changes`` again. An entry that one of the lists lacks has 0 there, or None
    if the limit cut that list or if entries of it can't be read. An entry that a list
    has twice, with other counts, has None there. In a histogram, the first hour, day or
    week of one period is compared with the first one of the other, and so on.
    """

    name: TableName = attrs.field(kw_only=True)
    """The field, such as ``"pages"``."""
    truncated: bool = False
    """Whether the limit cut a list, so that entries may be missing."""
    partial: bool = False
    """Whether one of the periods was not over yet, so that its counts will grow."""
    key: str = "value"
    """The column of what is counted."""
    zone: str = "UTC"
    """The zone of a histogram's hours."""
    differs: str = ""
    """What differs besides the days: see ``Comparison.differs``."""
    first_day: dt.date | None = None
    """The first day of the period, or None if it is not known."""
    last_day: dt.date | None = None
    """The last day of the period."""
    first_day_before: dt.date | None = None
    """The first day of the other period."""
    last_day_before: dt.date | None = None
    """The last day of the other period."""
    filters: str = ""
    """What the counts are limited to, such as ``"country=NL"``: see ``Entries``."""

    def of(self, *directions: Direction) -> Changes:
        """The changes whose direction is one of *directions*.

        Raises:
            FieldNotRequestedError: There is no such direction.

        >>> query = StatsQuery("semicomplete.com").fields("pages").last(days=2)
        >>> gone = client.stats.compare(query)["pages"].of("gone")
        """
        for name in directions:
            check_name(name, get_args(Direction), "a direction")
        return attrs.evolve(
            self, items=[item for item in self if item.direction in directions]
        )

    def plot(
        self,
        count: CountName | None = None,
        *,
        ax: late.Axes | None = None,
        **_others: Never,
    ) -> late.Axes:
        """Draw each entry's count in both periods (the extra ``plot``).

        Args:
            count: The count; None for page views, or for the totals of events.
            ax: The axes to draw into; None makes new ones of pyplot.

        Returns:
            The axes, with two bars for each of the first 20 entries.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: The entries don't have this count.

        >>> query = StatsQuery("semicomplete.com").fields("pages").last(days=2)
        >>> axes = client.stats.compare(query)["pages"].of("up").plot("visitors")
        """
        names = entry_counts(self.name)
        name = count or names[0]
        check_name(name, names, "a count of an entry")
        return draw(self, ax, _others, count=name)

    def _table(self, _field: None = None) -> Sequence[Column]:
        days = {name: getattr(self, name) for name in DAYS}
        columns = self._cells()
        return [*columns, *beside(days, columns)[: len(days)]]

    def _cells(self) -> Sequence[Column]:
        """The columns of the entries, without the days of the two periods."""
        values = {self.key: [item.value for item in self]}
        if self.name == "histogram":
            values[f"{self.key}_before"] = [item.before for item in self]
        if self.key == "start":
            for name in OF_HOURS:
                values[name] = [getattr(item, name) for item in self]
        names = entry_counts(self.name)
        counts = {name: [item.counts[name] for item in self] for name in names}
        return [
            *(column_of(name, cells, self.zone) for name, cells in values.items()),
            *changed_columns(counts),
            column_of("direction", [item.direction for item in self]),
            column_of("partial", [item.partial for item in self]),
        ]

    def _names(self) -> Sequence[object]:
        return [for_json(item.value) for item in self]


def changes_of(
    now: Entries[Any],
    before: Entries[Any],
    *,
    partial: bool = False,
    begins: tuple[dt.date | None, dt.date | None] = (None, None),
    interval: str | None = None,
) -> Changes:
    """The change of each entry of two lists of one field.

    Args:
        now: The list.
        before: The earlier one.
        partial: Whether one of the periods is not over.
        begins: The first days of both periods; None where they are not known.
        interval: The interval of a histogram.
    """
    is_histogram, names = now.name == "histogram", entry_counts(now.name)
    columns = now.entry_type.columns
    key = "start" if "start" in columns else columns[0]
    new = _by_place(now, key, begins[0], interval)
    old = _by_place(before, key, begins[1], interval)
    # The counts of other days, of entries below a cut, and of those that can't be read
    # are not known.
    unlisted = [
        None if is_histogram or entries.truncated or entries.incomplete else 0
        for entries in (now, before)
    ]
    changes = list[EntryChange]()
    for place in dict.fromkeys([*new, *old]):
        entry, earlier = new.get(place), old.get(place)
        counts = {
            n: Change(getattr(entry, n, unlisted[0]), getattr(earlier, n, unlisted[1]))
            for n in names
        }
        is_open = partial
        if is_histogram:
            is_open = any(e.partial for e in (entry, earlier) if e)
        changes.append(
            EntryChange(
                value=getattr(entry, key, None if is_histogram else place),
                counts=counts,
                direction=_direction(counts[names[0]], entry, earlier),
                before=getattr(earlier, key, None) if is_histogram else None,
                partial=is_open,
                date=getattr(entry, "date", None),
                hour=getattr(entry, "hour", None),
                date_before=getattr(earlier, "date", None),
                hour_before=getattr(earlier, "hour", None),
            )
        )
    return Changes(
        changes,
        name=now.name,
        truncated=now.truncated or before.truncated,
        partial=partial,
        key=key,
        zone=common_zone([now.timezone]),
        # Where they are not alike, ``Comparison.differs`` names those of both sides.
        filters=now.filters if now.filters == before.filters else "",
    )


def _by_place(
    entries: Entries[Any], key: str, begin: dt.date | None, interval: str | None
) -> dict[Any, Any]:
    """The entries by the key that matches the entries of two periods."""
    by_place = dict[Any, Any]()
    for entry in entries:
        place = getattr(entry, key)
        if entries.name == "histogram":
            place = _distance(entry, begin or entries[0].date, interval)
        # If two entries of one value differ, nothing tells which one is right.
        if by_place.setdefault(place, entry) != entry:
            unknown = dict.fromkeys(entry_counts(entries.name))
            by_place[place] = replace(entry, **unknown)
    return by_place


def _distance(
    entry: HistogramEntry, begin: dt.date, interval: str | None
) -> tuple[int, ...]:
    """How far an entry of a histogram is from the first one of its period."""
    day = entry.date
    match interval:
        case "year":
            return (day.year - begin.year,)
        case "month":
            return (12 * (day.year - begin.year) + day.month - begin.month,)
        case "week":
            # The first day of the calendar is a Monday.
            return ((day.toordinal() - 1) // 7 - (begin.toordinal() - 1) // 7,)
        case _:
            fold = entry.start.fold if entry.start else 0
            return (day - begin).days, entry.hour or 0, fold


def _direction(change: Change, now: object, before: object) -> Direction:
    if change.absolute is None:
        return "unknown"
    if now is None or before is None:
        return "gone" if now is None else "new"
    if change.absolute == 0:
        return "same"
    return "up" if change.absolute > 0 else "down"


def changed_columns(values: Mapping[str, Sequence[Change]]) -> list[Column]:
    """Four columns for each count: now, before, and the change of both kinds."""
    return [
        column_of(name + end, [getattr(o, side) for o in changes], can_be_missing=True)
        for name, changes in values.items()
        for end, side in SIDES.items()
    ]
