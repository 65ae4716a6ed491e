"""Lock files with ``flock``: a regular file that one process at a time can open.

The system releases the lock when the process ends, however it ends.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import FileIO
from typing import Final

from .errors import BusyError

_KINDS: Final = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}
_ATTEMPTS: Final = 100
"""More than that many files can't be removed by runs that end at this moment."""


class SpecialFileError(OSError):
    """The name is that of a directory, a device, a pipe or a socket."""

    def __init__(self, name: str, mode: int) -> None:
        self.kind: str = _KINDS.get(stat.S_IFMT(mode), "something else")
        super().__init__(errno.EINVAL, f"{self.kind}, not a regular file", name)


@contextmanager
def locked(name: str, *, busy: str, is_private: bool = False) -> Generator[FileIO]:
    """Open the file *name* for reading and appending, or create it, and lock it.

    One that *is_private* is of this user alone: no link leads to it, and neither it nor
    its folder is of another user, or can be changed by everybody.

    Raises:
        BusyError: Another process has locked it, or another part of this one; *busy*
            is its message.
        SpecialFileError: It is no regular file; it was not opened.
        OSError: It can't be opened or locked, or is not as private as it must be.
    """
    path = os.path.abspath(name)  # noqa: PTH100 - links stay
    try:
        file = _open_locked(path, is_private=is_private)
    except BlockingIOError:
        raise BusyError(busy) from None
    try:
        yield file
    finally:
        # Forked processes have the file too, and would keep the lock.
        _unlock(file)
        file.close()


def is_in_place(file: FileIO) -> bool:
    """Whether the name of *file* still leads to it: nobody removed or replaced it."""
    if sys.platform == "win32":
        return True  # open files can't be removed there
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(file.name))  # noqa: PTH116 - beside fstat
    except FileNotFoundError:
        return False


def _open_locked(name: str, *, is_private: bool) -> FileIO:
    def opener(path: str, flags: int) -> int:
        # A pipe that takes the file's place at this moment would block.
        flags |= getattr(os, "O_NONBLOCK", 0)
        if is_private:
            flags |= getattr(os, "O_NOFOLLOW", 0)
        return os.open(path, flags, 0o600 if is_private else 0o666)

    for _ in range(_ATTEMPTS):
        # Opening alone has effects: on a pipe, a terminal, a tape.
        with suppress(FileNotFoundError):
            _check_kind(name, os.stat(name))  # noqa: PTH116 - beside fstat
        file = FileIO(name, "a+", opener=opener)
        try:
            status = os.fstat(file.fileno())
            _check_kind(name, status)
            if is_private and os.name == "posix":
                _check_private(name, status)
            _lock(file)
            if is_in_place(file):
                return file
        except BaseException:
            file.close()
            raise
        # It was removed between opening and locking.
        file.close()
    raise BlockingIOError


def _check_kind(name: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SpecialFileError(name, status.st_mode)


def _check_private(name: str, status: os.stat_result) -> None:
    # Whoever can change the folder could have put a file of this user's in its place.
    folder = os.path.dirname(name)  # noqa: PTH120 - beside stat
    parts = {name: status, folder: os.stat(folder)}  # noqa: PTH116 - beside fstat
    for path, found in parts.items():
        why = ""
        if found.st_uid != os.geteuid():
            why = "belongs to another user"
        elif found.st_mode & stat.S_IWOTH:
            why = "can be changed by every user"
        elif path == name and found.st_nlink > 1:
            why = "has another name too"
        if why:
            raise PermissionError(errno.EPERM, f"it {why}", path)


def _lock(file: FileIO) -> None:
    if sys.platform == "win32":
        import msvcrt

        # Far behind the end, since locked bytes can't be read.
        file.seek(1 << 40)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error
    else:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError as error:
            # Some network file systems have no locks.
            message = f"it can't be locked: {error.strerror}"
            raise OSError(error.errno, message, file.name) from error


def _unlock(file: FileIO) -> None:
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)
