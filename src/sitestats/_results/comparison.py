"""Compare two periods: the change of each total and of each entry of a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args

import attrs

from sitestats._common.errors import FieldNotRequestedError
from sitestats._common.fields import COUNTS, CountName, ListName, TotalName

from .display import Displayed, HasFrame, HasFrames, draw
from .entries import Entries, check_count, check_list
from .tables import Column, Kind, named, to_dicts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sitestats._common.jsontext import JsonValue

    from .entries import Entry
    from .stats import Stats

COLUMNS: Final = (
    ("", "now", Kind.COUNT),
    ("_before", "before", Kind.COUNT),
    ("_change", "absolute", Kind.COUNT),
    ("_percent", "percent", Kind.SECONDS),
)
"""What a frame has of each count: the column's ending, the value, and its kind."""


@attrs.frozen(repr=False)
class Comparison(HasFrames[ListName], Displayed):
    """Two periods of one query compared: totals, and every list.

    >>> query = StatsQuery("semicomplete.com").fields("visitors", "pages").last(days=2)
    >>> comparison = client.stats.compare(query)
    >>> comparison.totals["visitors"].absolute
    125
    >>> comparison["pages"][0].direction
    'up'
    """

    now: Stats
    """The period that was requested."""
    before: Stats
    """The period that it is compared with."""

    @property
    def partial(self) -> bool:
        """Whether one of the periods was not over when the service responded: its
        numbers will still grow, and with them the changes.
        """
        return self.now.partial or self.before.partial

    @property
    def totals(self) -> Mapping[TotalName, Change]:
        """The totals that both results have, by name."""
        return {
            name: Change(getattr(self.now, name), getattr(self.before, name))
            for name in get_args(TotalName)
            if name in self.now and name in self.before
        }

    @property
    def lists(self) -> Mapping[ListName, Changes]:
        """The changes of every list that both results have, by name."""
        return {name: self[name] for name in get_args(ListName) if self._is_list(name)}

    def __getitem__(self, name: ListName) -> Changes:
        """The changes of one list.

        Raises:
            FieldNotRequestedError: The query did not request it, or it is no list.
        """
        if name not in get_args(ListName) or not self._is_list(name):
            raise FieldNotRequestedError(
                f"{name!r} is no list that both results have: see .lists", name=name
            )
        return changes_of(
            getattr(self.now, name), getattr(self.before, name), partial=self.partial
        )

    def to_dict(self) -> dict[str, JsonValue]:
        """The comparison as plain values, ready for JSON: the website, both periods,
        the totals and the rows of each list, by the names that frames have.

        >>> query = StatsQuery("semicomplete.com").fields("visitors").on("yesterday")
        >>> values = client.stats.compare(query).to_dict()
        >>> values["visitors"], values["visitors_before"], values["visitors_change"]
        (244, 295, -51)
        """
        (totals,) = to_dicts(self._table())
        values: dict[str, JsonValue] = {**totals, "path": self.now.path}
        for field in self.lists:
            values[field] = [*to_dicts(self._table(field))]
        return values

    def plot(
        self,
        field: Literal["histogram"] | ListName | None = None,
        count: CountName = "pageviews",
        ax: Axes | None = None,
    ) -> Axes:
        """Draw both periods (the extra ``plot``).

        Of histograms there is a line for each period, the earlier one dashed and laid
        over the later one: from the first day on by the day or hour, and months and
        years by their number. The axis has the days of the later period. Of a list,
        or of totals where nothing else was requested, there are two bars for each of
        as many entries as there is room for, 20 at most.

        Args:
            field: What to draw; when None the histogram, or else the first list, or
                else the totals.
            count: What the lines or bars are of.
            ax: The axes to draw into; when None new ones of pyplot.

        Returns:
            The axes, with the website and both periods as the title.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: The query did not request the field, it is no list,
                there is no such count, or there is nothing to compare.

        >>> query = StatsQuery("semicomplete.com").fields("histogram", "pages")
        >>> comparison = client.stats.compare(query.last(days=2))
        >>> len(comparison.plot().lines)
        2
        >>> comparison.plot("pages").get_title(loc="left").splitlines()[0]
        'semicomplete.com: pages'
        """
        check_count(count)
        if field is None and self._is_list("histogram"):
            field = "histogram"
        if field is None:
            field = next(iter(self.lists), None)
        if field == "histogram":
            _ = self.now.histogram, self.before.histogram
        elif field is not None:
            _ = self[field]
        elif not self.totals:
            raise FieldNotRequestedError(
                "there is nothing to compare: add 'histogram' to the query by "
                ".fields(…)",
                name="histogram",
            )
        return draw(self, ax, field=field or "", count=count)

    def _is_list(self, name: str) -> bool:
        return all(
            name in stats and isinstance(getattr(stats, name), Entries)
            for stats in (self.now, self.before)
        )

    def _table(self, field: str | None = None) -> Sequence[Column]:
        if field is not None:
            check_list(field, get_args(ListName))
            return self[cast("ListName", field)]._table()  # noqa: SLF001 - of this module
        return [
            *(named(name, [value]) for name, value in self._about().items()),
            *columns_of_changed_totals(self.totals),
            named("partial", [self.partial]),
        ]

    def _tables(self) -> Iterator[tuple[str, Sequence[Column]]]:
        yield "totals", self._table()
        for name in self.lists:
            yield name, self._table(name)

    def _about(self) -> dict[str, Any]:
        now, before = self.now, self.before
        return {
            "hostname": now.query.hostname,
            "timezone": now.timezone,
            "first_day": now.first_day,
            "last_day": now.last_day,
            "first_day_before": before.first_day,
            "last_day_before": before.last_day,
        }

    def __repr__(self) -> str:
        parts = [repr(self.now.query.hostname)]
        for name, change in self.totals.items():
            percent = change.percent
            grown = "" if percent is None else f" ({percent:+.1f} %)"
            parts.append(f"{name}={change.before} → {change.now}{grown}")
        if self.partial:
            parts.append("partial=True")
        return f"Comparison({', '.join(parts)})"


