"""Updates in processes that kill themselves at a chosen moment.

Importing dlt takes seconds: a server process does it once, and forks for each update.
"""

from __future__ import annotations

import datetime as dt
import multiprocessing
import os
import signal
import sys
from pathlib import Path
from typing import Any

import attrs

from sitestats import Client
from sitestats.emulator import Emulator

# What the interpreter audits before it is done: between two of these, files stay as
# they are, but for what the database itself writes.
EVENTS = {
    *("open", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.scandir"),
    *("os.link", "os.truncate", "os.chmod", "shutil.rmtree"),
    *("socket.connect", "socket.__new__", "time.sleep", "os.listdir"),
}

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        *("killed_updates", "updates", "dlt.destinations.impl.duckdb.duck"),
        # What is imported when it is first used.
        *("pandas", "sitestats._client.client", "sitestats._protocol.responses"),
    ]
)


@attrs.frozen
class Night:
    """One update: of which warehouse, of which service, when, and when it dies."""

    folder: str
    address: str
    api_key: str
    user_id: str
    now: dt.datetime
    moment: int
    max_requests: int
    database: str | None


class Moments:
    """Counts what changes files, and kills this process before one of them."""

    def __init__(self, fatal: int) -> None:
        self.fatal = fatal
        self.counted = 0

    def __call__(self, event: str, _arguments: object) -> None:
        if event in EVENTS:
            self.counted += 1
            if self.counted == self.fatal:
                os.kill(os.getpid(), signal.SIGKILL)


def update_and_die(night: Night, told: Any) -> None:
    """Run the update; tell how many moments there were."""
    import dlt

    from sitestats.warehouse import sitestats_source, update
    from updates import FIRST, LISTS, pipeline, ticking

    with Client(
        night.address, api_key=night.api_key, user_id=night.user_id, proxy=None
    ) as client:
        source = sitestats_source(
            first_day=FIRST,
            lists=LISTS,
            client=client,
            now=ticking(night.now),
            max_requests=night.max_requests,
        )
        destination = night.database and dlt.destinations.postgres(night.database)
        made = pipeline(Path(night.folder), destination)
        moments = Moments(night.moment)
        sys.addaudithook(moments)
        update(made, source)
    told.put(moments.counted)


class Kills:
    """Updates against an emulator on a socket, whose present is that of the night."""

    def __init__(self, emulator: Emulator, address: str) -> None:
        self._service = (address, emulator.api_key, emulator.user_id)
        self._emulator = emulator

    def update(
        self,
        folder: Path,
        night: int,
        moment: int = 0,
        *,
        max_requests: int = 10,
        database: str | None = None,
    ) -> int:
        """Run an update, killed at that *moment*.

        Returns:
            The number of moments; 0 when it was killed.
        """
        from updates import NOW

        self._emulator.now = NOW + night * dt.timedelta(days=1)
        told = CONTEXT.SimpleQueue()
        job = Night(
            *(str(folder), *self._service, self._emulator.now, moment),
            max_requests=max_requests,
            database=database,
        )
        process = CONTEXT.Process(target=update_and_die, args=(job, told))
        process.start()
        process.join()
        if process.exitcode == -signal.SIGKILL:
            return 0
        assert process.exitcode == 0, f"exit code {process.exitcode}"
        counted: int = told.get()
        return counted
