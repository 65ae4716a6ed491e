"""Errors for unknown arguments of a call: where each of them belongs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NoReturn

from sitestats._query.builder import StatsQuery

from .base import Options

_LIMITS: Final = ("timeout", "total_timeout", "retries")
"""The arguments of ``with_options``."""


def refuse_unknown(call: str, unknown: Mapping[str, object]) -> NoReturn:
    """Raise a ``TypeError`` for the first of the arguments that *call* does not have.

    >>> refuse_unknown("get", {"timeout": 2})
    Traceback (most recent call last):
    TypeError: get() has no argument 'timeout': it is a limit of the client, so call \
client.with_options(timeout=…).stats.get(…)
    """
    name = next(iter(unknown))
    hint = ""
    if name in _LIMITS:
        hint = (
            ": it is a limit of the client, so call "
            f"client.with_options({name}=…).stats.{call}(…)"
        )
    elif name in Options.__annotations__:
        hint = f": it is an argument of Client and AsyncClient, Client({name}=…)"
    elif not name.startswith("_") and hasattr(StatsQuery, name):
        hint = f": it is a step of the query, StatsQuery(…).{name}(…)"
    raise TypeError(f"{call}() has no argument {name!r}{hint}")
