"""Journals of a run: each add is on the disk before it is sent, and then its outcome.

A run has the journal of its account, in the user's state folder, and may have one of
the caller's: an add is announced in both, so that the next run finds it in either. Both
stay locked during the run, by a file beside each.

A journal has one JSON object a line. A line that was cut off announces nothing. It
holds host names, times, states and the service's messages, and no credential.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from hashlib import sha256
from io import FileIO
from pathlib import Path

import attrs

from sitestats._base.errors import ConfigurationError, InvalidInputError, Problem
from sitestats._base.lock_files import locked
from sitestats._configuration.settings import Settings

from ._ensure import Record


@attrs.define
class Journals:
    """The open journals of a run, and what earlier runs left in them."""

    pending: dict[str, float] = attrs.field(factory=dict[str, float])
    """Adds that were announced and have no outcome, each with the time of the system
    clock until which the service may still process it."""
    added: set[str] = attrs.field(factory=set[str])
    """Host names that an interrupted run added."""
    _head: bytes = b""
    _files: list[FileIO] = attrs.field(factory=list[FileIO])

    def record(self, record: Record) -> None:
        """Write *record*; when the run ends and no add can be pending, empty the files.

        Raises:
            ConfigurationError: A journal can't be written; none is from now on.
        """
        record = {"at": time.time(), **record}
        for file in self._files:
            end = file.seek(0, os.SEEK_END)
            rest = (b"" if end else self._head) + json.dumps(record).encode() + b"\n"
            try:
                # A disk that is nearly full takes only a part of the line.
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except OSError as error:
                # Otherwise another line would follow the part of this one.
                self._files.clear()
                raise ConfigurationError(
                    f"the journal {file.name} can't be written, so nothing more is "
                    f"sent: {error.strerror}"
                ) from error
        _replay(record, self.pending, self.added)
        is_settled = all(until <= time.time() for until in self.pending.values())
        if record["event"] == "ended" and is_settled:
            for file in self._files:
                file.truncate(0)

    def open(self, file: FileIO, service: str) -> None:
        """Read what earlier runs left in *file*, and write to it from now on.

        Raises:
            InvalidInputError: It is not a journal for *service*, or is damaged. It is
                not changed.
        """
        head = json.dumps({"journal": "sitestats", "service": service})
        self._head = f"{head}\n".encode()
        file.seek(0)
        data = file.readall()
        if data[: len(self._head)] != self._head[: len(data)]:
            message = f"the file is not a journal for {service}: name a new one"
            raise _refused(message, f"{file.name}:1")
        began: dict[str, float] = {}
        added: set[str] = set()
        whole, end, _ = data.rpartition(b"\n")
        for number, line in enumerate(whole.splitlines()[1:], start=2):
            try:
                _replay(json.loads(line), began, added)
            except (AttributeError, LookupError, TypeError, ValueError):
                message = (
                    "the journal is damaged here: repair the line, or remove the "
                    "file if no add can be pending"
                )
                raise _refused(message, f"{file.name}:{number}") from None
        file.truncate(len(whole) + len(end))
        for hostname, until in began.items():
            self.pending[hostname] = max(until, self.pending.get(hostname, 0))
        self.added |= added
        self._files.append(file)


@contextmanager
def _opened(path: str) -> Generator[FileIO]:
    """Open the journal *path* for reading and appending, or create it, and lock it."""
    opener = partial(os.open, mode=0o600)
    lock = f"{Path(path).resolve()}.lock"
    busy = (
        "another run adds websites for this account on this machine: wait for its end, "
        f"and run this one again (it holds {lock})"
    )
    with FileIO(path, "a+", opener=opener) as file, locked(lock, busy=busy):
        yield file


def _replay(record: Record, pending: dict[str, float], added: set[str]) -> None:
    match record.get("event"):
        case "sending":
            # If somebody has set the clock back, the wait counts from now on, at most.
            began = min(float(record["at"]), time.time())
            pending[record["hostname"]] = began + float(record["timeout"])
        case "settled" if record["state"] != "unknown":
            pending.pop(record["hostname"], None)
            if record["state"] == "added":
                added.add(record["hostname"])
        case "ended":
            # The report of that run has them.
            added.clear()
        case _:
            pass


@contextmanager
def open_journals(
    settings: Settings, path: str | os.PathLike[str] | None
) -> Generator[Journals]:
    """Open and lock the journal of the account, and the one at *path* if it is given.

    Raises:
        BusyError: Another run has locked one.
        ConfigurationError: The state folder can't be used, and there is no *path*.
        InvalidInputError: One is not a journal for this service, or is damaged.
        OSError: The one at *path* can't be opened.
    """
    service = str(settings.base)
    journals = Journals()
    with ExitStack() as stack:
        try:
            own = account_file(settings)
            own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            journals.open(stack.enter_context(_opened(str(own))), service)
        except (OSError, RuntimeError) as error:
            # Runs that share a journal of the caller's know of each other by its lock.
            if path is None:
                raise ConfigurationError(
                    f"the state folder can't be used ({error}): name a file that can "
                    "be written by journal= (--journal)"
                ) from error
        if path is not None:
            journals.open(stack.enter_context(_opened(os.fspath(path))), service)
        yield journals


def account_file(settings: Settings) -> Path:
    """The journal of one account of one service; its name reveals neither.

    The API key does not count: two keys of one user add to the same account.
    """
    digest = sha256(str(settings.base).encode())
    if settings.user_id is not None:
        # One expression does it all, so that no frame has the ID in a variable.
        digest.update(
            settings.user_id.reveal().lower().removeprefix("sa_user_id_").encode()
        )
    return state_folder() / f"{digest.hexdigest()[:32]}.journal"


def state_folder() -> Path:
    """Where this package stores state of the user.

    Raises:
        RuntimeError: The user has no home folder.
    """
    given = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification ignores relative paths.
    if Path(given).is_absolute():
        return Path(given, "sitestats")
    home = Path("~").expanduser()
    folders = {
        "win32": os.environ.get("LOCALAPPDATA", home),
        "darwin": home / "Library" / "Application Support",
    }
    return Path(folders.get(sys.platform, home / ".local" / "state"), "sitestats")


def _refused(message: str, where: str) -> InvalidInputError:
    return InvalidInputError([Problem(message, rule="journal", where=where)])
