"""The file of a store: shared, private, bounded, and never the reason of a failure."""

from __future__ import annotations

import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import traceback
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sitestats import ConfigurationError, SiteStatsWarning, StatsQuery, Store
from sitestats._store import sqlite
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.standard_library


DATE = datetime.now(UTC).date() - timedelta(days=2)
DAY = StatsQuery("semicomplete.com").fields("visitors").on(DATE)
KEY = "example.com:response:0123"
OTHER = "other.example:response:0123"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / "kept.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store(path) as store:
        yield store


def test_a_value_is_there_for_the_next_process(store: Store, path: Path) -> None:
    """What was set is read again, by this object, another one, and another process."""
    assert store.get(KEY) is None
    store.set(KEY, b"\x00value")
    store.set(KEY, b"\x00newer")
    with Store(path) as other:
        assert store.get(KEY) == other.get(KEY) == b"\x00newer"
    code = f"from sitestats import Store; print(Store({str(path)!r}).get({KEY!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == repr(b"\x00newer")


def test_only_the_owner_can_read_the_files(store: Store, tmp_path: Path) -> None:
    """The file, and those beside it, are readable by the owner alone."""
    store.set(KEY, b"value")
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_clear_deletes_one_website_or_all(store: Store) -> None:
    """``clear`` deletes what is kept of a website, or of all, and returns how many."""
    for key in (KEY, OTHER, "example.com:response:4567", "example.com:zone:1"):
        store.set(key, b"x" * 10_000)
    assert store.stats().responses == 3
    assert store.clear("example.com") == 2
    assert store.get(OTHER)
    assert (store.clear(), store.clear()) == (1, 0)
    assert store.stats().responses == 0
    assert b"xxxxxxxxxx" not in store.path.read_bytes()


def test_the_size_is_bounded(path: Path) -> None:
    """A store beyond its limit loses what was unused for longest, in steps."""
    with Store(path, max_bytes=1_000_000) as store:
        store.set("example.com:zone:1", b"UTC")
        with store._opened() as file:
            today = sqlite._today()
            for number in range(1_500):
                file.write(
                    "INSERT INTO entries VALUES (?, ?, ?, ?)",
                    f"example.com:response:{number}",
                    random.randbytes(1_000),
                    1_000,
                    today - 20 + number // 100,
                )
        for number in range(sqlite._COUNT_EVERY + 50):
            store.set(f"new.example:response:{number}", b"new")
        stats = store.stats()
        assert stats.bytes <= 1_000_000
        assert stats.responses > 900
        assert store.get("example.com:response:0") is None
        assert store.get("example.com:response:1499")
        assert store.get("example.com:zone:1") == b"UTC"


@pytest.mark.parametrize("stored", [500, 950])
def test_a_store_that_is_not_full_deletes_nothing(path: Path, stored: int) -> None:
    """Below its limit a store has all entries, however long they were not used."""
    with Store(path, max_bytes=1_000_000) as store:
        with store._opened() as file:
            for number in range(stored):
                file.write(
                    "INSERT INTO entries VALUES (?, ?, ?, ?)",
                    f"example.com:response:{number}",
                    random.randbytes(1_000),
                    1_000,
                    sqlite._today() - 20,
                )
        for number in range(sqlite._COUNT_EVERY + 50):
            store.set(f"new.example:response:{number}", b"new")
        assert store.stats().responses == stored + sqlite._COUNT_EVERY + 50


def test_what_is_too_old_for_any_use_is_deleted(path: Path) -> None:
    """An entry that was not used for longer than ``max_age`` is deleted."""
    with Store(path, max_age=timedelta(days=10)) as store:
        store.set(KEY, b"old")
        with store._opened() as file:
            file.write("UPDATE entries SET used = used - 12")
        for number in range(sqlite._COUNT_EVERY + 50):
            store.set(f"new.example:response:{number}", b"new")
        assert store.get(KEY) is None


def test_a_use_is_recorded_once_a_day(store: Store) -> None:
    """A use moves an entry to the end of the line, and further ones write nothing."""
    store.set(KEY, b"value")
    with store._opened() as file:
        file.write("UPDATE entries SET used = used - 5")
        writes = file.writes
    for _ in range(3):
        store.used(KEY)
    with store._opened() as file:
        assert file.writes == writes + 1
        assert file.one("SELECT used FROM entries") == (sqlite._today(),)
    assert store.stats().hits == 3


