"""The outcome of each query of ``get_many``: a result or an error, never both."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypeAlias

import attrs

from .display import Displayed, HasSheet
from .tables import Sheet

if TYPE_CHECKING:
    from sitestats._common.errors import SiteStatsError
    from sitestats._common.jsontext import JsonValue
    from sitestats._query.builder import StatsQuery

    from .stats import Stats


@attrs.frozen
class Succeeded(Displayed):
    """A query that succeeded.

    Test ``outcome.error is None``, and a type checker knows that
    ``outcome.stats`` is there.

    Example:
        >>> query = StatsQuery("semicomplete.com").fields("pageviews").last(days=4)
        >>> with client.stats.get_many([query]) as stream:
        ...     for outcome in stream:
        ...         if outcome.error is None:
        ...             print(outcome.index, outcome.stats.pageviews)
        0 1586
    """

    query: StatsQuery
    """What was requested."""
    index: int
    """The query's place among all that were given, from 0."""
    stats: Stats
    """The result."""
    error: None = attrs.field(default=None, init=False, repr=False)
    """None: it went well."""

    def result(self) -> Stats:
        """Return the result."""
        return self.stats

    def to_dict(self) -> dict[str, JsonValue]:
        """The result as plain values, ready for JSON: see ``Stats.to_dict``. It has the
        host name that was requested, and its time zone where the response has none.

        >>> query = StatsQuery("semicomplete.com").fields("visitors").on("yesterday")
        >>> outcome = client.stats.get_many([query]).collect().succeeded[0]
        >>> outcome.to_dict()["hostname"]
        'semicomplete.com'
        """
        zone = self.stats.timezone or self.query.params().get("timezone")
        about: dict[str, JsonValue] = {"timezone": zone}
        return self.stats.to_dict() | about | {"hostname": self.query.hostname}

    def _displayed(self) -> Stats:
        return self.stats


@attrs.frozen
class Failed(HasSheet):
    """A query that failed, and why.

    It spoils nothing: the other queries go on.

    Example:
        >>> query = StatsQuery("nobody.example.com").fields("pageviews")
        >>> with client.stats.get_many([query]) as stream:
        ...     for outcome in stream:
        ...         if outcome.error is not None:
        ...             print(type(outcome.error).__name__)
        NotFoundError
    """

    query: StatsQuery
    """What was requested."""
    index: int
    """The query's place among all that were given, from 0."""
    error: SiteStatsError
    """Why there is no result: what ``client.stats.get`` would have raised."""
    stats: None = attrs.field(default=None, init=False, repr=False)
    """None: there is no result."""

    def result(self) -> NoReturn:
        """Raise the error."""
        raise self.error

    def _sheet(self) -> Sheet:
        why = f"{type(self.error).__name__}: {self.error}"
        return Sheet(self.query.hostname, ("",), [(why,)], "no response")


Outcome: TypeAlias = Succeeded | Failed
"""The outcome of one query."""
