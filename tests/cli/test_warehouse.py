"""``sitestats warehouse``, run as a shell would, into a DuckDB file of its folder."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sitestats import MissingExtraError
from sitestats._common.lock_files import locked

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

duckdb = pytest.importorskip("duckdb")
DltException = pytest.importorskip("dlt.common.exceptions").DltException

pytestmark = pytest.mark.slow

SINCE = str(datetime.now(UTC).date() - timedelta(days=2))
YESTERDAY = str(datetime.now(UTC).date() - timedelta(days=1))
PACKAGE = "sitestats.warehouse"
UPDATE = ("warehouse", "update", "--since", SINCE, "--fields", "pages")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_database_that_is_kept_up_to_date(
    run: Run, emulator: Emulator, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update makes the file, and tells on standard error how far it is and what has
    failed; the status has it too, for monitoring as a code, until the website is
    forgotten, and nothing is requested of the service. The first day is remembered.
    """
    emulator.change_website("blog.semicomplete.com", locked=True)
    done = run("warehouse", "update")
    assert done.code == 2
    assert done.err.startswith(
        "sitestats: The first update needs a first day (--since)"
    )
    done = run(*UPDATE, "--concurrency", "1")
    assert done.out == "5 requests; up to date: 2 of 3 websites\n"
    # An update that takes long has a line of its pace before that.
    locked = "sitestats: blog.semicomplete.com: WebsiteLockedError: This website is"
    assert locked in done.err
    assert done.code == 3
    with duckdb.connect("sitestats.duckdb", read_only=True) as database:
        (found,) = database.execute(
            "SELECT sum(pageviews) FROM web.days WHERE hostname = 'semicomplete.com'"
        ).fetchall()
    assert found[0] > 500
    emulator.forget_requests()
    done = run("warehouse", "status", "--format", "json")
    first, *others = json.loads(done.out)
    assert (first["hostname"], first["behind"]) == ("blog.semicomplete.com", 2)
    assert [row["behind"] for row in others] == [0, 0]
    done = run("warehouse", "status")
    assert done.code == 0
    first_line, _, table = done.out.partition("\n")
    assert first_line == "2 of 3 websites up to date"
    assert "WebsiteLockedError" in table
    assert "\nsemicomplete.com " not in table
    assert "\nsemicomplete.com " in run("warehouse", "status", "--all").out
    assert run("warehouse", "status", "--check").code == 4
    assert run("warehouse", "status", "--check", "--max-behind", "2").code == 0
    done = run("warehouse", "forget", "blog.semicomplete.con")
    assert done.code == 2
    assert "(did you mean 'blog.semicomplete.com'?)" in done.err
    monkeypatch.chdir("/")
    monkeypatch.setenv("SITESTATS_WAREHOUSE", str(folder))
    done = run("warehouse", "forget", "blog.semicomplete.com")
    assert "The service still lists blog.semicomplete.com" in done.err
    done = run("warehouse", "forget", "blog.semicomplete.com", "--force")
    assert (done.code, done.out) == (
        0,
        "removed from coverage: blog.semicomplete.com\n",
    )
    done = run("warehouse", "status", "--check")
    assert done.code == 0
    assert done.out == f"2 of 2 websites up to date; the oldest {YESTERDAY}\n"
    assert emulator.requests == ()
    emulator.change_website("blog.semicomplete.com", locked=False)
    done = run("warehouse", "update", "--fields", "pages")
    assert done.out.endswith("up to date: 3 of 3 websites\n")
    with duckdb.connect(folder / "sitestats.duckdb", read_only=True) as database:
        days = database.execute("SELECT min(first_day) FROM web.days").fetchall()
    assert str(days[0][0]) == SINCE


HOLD = """
import duckdb
with duckdb.connect("sitestats.duckdb", read_only=True):
    print("open", flush=True)
    input()
print("closed", flush=True)
"""


def test_while_a_notebook_has_the_file_open(
    run: Run, emulator: Emulator, folder: Path
) -> None:
    """The status is that of the last load, and says so; an update waits for the file,
    names who has it, and goes on once it is closed, with what it has read.
    """
    assert run(*UPDATE).code == 0
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        emulator.forget_requests()
        done = run("warehouse", "status")
        assert (done.code, done.out[:31]) == (0, "3 of 3 websites up to date; the")
        assert done.err.startswith("sitestats: warning: coverage as of ")
        done = run(*UPDATE, "--wait", "0.1")
        assert done.code == 4
        assert f"(PID {process.pid}) has {folder}/sitestats.duckdb open" in done.err
        assert emulator.requests == ()
        closing = threading.Timer(0.5, process.communicate, ["\n"])
        closing.start()
        assert run(*UPDATE).code == 0
        closing.join()


