"""The file of a store: what is not ours is left alone, and no use of it takes long."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from children import exit_code
from sitestats import ConfigurationError, SiteStatsWarning, StatsQuery, Store
from sitestats.emulator import Emulator
from stores import execute

pytestmark = pytest.mark.standard_library


DATE = datetime.now(UTC).date() - timedelta(days=2)
DAY = StatsQuery("semicomplete.com").fields("visitors").on(DATE)
KEY = "example.com:response:0123"


# --- a file that can't be used ----------------------------------------------------


def write_text(path: Path) -> None:
    """A table of somebody."""
    path.write_text("hostname,timezone\nexample.com,UTC\n" * 100)


def write_other_database(path: Path) -> None:
    """Another database."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (value)")


def write_later_version(path: Path) -> None:
    """A store of a later version."""
    with Store(path) as store:
        store.set(KEY, b"value")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")


def write_damaged(path: Path) -> None:
    """A store with random bytes in it."""
    with Store(path) as store:
        for number in range(200):
            store.set(f"{KEY}{number}", random.randbytes(500))
    data = bytearray(path.read_bytes())
    data[4_096:] = random.randbytes(len(data) - 4_096)
    path.write_bytes(data)


def write_cut(path: Path) -> None:
    """A store that was cut off."""
    write_damaged(path)
    path.write_bytes(path.read_bytes()[:5_000])


def write_header(path: Path) -> None:
    """Another database, without a table."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 7")


def write_log(path: Path) -> None:
    """Another database, with changes that are in its log alone."""
    write_unfinished(path, "PRAGMA journal_mode = WAL")


def write_hot_journal(path: Path) -> None:
    """Another database, with a change that was cut off."""
    # So that pages reach the file before the end of the change.
    write_unfinished(path, "PRAGMA cache_size = 1; BEGIN")


def write_unfinished(path: Path, pragma: str) -> None:
    """Another database, whose program ends in the middle of its work."""
    code = (
        "import os, sqlite3; c = sqlite3.connect({!r}, isolation_level=None)\n"
        "c.execute('CREATE TABLE mine (value)'); c.executescript({!r})\n"
        "for _ in range(50): c.execute('INSERT INTO mine VALUES (randomblob(9999))')\n"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code.format(str(path), pragma)], check=True)
    assert len([*path.parent.iterdir()]) > 1


def write_byte(path: Path) -> None:
    """A single byte."""
    path.write_bytes(b"x")


def make_folder(path: Path) -> None:
    """A folder."""
    path.mkdir()


def point_nowhere(path: Path) -> None:
    """A link to a folder that is not there."""
    path.symlink_to(path.parent / "missing" / "store")


@pytest.mark.parametrize(
    "spoil",
    [
        write_text,
        write_other_database,
        write_header,
        write_log,
        write_hot_journal,
        write_byte,
        write_later_version,
        write_damaged,
        write_cut,
        make_folder,
        point_nowhere,
    ],
)
def test_a_file_that_can_not_be_used_is_a_warning(path: Path, spoil: Any) -> None:
    """Whatever is wrong with the file, the result comes, one warning tells it, and the
    file is not changed.
    """
    spoil(path)
    before = contents(path.parent)
    emulator = Emulator.demo()
    with emulator.client(store=path) as client:
        with pytest.warns(SiteStatsWarning, match="is not used") as told:
            client.stats.get_many([DAY, DAY]).collect()
        assert len(told) == 1
        assert client.stats.get(DAY).visitors
    assert len(emulator.requests) == 3
    assert contents(path.parent) == before


def contents(folder: Path) -> dict[Path, bytes]:
    """The bytes of all files in *folder*."""
    return {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("spoil", [write_text, write_later_version, make_folder])
def test_used_by_itself_such_a_file_is_an_error(path: Path, spoil: Any) -> None:
    """``clear`` and ``stats`` say what is wrong, and delete nothing."""
    spoil(path)
    store = Store(path)
    with pytest.raises(ConfigurationError, match="can't be cleared"):
        store.clear()
    with pytest.raises(ConfigurationError, match="can't be read"):
        store.stats()


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    """An empty file, such as a tool makes for a temporary name, becomes a store."""
    path.touch(mode=0o600)
    with Store(path) as store:
        store.set(KEY, b"value")
        assert store.get(KEY) == b"value"


def test_a_file_that_is_being_made_is_empty_or_ours(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed meanwhile leaves none that is refused."""
    found: list[bytes] = []
    connect = sqlite3.connect

    def traced(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*args, **options)
        connection.set_trace_callback(lambda _: found.append(path.read_bytes()[68:72]))
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    with Store(path) as store:
        store.set(KEY, b"value")
    assert {*found} == {b"", b"StSt"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o666, 0o620, 0o644])
