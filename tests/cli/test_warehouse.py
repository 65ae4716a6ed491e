"""``sitestats warehouse``, run as a shell would, into a DuckDB file of its folder."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.inside import set_present_of_commands
from commands import NOW, TODAY, exit_code
from inside import locked

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("dlt")
from warehouse.inside import set_large, set_wait_for_a_file  # noqa: E402 - it needs dlt

pytestmark = pytest.mark.slow

SINCE = str(TODAY - timedelta(days=2))
YESTERDAY = str(TODAY - timedelta(days=1))
BLOG = "blog.semicomplete.com"
UPDATE = ("warehouse", "update", "--since", SINCE, "--fields", "pages")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)
    yield tmp_path
    # An update has its own.
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="module")
def first(
    served: tuple[Emulator, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int, str, str]:
    """The folder of a database after its first update, of which a website failed; with
    the exit code and the output of the update.
    """
    emulator, address = served
    folder = tmp_path_factory.mktemp("first")
    emulator.change_website(BLOG, locked=True)
    settings = {"API_KEY": emulator.api_key, "USER_ID": emulator.user_id}
    settings |= {"BASE_URL": address, "WAREHOUSE": str(folder)}
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        set_large(patch, 2)
        for name, text in settings.items():
            patch.setenv(f"SITESTATS_{name}", text)
        with (
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = exit_code(*UPDATE, "--concurrency", 1)
    emulator.change_website(BLOG, locked=False)
    return folder, code, out.getvalue(), err.getvalue()


@pytest.fixture
def updated(first: tuple[Path, int, str, str], folder: Path) -> None:
    """The current folder is a copy of that one, as if it had been moved."""
    shutil.copytree(first[0], folder, dirs_exist_ok=True)


def test_an_update_makes_the_file(first: tuple[Path, int, str, str]) -> None:
    """Standard error has what failed. Without a terminal to ask in, it says first that
    there will be many requests.
    """
    folder, code, out, err = first
    assert (code, out) == (3, "7 requests; up to date: 2 of 3 websites\n")
    assert err.startswith("sitestats: a large update: about 9 requests\n")
    assert f"sitestats: {BLOG}: WebsiteLockedError: This website is" in err
    with duckdb.connect(folder / "sitestats.duckdb", read_only=True) as database:
        sql = "SELECT sum(pageviews) FROM web.days WHERE hostname = 'semicomplete.com'"
        assert database.execute(sql).fetchall()[0][0] > 500


@pytest.mark.usefixtures("updated")
def test_the_status_shows_what_is_behind(
    run: Run, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exit code shows it, too, for monitoring, and no request is sent. One missing
    day is not behind unless you say so, because the next update has not run yet.
    """
    done = run("warehouse", "status", "--format", "json", "--max-behind", "1")
    found = [(row["hostname"] == BLOG, row["behind"]) for row in json.loads(done.out)]
    assert (done.code, found) == (4, [(True, 2), (False, 0), (False, 0)])
    done = run("warehouse", "status", "--max-behind", "2")
    first_line, _, table = done.out.partition("\n")
    assert (done.code, first_line) == (0, "2 of 3 websites up to date")
    assert "WebsiteLockedError" in table
    assert "\nsemicomplete.com " not in table
    assert "\nsemicomplete.com " in run("warehouse", "status", "--all").out
    set_present_of_commands(monkeypatch, NOW + timedelta(days=1))
    assert run("warehouse", "status").out.startswith("2 of 3 websites up to date\n")
    done = run("warehouse", "status", "--max-behind", "0")
    assert (done.code, done.out[:26]) == (4, "0 of 3 websites up to date")
    assert emulator.requests == ()


@pytest.mark.long
@pytest.mark.usefixtures("updated")
def test_a_website_is_forgotten(run: Run, emulator: Emulator) -> None:
    """``forget`` takes a website out of the status. A website that is still listed has
    to be forced.
    """
    done = run("warehouse", "forget", BLOG)
    assert (done.code, f"The service still lists {BLOG}" in done.err) == (2, True)
    done = run("warehouse", "forget", BLOG, "--force")
    assert (done.code, done.out) == (0, f"removed from coverage: {BLOG}\n")
    done = run("warehouse", "status", "--max-behind", "0")
    assert done.out == f"2 of 2 websites up to date; the oldest {YESTERDAY}\n"
    assert (done.code, emulator.requests) == (0, ())


HOLD = """
import duckdb
with duckdb.connect("sitestats.duckdb", read_only=True):
    print("open", flush=True)
    input()
"""


