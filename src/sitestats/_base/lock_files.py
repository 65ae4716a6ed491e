"""Lock files: one process at a time, on every system.

The system releases a lock when its process ends, however it ends.
"""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager

from sitestats._base.errors import BusyError


@contextmanager
def locked(path: str, *, busy: str, wait: float = 0) -> Generator[None]:
    """Lock the file *path*, which has no other content, and may stay.

    Raises:
        BusyError: Another process has locked it, or another part of this one, for
            *wait* seconds; *busy* is its message.
        OSError: It can't be opened or locked.
    """
    # Importing filelock takes as long as importing all that a call needs.
    from filelock import FileLock, Timeout

    # All threads share the lock, since another thread may end an async generator.
    lock = FileLock(path, mode=0o600, thread_local=False)
    try:
        held = lock.acquire(timeout=wait)
    except Timeout:
        raise BusyError(busy) from None
    except NotImplementedError as error:
        # Some network file systems do not support locks.
        raise OSError(errno.ENOSYS, str(error), path) from error
    with held:
        yield
