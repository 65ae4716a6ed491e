"""A client and its copies by ``with_options``, which share connections.

Each is closed by itself. Its part in the connections ends when it is closed or
collected, and the last part that ends closes them.
"""
# ruff: noqa: SLF001 - the two classes are one idea

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from sitestats._base.errors import ClientClosedError


class Family:
    """What the parts of the clients of one family have in common."""

    def __init__(self, name: str, sender: Any, own_store: Any) -> None:
        """Share *sender*, and the store that the client of this *name* has opened."""
        self._name, self._sender, self._own_store = name, sender, own_store
        # Each change of a set is one step of the interpreter, also during Ctrl-C, in
        # threads, and where garbage is collected.
        self._open = set[int]()

    def close(self) -> None:
        """Close the connections and the store."""
        self._sender.close()
        if self._own_store is not None:
            self._own_store.close()

    def drop(self, part: Part, *, warned: bool) -> None:
        """Close the connections of clients that nobody has, and warn of *part*, the
        last one, if closing it would have closed some.
        """
        if self._sender.pool.drop() and warned:
            warnings.warn(
                f"{self._name} was never closed: use it in a with block",
                ResourceWarning,
                stacklevel=3,
                source=part,
            )


class _Mark:
    """What became of one client, for copies of it."""

    is_closed: bool | None = None
    """Whether it was closed; None as long as it may be."""


class Part:
    """The part of one client in the connections of its family."""

    def __init__(self, family: Family, marks: tuple[_Mark, ...] = ()) -> None:
        """Begin the part of a client that is a copy of the clients of *marks*."""
        self.is_open = True
        self._family = family
        self._marks = (*marks, _Mark())
        family._open.add(id(self))

    def beside(self) -> Part:
        """Begin the part of a copy.

        Raises:
            ClientClosedError: This one has ended.
        """
        if not self.is_open:
            raise closed()
        # Those that nobody can close any more would become ever more.
        marks = (mark for mark in self._marks if mark.is_closed is not False)
        return Part(self._family, tuple(marks))

    def end(self) -> None:
        """End the part; the last one closes the connections."""
        self._marks[-1].is_closed = True
        if self._is_last():
            self._family.close()

    def _is_last(self) -> bool:
        """End the part; whether it was the last one that was open."""
        was_open, self.is_open = self.is_open, False
        self._family._open.discard(id(self))
        return was_open and not self._family._open

    def __del__(self, _is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        own = self._marks[-1]
        own.is_closed = bool(own.is_closed)
        if self._is_last():
            # Whoever closes a client has done enough for copies of it. At the
            # interpreter's end the names of modules are gone, but no default is.
            is_closed = any(mark.is_closed for mark in self._marks)
            self._family.drop(self, warned=not is_closed and not _is_finalizing())


def closed() -> ClientClosedError:
    """The error of a call by a client that was closed."""
    return ClientClosedError("This client was closed: make a new one.")
