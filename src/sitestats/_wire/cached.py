"""A property that is worked out once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

ValueT = TypeVar("ValueT")


class cached_property(functools.cached_property[ValueT]):  # noqa: N801 - as in functools
    """As in functools, without the lock that Python 3.11 has.

    All objects of a class share that lock. If another thread has it while the process
    forks, a child that needs the property waits for ever.
    """

    def __init__(self, func: Callable[[Any], ValueT]) -> None:
        super().__init__(func)
        self.lock: Any = nullcontext()
