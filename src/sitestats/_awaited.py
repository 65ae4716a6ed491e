"""An iterator that can be awaited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Awaited(Generic[T]):
    """What *pieces* gives, to be awaited.

    It is no asynchronous generator: trio warns of one that is left in its middle.
    """

    def __init__(self, pieces: Iterator[T]) -> None:
        self._pieces = pieces

    def __aiter__(self) -> Awaited[T]:
        return self

    async def __anext__(self) -> T:
        for piece in self._pieces:
            return piece
        raise StopAsyncIteration
