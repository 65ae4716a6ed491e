"""Objects of the whole process, for as long as somebody else keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar
from weakref import ref

T = TypeVar("T")


class Registry(Generic[T]):
    """A set of weak references that any thread may change while others iterate.

    A ``WeakSet`` raises ``RuntimeError`` there.
    """

    def __init__(self) -> None:
        self._references = dict[ref[T], None]()

    def add(self, item: T) -> None:
        """Keep *item* here until nobody else has it."""
        self._references[ref(item, self._forget)] = None

    def _forget(self, reference: ref[T]) -> None:
        self._references.pop(reference, None)

    def __iter__(self) -> Iterator[T]:
        # No other thread runs, and no garbage is collected, during the copy.
        for reference in self._references.copy():
            item = reference()
            if item is not None:
                yield item
