"""Answers of ``get_many(…).collect()``, sync and async: kept, and asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import attrs

from sitestats._common.errors import ConfigurationError
from sitestats._common.settings import NOT_GIVEN, NotGiven
from sitestats._results.answers import CollectedOutcomes

from .schedule import Options

if TYPE_CHECKING:
    from sitestats._query.builder import StatsQuery
    from sitestats._results.outcomes import Outcome

    from .get_many import AsyncOutcomes, Outcomes  # noqa: F401  in strings below

BlockT = TypeVar("BlockT")


@attrs.frozen
class Again(Generic[BlockT]):
    """What made the answers, which makes others."""

    make: Callable[[Sequence[StatsQuery], Options], BlockT]
    """A block of queries, by the same client."""
    options: Options


class _BoundAnswers(CollectedOutcomes, Generic[BlockT]):
    def __init__(
        self, outcomes: Iterable[Outcome], again: Again[BlockT] | None = None
    ) -> None:
        super().__init__(outcomes)
        self._again = again

    def _with(self, outcomes: Iterable[Outcome]) -> Self:
        return type(self)(outcomes, self._again)

    def _block(self, deadline: float | NotGiven | None) -> BlockT:
        """A block of the queries that failed."""
        if self._again is None:
            raise ConfigurationError(
                "these answers were pickled, which keeps no client: call get_many "
                "with [failed.query for failed in answers.failed]"
            )
        options = self._again.options
        if deadline is not NOT_GIVEN:
            options = attrs.evolve(options, deadline=deadline)
        return self._again.make([failed.query for failed in self.failed], options)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the client, which may hold a credential.
        return type(self), (tuple(self),)


class Answers(_BoundAnswers["Outcomes"]):
    """The outcomes of all queries, in their order: ``get_many(…).collect()``.

    It is a sequence, a slice of which is one again. It shows itself as a table, and
    makes frames and comparisons as often as you like. A pickle of it has no client.

    Example:
        >>> query = StatsQuery("semicomplete.com").fields("visitors").last(days=4)
        >>> queries = [query, query.website("nobody.example")]
        >>> answers = client.stats.get_many(queries).collect()
        >>> answers[0].result().visitors, len(answers.failed)
        (953, 1)
        >>> answers[:1].to_dicts()[0]["visitors"]
        953
    """

    def retry(self, *, deadline: float | NotGiven | None = NOT_GIVEN) -> Answers:
        """Request again what failed, and return all outcomes anew.

        Each outcome keeps its index. The concurrency and the progress are those of
        ``get_many``, and so is the deadline, counted anew.

        Args:
            deadline: Seconds for all of it; None is without.

        Raises:
            ConfigurationError: *deadline* is wrong, or these were pickled.

        Example:
            >>> emulator.fail_next(3, status=503)
            >>> query = StatsQuery("semicomplete.com").fields("visitors").last(days=4)
            >>> impatient = client.with_options(retries=0)
            >>> answers = impatient.stats.get_many([query] * 4).collect()
            >>> len(answers.failed), len(answers.retry().failed)
            (3, 0)
        """
        if not self.failed:
            return self
        return self._retried(self._block(deadline).collect())


class AsyncAnswers(_BoundAnswers["AsyncOutcomes"]):
    """The same of an ``AsyncClient``: only ``retry`` is awaited.

    Example:
        >>> queries = [StatsQuery("semicomplete.com").fields("pageviews")] * 3
        >>> async def main() -> int:
        ...     async with emulator.async_client() as client:
        ...         answers = await client.stats.get_many(queries).collect()
        ...     return len(answers.to_pandas())
        >>> asyncio.run(main())
        3
    """

    async def retry(
        self, *, deadline: float | NotGiven | None = NOT_GIVEN
    ) -> AsyncAnswers:
        """As ``Answers.retry``, awaited."""
        if not self.failed:
            return self
        return self._retried(await self._block(deadline).collect())
