"""Lists of a response: the classes of their entries, and ``Entries`` that holds them.

Entries are structs of msgspec, since a response may hold thousands. ``Timed…`` entries
were requested with ``seconds_on_page``. For a histogram it is worked out when hours
begin, what the period cuts, and what was not over yet.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Generic,
    Never,
    NewType,
    TypeAlias,
    TypeVar,
    cast,
)

import attrs
import msgspec

from sitestats._base.errors import FieldNotRequestedError, UnrequestedAttributeError
from sitestats._base.fields import (
    COUNTS,
    FIELD_ROWS,
    HISTOGRAM_COUNTS,
    IF_REQUESTED,
    TABLES,
    TOTALS,
    TableName,
)
from sitestats._base.text import did_you_mean, shown
from sitestats._base.zones import common_zone
from sitestats._public import explained
from sitestats._query.rules import are_several
from sitestats._wire.messages import JsonValue
from sitestats._wire.values import for_json
from sitestats._words import field_meant

from . import late
from .bases import Row, Rows, draw, read_as_dataclass
from .tables import Column, Count, Hour, Seconds, column_of

if TYPE_CHECKING:
    Moment: TypeAlias = dt.datetime
else:
    # polars would take the zone away from what an annotation calls a datetime.
    Moment = NewType("Moment", dt.datetime)

_HOUR: Final = dt.timedelta(hours=1)


class Entry(Row):
    """What the entries of all lists can do."""

    __slots__ = ()

    def __reduce__(self) -> str | tuple[Any, ...]:
        return msgspec.Struct.__reduce__(cast("Any", self))

    columns: ClassVar[tuple[str, ...]] = ()
    """The names of the values, in the order of a table's columns."""
    sent: ClassVar[frozenset[str]] = frozenset()
    """The names that the service is known to send."""

    def to_dict(self) -> dict[str, JsonValue]:
        """The values by name, ready for JSON.

        >>> from sitestats import ListEntry
        >>> ListEntry("NL", pageviews=3, visitors=2).to_dict()
        {'value': 'NL', 'pageviews': 3, 'visitors': 2}
        """
        return {name: for_json(getattr(self, name)) for name in self.columns}


class Counted(Entry):
    """An entry with page views and visitors; a ``Timed…`` one has seconds too."""

    __slots__ = ()

    sent: ClassVar[frozenset[str]] = frozenset(("value", *COUNTS, *IF_REQUESTED))

    @property
    def seconds_on_page(self) -> float | None:
        """Median seconds on the page, or None if unknown (section 2.3, rule 2).

        Raises:
            FieldNotRequestedError: The query did not request it.
        """
        raise UnrequestedAttributeError(
            "'seconds_on_page' was not requested: add it to the query's .fields(…), "
            "and each entry of a list has its own",
            name="seconds_on_page",
        )


class ListEntry(Counted, msgspec.Struct, frozen=True, gc=False):
    """One entry of a list: a country, a referrer, a browser… (section 2.3).

    >>> from sitestats import ListEntry
    >>> ListEntry("NL", pageviews=3, visitors=2)
    ListEntry(value='NL', pageviews=3, visitors=2)
    """

    columns: ClassVar[tuple[str, ...]] = ("value", *COUNTS)

    value: str | None
    """What is counted, such as a country's code. None stands for visits without a
    referrer, or from an unknown country."""
    pageviews: Count
    """Page views in the period."""
    visitors: Count
    """Visitors in the period, that is, unique page views."""


class TimedListEntry(ListEntry, frozen=True, gc=False):
    """A ``ListEntry`` that was requested with ``seconds_on_page``."""

    columns: ClassVar[tuple[str, ...]] = (*ListEntry.columns, *IF_REQUESTED)

    # Type checkers know the property above, which a slot may not override.
    if not TYPE_CHECKING:
        seconds_on_page: Seconds | None = None


class PageEntry(Counted, msgspec.Struct, frozen=True, gc=False):
    """One of the most visited pages (section 2.3).

    >>> from sitestats import PageEntry
    >>> PageEntry("/contact", pageviews=3, visitors=2)
    PageEntry(value='/contact', pageviews=3, visitors=2)
    """

    columns: ClassVar[tuple[str, ...]] = ListEntry.columns

    value: str
    """The page's path. Visitors choose its text: escape it."""
    pageviews: Count
    """Page views in the period."""
    visitors: Count
    """Visitors in the period, that is, unique page views."""


class TimedPageEntry(PageEntry, frozen=True, gc=False):
    """A ``PageEntry`` that was requested with ``seconds_on_page``."""

    columns: ClassVar[tuple[str, ...]] = TimedListEntry.columns

    if not TYPE_CHECKING:
        seconds_on_page: Seconds | None = None


