"""Lock files: one process at a time, on every system.

The system releases a lock when its process ends, however it ends.
"""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager

from .errors import BusyError


@contextmanager
def locked(path: str, *, busy: str) -> Generator[None]:
    """Lock the file *path*, which has no other content, and may stay.

    Raises:
        BusyError: Another process has locked it, or another part of this one; *busy*
            is its message.
        OSError: It can't be opened or locked.
    """
    # It takes as long to import as all that a call needs.
    from filelock import FileLock, Timeout

    # All threads share it, since another one may end an async generator.
    lock = FileLock(path, mode=0o600, thread_local=False)
    try:
        held = lock.acquire(blocking=False)
    except Timeout:
        raise BusyError(busy) from None
    except NotImplementedError as error:
        # Some file systems of a network lock nothing.
        raise OSError(errno.ENOSYS, str(error), path) from error
    with held:
        yield
