"""Collected outcomes of ``get_many``: a sequence that makes frames and tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self, overload

import attrs

from .display import Displayed, draw_each
from .many import FramesOfMany, TableBuilder
from .outcomes import Answered, Failed, Outcome
from .tables import Column, to_dicts

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from sitestats._common.fields import TableName
    from sitestats._common.jsontext import JsonValue

    from .comparisons import Comparisons


class CollectedOutcomes(Sequence[Outcome], FramesOfMany, Displayed):
    """The outcomes of all queries, in the order of the queries."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._outcomes = tuple(sorted(outcomes, key=lambda outcome: outcome.index))

    @property
    def answered(self) -> tuple[Answered, ...]:
        """The outcomes with statistics, in the order of the queries."""
        return tuple(one for one in self._outcomes if isinstance(one, Answered))

    @property
    def failed(self) -> tuple[Failed, ...]:
        """The outcomes without a response, in the order of the queries."""
        return tuple(one for one in self._outcomes if isinstance(one, Failed))

    def to_dicts(self, field: TableName | None = None) -> list[dict[str, JsonValue]]:
        """The rows of ``to_pandas`` as dicts, ready for JSON.

        Raises:
            FieldNotRequestedError: See ``to_pandas``.

        >>> query = StatsQuery("semicomplete.com").fields("countries").limit(1)
        >>> answers = client.stats.get_many([query.on("yesterday")]).collect()
        >>> [country["value"] for country in answers.to_dicts("countries")]
        ['US']
        """
        return to_dicts(self._columns(field))

    def compare_to(self, before: CollectedOutcomes) -> Comparisons:
        """Compare these answers with those *before*, website by website.

        A query is compared with the one before that is about the same website, page
        and filters. Of several such ones, the first is compared with the first, the
        second with the second.

        Returns:
            A table, frames and a plot of both periods and their changes.

        >>> query = StatsQuery("semicomplete.com").fields("visitors")
        >>> queries = [query, query.website("blog.semicomplete.com")]
        >>> now, before = (
        ...     client.stats.get_many([query.on(day) for query in queries]).collect()
        ...     for day in ("yesterday", "today-2d")
        ... )
        >>> growth = now.compare_to(before).to_pandas()
        >>> growth[["hostname", "visitors", "visitors_before", "visitors_change"]]
                        hostname  visitors  visitors_before  visitors_change
        0       semicomplete.com       244              295              -51
        1  blog.semicomplete.com        72              103              -31
        """
        from .comparisons import Comparisons, pairs_of

        return Comparisons(pairs_of(self, before))

    def plot(
        self,
        ax: Axes | Sequence[Axes] | NDArray[np.object_] | None = None,
        *,
        most: int = 24,
        sharey: bool = False,
    ) -> NDArray[np.object_]:
        """Draw the histogram of each website, side by side (the extra ``plot``).

        All have the same time axis. Answers about one website, page and filters are
        drawn into the same axes if their days follow each other. A note says how many
        more there are, and how many queries failed. See ``Entries.plot``.

        Args:
            ax: The axes to draw into, in the order of the queries; when None a new
                figure of pyplot has as many as are needed.
            most: The most axes of a new figure.
            sharey: Whether all have the same scale.

        Returns:
            The axes, as an array without rows: ``axes[0].figure`` is the figure.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: A query did not request the histogram.

        >>> query = StatsQuery("semicomplete.com").fields("histogram").last(days=4)
        >>> queries = [query.website(website) for website in client.websites.list()]
        >>> axes = client.stats.get_many(queries).collect().plot(sharey=True)
        >>> [one.get_title(loc="left") for one in axes][:2]
        ['semicomplete.com', 'blog.semicomplete.com']
        """
        return draw_each(self, ax, most=most, sharey=sharey)

    def _columns(self, field: str | None) -> list[Column]:
        builder = TableBuilder(field)
        for outcome in self._outcomes:
            builder.add(outcome)
        return builder.columns()

    # --- a sequence ---------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._outcomes)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self._outcomes)

    @overload
    def __getitem__(self, index: int) -> Outcome: ...

    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: int | slice) -> Outcome | Self:
        if isinstance(index, slice):
            return self._with(self._outcomes[index])
        return self._outcomes[index]

    @abstractmethod
    def _with(self, outcomes: Iterable[Outcome]) -> Self:
        """The same for other *outcomes*."""

    def _retried(self, again: Iterable[Outcome]) -> Self:
        """These outcomes with those *again* in place of the failed ones."""
        indices = [failed.index for failed in self.failed]
        newer = [attrs.evolve(one, index=indices[one.index]) for one in again]
        return self._with([*self.answered, *newer])

    def __repr__(self) -> str:
        return self._as_text()
