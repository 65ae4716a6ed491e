"""``KeyValueStore``: what ``Client(store=…)`` needs of a store of your own."""

from __future__ import annotations

from typing import Protocol


class KeyValueStore(Protocol):
    """A store of your own for responses, such as a client of Redis.

    Threads call it at the same time. An error that it raises becomes a
    ``SiteStatsWarning``, and requests are sent. It may have the ``max_age`` and the
    ``partition`` of a ``Store``.

    Example:
        >>> class InMemory:
        ...     def __init__(self) -> None:
        ...         self.values: dict[str, bytes] = {}
        ...
        ...     def get(self, key: str) -> bytes | None:
        ...         return self.values.get(key)
        ...
        ...     def set(self, key: str, value: bytes) -> None:
        ...         self.values[key] = value
        >>> with emulator.client(store=InMemory()) as storing:
        ...     query = StatsQuery("semicomplete.com").fields("visitors")
        ...     day = query.on("2015-05-18")
        ...     first, second = storing.stats.get(day), storing.stats.get(day)
        >>> first == second, first.from_store, second.from_store
        (True, False, True)
    """

    # By position alone, so that any names of the parameters fit.
    def get(self, key: str, /) -> bytes | None:
        """The value of *key*, or None."""
        ...

    def set(self, key: str, value: bytes, /) -> object:
        """Store *value* as that of *key*; what it returns is not used."""
        ...