class EventCount(Entry, msgspec.Struct, frozen=True, gc=False):
    """How often an event happened in the period (section 2.3).

    >>> from sitestats import EventCount
    >>> EventCount("signup", total=7)
    EventCount(name='signup', total=7)
    """

    columns: ClassVar[tuple[str, ...]] = ("name", "total")
    sent: ClassVar[frozenset[str]] = frozenset(columns)

    name: str
    """The event's name, spelled as in the query. With ``all_events``, it is in lower
    case, as the service stores it."""
    total: Count
    """How often it happened."""


class HistogramEntry(
    Entry, msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True
):
    """Page views and visitors of one hour, day, week, month or year.

    Section 2.3 does not describe the entries of a histogram. These are the values that
    the service sends, and three that this package computes: ``start``, ``partial`` and
    ``clipped``.

    >>> import datetime as dt
    >>> from sitestats import HistogramEntry
    >>> HistogramEntry(dt.date(2026, 11, 20), pageviews=3, visitors=2).partial
    False
    """

    columns: ClassVar[tuple[str, ...]] = (
        "date",
        *HISTOGRAM_COUNTS,
        "partial",
        "clipped",
    )
    sent: ClassVar[frozenset[str]] = frozenset(
        ("date", *HISTOGRAM_COUNTS, "hour", "year", "week")
    )

    date: dt.date
    """The day, or the first day of the week, month or year, in the zone of the
    response."""
    pageviews: Count
    """Page views in this part of the period."""
    visitors: Count
    """Visitors in this part of the period. A visitor may count in several parts, so
    their sum may be larger than the visitors of the whole period."""
    start: Moment | None = None
    """The beginning of an hour, in the zone of the response. None for other intervals,
    or if the zone is not known. The hour that is repeated at the end of summer time has
    two entries, the second one with ``fold=1``."""
    hour: Hour | None = None
    """The hour, from 0 to 23; None for other intervals."""
    year: Count | None = None
    """The year of ``week``; None for other intervals."""
    week: Count | None = None
    """The number of the week; None for other intervals."""
    partial: bool = False
    """Whether the time of the entry was not over when the service responded, so that
    its counts will still grow."""
    clipped: bool = False
    """Whether only a part of this week, month or year is in the period, so that the
    counts are of that part alone. False if it is not known."""


class HourEntry(HistogramEntry, frozen=True, gc=False):
    """A ``HistogramEntry`` of an hour, whose table has a column for it."""

    columns: ClassVar[tuple[str, ...]] = (*HistogramEntry.columns, "start", "hour")


class WeekEntry(HistogramEntry, frozen=True, gc=False):
    """A ``HistogramEntry`` of a week, whose table has a column for it."""

    columns: ClassVar[tuple[str, ...]] = (*HistogramEntry.columns, "year", "week")


ENTRIES: Final[tuple[Any, ...]] = (
    ListEntry,
    TimedListEntry,
    PageEntry,
    TimedPageEntry,
    EventCount,
    HistogramEntry,
    HourEntry,
    WeekEntry,
)
"""The classes of entries."""
for _kind in ENTRIES:
    read_as_dataclass(_kind, [n for n in _kind.__struct_fields__ if n in _kind.columns])


def entry_class(field: str, fields: Collection[str], interval: str | None) -> type[Any]:
    """The class of the entries of a list.

    Args:
        field: The list's name, such as ``"pages"``.
        fields: All that was requested: some of it may be in each entry, too.
        interval: The requested one, of a histogram.
    """
    is_timed = not set(IF_REQUESTED).isdisjoint(fields)
    match FIELD_ROWS[field].kind:
        case "histogram":
            by_interval = {"hour": HourEntry, "week": WeekEntry}
            return by_interval.get(interval or "day", HistogramEntry)
        case "events":
            return EventCount
        case "pages":
            return TimedPageEntry if is_timed else PageEntry
        case "list":
            return TimedListEntry if is_timed else ListEntry
        case kind:
            raise TypeError(f"{field!r} has no entries: it is a {kind}")


EntryT_co = TypeVar("EntryT_co", bound=Entry, covariant=True)


