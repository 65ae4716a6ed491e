"""Lock files with ``flock``: a file that one process at a time can open.

The system releases the lock when the process ends, however it ends. Windows has no
``flock``, and no such lock.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from io import FileIO

from .errors import BusyError


@contextmanager
def locked(name: str, *, busy: str) -> Generator[FileIO]:
    """Open the file *name* for reading and appending, or create it, and lock it.

    Raises:
        BusyError: Another process has locked it, or another part of this one; *busy*
            is its message.
        OSError: It can't be opened or locked.
    """
    with FileIO(name, "a+", opener=partial(os.open, mode=0o600)) as file:
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BusyError(busy) from None
        yield file
