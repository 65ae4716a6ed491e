"""This period against another one: the totals, and every list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from sitestats._entries import Entries
from sitestats._errors import FieldNotRequestedError
from sitestats._framed import Framed

from ._changes import Change, Changes, changes_of
from ._columns import TOTALS

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from sitestats._stats import Stats

    from ._columns import Column

_NOT_COMPARED: Final = frozenset(("histogram", "events"))


@attrs.frozen(repr=False)
class Comparison(Framed):
    """What two results of one query say of the time between them.

    >>> query = StatsQuery("semicomplete.com").fields("visitors", "pages").last(days=2)
    >>> comparison = client.stats.compare(query)
    >>> comparison.totals["visitors"].absolute
    125
    >>> comparison["pages"][0].direction
    'up'
    """

    now: Stats
    """The period that was asked for."""
    before: Stats
    """The period that it is held against."""

    @property
    def partial(self) -> bool:
        """Whether one of the periods was not over when the service answered: its
        numbers will still grow, and with them the changes.
        """
        return self.now.partial or self.before.partial

    @property
    def totals(self) -> Mapping[str, Change]:
        """The totals that both results have, by name."""
        return {
            name: Change(getattr(self.now, name), getattr(self.before, name))
            for name in TOTALS
            if name in self.now and name in self.before
        }

    @property
    def lists(self) -> Mapping[str, Changes]:
        """The changes of every list that both results have, by name."""
        return {
            name: self[name]
            for name in self.now.requested
            if name not in _NOT_COMPARED and self._is_list(name)
        }

    def __getitem__(self, name: str) -> Changes:
        """The changes of one list.

        Raises:
            FieldNotRequestedError: The query did not ask for it, or it is no list.
        """
        if not self._is_list(name) or name in _NOT_COMPARED:
            raise FieldNotRequestedError(
                f"{name!r} is no list that both results have: see .lists", name=name
            )
        return changes_of(
            getattr(self.now, name), getattr(self.before, name), partial=self.partial
        )

    def _is_list(self, name: str) -> bool:
        return all(
            name in stats and isinstance(getattr(stats, name), Entries)
            for stats in (self.now, self.before)
        )

    def _table(self) -> Sequence[Column]:
        from ._columns import Column, Kind

        totals = self.totals
        values = list(totals.values())

        def numbers(name: str) -> Column:
            found = [getattr(change, name) for change in values]
            return Column(name, Kind.SECONDS, found)

        return [
            Column("name", Kind.TEXT, list(totals)),
            *map(numbers, ("now", "before", "absolute", "percent")),
            Column("partial", Kind.FLAG, [self.partial] * len(totals)),
        ]

    def _repr_html_(self) -> str:
        from ._html import of_comparison

        return of_comparison(self)

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        from ._console import of_comparison

        return of_comparison(self)

    def __rich_repr__(self) -> Iterator[Any]:
        yield self.now.query.hostname
        yield from self.totals.items()
        yield "partial", self.partial, False

    def __repr__(self) -> str:
        parts = [repr(self.now.query.hostname)]
        for name, change in self.totals.items():
            percent = change.percent
            grown = "" if percent is None else f" ({percent:+.1f} %)"
            parts.append(f"{name}={change.before} → {change.now}{grown}")
        if self.partial:
            parts.append("partial=True")
        return f"Comparison({', '.join(parts)})"