def columns_of_changed_totals(
    totals: Mapping[TotalName, Change] | Sequence[TotalName],
) -> Sequence[Column]:
    """The columns of the changes of totals: one row, or none of names alone."""
    return [
        Column(
            name + ending,
            Kind.SECONDS if name not in COUNTS else kind,
            [getattr(totals[name], value)] if isinstance(totals, Mapping) else [],
        )
        for name in totals
        for ending, value, kind in COLUMNS
    ]


# --- one number, one entry, one list ----------------------------------------------


Direction: TypeAlias = Literal["up", "down", "same", "new", "gone", "unknown"]
"""What became of an entry; ``"unknown"`` where one of the lists was cut by the
limit, so that the entry may be there below the cut."""


@attrs.frozen
class Change:
    """One number now and before.

    >>> change = Change(150, 120)
    >>> change.absolute, change.percent
    (30, 25.0)
    """

    now: float | None
    """In the period that was requested; None when it is not known."""
    before: float | None
    """In the period that it is compared with; None when it is not known."""

    @property
    def absolute(self) -> float | None:
        """How much it grew; None when one of the two is not known."""
        if self.now is None or self.before is None:
            return None
        return self.now - self.before

    @property
    def percent(self) -> float | None:
        """How much it grew in percent of before; None where that is 0, where one of
        the two is not known, and where no float is as large.
        """
        if self.absolute is None or not self.before:
            return None
        try:
            percent = 100 * self.absolute / self.before
        except OverflowError:
            return None
        return percent if isfinite(percent) else None


@attrs.frozen
class EntryChange:
    """One entry of a list in both periods."""

    value: str | None
    """What is counted, such as a path or a country's code."""
    pageviews: Change
    """Page views; None on the side where the entry is not listed."""
    visitors: Change
    """Visitors; None on the side where the entry is not listed."""
    direction: Direction
    """What became of its page views."""


