"""Signals of an update: the first ends the reading, and a second the update."""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack
from contextvars import ContextVar
from types import FrameType, TracebackType
from typing import Any, Final, Self


class UnderWay(ExitStack):
    """What an update has to close at its end, and what has interrupted it.

    The first SIGINT or SIGTERM waits until what was read is loaded. A second one is
    handled at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.signal: int | None = None
        """The signal that waits."""
        self.read = 0
        """How many days were read."""
        self.loaded = 0
        """How many of them the destination has."""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self.callback(UPDATE.reset, UPDATE.set(self))
        # Elsewhere no handler can be set, and none is called.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                before = signal.getsignal(number)
                if before not in {signal.SIG_IGN, None}:
                    self._before[number] = before
                    self.callback(signal.signal, number, before)
                    signal.signal(number, self._receive)
        return self

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self.signal is None:
            self.signal = number
        else:
            signal.signal(number, self._before[number])
            signal.raise_signal(number)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        try:
            if self.signal and not isinstance(error, KeyboardInterrupt):
                signal.raise_signal(self.signal)
        except KeyboardInterrupt as interrupt:
            error = interrupt
            raise
        finally:
            if isinstance(error, KeyboardInterrupt):
                error.add_note(
                    f"{self.loaded:,} days were loaded, {self.read - self.loaded:,} "
                    "that were read are dropped; the next update goes on there"
                )


UPDATE: Final[ContextVar[UnderWay | None]] = ContextVar("update", default=None)
"""The update under way. The bar is closed with it, so that it is shown while dlt loads
as well."""