def test_a_file_that_others_can_use_is_a_warning(
    store: Store, path: Path, mode: int
) -> None:
    """A file of one's own that others can read or change is used, and a warning tells
    its mode.
    """
    store.set(KEY, b"value")
    path.chmod(mode)
    with Store(path) as other:
        with pytest.warns(SiteStatsWarning, match=f"has the mode {mode:04o}"):
            assert other.get(KEY) == b"value"
        assert other.get(KEY) == b"value"


def test_a_view_in_place_of_the_table_is_refused(path: Path) -> None:
    """A file with our mark whose tables are others is no store: a view could compute
    for hours.
    """
    with Store(path) as store:
        store.set(KEY, b"value")
    execute(path, "DROP TABLE entries")
    execute(
        path,
        "CREATE VIEW entries AS WITH RECURSIVE n(key) AS (VALUES (1) UNION ALL "
        "SELECT key + 1 FROM n) SELECT key, key value, 1 size, 1 used FROM n",
    )
    with Store(path) as store, pytest.raises(ConfigurationError, match="tables"):
        store.stats()


def test_a_statement_that_takes_long_is_ended(store: Store, path: Path) -> None:
    """A use of the file that does not end by itself is ended, and is an error."""
    store.set(KEY, b"value")
    endless = (
        "WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT 2 FROM n) SELECT max(1) FROM n"
    )
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        store._use(lambda file: file.rows(endless))
    assert store.get(KEY) == b"value"


def test_a_store_that_is_open_twice_has_its_locks(store: Store, path: Path) -> None:
    """A second store of a file leaves the locks of the first one as they are: another
    process that ends does not take the log away from both.
    """
    store.set(KEY, b"1")
    with Store(path) as second:
        second.set(KEY, b"2")
        code = f"from sitestats import Store; Store({str(path)!r}).set({KEY!r}, b'3')"
        subprocess.run([sys.executable, "-c", code], check=True)
        assert path.with_name(f"{path.name}-wal").exists()
    assert store.get(KEY) == b"3"


def test_a_file_that_another_program_locks_is_a_warning(path: Path) -> None:
    """While another process has the file for itself, calls go on without it, and wait
    for a bounded time.
    """
    emulator = Emulator.demo()
    with Store(path) as store:
        store.set(KEY, b"value")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            with emulator.client(store=store) as client:
                queries = [DAY.limit(number) for number in range(1, 10)]
                with pytest.warns(SiteStatsWarning, match="locked"):
                    client.stats.get_many(queries, concurrency=1).collect()
            other.execute("ROLLBACK")
    assert len(emulator.requests) == 9


def test_an_entry_that_another_program_makes_wait_is_left_out(
    store: Store, path: Path
) -> None:
    """While another process writes, two entries are left out, the first one too; the
    third is an error.
    """
    assert store.get(KEY) is None
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            store.set(KEY, b"value")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            store.set(KEY, b"value")
    assert store.get(KEY) is None


FULL = """
import resource, warnings
from sitestats import StatsQuery
from sitestats.emulator import Emulator

emulator = Emulator.demo()
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
query = StatsQuery("semicomplete.com").fields("pages").on({day!r})
with warnings.catch_warnings(record=True) as told, emulator.client(store={path!r}) as c:
    warnings.simplefilter("always")
    for number in range(1, 200):
        assert c.stats.get(query.limit(number)).pages
print(len(told), told[0].message)
"""


@pytest.mark.long
@pytest.mark.once
def test_a_full_disk_is_a_warning(path: Path) -> None:
    """Where nothing more can be written, calls go on, and one warning tells it."""
    code = FULL.format(path=str(path), day=str(DATE))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("1 the store")
    with Store(path) as store:
        assert store.stats().responses > 0