@attrs.frozen(repr=False)
class Changes(HasFrame, Displayed):
    """A list field in both periods: entries of now first, then those only before.

    It has a length and can be iterated and indexed. What an entry has on the
    side where it is not listed is not known if that list was cut by the limit,
    and 0 if it was not.
    """

    name: str
    """The field, such as ``"pages"``."""
    _items: tuple[EntryChange, ...]
    truncated: bool = False
    """Whether a list was cut by the limit, so that entries may be missing."""
    partial: bool = False
    """Whether one of the periods was not over yet, so that its counts will grow."""

    def of(self, *directions: Direction) -> Changes:
        """Those whose direction is one of *directions*.

        >>> query = StatsQuery("semicomplete.com").fields("pages").last(days=2)
        >>> gone = client.stats.compare(query)["pages"].of("gone")
        """
        items = tuple(item for item in self._items if item.direction in directions)
        return attrs.evolve(self, items=items)

    def plot(self, count: CountName = "pageviews", ax: Axes | None = None) -> Axes:
        """Draw each entry's count in both periods (the extra ``plot``).

        Args:
            count: Which one.
            ax: The axes to draw into; when None new ones of pyplot.

        Returns:
            The axes, with two bars for each of the first 20 entries, or for as many
            as there is room for.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: There is no such count.

        >>> query = StatsQuery("semicomplete.com").fields("pages").last(days=2)
        >>> axes = client.stats.compare(query)["pages"].of("up").plot("visitors")
        """
        check_count(count)
        return draw(self, ax, count=count)

    def _table(self) -> Sequence[Column]:
        return [
            named("value", [item.value for item in self]),
            *(
                Column(
                    count + ending,
                    kind,
                    [getattr(getattr(item, count), value) for item in self],
                )
                for count in COUNTS
                for ending, value, kind in COLUMNS
            ),
            named("direction", [item.direction for item in self]),
            named("partial", [self.partial] * len(self)),
        ]

    def _tables(self) -> Sequence[tuple[str, Sequence[Column]]]:
        return [(self.name, self._table())]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[EntryChange]:
        return iter(self._items)

    def __getitem__(self, index: int) -> EntryChange:
        return self._items[index]

    def __repr__(self) -> str:
        marks = (", truncated" if self.truncated else "") + (
            ", partial" if self.partial else ""
        )
        return f"Changes({self.name!r}, <{len(self)} entries{marks}>)"


def changes_of(
    now: Entries[Any], before: Entries[Any], *, partial: bool = False
) -> Changes:
    """The change of each entry of two lists of one field."""
    old = {entry.get("value"): entry for entry in before}
    new = {entry.get("value") for entry in now}
    pairs: list[tuple[Entry | None, Entry | None]] = [
        *((entry, old.get(entry.get("value"))) for entry in now),
        *((None, entry) for value, entry in old.items() if value not in new),
    ]
    items = tuple(_change(*pair, now, before) for pair in pairs)
    truncated = now.truncated or before.truncated
    return Changes(now.name, items, truncated, partial)


def _change(
    new: Entry | None, old: Entry | None, now: Entries[Any], before: Entries[Any]
) -> EntryChange:
    listed = new if new is not None else old
    assert listed is not None
    pageviews, visitors = (
        Change(_count(new, name, now), _count(old, name, before)) for name in COUNTS
    )
    direction = _direction(pageviews, only_before=new is None, only_now=old is None)
    return EntryChange(listed.get("value"), pageviews, visitors, direction)


def _count(entry: Entry | None, name: str, of: Entries[Any]) -> int | None:
    if entry is not None:
        count: int | None = entry.get(name)
        return count
    return None if of.truncated else 0


def _direction(pageviews: Change, *, only_before: bool, only_now: bool) -> Direction:
    if pageviews.absolute is None:
        return "unknown"
    if only_before:
        return "gone"
    if only_now:
        return "new"
    if pageviews.absolute == 0:
        return "same"
    return "up" if pageviews.absolute > 0 else "down"