def test_a_pickle_has_the_path_and_the_limits(path: Path) -> None:
    """A store is pickled as what it was made of."""
    with Store(path, max_age=timedelta(days=3), max_bytes=7) as store:
        again = pickle.loads(pickle.dumps(store))
    assert (again.path, again.max_age, again.max_bytes) == (path, timedelta(days=3), 7)
    assert repr(again) == f"Store({str(path)!r})"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_age": 30}, "max_age is a timedelta"),
        ({"max_age": timedelta(0)}, "max_age is a timedelta"),
        ({"max_bytes": 0}, "max_bytes is a whole number"),
    ],
)
def test_wrong_limits_are_refused(
    path: Path, arguments: dict[str, Any], message: str
) -> None:
    """A limit that is none is refused, and no file is made."""
    with pytest.raises(ConfigurationError, match=message):
        Store(path, **arguments)
    assert not path.exists()


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
        store.clear("nothing")
    data = bytearray(path.read_bytes())
    data[4_096:] = random.randbytes(len(data) - 4_096)
    path.write_bytes(data)


def write_cut(path: Path) -> None:
    """A store that was cut off."""
    write_damaged(path)
    path.write_bytes(path.read_bytes()[:5_000])


def make_folder(path: Path) -> None:
    """A folder."""
    path.mkdir()


def point_nowhere(path: Path) -> None:
    """A link to a folder that is not there."""
    path.symlink_to(path.parent / "missing" / "kept")


@pytest.mark.parametrize(
    "spoil",
    [
        write_text,
        write_other_database,
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
    before = path.read_bytes() if path.is_file() else None
    emulator = Emulator.demo()
    with emulator.client(store=path) as client:
        with pytest.warns(SiteStatsWarning, match="is not used") as told:
            client.stats.get_many([DAY, DAY]).collect()
        assert len(told) == 1
        assert client.stats.get(DAY).visitors
    assert len(emulator.requests) == 3
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("spoil", [write_text, write_later_version, make_folder])
def test_asked_for_itself_such_a_file_is_an_error(path: Path, spoil: Any) -> None:
    """``clear`` and ``stats`` say what is wrong, and delete nothing."""
    spoil(path)
    store = Store(path)
    with pytest.raises(ConfigurationError, match="can't be cleared"):
        store.clear()
    with pytest.raises(ConfigurationError, match="can't be read"):
        store.stats()


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
    path = folder / "kept"
    emulator = Emulator.demo()
    with emulator.client(store=path) as client:
        visitors = client.stats.get(DAY).visitors
        assert client.stats.get(DAY).from_store
    path.chmod(0o444)
    folder.chmod(0o555)
    for parent in [*path.parents][:-2]:
        parent.chmod(parent.stat().st_mode | 0o555)
    pid = os.fork()
    if not pid:
        try:
            # No permission matters to root.
            with suppress(PermissionError):
                os.setuid(65534)
            with emulator.client(store=path) as client:
                stats = client.stats.get(DAY)
            assert (stats.from_store, stats.visitors) == (True, visitors)
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the child ends here, whatever happens
            traceback.print_exc()
        finally:
            os._exit(1)
    folder_code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    folder.chmod(0o755)
    assert folder_code == 0


# --- many at once -----------------------------------------------------------------

BUSY = """
import random, sys, threading
from sitestats import Store

def work(number):
    for _ in range(100):
        key = f"example.com:response:{random.randrange(50)}"
        value = store.get(key)
        assert value is None or value == key.encode() * 40, value
        store.set(key, key.encode() * 40)

with Store(sys.argv[1]) as store:
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print("done", flush=True)
"""


def start_busy(path: Path) -> subprocess.Popen[str]:
    """A process with threads that read and write."""
    return subprocess.Popen(
        [sys.executable, "-c", BUSY, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_threads_and_processes_share_a_file(path: Path) -> None:
    """Processes with threads read whole values while others write them."""
    busy = [start_busy(path) for _ in range(3)]
    for process in busy:
        out, err = process.communicate(timeout=60)
        # A writer may have waited too long: that is a lost entry, never a wrong one.
        assert out == "done\n" or "locked" in err, err
    with Store(path) as store:
        assert store.stats().responses == 50


def test_a_killed_process_leaves_a_whole_file(path: Path) -> None:
    """After kill -9 at any moment the file opens, and each value in it is whole."""
    for _ in range(5):
        process = start_busy(path)
        assert process.stdout is not None
        try:
            process.wait(timeout=random.uniform(0.3, 0.6))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        if path.exists():
            with Store(path) as store, store._opened() as file:
                assert file.one("PRAGMA integrity_check") == ("ok",)
                rows = file.connection.execute("SELECT key, value FROM entries")
                assert all(value == key.encode() * 40 for key, value in rows)


def test_a_forked_process_has_a_connection_of_its_own(store: Store) -> None:
    """A process that was forked, while a thread used the store, can use it too."""
    store.set(KEY, b"value")
    stop = threading.Event()

    def use() -> None:
        while not stop.is_set():
            store.get(KEY)

    thread = threading.Thread(target=use)
    thread.start()
    try:
        for _ in range(5):
            pid = os.fork()
            if not pid:
                os._exit(0 if store.get(KEY) == b"value" else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    finally:
        stop.set()
        thread.join()
