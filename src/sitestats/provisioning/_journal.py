"""Journal of a provisioning run: a crash-safe file of the adds and their outcomes.

One JSON object a line. A line that announces an add is on the disk before the
add is sent, so a website without such a line was certainly not sent, however
the process ended. A line that was cut off announces nothing.

The journal contains host names, times, states and the service's messages, and the
service's address. It never contains a credential.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any, Final, cast

import anyio.to_thread

from sitestats._common.errors import ConfigurationError, Problem, SpecError

from ._events import Began, Ended, History, Sending, Settled, WebsiteDone

FORMAT: Final = 1


class Journal:
    """An open journal, which no other run can open at the same time."""

    def __init__(self, name: str, file: FileIO, history: History) -> None:
        self.name = name
        self.history = history
        self._file = file

    def record(self, event: object) -> None:
        """Append *event*, if the journal keeps events of its class.

        Raises:
            ConfigurationError: The file can't be written.
        """
        line = _encode_event(event)
        if line is None:
            return
        try:
            _append(self._file, line)
            # After a power failure the service's list shows an outcome that was
            # lost, but not that an add was announced.
            if not isinstance(event, Settled):
                os.fsync(self._file.fileno())
        except OSError as error:
            raise ConfigurationError(
                f"the journal {self.name} can't be written, so nothing more was "
                f"sent: {error.strerror}"
            ) from error


@contextmanager
def open_journal(
    path: str | os.PathLike[str] | None, service: str
) -> Generator[Journal | None]:
    """Open the journal at *path*, or create it; None for None.

    Raises:
        ConfigurationError: Another run uses it, or it is for another service.
        SpecError: The file is not a journal, or damaged.
        OSError: The file can't be opened.
    """
    if path is None:
        yield None
        return
    name = os.fspath(path)
    # Closing the file releases the lock.
    with FileIO(name, "a+") as file:
        _lock(file, name)
        yield Journal(name, file, _read_history(file, name, service))


def _read_history(file: FileIO, name: str, service: str) -> History:
    file.seek(0)
    data = file.read()
    whole, _, rest = data.rpartition(b"\n")
    if rest:
        # The last line was cut off, unless an editor has removed its line end.
        if _is_json(rest):
            _append(file, b"\n")
            whole = data
        else:
            file.truncate(len(data) - len(rest))
    lines = whole.splitlines()
    if not lines:
        header = {"journal": "sitestats", "format": FORMAT, "service": service}
        _append(file, _encode(header))
        os.fsync(file.fileno())
        _sync_directory(name)
        return History()
    records = [_decode(name, number, line) for number, line in enumerate(lines, 1)]
    header = records[0]
    if header.get("journal") != "sitestats" or header.get("format") != FORMAT:
        raise SpecError(
            [
                Problem(
                    "the file is not a journal of this version: name a new file",
                    rule="journal",
                    where=f"{name}:1:1",
                )
            ]
        )
    if header.get("service") != service:
        raise ConfigurationError(
            f"the journal {name} is for {header.get('service')}, and this client uses "
            f"{service}: name another file"
        )
    return _replay(name, records[1:])


def _replay(name: str, records: list[dict[str, Any]]) -> History:
    pending: dict[str, float] = {}
    added: set[str] = set()
    for number, record in enumerate(records, start=2):
        try:
            match record["event"]:
                case "sending":
                    pending[record["hostname"]] = _unix(record["at"])
                case "settled" if record["state"] == "unknown":
                    pass
                case "settled":
                    pending.pop(record["hostname"], None)
                    if record["state"] == "added":
                        added.add(record["hostname"])
                case "ended":
                    # Its report has them.
                    added.clear()
                case _:
                    pass
        except (KeyError, TypeError, ValueError):
            raise _damaged(name, number, 1) from None
    return History(pending, frozenset(added))


def _decode(name: str, number: int, line: bytes) -> dict[str, Any]:
    try:
        record: object = json.loads(line)
    except json.JSONDecodeError as error:
        raise _damaged(name, number, error.pos + 1) from None
    except (ValueError, RecursionError):
        raise _damaged(name, number, 1) from None
    if not isinstance(record, dict):
        raise _damaged(name, number, 1)
    return cast("dict[str, Any]", record)


def _damaged(name: str, number: int, column: int) -> SpecError:
    message = (
        "the journal is damaged here: repair the line; or name a new file, if you "
        "know that no add is pending"
    )
    where = f"{name}:{number}:{column}"
    return SpecError([Problem(message, rule="journal", where=where)])


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _encode_event(event: object) -> bytes | None:
    record: dict[str, Any]
    match event:
        case Began():
            record = {"event": "began", "websites": event.websites}
        case Sending():
            record = {"event": "sending", "hostname": event.hostname}
        case Settled():
            record = {
                "event": "settled",
                "hostname": event.hostname,
                "state": event.state,
                "message": event.message,
            }
        case Ended():
            record = {"event": "ended"}
        case _:
            return None
    return _encode({"at": _timestamp(event.unix), **record})


def _timestamp(unix: float) -> str:
    moment = datetime.fromtimestamp(unix, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _unix(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _encode(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode("ascii") + b"\n"


def _append(file: FileIO, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[file.write(left) :]


def _sync_directory(name: str) -> None:
    # A new file survives a crash once its directory is on the disk; Windows can't
    # open directories.
    if os.name != "nt":
        directory = os.open(Path(name).parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _lock(file: FileIO, name: str) -> None:
    try:
        _lock_or_fail(file)
    except OSError:
        raise ConfigurationError(
            f"the journal {name} is in use by another run: wait for its end, or name "
            "another file"
        ) from None


def _lock_or_fail(file: FileIO) -> None:
    # The system releases the lock when the process ends, however it ends.
    if sys.platform == "win32":
        import msvcrt

        # Far behind the end, since locked bytes can't be read.
        file.seek(1 << 40)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


# --- events of a run --------------------------------------------------------------


class EventHandler:
    """Handles the events of a run: writes the journal and shows the progress."""

    def __init__(
        self, journal: Journal | None, show: Callable[[int, int], object] | None
    ) -> None:
        self._journal = journal
        self._show = show
        self.history = History() if journal is None else journal.history

    def handle(self, event: object) -> None:
        """Write *event* to the journal, or show the progress.

        Raises:
            ConfigurationError: The journal can't be written.
        """
        if isinstance(event, WebsiteDone):
            if self._show is not None:
                self._show(event.done, event.total)
        elif self._journal is not None:
            self._journal.record(event)

    async def handle_async(self, event: object) -> None:
        """The same, without blocking the event loop while the disk is written."""
        if isinstance(event, WebsiteDone) or self._journal is None:
            self.handle(event)
        else:
            await anyio.to_thread.run_sync(self._journal.record, event)
