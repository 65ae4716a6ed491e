"""Schedule of ``get_many``: when to take the next query, sync or async.

Queries are taken, outcomes returned and progress reported in the caller's own
thread or task. So a generator of queries may use what belongs there, such as a
database's cursor, and its errors are raised where the outcomes are used.
"""

from __future__ import annotations

import time
from collections.abc import Sized
from contextlib import ExitStack
from typing import Any, Final, TypeAlias, cast

import attrs
from attrs.validators import optional

from sitestats._common.errors import ConfigurationError, Problem, QueryError
from sitestats._common.progress import Progress, ShowProgress, showing
from sitestats._common.settings import by, check_seconds, positive_count
from sitestats._common.text import shown
from sitestats._protocol.retry import NO_DEADLINE, Deadline
from sitestats._query.builder import StatsQuery
from sitestats._results.outcomes import Outcome

Job: TypeAlias = tuple[StatsQuery, int]
"""A query and its index."""

END: Final = object()
"""Marks the end of the queries."""
_MOST_AHEAD: Final = 5
"""Queries in order, for each that may be under way, that are taken before an outcome is
returned: a slow response does not stop the others, and memory stays bounded."""


@attrs.frozen
class BlockOptions:
    """What a caller may choose about a block of queries."""

    concurrency: int = attrs.field(validator=by(positive_count))
    progress: Progress
    deadline: float | None = attrs.field(validator=optional(by(check_seconds)))
    """Seconds for the whole block."""
    fresh: bool
    """Whether to send the request even where the store has the response."""
    in_order: bool
    """Whether the outcomes come in the order of the queries."""


class Schedule:
    """Counts queries taken and outcomes returned, and decides what is next."""

    def __init__(
        self, queries: object, options: BlockOptions, max_connections: int
    ) -> None:
        self._options = options
        # More would wait for a connection while their total_timeout runs.
        self.limit = min(options.concurrency, max_connections)
        """How many may be under way at once."""
        self.deadline = NO_DEADLINE
        """When the responses of the block have to be there; set when it begins."""
        self._total = len(queries) if isinstance(queries, Sized) else None
        self._showing = showing(options.progress, "queries")
        self._show: ShowProgress | None = None
        self._block = ExitStack()
        self.is_begun = False
        """Whether the block was entered."""
        self._ended = self._no_more = self._took_one = False
        self._taken = self._arrived = self._given = 0
        self._waiting: dict[int, Outcome] = {}

    def begin(self) -> None:
        """Enter the block."""
        if self.is_begun:
            raise ConfigurationError(
                "this get_many block was already used: call get_many again"
            )
        self.is_begun = True
        if (seconds := self._options.deadline) is not None:
            self.deadline = Deadline(seconds, time.monotonic() + seconds)
        self._show = self._block.enter_context(self._showing)

    def end(self) -> None:
        """Leave the block."""
        self._ended = True
        self._block.close()

    def check_open(self) -> None:
        """Raise an error outside of the block."""
        if not self.is_begun:
            raise ConfigurationError(
                "get_many needs a block, which ends what is under way when it is left: "
                "“with client.stats.get_many(queries) as stream:” (“async with” for "
                "an AsyncClient); without one, .collect() returns all outcomes"
            )
        if self._ended:
            raise ConfigurationError(
                "the get_many block was left, which ended what was under way: take the "
                "outcomes within the block, or have .collect() return them all"
            )

    def begin_to_collect(self) -> None:
        """Raise an error outside of the block, and where no outcome is left."""
        self.check_open()
        if self._given and self._no_more and not self.under_way and not self._waiting:
            raise ConfigurationError(
                "the outcomes of this get_many block were taken already, and each "
                "comes once: “outcomes = client.stats.get_many(…).collect()” holds "
                "them all, and makes frames as often as you like"
            )

    @property
    def under_way(self) -> int:
        """How many outcomes are still to come, of the queries that were taken."""
        return self._taken - self._arrived

    def wants_one(self, *, ready: bool) -> bool:
        """Whether to take a query before the next outcome is returned.

        One for each that arrived, which keeps as many under way; further ones
        only while no outcome is *ready*, so that a slow source of queries does not
        delay outcomes.
        """
        return (
            not self._no_more
            and self.under_way < self.limit
            and self._taken - self._given < _MOST_AHEAD * self.limit
            and not (ready and self._took_one)
        )

    def take(self, query: object) -> Job | None:
        """Count *query*, or record the ``END`` of them.

        Raises:
            QueryError: It is not a query.
        """
        if query is END:
            self._no_more = True
            return None
        if not isinstance(query, StatsQuery):
            message = (
                f"each query is a StatsQuery, not {shown(query)}: make those of "
                "websites by query.each(websites=…)"
            )
            raise QueryError([Problem(message, where=f"queries[{self._taken}]")])
        index = self._taken
        self._taken += 1
        self._took_one = True
        return cast("Any", query), index

    def give(self, result: Outcome | BaseException) -> Outcome | None:
        """Count *result*, or raise it if it is an error.

        Returns:
            The outcome; None in order, where it waits for its turn.
        """
        if isinstance(result, BaseException):
            try:
                raise result
            finally:
                # Break the reference cycle with its traceback and this frame.
                del result
        self._arrived += 1
        self._took_one = False
        if not self._options.in_order:
            return self._returned(result)
        self._waiting[result.index] = result
        return None

    def next_in_order(self) -> Outcome | None:
        """The outcome that is next in the order of the queries, if it waits."""
        found = self._waiting.pop(self._given, None)
        return None if found is None else self._returned(found)

    def _returned(self, outcome: Outcome) -> Outcome:
        """Report the progress."""
        self._given += 1
        if self._show is not None:
            self._show(self._given, self._total)
        return outcome
