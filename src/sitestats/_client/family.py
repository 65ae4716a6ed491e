"""A client and its copies by ``with_options``, which share connections.

Each of them is closed for itself. Its part in the connections ends when it is closed
or collected, and the last part that ends closes them.
"""
# ruff: noqa: SLF001 - the two classes are one idea

from __future__ import annotations

import sys
from collections.abc import Callable

from sitestats._base.errors import ClientClosedError


class Family:
    """What the parts of the clients of one family have in common."""

    def __init__(self, close: Callable[[], object], drop: Callable[[], object]) -> None:
        """Call *close* when the last part is closed, or *drop* when it is collected."""
        self._close, self._drop = close, drop
        # Each change of a set is one step of the interpreter, also during Ctrl-C, in
        # threads, and where garbage is collected.
        self._open = set[int]()
        self._is_first_closed = False


class Part:
    """The part of one client in the connections of its family."""

    def __init__(self, family: Family, *, is_first: bool) -> None:
        """Begin the part, of the client that was made *first* or of a copy."""
        self.is_open = True
        self._family = family
        self._is_first = is_first
        family._open.add(id(self))

    def beside(self) -> Part:
        """Begin the part of a copy.

        Raises:
            ClientClosedError: This one has ended.
        """
        if not self.is_open:
            raise closed()
        return Part(self._family, is_first=False)

    @property
    def is_forgotten(self) -> bool:
        """Whether nobody has closed the connections, or can close them later but it."""
        family = self._family
        is_last = family._open == {id(self)}
        return self.is_open and is_last and not family._is_first_closed

    def end(self) -> None:
        """End the part; the last one closes the connections."""
        self._family._is_first_closed |= self._is_first
        if self._is_last():
            self._family._close()

    def _is_last(self) -> bool:
        """End the part; whether it was the last one that was open."""
        was_open, self.is_open = self.is_open, False
        self._family._open.discard(id(self))
        return was_open and not self._family._open

    def __del__(self, _is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At the interpreter's end the names of modules are gone, but no default is.
        if not _is_finalizing() and self._is_last():
            self._family._drop()


def closed() -> ClientClosedError:
    """The error of a call by a client that was closed."""
    return ClientClosedError("This client was closed: make a new one.")