def test_hosts_from_a_file(run: Run, emulator: Emulator, folder: Path) -> None:
    """The websites of a file are read, and a day that fails is one to try later."""
    file = folder / "hosts.txt"
    file.write_text("# mine\nsemicomplete.com\n\n", "utf-8")
    emulator.fail_next(times=3, status=500, path="/semicomplete.com.json")
    once = ("--retries", "0", "--concurrency", "1", "--quiet")
    done = run(*UPDATE, "--hosts-from", file, *once)
    assert done.code == 4
    assert done.out == ""
    assert f"semicomplete.com: {SINCE}: ServerError: " in done.err
    file.write_text("# none\n", "utf-8")
    done = run(*UPDATE, "--hosts-from", file)
    assert (done.code, done.out) == (2, "")
    assert "the list has no websites" in done.err


def test_an_update_says_first_how_many_requests_it_makes(
    run: Run, emulator: Emulator, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dry run requests no day and leaves no file; before many requests a terminal is
    asked, unless there is --yes, and a log is warned. Totals alone are few requests.
    """
    since = (*UPDATE[:4], "--until", YESTERDAY)
    done = run(*since, "--dry-run")
    assert (done.code, len(emulator.requests)) == (0, 1)
    assert done.out == "at most 9 requests; the last update made 0\n"
    monkeypatch.setattr("sitestats.warehouse._source._LARGE", 2)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdin, "readline", lambda: "n\n")
    done = run(*since, "--fields", "none")
    assert (done.code, done.out) == (130, "")
    assert "A large update: at most 3 requests" in done.err
    done = run(*since, "--fields", "none", "--yes", "--until", SINCE)
    assert (done.code, done.out) == (0, "3 requests; up to date: 3 of 3 websites\n")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    earlier = datetime.now(UTC).date() - timedelta(days=4)
    done = run(*UPDATE[:2], "--since", earlier, "--fields", "pages")
    assert done.code == 0
    assert "warning: this update is large: at most 15 requests" in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--since", "May"), 2, "Invalid value for '--since': 'May' does not match"),
        (("--fields", "pags"), 2, "'pags' is not a table"),
        (("--to", "postgres"), 2, "DESTINATION__POSTGRES__CREDENTIALS"),
        (("--to", "nothing"), 2, "nothing"),
        (("--dataset", "sitestats"), 2, "--dataset sitestats: the file has that name"),
    ],
    ids=["day", "list", "unconfigured", "unknown", "same name"],
)
def test_wrong_use(
    run: Run, emulator: Emulator, arguments: tuple[str, ...], code: int, message: str
) -> None:
    """What can't work is reported in a few lines, and nothing is requested."""
    done = run(*UPDATE, *arguments)
    assert done.code == code
    assert message in done.err
    assert len(done.err) < 1_000
    assert emulator.requests == ()


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


@pytest.mark.usefixtures("emulator")
def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without dlt, the command and the package name the extra."""
    program = "import sys; sys.modules['dlt'] = None; from sitestats.cli import main"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; main()", *UPDATE],
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    needed = "dlt is not installed: pip install 'sitestats[warehouse]'"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"sitestats: {needed}\n"
    monkeypatch.setitem(sys.modules, "dlt", None)
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtraError) as raised:
        importlib.import_module(PACKAGE)
    assert str(raised.value) == needed


def test_a_status_makes_no_database(run: Run, folder: Path) -> None:
    """Where nothing was loaded, the status says so, and makes no file."""
    done = run("warehouse", "status")
    assert done.code == 2
    assert "the warehouse is empty" in done.err
    assert [*folder.iterdir()] == []


def test_only_this_command_imports_dlt() -> None:
    """The package and the other commands start without dlt, which takes seconds."""
    program = """
import sys
import sitestats.cli
from sitestats import *
from sitestats.cli import _app, _stats, _websites, _warehouse
assert "dlt" not in sys.modules
assert "pyarrow" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
