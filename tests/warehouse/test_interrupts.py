"""Updates that get signals, in processes of their own, against an emulator."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from dlt.common.runtime.collector import Collector

from killed_updates import CONTEXT
from sitestats.emulator import Emulator
from sitestats.warehouse import sitestats_source, update
from sitestats.warehouse._interrupts import UnderWay
from updates import pipeline, query

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals"),
]

DAYS = 30
# Days that are over in every zone.
SINCE = datetime.now(UTC).date() - timedelta(days=DAYS + 1)
UNTIL = SINCE + timedelta(days=DAYS - 1)
SECONDS = 60
"""The most that a process may take for what is waited for."""


def test_a_signal_that_nobody_handles_is_left_alone() -> None:
    """One that is ignored, as behind ``nohup``, stays so; and none is handled in
    another thread than the main one, where an orchestrator may update.
    """

    def handler() -> Any:
        with UnderWay():
            return signal.getsignal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert handler() is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(handler).result() is before
    assert handler() is not before


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    """Two websites with traffic of each day, in the variables of the environment."""
    emulator = Emulator.made_up(2, days=DAYS + 3)
    with emulator.serve() as address:
        monkeypatch.setenv("SITESTATS_BASE_URL", address)
        monkeypatch.setenv("SITESTATS_API_KEY", emulator.api_key)
        monkeypatch.setenv("SITESTATS_USER_ID", emulator.user_id)
        yield emulator


def variables() -> dict[str, str]:
    """The variables of the service, for a process that began before it."""
    names = ("SITESTATS_BASE_URL", "SITESTATS_API_KEY", "SITESTATS_USER_ID")
    return {name: os.environ[name] for name in names}


def run_command(environment: dict[str, str], folder: Path, max_seconds: float) -> None:
    """Run ``sitestats warehouse update`` in *folder*, with its messages in a file."""
    os.environ.update(environment)
    os.chdir(folder)
    stderr = os.open("stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(stderr, 2)
    from sitestats.cli import main

    sys.argv = ["sitestats", "warehouse", "update", "--since", str(SINCE)]
    sys.argv += ["--until", str(UNTIL)]
    sys.argv += ["--fields", "pages", "--concurrency", "2", "-q"]
    os.environ["SOURCES__SITESTATS__MAX_SECONDS"] = str(max_seconds)
    main()


@pytest.fixture
def interrupted(service: Emulator, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Run the command, with these signals once so many days were requested."""

    def run(
        *numbers: signal.Signals, after: int, seconds: float = 120
    ) -> tuple[int, str]:
        service.forget_requests()
        process = CONTEXT.Process(
            target=run_command, args=(variables(), tmp_path, seconds)
        )
        process.start()
        assert process.pid is not None
        end = time.monotonic() + SECONDS
        while len(service.requests) <= after and process.is_alive():
            assert time.monotonic() < end
            time.sleep(0.01)
        for number in numbers:
            os.kill(process.pid, number)
            # Two at once could be handled in any order.
            process.join(0.5)
        process.join(SECONDS)
        try:
            assert process.exitcode is not None
        finally:
            process.kill()
            process.join()
        return process.exitcode, (tmp_path / "stderr").read_text("utf-8")

    return run


@pytest.mark.long
def test_an_interrupted_update_loads_what_was_read(
    service: Emulator, interrupted: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    """However a first update ends, the days that are loaded only grow: a signal waits
    for the load of what was read, and a killed process had loaded by time.
    """
    # So long that none of the processes reads all of it.
    service.fail_next(times=None, latency=0.1, path="/*")
    counts = [0]

    def count() -> None:
        ((found,),) = query(tmp_path, "SELECT count(*) FROM days")
        counts.append(found)

    code, told = interrupted(signal.SIGINT, after=8)
    assert code == 130
    count()
    assert told == (
        f"sitestats: interrupted; {counts[-1]} days were loaded, 0 that were read are "
        "dropped; the next update goes on there\n"
    )
    assert interrupted(signal.SIGTERM, after=8)[0] == 143
    count()
    assert interrupted(signal.SIGKILL, after=24, seconds=1)[0] == -signal.SIGKILL
    count()
    assert counts == sorted(set(counts))
    assert interrupted(after=DAYS * 2)[0] == 0
    count()
    assert counts[-1] == 2 * DAYS


@pytest.mark.long
def test_a_second_signal_ends_an_update_at_once(
    service: Emulator, interrupted: Callable[..., tuple[int, str]]
) -> None:
    """It waits for no response, and says how many days are dropped."""
    # The list, two histograms, and four days.
    service.fail_next(times=7, latency=0.001)
    service.fail_next(times=None, latency=SECONDS)
    code, told = interrupted(signal.SIGINT, signal.SIGINT, after=8)
    assert code == 130
    assert told == (
        "sitestats: interrupted; 0 days were loaded, 4 that were read are dropped; "
        "the next update goes on there\n"
    )


class SignalsInLoad(Collector):
    """A progress of dlt that sends this process SIGINT in its first load."""

    loads = 0

    def _start(self, step: str) -> None:
        if step.startswith("Load"):
            self.loads += 1

    def update(self, name: str, *_args: Any, **_options: Any) -> None:
        """Send the signal when dlt begins to count what it loads."""
        if self.loads == 1 and name == "Jobs":
            self.loads += 1
            os.kill(os.getpid(), signal.SIGINT)

    def _stop(self) -> None:
        pass


def interrupt_load(environment: dict[str, str], folder: Path, told: Any) -> None:
    """Update a warehouse whose first load is interrupted; tell what the signal says."""
    os.environ.update(environment)
    made = pipeline(folder)
    made.collector = SignalsInLoad()
    # Two loads, if nothing happened.
    source = sitestats_source(
        first_day=SINCE, lists=["pages"], max_requests=7, concurrency=1
    )
    try:
        update(made, source)
    except KeyboardInterrupt as interrupt:
        told.put(interrupt.__notes__)


@pytest.mark.long
def test_a_signal_waits_for_the_load_under_way(
    service: Emulator, tmp_path: Path
) -> None:
    """One that arrives while dlt loads ends the update after that load, of which
    nothing is dropped; the next update goes on there.
    """
    told = CONTEXT.SimpleQueue()
    process = CONTEXT.Process(target=interrupt_load, args=(variables(), tmp_path, told))
    process.start()
    process.join(SECONDS)
    process.kill()
    process.join()
    assert process.exitcode == 0
    (days,) = query(tmp_path, "SELECT count(*) FROM days")[0]
    assert days > 0
    (note,) = told.get()
    assert note.startswith(f"{days} days were loaded, 0 that were read are dropped")
    loads = "SELECT count(*), min(status) FROM _dlt_loads"
    assert query(tmp_path, loads) == [(1, 0)]
    # The list, and what one load may request.
    assert len(service.requests) == 1 + 7
