"""Processes that are killed: ``ensure`` at random moments, and a warehouse's update
before each of its steps as well.

``nox -s kills -- 200 100`` kills 200 updates and 100 runs of ``ensure``, of which each
second one has a disk that fills at a random byte; a third number is the seed.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from commands import start
from provisioning.journals import sent
from sitestats.emulator import Emulator, RecordedRequest

pytest.importorskip("dlt")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL"),
]


def outlives(process: BaseProcess, seconds: float) -> bool:
    """Whether *process* was killed after these seconds, or else has ended well."""
    process.join(seconds)
    if alive := process.exitcode is None:
        process.kill()
        process.join()
    assert alive or process.exitcode == 0
    return alive


def kill_updates(kills: int, folder: Path, luck: random.Random) -> str:
    """After each night, the tables are those of a warehouse that nobody killed."""
    from warehouse.updates import FORKS, NOW, STEPS, query, tables, update_once

    last = NOW + dt.timedelta(kills)
    emulator = Emulator.made_up(3, days=kills + 5, now=last)
    emulator.now, nights, killed = NOW, 0, 0
    with emulator.serve() as address:
        account = {"api_key": emulator.api_key, "user_id": emulator.user_id}
        account["base_url"] = address

        def begin(name: str, *stop: Any) -> BaseProcess:
            arguments = (folder / name, account, emulator.now, *stop)
            process = FORKS.Process(target=update_once, args=arguments)
            process.start()
            return process

        # The first process waits for the imports.
        assert not outlives(begin("first"), 600)
        # A first signal waits for the load, which dlt would end.
        stopped = begin("stopped", ("within the load", signal.SIGTERM))
        stopped.join(600)
        assert stopped.exitcode == -signal.SIGTERM
        assert query(folder / "stopped", "SELECT count(*) FROM _dlt_loads") == [(1,)]
        while killed < kills:
            began = time.monotonic()
            assert not outlives(begin("whole"), 600)
            seconds = time.monotonic() - began
            for moment in luck.sample([*STEPS], min(1 + kills, len(STEPS))):
                process = begin("killed", (moment, signal.SIGKILL))
                process.join(600)
                assert process.exitcode == -signal.SIGKILL, (moment, nights)
                killed += 1
            while outlives(begin("killed"), luck.uniform(0, 1.3 * seconds)):
                # Later each time, so that an end comes on a busy machine too.
                killed, seconds = killed + 1, 1.1 * seconds
            assert tables(folder / "killed") == tables(folder / "whole"), nights
            emulator.now, nights = emulator.now + dt.timedelta(1), nights + 1
    return f"{killed} kills of updates in {nights} nights"


def kill_ensure(kills: int, folder: Path, luck: random.Random) -> str:
    """Each website of a list is added exactly once, although the list of the service
    lacks the last one after a kill, until the service must have processed it, and the
    disk takes a part of a line. What is sent is announced, whole.
    """
    import resource

    most, journal = 20, folder / "journal"
    names = [f"w{number}.example" for number in range(most * kills)]
    (folder / "list.txt").write_text("\n".join(names))
    emulator, came, left, until = Emulator(), threading.Event(), 0, 0.0
    announced: list[str] = []

    def count(request: RecordedRequest) -> bool:
        nonlocal left, until
        if request.method == "POST":
            record = json.loads(journal.read_bytes().splitlines()[-1])
            announced.append(record["hostname"])
            left, until = left - 1, record["at"] + record["timeout"]
            if left == 0:
                came.set()
        return False

    def begin() -> subprocess.Popen[str]:
        options = ("--yes", "--quiet", "--total-timeout", "10")
        arguments = (str(folder / "list.txt"), "--journal", str(journal), *options)
        return start("websites", "ensure", *arguments, **variables)

    emulator.fail_next(None, status=500, when=count)
    account = {"API_KEY": emulator.api_key, "USER_ID": emulator.user_id}
    with emulator.serve() as address, emulator.client() as client:
        settings = {**account, "BASE_URL": address}
        variables = {f"SITESTATS_{name}": text for name, text in settings.items()}
        variables["XDG_STATE_HOME"] = str(folder)
        # Half of a compiled module would end the next run.
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        for number in range(kills):
            came.clear()
            left = luck.randint(1, most)
            with begin() as process:
                if number % 2:
                    size = journal.stat().st_size + luck.randrange(200 * most)
                    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, size))
                while process.poll() is None and not came.wait(0.1):
                    pass
                time.sleep(luck.uniform(0, 0.005))
                process.kill()
            *_, last = [b"ended", *journal.read_bytes().splitlines()]
            # A run that ended has reported its adds, and leaves the next one the list.
            if process.returncode < 0 and b"ended" not in last:
                body: Any = client.request("GET", "/api/websites")
                body["websites"].pop()

                def lags(_: RecordedRequest, until: float = until) -> bool:
                    return time.time() < until

                emulator.fail_next(body=body, path="/api/websites", when=lags)
        with begin() as process:
            assert process.wait(600) in {0, 4}
        # The service's list may have lacked a website that was added.
        with begin() as process:
            assert process.wait(600) == 0
    assert announced == sent(emulator)
    assert Counter(announced) == Counter(names)
    return f"{kills} kills of ensure, {len(names)} websites added once"


@pytest.mark.parametrize("kill", [kill_updates, kill_ensure])
def test_a_killed_process_is_continued(
    kill: Callable[[int, Path, random.Random], str], tmp_path: Path
) -> None:
    """What it did not finish, the next run does, and does nothing twice."""
    kill(1, tmp_path, random.Random(3))


if __name__ == "__main__":
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else time.time_ns()
    for kill, number in zip((kill_updates, kill_ensure), sys.argv[1:3], strict=True):
        with TemporaryDirectory() as folder:
            began = time.monotonic()
            done = kill(int(number), Path(folder), random.Random(seed))
            seconds = time.monotonic() - began
            sys.stdout.write(f"{done}, in {seconds:.0f} s, by the seed {seed}\n")
