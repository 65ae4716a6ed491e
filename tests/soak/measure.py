"""Measure this process: resident memory, memory blocks, files, threads, tasks."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

from attrs import frozen


@frozen
class Held:
    """One measurement of the process."""

    memory: int
    """Resident, in bytes."""
    blocks: int
    """Memory blocks that Python has allocated."""
    files: int
    threads: int
    tasks: int


def held(tasks: int = 0) -> Held:
    """Measure this process; the caller counts the *tasks* of its event loop."""
    # Twice, since finalizers of the first collection may free more.
    for _ in range(2):
        gc.collect()
    # Python's cache of attributes grows to up to 4,096 entries.
    sys._clear_type_cache()
    _give_back()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return Held(
        memory=pages * os.sysconf("SC_PAGE_SIZE"),
        blocks=sys.getallocatedblocks(),
        files=len(list(Path("/proc/self/fd").iterdir())),
        threads=threading.active_count(),
        tasks=tasks,
    )


def _give_back() -> None:
    # The allocator keeps freed memory. How much depends on which floods happened at
    # the same time.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def can_measure() -> bool:
    """Whether the system has /proc."""
    return sys.platform == "linux"
