"""The file of a store: what is not ours is left alone, and no use of it takes long."""

from __future__ import annotations

import os
import random
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
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.standard_library


DATE = datetime.now(UTC).date() - timedelta(days=2)
DAY = StatsQuery("semicomplete.com").fields("visitors").on(DATE)
KEY = "example.com:response:0123"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / "kept.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store(path) as store:
        yield store


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


# --- forks and threads


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
