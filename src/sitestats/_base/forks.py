"""Locks, and what else of a process, that a child of ``os.fork`` has as well.

The child has one thread, the one that forked. A lock that another thread had at that
moment is locked there for ever.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Any, Final

from .registry import Registry

_MOST_SECONDS: Final = 10.0
"""How long a fork waits for a lock. Only to clear a large store takes longer."""


class HeldAcrossForks:
    """Has a lock that no other thread has while the process forks.

    A class calls the constructor at the end of its own.
    """

    def __init__(self) -> None:
        # A collection of garbage may need it while this thread has it.
        self._lock: Any = threading.RLock()
        _OWNERS.add(self)

    def _before_fork(self) -> None:
        """Prepare for a fork, with the lock."""

    def _after_fork_in_child(self) -> None:
        """Leave to the parent what is the parent's."""


class LockHeldAcrossForks(HeldAcrossForks):
    """A lock for a ``with`` statement."""

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_exc_info: object) -> None:
        self._lock.release()


_OWNERS: Final = Registry[HeldAcrossForks]()
_ONE_FORK: Final = threading.RLock()
"""Two threads that fork at once would wait for each other's locks."""
_HELD: Final[list[HeldAcrossForks]] = []


def _hold() -> None:
    _ONE_FORK.acquire()
    for owner in _OWNERS:
        if owner._lock.acquire(timeout=_MOST_SECONDS):  # noqa: SLF001 - of this module
            _HELD.append(owner)
            owner._before_fork()  # noqa: SLF001 - as above


def _release() -> None:
    while _HELD:
        _HELD.pop()._lock.release()  # noqa: SLF001 - of this module
    _ONE_FORK.release()


def _release_in_child() -> None:
    for owner in _OWNERS:
        if owner not in _HELD:
            # The thread that has it is not here. So threading renews its own locks.
            owner._lock._at_fork_reinit()  # noqa: SLF001 - of this module
        owner._after_fork_in_child()  # noqa: SLF001 - as above
    # A server that forks in C, as uWSGI does, calls only this function.
    with suppress(RuntimeError):
        _release()


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_hold, after_in_parent=_release, after_in_child=_release_in_child
    )
