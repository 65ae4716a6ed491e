"""Whoever watches a run: its journal, and a bar of progress."""

from __future__ import annotations

from collections.abc import Callable

import anyio.to_thread

from ._events import History, Progress
from ._journal import Journal


class Watch:
    """Takes the notes of a blocking run."""

    def __init__(
        self, journal: Journal | None, show: Callable[[int, int], object] | None
    ) -> None:
        self._journal = journal
        self._show = show
        self.history = History() if journal is None else journal.history

    def note(self, event: object) -> None:
        """Write to the journal, or show the progress."""
        if isinstance(event, Progress):
            if self._show is not None:
                self._show(event.done, event.total)
        elif self._journal is not None:
            self._journal.record(event)

    async def anote(self, event: object) -> None:
        """The same; the journal's disk does not hold the event loop."""
        if isinstance(event, Progress) or self._journal is None:
            self.note(event)
        else:
            await anyio.to_thread.run_sync(self._journal.record, event)