def test_a_read_only_file_can_be_read(tmp_path: Path) -> None:
    """What is in a file that can't be written is still of use."""
    folder = tmp_path / "shared"
    folder.mkdir()
    path = folder / "store"
    emulator = Emulator.demo()
    with emulator.client(store=path) as client:
        visitors = client.stats.get(DAY).visitors
        assert client.stats.get(DAY).from_store
    # Root may write everything, so another user reads it then.
    path.chmod(0o400 if os.geteuid() else 0o444)
    folder.chmod(0o555)
    for parent in [*path.parents][:-2]:
        parent.chmod(parent.stat().st_mode | 0o555)

    def look_up() -> None:
        with suppress(PermissionError):
            os.setuid(65534)
        with emulator.client(store=path) as client:
            stats = client.stats.get(DAY)
        assert (stats.from_store, stats.visitors) == (True, visitors)

    code = exit_code(look_up)
    folder.chmod(0o755)
    assert code == 0


# --- forks and threads


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_a_connection_of_its_own(store: Store) -> None:
    """A process that was forked, while a thread used the store, can use it too."""
    store.set(KEY, b"value")
    stop = threading.Event()

    def use() -> None:
        while not stop.is_set():
            store.get(KEY)

    def use_in_child() -> None:
        assert store.get(KEY) == b"value"

    thread = threading.Thread(target=use)
    thread.start()
    try:
        for _ in range(5):
            assert exit_code(use_in_child) == 0
    finally:
        stop.set()
        thread.join()


FORKS = """
import faulthandler, os, random, socket, sys, threading, time, warnings
from contextlib import suppress
from sitestats import Client, StatsQuery, TransportError
from sitestats.emulator import Emulator

warnings.simplefilter("ignore")
chance = random.Random(int(sys.argv[2]))
emulator = Emulator.demo()
query = StatsQuery("semicomplete.com").fields("visitors").between(*sys.argv[3:])

class Stuck:
    def get(self, key): time.sleep(600)
    def set(self, key, value): time.sleep(600)

def wait_for(pid):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return not status
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)

def call(client, number):
    with suppress(TransportError):
        client.stats.get(query.limit(number))

closed = socket.socket()
closed.bind(("127.0.0.1", 0))
nobody = f"https://127.0.0.1:{closed.getsockname()[1]}"

with emulator.serve() as address:
    for number in range(12):
        store = f"{sys.argv[1]}/{number}" if number % 3 else Stuck()
        client = Client(address, api_key=emulator.api_key, store=store, total_timeout=8)
        # Its certificates are read, and then nobody listens. A handshake would take
        # locks of OpenSSL's own, which no program can free after a fork.
        secure = Client(nobody, retries=0, total_timeout=8, timeout=2)
        threads = [
            threading.Thread(target=call, args=(client, n), daemon=True)
            for n in range(1, 5)
        ]
        threads += [
            threading.Thread(target=call, args=(secure, n), daemon=True) for n in (1, 2)
        ]
        for thread in threads: thread.start()
        time.sleep(chance.random() * 0.03)
        pid = os.fork()
        if not pid:
            # Shows where it is stuck.
            faulthandler.dump_traceback_later(20, exit=True)
            call(secure, 9)
            call(client, 9)
            os._exit(0)
        assert wait_for(pid), f"the child of round {number} did not end"
print("done", flush=True)
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2))]
)
def test_a_process_forked_during_first_calls_is_not_stuck(
    tmp_path: Path, seed: int
) -> None:
    """A process that is forked while threads make the first calls of a client makes
    its own calls: no lock of the package is left taken in it, whatever the store does.
    """
    arguments = [str(tmp_path), str(seed), str(DATE), str(DATE)]
    done = subprocess.run(
        [sys.executable, "-c", FORKS, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout == "done\n", done.stderr


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_fork_during_a_long_use_leaves_the_child_without_a_store(
    store: Store,
) -> None:
    """A fork does not wait for ever for a thread that uses SQLite; the child can't use
    it then, which is an error and no wait.
    """
    began, let_go = threading.Event(), threading.Event()

    def work(_file: object) -> None:
        began.set()
        let_go.wait(60)

    thread = threading.Thread(target=store._use, args=(work,))
    thread.start()
    began.wait(60)

    def use_in_child() -> None:
        with pytest.raises(OSError):  # noqa: PT011 - the message is the system's
            store.get(KEY)

    code = exit_code(use_in_child)
    let_go.set()
    thread.join()
    assert code == 0
    store.set(KEY, b"value")
    assert store.get(KEY) == b"value"
