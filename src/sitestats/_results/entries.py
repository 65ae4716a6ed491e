"""Lists of a response: the classes of their entries, and ``Entries`` that holds them.

Entries are structs of msgspec, since a response may hold thousands. ``Timed…`` entries
were requested with ``seconds_on_page``.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, TypeVar

import attrs
import msgspec

from sitestats._common.errors import FieldNotRequestedError
from sitestats._common.fields import TABLES
from sitestats._common.text import did_you_mean, shown
from sitestats._common.zones import common_zone

from .display import Rows, Table, draw
from .tables import Column, for_json, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sitestats._common.jsontext import JsonValue


class Entry:
    """What the entries of all lists can do."""

    __slots__ = ()

    columns: ClassVar[tuple[str, ...]] = ()
    """The names of the values, in the order of a table's columns."""

    def get(self, name: str) -> Any:
        """One value by its name."""
        return getattr(self, name)

    def to_dict(self) -> dict[str, JsonValue]:
        """The values by name, ready for JSON.

        >>> from sitestats import ListEntry
        >>> ListEntry("NL", pageviews=3, visitors=2).to_dict()
        {'value': 'NL', 'pageviews': 3, 'visitors': 2}
        """
        return {name: for_json(self.get(name)) for name in self.columns}


class Counted(Entry):
    """An entry with page views and visitors; a ``Timed…`` one has seconds too."""

    __slots__ = ()

    @property
    def seconds_on_page(self) -> float | None:
        """Median seconds on the page (section 2.3, rule 2), None when unknown.

        Raises:
            FieldNotRequestedError: The query did not request it.
        """
        raise FieldNotRequestedError(
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

    columns: ClassVar[tuple[str, ...]] = ("value", "pageviews", "visitors")

    value: str | None
    """What is counted, such as a country's code. None where that is not known: without
    a referrer, or for an unknown country."""
    pageviews: int
    """Page views in the period."""
    visitors: int
    """Visitors in the period, which are unique page views."""


class TimedListEntry(ListEntry, frozen=True, gc=False):
    """A ``ListEntry`` that was requested with ``seconds_on_page``."""

    columns: ClassVar[tuple[str, ...]] = (*ListEntry.columns, "seconds_on_page")

    # Type checkers know the property above, which a slot may not override.
    if not TYPE_CHECKING:
        seconds_on_page: float | None = None


class PageEntry(Counted, msgspec.Struct, frozen=True, gc=False):
    """One of the most visited pages (section 2.3).

    >>> from sitestats import PageEntry
    >>> PageEntry("/contact", pageviews=3, visitors=2)
    PageEntry(value='/contact', pageviews=3, visitors=2)
    """

    columns: ClassVar[tuple[str, ...]] = ListEntry.columns

    value: str
    """The page's path. Visitors choose its text: escape it."""
    pageviews: int
    """Page views in the period."""
    visitors: int
    """Visitors in the period, which are unique page views."""


class TimedPageEntry(PageEntry, frozen=True, gc=False):
    """A ``PageEntry`` that was requested with ``seconds_on_page``."""

    columns: ClassVar[tuple[str, ...]] = TimedListEntry.columns

    if not TYPE_CHECKING:
        seconds_on_page: float | None = None


class EventCount(Entry, msgspec.Struct, frozen=True, gc=False):
    """How often an event happened in the period (section 2.3).

    >>> from sitestats import EventCount
    >>> EventCount("signup", total=7)
    EventCount(name='signup', total=7)
    """

    columns: ClassVar[tuple[str, ...]] = ("name", "total")

    name: str
    """The event's name, in the case of the query; with ``all_events`` in lower case, as
    the service stores it."""
    total: int
    """How often it happened."""


def entry_class(field: str, *, timed: bool) -> type[ListEntry | PageEntry | EventCount]:
    """The class of the entries of every list but the histogram.

    Args:
        field: The list's name, such as ``"pages"``.
        timed: Whether ``seconds_on_page`` was requested too.
    """
    if field == "events":
        return EventCount
    if field == "pages":
        return TimedPageEntry if timed else PageEntry
    return TimedListEntry if timed else ListEntry


EntryT_co = TypeVar("EntryT_co", bound=Entry, covariant=True)


@attrs.frozen(repr=False)
class Entries(Rows[EntryT_co, Never], Generic[EntryT_co]):
    """The entries of one list of a response, in the service's order.

    It has a length, can be iterated and indexed, and a slice of it is one again. An
    entry is found by its value too, an event by its name, and a day by its date. It is
    not a ``Sequence``, so that no library of data frames mistakes it for a list of
    opaque objects.

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

    name: str = attrs.field(kw_only=True, eq=False)
    """The field that the list came in, such as ``"pages"``."""
    entry_type: type[EntryT_co] = attrs.field(kw_only=True, eq=False)
    """The class of the entries, which has the columns of an empty list too."""
    truncated: bool = attrs.field(default=False, kw_only=True, eq=False)
    """Whether the list is as long as the limit, so that the service may have more
    entries (section 8). A slice has the value of the whole list."""
    timezone: str | None = attrs.field(default=None, kw_only=True, eq=False)
    """The zone of a histogram's hours; None for other lists, and when unknown."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the values of each entry."""
        return self.entry_type.columns

    def column(self, name: str) -> list[Any]:
        """One value of every entry.

        Raises:
            FieldNotRequestedError: The entries don't have this value.
        """
        if name not in self.columns:
            raise FieldNotRequestedError(
                f"entries of {self.name!r} have no {name!r}, but "
                f"{', '.join(self.columns)}",
                name=name,
            )
        return [*map(attrgetter(name), self._items)]

    def _table(self, _field: None = None) -> Sequence[Column]:
        zone = common_zone([self.timezone])
        return [named(name, self.column(name), zone) for name in self.columns]

    def _tables(self) -> Sequence[Table]:
        return [Table(self.name, self._table())]

    def _names(self) -> Sequence[object]:
        return [*map(for_json, self.column(self.columns[0]))]

    def plot(self, ax: Axes | None = None) -> Axes:
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
        return draw(self, ax)


def check_name(name: object, known: Sequence[str], what: str) -> None:
    """Check that *name* is one of the *known* names.

    Raises:
        FieldNotRequestedError: It is not.
    """
    if name not in known:
        hint = did_you_mean(str(name), known)
        message = f"{shown(name)} is not {what}{hint}"
        raise FieldNotRequestedError(message, name=str(name))


def check_list(name: object) -> None:
    """Check that *name* is that of a list, of the histogram or of events.

    Raises:
        FieldNotRequestedError: It is not.
    """
    check_name(name, TABLES, "a list: totals are in the frame without a list's name")