@explained("plot")
@attrs.frozen(repr=False)
class Entries(Rows[EntryT_co, Never], Generic[EntryT_co]):
    """The entries of one list of a response, in the service's order.

    It is a ``Sequence``. An index is a position, an entry's value, an event's name or
    a day's date, and a slice returns ``Entries`` again. Libraries of data frames that
    are given it take the entries' own values as columns; ``to_pandas`` and
    ``to_polars`` have the share too, and the types of columns also without entries.

    >>> from sitestats import Entries, ListEntry
    >>> countries = Entries(
    ...     [ListEntry("NL", 3, 2), ListEntry("DE", 2, 2), ListEntry(None, 1, 1)],
    ...     name="countries",
    ...     entry_type=ListEntry,
    ... )
    >>> countries[0].value, len(countries), countries[1:].column("value")
    ('NL', 3, ['DE', None])
    >>> countries["DE"].visitors
    2
    """

    name: TableName = attrs.field(kw_only=True, eq=False)
    """The name of the field, such as ``"pages"``."""
    entry_type: type[EntryT_co] = attrs.field(kw_only=True, eq=False)
    """The class of the entries; an empty list has its columns, too. JSON has its
    name."""
    truncated: bool = attrs.field(default=False, kw_only=True, eq=False)
    """Whether the list is as long as the limit, so that the service may have more
    entries (section 8). A slice has the value of the whole list."""
    incomplete: bool = attrs.field(default=False, kw_only=True, eq=False)
    """Whether entries are left out because they can't be read: see ``Stats.problems``.
    A slice has the value of the whole list."""
    timezone: str | None = attrs.field(default=None, kw_only=True, eq=False)
    """The zone of a histogram's hours; None for other lists, and when unknown."""
    total_pageviews: int | None = attrs.field(default=None, kw_only=True, eq=False)
    """All page views of the query's period, page and filters, also of entries that the
    limit cut, or None if the query did not request them. Frames have each entry's
    ``share`` of them: 0.25 is a quarter. Visitors have no share, as a visitor may be in
    several entries."""
    filters: str = attrs.field(default="", kw_only=True, eq=False)
    """What the counts are limited to, such as ``"page=/blog, country=NL"``; empty if
    they are of the whole website. A list that is shown alone names it."""

    def column(self, name: str) -> list[Any]:
        """One value of every entry.

        Raises:
            FieldNotRequestedError: The entries don't have this value.
        """
        if name == "share" and issubclass(self.entry_type, Counted):
            whole = self.total_pageviews
            return [n / whole if whole else None for n in self.column("pageviews")]
        if name not in self.entry_type.columns:
            known = ", ".join(self.columns())
            raise FieldNotRequestedError(
                f"entries of {self.name!r} have no {name!r}, but {known}", name=name
            )
        return [*map(attrgetter(name), self._items)]

    def _table(self, _field: None = None) -> Sequence[Column]:
        zone, names = common_zone([self.timezone]), self.entry_type.columns
        if issubclass(self.entry_type, Counted):
            names = (*names, "share")
        return [column_of(name, self.column(name), zone) for name in names]

    def _names(self) -> Sequence[object]:
        return [*map(for_json, self.column(self.entry_type.columns[0]))]

    def plot(self, *, ax: late.Axes | None = None, **_others: Never) -> late.Axes:
        """Draw the entries with matplotlib (the extra ``plot``).

        A histogram has bars of page views, and of visitors in front; more than 60
        entries are steps without gaps. What is not over yet, or cut by the period, is
        hatched; Saturdays and Sundays of days or hours have a grey background. Another
        list has a bar for each of its first 20 entries.

        Args:
            ax: The axes to draw into; when None new ones of pyplot, which a
                notebook and ``pyplot.show()`` show.

        Returns:
            The axes.

        Raises:
            MissingExtraError: matplotlib is not installed.

        >>> query = StatsQuery("semicomplete.com").fields("histogram").last(days=7)
        >>> client.stats.get(query).histogram.plot().get_xlabel()
        'grey: Saturday and Sunday'
        """
        return draw(self, ax, _others)


def check_name(name: object, known: Sequence[str], what: str) -> None:
    """Check that *name* is one of the *known* names.

    Raises:
        FieldNotRequestedError: It is not.
    """
    if name not in known:
        meant = field_meant(name)
        hint = f" (did you mean {meant!r}?)" if meant in known else ""
        hint = hint or did_you_mean(str(name), known)
        message = f"{shown(name)} is not {what}{hint}; use one of {', '.join(known)}"
        raise FieldNotRequestedError(message, name=str(name))


def check_list(name: object) -> None:
    """Check that *name* is the name of a list, of the histogram or of events.

    Raises:
        FieldNotRequestedError: It is not.
    """
    if are_several(name):
        raise FieldNotRequestedError(
            f"{shown(name)} is not a list, and the service has no table that crosses "
            "two: request one for each value of the other, by "
            "query.each(country=stats.countries), and name it here",
            name=str(name),
        )
    if name in TOTALS:
        message = (
            f"{shown(name)} is a total, not a list: comparison.totals or to_pandas() "
            "has totals"
        )
        raise FieldNotRequestedError(message, name=str(name))
    check_name(name, TABLES, "a list")
