"""Journal of a provisioning run: a crash-safe file of the adds and their outcomes.

One JSON object a line. A line that announces an add is on the disk before the
add is sent, so a website without such a line was certainly not sent, however
the process ended. A line that was cut off announces nothing.

The announcement has the time until which the add may be under way, on the monotonic
clock, and which start of the machine that clock belongs to. Nobody can set that clock.

The journal contains host names, times, states and the service's messages, and the
service's address. It never contains a credential.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from io import FileIO
from math import isfinite
from pathlib import Path
from typing import Any, Final, cast

from sitestats._common.errors import ConfigurationError, SpecError
from sitestats._common.lock_files import SpecialFileError, is_in_place, locked
from sitestats._common.problems import Problem

from ._events import Began, Ended, History, Sending, Settled

FORMAT: Final = 2

_MARK: Final = b'{"journal": "sitestats"'
"""The least of a header that was cut off by which it is known to be one."""
_LONGEST_HEADER: Final = 65_536
"""The most bytes of a first line; a base address is far shorter."""


class Journal:
    """An open journal, which no other run can open at the same time.

    Without *durable* it survives the end of the process, but no power failure.
    """

    def __init__(
        self, name: str, file: FileIO, history: History, *, durable: bool = True
    ) -> None:
        self.name = name
        self.history = history
        self.under_way: set[str] = set(history.pending)
        """Host names of adds that were announced and not settled in any way."""
        self._file = file
        self._durable = durable

    def record(self, event: object) -> None:
        """Append *event*, if the journal keeps events of its class.

        Raises:
            ConfigurationError: The file can't be written.
        """
        line = _encode_event(event)
        if line is None:
            return
        try:
            if isinstance(event, Sending):
                self.under_way.add(event.hostname)
            elif isinstance(event, Settled):
                self.under_way.discard(event.hostname)
            _append(self._file, line)
            # After a power failure the service's list shows an outcome that was
            # lost, but not that an add was announced.
            if self._durable and not isinstance(event, Settled):
                os.fsync(self._file.fileno())
        except OSError as error:
            raise ConfigurationError(
                f"the journal {self.name} can't be written, so nothing more was "
                f"sent: {error.strerror}"
            ) from error

    def check_place(self) -> None:
        """Check that the next run will find the file, and its lock.

        Raises:
            ConfigurationError: It was removed or replaced.
        """
        if not is_in_place(self._file):
            raise ConfigurationError(
                f"the journal {self.name} was removed or replaced during the run, so "
                "nothing more was sent: keep it until the run has ended"
            )


@contextmanager
def open_journal(
    path: str | os.PathLike[str] | None, service: str
) -> Generator[Journal | None]:
    """Open the journal at *path*, or create it; None for None.

    Raises:
        BusyError: Another run uses it.
        ConfigurationError: It is for another service.
        SpecError: The file is not a journal, or damaged; it was not changed.
        OSError: The file can't be opened.
    """
    if path is None:
        yield None
        return
    name = os.fspath(path)
    with ExitStack() as stack:
        try:
            file = stack.enter_context(
                locked(
                    name,
                    busy=f"the journal {name} is in use by another run: wait for its "
                    "end, or name another file",
                )
            )
        except SpecialFileError as error:
            raise _refused(
                f"a journal is a regular file, and this is {error.kind}: name another",
                name,
            ) from None
        yield Journal(name, file, read_history(file, name, service))


def read_history(
    file: FileIO, name: str, service: str, *, durable: bool = True
) -> History:
    """Read an open journal; begin a new one, and mend a last line that was cut off.

    Raises:
        ConfigurationError: It is for another service.
        SpecError: The file is not a journal, or damaged; it was not changed.
    """
    header = _encode({"journal": "sitestats", "format": FORMAT, "service": service})
    file.seek(0)
    # A file that is no journal may be long, so no more than this is read of it.
    head = file.read(_LONGEST_HEADER)
    was_cut_off = head != header and header.startswith(head)
    if not head or (was_cut_off and _MARK in head):
        file.truncate(0)
        _append(file, header)
        if durable:
            os.fsync(file.fileno())
            _sync_directory(name)
        return History()
    _check_header(head, name, service)
    data = head + file.readall()
    whole, _, rest = data.rpartition(b"\n")
    # The last line was cut off, unless an editor has removed its line end.
    is_complete = _is_json(rest)
    lines = (data if is_complete else whole).splitlines()
    records = [_decode(name, number, line) for number, line in enumerate(lines, 1)]
    history = _replay(name, records[1:])
    if is_complete:
        _append(file, b"\n")
    elif rest:
        file.truncate(len(data) - len(rest))
    return history


def is_journal(file: FileIO) -> bool:
    """Whether *file* begins as a journal, or has nothing but null bytes, which a power
    failure may leave.
    """
    file.seek(0)
    head = file.read(_LONGEST_HEADER)
    return head.startswith(_MARK) or not head.strip(b"\0")


def _check_header(head: bytes, name: str, service: str) -> None:
    line = head.partition(b"\n")[0]
    record: object = json.loads(line) if _is_json(line) else None
    header = cast("dict[str, Any]", record) if isinstance(record, dict) else {}
    if header.get("journal") != "sitestats":
        raise _refused(
            "the file is not a journal, and was not changed: name a new file",
            f"{name}:1:1",
        )
    if header.get("format") != FORMAT:
        raise _refused(
            "the file is a journal of another version: name a new file", f"{name}:1:1"
        )
    if header.get("service") != service:
        raise ConfigurationError(
            f"the journal {name} is for {header.get('service')}, and this run uses "
            f"{service}: name another file"
        )


def _replay(name: str, records: list[dict[str, Any]]) -> History:
    pending: dict[str, float] = {}
    added: set[str] = set()
    boot, now = _boot(), time.monotonic()
    for number, record in enumerate(records, start=2):
        try:
            match record["event"]:
                case "sending":
                    pending[record["hostname"]] = _deadline(record, boot, now)
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


def _deadline(record: dict[str, Any], boot: str | None, now: float) -> float:
    """Until when the add of *record* may be under way, on the monotonic clock."""
    until, timeout = float(record["until"]), float(record["timeout"])
    if not (isfinite(until) and isfinite(timeout)):
        raise ValueError
    if boot is None or record["boot"] != boot:
        # Clocks of other machines, or before a restart, say nothing here. The system
        # clock, which everybody shares, may have been set.
        return now + timeout
    return min(until, now + timeout)


def _boot() -> str | None:
    """What this start of the machine is called; None where the system has no name."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return None


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
    return _refused(
        "the journal is damaged here: repair the line; or name a new file, if you "
        "know that no add is pending",
        f"{name}:{number}:{column}",
    )


def _refused(message: str, where: str) -> SpecError:
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
            record = {
                "event": "sending",
                "hostname": event.hostname,
                "timeout": event.timeout,
                "until": event.moment.monotonic + event.timeout,
                "boot": _boot(),
            }
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


def _timestamp(unix: float) -> str | None:
    try:
        moment = datetime.fromtimestamp(unix, UTC)
    except (OSError, ValueError, OverflowError):
        return None  # a system clock that shows no time
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
