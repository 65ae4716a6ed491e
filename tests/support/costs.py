"""Count the calls that some work makes, and the memory that it takes.

Neither goes by how fast the machine is. A loop over the items of a list makes a call
for each, where it does anything with them.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

Work = Callable[[], Any]


def calls_of(work: Work) -> int:
    """How many functions are called by *work*, of Python and of C."""
    calls = 0

    def count(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    # Collections come when they come, and others may be called at each.
    gc.disable()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls


def peak_of(work: Work) -> int:
    """The most bytes that are in use at once during *work*."""
    tracemalloc.start()
    try:
        result = work()
        peak = tracemalloc.get_traced_memory()[1]
        del result
        return peak
    finally:
        tracemalloc.stop()
