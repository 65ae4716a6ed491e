"""Lists of a response: the classes of their entries, and ``Entries`` that holds them.

Entries are structs of msgspec, since a response may hold thousands. ``Timed…`` entries
were requested with ``seconds_on_page``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Generic,
    Never,
    TypeVar,
    overload,
)

import attrs
import msgspec

from sitestats._common.errors import FieldNotRequestedError
from sitestats._common.fields import COUNTS, TOTALS
from sitestats._common.text import bounded, did_you_mean, shown
from sitestats._common.zones import common_zone

from .display import Displayed, HasFrame, Table, draw
from .tables import Column, for_json, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sitestats._common.jsontext import JsonValue

_MOST_IN_REPR: Final = 3
"""How many entries the repr of a container shows."""


class Entry:
    """What the entries of all lists can do."""

    __slots__ = ()

    columns: ClassVar[tuple[str, ...]] = ()
    """The names of the values, in the order of a table's columns."""
    _label: ClassVar[str] = "Entry"
    """The class that users know this one by."""

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

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._shown_values())
        return f"{self._label}({values})"

    def _shown_values(self) -> Iterator[tuple[str, Any]]:
        for name in self.columns:
            yield name, bounded(getattr(self, name))


def _seconds_not_requested() -> FieldNotRequestedError:
    return FieldNotRequestedError(
        "'seconds_on_page' was not requested: add it to the query's .fields(…), "
        "and each entry of a list has its own",
        name="seconds_on_page",
    )


class Counted(Entry):
    """An entry with page views and visitors; a ``Timed…`` one has seconds too."""

    __slots__ = ()

    @property
    def seconds_on_page(self) -> float | None:
        """Median seconds on the page (section 2.3, rule 2), None when unknown.

        Raises:
            FieldNotRequestedError: The query did not request it.
        """
        raise _seconds_not_requested()


class ListEntry(Counted, msgspec.Struct, frozen=True, gc=False):
    """One entry of a list: a country, a referrer, a browser… (section 2.3).

    >>> from sitestats import ListEntry
    >>> ListEntry("NL", pageviews=3, visitors=2)
    ListEntry(value='NL', pageviews=3, visitors=2)
    """

    columns: ClassVar[tuple[str, ...]] = ("value", "pageviews", "visitors")
    _label: ClassVar[str] = "ListEntry"

    value: str | None
    """What is counted, such as a country's code. None where it is not known: no
    referrer, an unknown country."""
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
    _label: ClassVar[str] = "PageEntry"

    value: str
    """The page's path. Visitors decide what stands in it: escape it."""
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
    _label: ClassVar[str] = "EventCount"

    name: str
    """The event's name. One that was requested by name is in the case of the query;
    with ``all_events`` all are in lower case, as the service stores them."""
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
class Entries(HasFrame[Never], Displayed, Generic[EntryT_co]):
    """The entries of one list of a response, in the service's order.

    It has a length, can be iterated and indexed, and a slice of it is one again. An
    entry is found by its value too, an event by its name. It is not a ``Sequence``, so
    that no library of data frames mistakes it for a list of opaque objects.

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

    _items: tuple[EntryT_co, ...] = attrs.field(converter=tuple)
    name: str = attrs.field(kw_only=True, eq=False)
    """The field that the list came in, such as ``"pages"``."""
    entry_type: type[EntryT_co] = attrs.field(kw_only=True, eq=False)
    """The class of the entries, which knows the columns of an empty list."""
    truncated: bool = attrs.field(default=False, kw_only=True, eq=False)
    """Whether the list is as long as the limit in force, so that there may be
    more than the response holds (section 8). A slice has that of the whole list."""
    timezone: str | None = attrs.field(default=None, kw_only=True, eq=False)
    """The zone of a histogram's hours; None for other lists, and when unknown."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the values of each entry."""
        return self.entry_type.columns

    def column(self, name: str) -> list[Any]:
        """One value of every entry.

        Raises:
            FieldNotRequestedError: No entry has this value.
        """
        if name not in self.columns:
            if name == "seconds_on_page":
                raise _seconds_not_requested()
            raise FieldNotRequestedError(
                f"entries of {self.name!r} have no {name!r}, but "
                f"{', '.join(self.columns)}",
                name=name,
            )
        return [*map(attrgetter(name), self._items)]

    def _table(self, _field: None = None) -> Sequence[Column]:
        return columns_of_entries(self)

    def _tables(self) -> Sequence[Table]:
        return [Table(self.name, self._table())]

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

    def to_dicts(self) -> list[dict[str, JsonValue]]:
        """The entries as dicts, ready for JSON."""
        return [entry.to_dict() for entry in self._items]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[EntryT_co]:
        return iter(self._items)

    @overload
    def __getitem__(self, index: int | str) -> EntryT_co: ...

    @overload
    def __getitem__(self, index: slice) -> Entries[EntryT_co]: ...

    def __getitem__(self, index: int | str | slice) -> EntryT_co | Entries[EntryT_co]:
        if isinstance(index, slice):
            return attrs.evolve(self, items=self._items[index])
        if isinstance(index, str):
            return self._with_value(index)
        return self._items[index]

    def _with_value(self, value: str) -> EntryT_co:
        name = self.columns[0]
        if name == "date":
            raise KeyError("entries of a histogram are found by their place")
        known = {getattr(entry, name): entry for entry in reversed(self._items)}
        if value in known:
            return known[value]
        hint = did_you_mean(value, filter(None, known))
        more = ", whose list is cut by the limit" if self.truncated else ""
        raise KeyError(f"no entry of {self.name!r}{more} is {shown(value)}{hint}")

    def __repr__(self) -> str:
        shown_entries = [repr(entry) for entry in self._items[:_MOST_IN_REPR]]
        more = len(self) - len(shown_entries)
        if more:
            shown_entries.append(f"… {more} more")
        truncated = ", truncated=True" if self.truncated else ""
        return f"Entries([{', '.join(shown_entries)}], name={self.name!r}{truncated})"


def columns_of_entries(entries: Entries[Any]) -> list[Column]:
    """The entries as columns."""
    zone = "UTC"
    if "start" in entries.columns:
        # Lists that were not read from a response have the zone of their hours alone.
        starts = filter(None, entries.column("start"))
        zones = {str(start.tzinfo) for start in starts}
        zone = common_zone({entries.timezone} if entries.timezone else zones)
    return [named(name, entries.column(name), zone) for name in entries.columns]


def check_list(field: object, lists: Sequence[str]) -> None:
    """Refuse what is none of the *lists*.

    Raises:
        FieldNotRequestedError: There is no such list.
    """
    if not isinstance(field, str):
        raise FieldNotRequestedError(
            f"a frame is of one list, not {shown(field)}: call it for each list, or "
            ".to_excel(path), which writes a sheet for each",
            name=str(field),
        )
    if field in lists:
        return
    hint = did_you_mean(field, lists)
    if field in TOTALS:
        hint = ": it is a total, which are a row each when no field is given"
    raise FieldNotRequestedError(
        f"{shown(field)} is no list of a response{hint}", name=field
    )


def check_count(count: str) -> None:
    """Refuse what is no count of an entry.

    Raises:
        FieldNotRequestedError: It is none.
    """
    if count not in COUNTS:
        raise FieldNotRequestedError(
            f"{shown(count)} is no count of an entry{did_you_mean(count, COUNTS)}",
            name=count,
        )
