"""Results of many websites: found by their place or by their host name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Self, TypeVar, overload

from sitestats._common.hostnames import HostnameError, normalise_hostname
from sitestats._common.text import did_you_mean, shown

from .display import Displayed, FieldT, HasFrames

ItemT = TypeVar("ItemT")


class ManyResults(HasFrames[FieldT], Displayed, Generic[ItemT, FieldT]):
    """The results of many websites, in the order of their queries.

    It has a length, can be iterated, and indexed by a place, a slice or a host name. It
    is not a ``Sequence``, so that libraries of data frames take its frame, and do not
    mistake it for a list of opaque objects.
    """

    _items: tuple[ItemT, ...]

    @abstractmethod
    def _part(self, part: slice) -> Self:
        """The results of a slice."""

    @staticmethod
    @abstractmethod
    def _hostname(item: ItemT) -> str:
        """The website of a result."""

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[ItemT]:
        return iter(self._items)

    @overload
    def __getitem__(self, index: int | str) -> ItemT: ...

    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: int | str | slice) -> ItemT | Self:
        if isinstance(index, slice):
            return self._part(index)
        if isinstance(index, str):
            return of_hostname(self, index, self._hostname)
        return self._items[index]

    def __repr__(self) -> str:
        return self._as_text()


def of_hostname(
    items: Iterable[ItemT], hostname: str, hostname_of: Callable[[ItemT], str]
) -> ItemT:
    """The only one of *items* that is about a website.

    Raises:
        KeyError: None is, or several are.
    """
    try:
        name = normalise_hostname(hostname)
    except HostnameError:
        name = hostname
    found = [item for item in items if hostname_of(item) == name]
    if len(found) == 1:
        return found[0]
    if found:
        message = f"{len(found)} are about {shown(name)}: take one by its place"
    else:
        hint = did_you_mean(hostname, map(hostname_of, items))
        message = f"none is about {shown(hostname)}{hint}"
    raise KeyError(message)
