"""What a process holds, read from the kernel and from Python."""

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
    """What the process held at one moment."""

    memory: int
    """Resident, in bytes."""
    blocks: int
    """Pieces of memory that Python's objects are in."""
    files: int
    threads: int
    tasks: int


def held(tasks: int = 0) -> Held:
    """Look at this process; *tasks* is counted by whoever knows the loop."""
    # What is found dead may keep something alive until it is gone.
    for _ in range(2):
        gc.collect()
    # Python looks attributes up in a table that fills with up to 4,096 names.
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
    # The allocator keeps what was freed, and how much that is depends on which
    # floods met.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def can_measure() -> bool:
    """Whether the kernel tells what is needed."""
    return sys.platform == "linux"