@pytest.mark.long
@pytest.mark.usefixtures("updated")
def test_while_a_notebook_has_the_file_open(
    run: Run, emulator: Emulator, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status is that of the last load, and says so; an update waits for the file,
    names who has it, and goes on once it is closed. It remembers the first day.
    """
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        done = run("warehouse", "status")
        assert (done.code, done.out[:26]) == (0, "2 of 3 websites up to date")
        assert done.err.startswith("sitestats: warning: coverage as of ")
        set_wait_for_a_file(monkeypatch, 0)
        done = run("warehouse", "update")
        assert done.code == 4
        assert f'file "{folder}/sitestats.duckdb": ' in done.err
        assert f"(PID {process.pid})" in done.err
        assert emulator.requests == ()
        closing = threading.Timer(0.1, process.communicate, ["\n"])
        closing.start()
        set_wait_for_a_file(monkeypatch, 60)
        done = run("warehouse", "update")
        closing.join()
    assert done.out.endswith("up to date: 3 of 3 websites\n")
    with duckdb.connect("sitestats.duckdb", read_only=True) as database:
        days = database.execute("SELECT min(first_day) FROM web.days").fetchall()
    assert str(days[0][0]) == SINCE


@pytest.mark.long
@pytest.mark.usefixtures("updated")
def test_hosts_from_a_file(run: Run, emulator: Emulator, folder: Path) -> None:
    """The websites of a file are read, and a day that fails is one to try later."""
    file = folder / "hosts.txt"
    file.write_text(f"# mine\n{BLOG}\n\n", "utf-8")
    emulator.fail_next(times=3, status=500, path=f"/{BLOG}.json")
    once = ("--retries", "0", "--concurrency", "1", "--quiet")
    done = run(*UPDATE, "--hosts-from", file, *once)
    assert (done.code, done.out) == (4, "")
    assert f"{BLOG}: {SINCE}: ServerError: " in done.err


def test_an_update_says_first_how_many_requests_it_makes(
    run: Run, emulator: Emulator, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dry run requests no day; before many requests a terminal is asked, unless there
    is --yes. Totals alone are few requests.
    """
    since = UPDATE[:4]
    done = run(*since, "--dry-run")
    assert (done.code, len(emulator.requests)) == (0, 1)
    assert done.out == "about 9 requests\n"
    assert [*folder.iterdir()] == []
    set_large(monkeypatch, 2)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdin, "readline", lambda: "n\n")
    done = run(*since, "--fields", "none")
    # click 8.1 writes a space.
    assert (done.code, done.out.strip()) == (130, "")
    assert "A large update: about 3 requests" in done.err
    assert not (folder / "sitestats.duckdb").exists()
    done = run(*since, "--fields", "none", "--yes")
    assert (done.code, done.out) == (0, "3 requests; up to date: 3 of 3 websites\n")


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "code", "told"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "stopped")],
)
def test_an_update_that_is_stopped_loads_what_was_read(
    run: Run, emulator: Emulator, number: int, code: int, told: str
) -> None:
    """Ctrl-C and a scheduler's signal wait for the load, and a line says what to do."""
    requests = count(1)

    def stop(_request: object) -> bool:
        if next(requests) == 5:
            os.kill(os.getpid(), number)
        return False

    emulator.fail_next(status=500, when=stop)
    done = run(*UPDATE, "--concurrency", "1", "--quiet")
    assert (done.code, done.out) == (code, "")
    rest = "the next update continues from the last load"
    assert done.err == f"sitestats: {told}; {rest}\n"
    with duckdb.connect("sitestats.duckdb", read_only=True) as database:
        [(days,)] = database.execute("SELECT count(*) FROM web.days").fetchall()
    assert 0 < days < 6
    assert len(emulator.requests) <= 6


def test_a_first_update_that_is_refused_makes_no_database(
    run: Run, emulator: Emulator, folder: Path
) -> None:
    """An update with a wrong key, or with a mistake that is found later, makes no
    database either.
    """
    emulator.fail_next(status=401)
    assert run(*UPDATE).code == 3
    assert run(*UPDATE[:2], "--since", TODAY + timedelta(days=9)).code == 2
    assert run("warehouse", "status").code == 2
    assert run("warehouse", "forget", BLOG).code == 2
    assert not (folder / "sitestats.duckdb").exists()


NO_DAY = "sitestats: The first update needs a first day (--since)"
WRONG_USE = [
    ((*UPDATE[:2],), NO_DAY),
    ((*UPDATE, "--since", "May"), "--since: 'May' is not a day: give a date"),
    ((*UPDATE, "--fields", "pags"), "'pags' is not a table"),
    ((*UPDATE[:4], "--fields", ""), "'' is not a table"),
    ((*UPDATE, "--fields", "none"), "'none' is not a table"),
    ((*UPDATE, "--refresh", "all, b.example"), "no website 'b.example'"),
    ((*UPDATE, "--refresh", SINCE), f"--refresh: '{SINCE}' names no website"),
    ((*UPDATE, "--to", "postgres"), "DESTINATION__POSTGRES__CREDENTIALS"),
    ((*UPDATE, "--to", "nothing"), "nothing"),
    ((*UPDATE, "--dataset", "sitestats"), "--dataset: sitestats: the file has that"),
    ((*UPDATE, "--hosts-from", "none.txt"), "the list has no websites"),
    (("warehouse", "status"), "the warehouse is empty: run"),
    (("warehouse", "verify"), "the warehouse has no day to compare: run `update`"),
]


@pytest.mark.parametrize(("command", "message"), WRONG_USE)
def test_wrong_use(
    run: Run, emulator: Emulator, folder: Path, command: tuple[str, ...], message: str
) -> None:
    """What can't work is told in a few lines, and no day is requested."""
    (folder / "none.txt").write_text("# none\n", "utf-8")
    done = run(*command)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert len(done.err) < 1_000
    assert {request.path for request in emulator.requests} <= {"/api/websites"}


def test_a_second_run_at_once(run: Run, emulator: Emulator, folder: Path) -> None:
    """While another run has the pipeline, the code is to try later."""
    lock = folder / ".dlt" / "pipelines" / "duckdb-web" / "sitestats.lock"
    lock.parent.mkdir(parents=True)
    with locked(str(lock), busy="never seen"):
        done = run(*UPDATE)
    assert (done.code, done.out) == (4, "")
    assert "another run uses the pipeline 'sitestats' on this machine" in done.err
    assert emulator.requests == ()


def test_a_destination_that_fails(run: Run, emulator: Emulator, folder: Path) -> None:
    """A database that can't be opened is one line, without a word of dlt's log."""
    (folder / "sitestats.duckdb").write_text("no database" * 1_000, "utf-8")
    for command in (UPDATE, ("warehouse", "status")):
        done = run(*command)
        assert (done.code, done.out) == (3, "")
        assert done.err.startswith("sitestats: the destination failed: ")
        assert done.err.count("\n") == 1
