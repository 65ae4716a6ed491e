"""The file of a store: shared, private, bounded, and never the reason of a failure."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from children import exit_code
from sitestats import (
    ConfigurationError,
    InvalidInputError,
    SiteStatsWarning,
    StatsQuery,
    Store,
)
from sitestats.emulator import Emulator
from sitestats.types import StoreStats
from store.inside import PRUNE_EVERY
from store.stores import execute

DATE = datetime.now(UTC).date() - timedelta(days=2)
DAY = StatsQuery("semicomplete.com").fields("visitors").on(DATE)
KEY = "example.com:response:0123"
OTHER = "other.example:response:0123"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store(path) as store:
        yield store


def test_a_value_is_there_for_the_next_store(store: Store, path: Path) -> None:
    """What was set is read again, by this object and another one."""
    assert store.get(KEY) is None
    store.set(KEY, b"\x00value")
    store.set(KEY, b"\x00newer")
    with Store(path) as other:
        assert store.get(KEY) == other.get(KEY) == b"\x00newer"
    store.close()
    assert store.get(KEY) == b"\x00newer"


def test_only_the_owner_can_read_the_files(store: Store, tmp_path: Path) -> None:
    """The file, and those beside it, are readable by the owner alone."""
    store.set(KEY, b"value")
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_wrong_values_are_refused(path: Path) -> None:
    """A wrong value is an error, and no file is made."""
    wrong: list[Any] = [{"path": ""}, {"max_age": timedelta(0)}, {"max_bytes": 0}]
    for values in wrong:
        with pytest.raises(ConfigurationError, match=r"file|above 0|number"):
            Store(**{"path": path, **values})
    assert not path.exists()


# --- what is deleted ----------------------------------------------------------------


def test_clear_deletes_one_website_or_all(store: Store) -> None:
    """What it deletes can't be read in the file any more; it counts the responses."""
    for key in (KEY, OTHER, "example.com:response:4567", "example.com:zone:1"):
        store.set(key, b"x" * 10_000)
    assert store.stats().responses == 3
    assert store.clear("example.com") == 2
    assert store.get("example.com:zone:1") is None
    assert store.get(OTHER)
    assert (store.clear(), store.clear()) == (1, 0)
    assert store.stats() == StoreStats(0, 0, 0)
    files = [file.read_bytes() for file in store.path.parent.iterdir()]
    assert not any(b"xxxxxxxxxx" in data for data in files)
    assert sum(map(len, files)) < 60_000


def test_clear_takes_a_name_as_queries_do(store: Store) -> None:
    """No other website is meant. A name that is not valid is an error, and one without
    responses a warning.
    """
    for stored, given in (
        ("mixed.example", "Mixed.Example"),
        ("xn--bcher-kva.example", "b\u00fccher.example"),
    ):
        for name in (stored, f"{stored}x", f"x{stored}"):
            store.set(f"{name}:response:1", b"value")
        assert store.clear(given) == 1
    for wrong in ("", "*.example", "a?.com"):
        with pytest.raises(InvalidInputError):
            store.clear(wrong)
    with pytest.warns(SiteStatsWarning, match="no response about other.example"):
        assert store.clear("other.example") == 0
    assert store.stats().responses == 4


def test_clear_says_what_is_still_in_the_file(store: Store, path: Path) -> None:
    """While another connection reads, what is deleted can't be taken from the file."""
    for number in range(300):
        store.set(f"example.com:response:{number}", b"secret" * 1_000)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchall()
        with pytest.raises(ConfigurationError, match=r"300 responses .* still in"):
            store.clear()
        reader.execute("COMMIT")
    assert store.clear() == 0
    assert not any(b"secret" in file.read_bytes() for file in path.parent.iterdir())


def fill(store: Store, count: int, *, first: int) -> None:
    """Store entries of 1,000 bytes that were used yesterday, and the first 50 of them
    *first* days ago; then so many small ones that the store is looked through.
    """
    store.set("example.com:zone:1", b"UTC")
    today = int(time.time() // 86_400)
    rows = (
        (f"example.com:response:{n}", b"x" * 1_000, 1_000, today - (1, first)[n < 50])
        for n in range(count)
    )
    execute(store.path, "INSERT INTO entries VALUES (?, ?, ?, ?)", rows)
    for number in range(PRUNE_EVERY):
        store.set(f"new.example:response:{number}", b"new")


@pytest.mark.parametrize(("count", "left"), [(1_500, 999), (950, 950)])
def test_the_size_is_bounded(path: Path, count: int, left: int) -> None:
    """Beyond its limit a store loses what was unused for longest, else nothing."""
    with Store(path, max_bytes=1_000_000) as store:
        fill(store, count, first=20)
        assert store.stats().responses - PRUNE_EVERY == left
        assert store.get("new.example:response:0")
        assert bool(store.get("example.com:response:0")) == (count == left)


def test_what_is_too_old_for_any_use_is_deleted(path: Path) -> None:
    """Entries that were not used for longer than ``max_age`` are deleted."""
    # An empty file, such as a tool makes for a temporary name, becomes a store.
    path.touch()
    with Store(path, max_age=timedelta(days=10)) as store:
        fill(store, 120, first=12)
        assert store.stats().responses == 120 - 50 + PRUNE_EVERY


def test_a_use_is_recorded_once_a_day(store: Store, path: Path) -> None:
    """A use moves an entry to the end of the line, and further ones write nothing."""
    store.set(KEY, b"value")
    execute(path, "UPDATE entries SET used = used - 5")
    store.used(KEY)
    [(used,)] = execute(path, "SELECT used FROM entries")
    assert used in {(time.time() - 60) // 86_400, time.time() // 86_400}
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store.used(KEY)
    assert store.stats().hits == 2


# --- a file that can't be used ------------------------------------------------------


@pytest.mark.parametrize("kind", ["text", "table", "header", "damaged"])
def test_a_file_that_can_not_be_used_is_a_warning(path: Path, kind: str) -> None:
    """Whatever is wrong with the file, the result comes, one warning tells it, and the
    file is not changed. To a call of the store itself it is an error.
    """
    if kind == "text":
        path.write_text("hostname,timezone\nexample.com,UTC\n" * 100)
    elif kind == "table":
        execute(path, "CREATE TABLE entries (key, value, size, used)")
    elif kind == "header":
        execute(path, "PRAGMA application_id = 7")
    else:
        with Store(path) as store:
            store.set(KEY, random.randbytes(100_000))
        path.write_bytes(path.read_bytes()[:4_096] + random.randbytes(50_000))
    before = path.read_bytes()
    emulator = Emulator.demo()
    with emulator.client(store=path) as client:
        with pytest.warns(SiteStatsWarning, match="is not used") as told:
            client.stats.get_many([DAY, DAY]).collect()
        assert len(told) == 1
        assert client.stats.get(DAY).visitors
    assert len(emulator.requests) == 3
    with Store(path) as store:
        for action in (store.clear, store.stats):
            with pytest.raises(ConfigurationError, match="can't be used"):
                action()
    assert path.read_bytes() == before


def test_a_file_that_another_program_locks_is_a_warning(path: Path) -> None:
    """While another process has the file for itself, calls go on without it, and wait
    once for a short time.
    """
    emulator = Emulator.demo()
    with Store(path) as store:
        store.set(KEY, b"value")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with emulator.client(store=store) as client:
                began = time.monotonic()
                queries = [
                    DAY.fields("visitors", "pages").limit(number)
                    for number in range(1, 61)
                ]
                with pytest.warns(SiteStatsWarning, match="locked"):
                    client.stats.get_many(queries, concurrency=1).collect()
                assert time.monotonic() - began < 15
    assert len(emulator.requests) == 60


# --- many at once -------------------------------------------------------------------


def test_a_forked_process_has_a_connection_of_its_own(store: Store) -> None:
    """What the child does leaves the parent's connection as it was."""
    store.set(KEY, b"1")

    def use() -> None:
        assert store.get(KEY) == b"1"
        store.set(KEY, b"2")
        store.close()

    assert exit_code(use) == 0
    assert store.get(KEY) == b"2"


BUSY = """
import random, sys, threading
from sitestats import Store

def work(number):
    for _ in range(100):
        key = f"example.com:response:{random.randrange(50)}"
        value = store.get(key)
        assert value is None or value == key.encode() * 40, value
        store.set(key, key.encode() * 40)

print("begun", flush=True)
with Store(sys.argv[1]) as store:
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print("done")
"""


def start_busy(path: Path) -> subprocess.Popen[str]:
    """A process with threads that read and write."""
    command = [sys.executable, "-c", BUSY, str(path)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.long
def test_threads_and_processes_share_a_file(path: Path) -> None:
    """Processes with threads read whole values while others write them."""
    for process in [start_busy(path) for _ in range(3)]:
        out, err = process.communicate(timeout=60)
        # A writer may have waited too long: that is a lost entry, never a wrong one.
        assert out == "begun\ndone\n"
        assert not err or "locked" in err
        assert "AssertionError" not in err
    with Store(path) as store:
        assert store.stats().responses == 50


@pytest.mark.long
def test_a_killed_process_leaves_a_whole_file(path: Path) -> None:
    """After kill -9 at any moment the file opens, and each value in it is whole."""
    for _ in range(3):
        with start_busy(path) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(random.uniform(0, 0.1))
            process.kill()
        with Store(path) as store:
            store.get(KEY)
        assert execute(path, "PRAGMA integrity_check") == [("ok",)]
        rows = execute(path, "SELECT key, value FROM entries")
        assert all(value == key.encode() * 40 for key, value in rows)


def test_a_python_without_sqlite() -> None:
    """Every name can be imported, and a client works; the error of a store says what
    to do.
    """
    program = """
import sys
sys.modules["sqlite3"] = None
from sitestats import *
from sitestats.emulator import Emulator
query = StatsQuery("semicomplete.com").fields("visitors").on("2015-05-18")
with Emulator.demo().client(store=None) as client:
    print(client.stats.get(query).visitors)
try:
    Store("stats.sqlite")
except ConfigurationError as error:
    print(error)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    visitors, error = (*run.stdout.splitlines(), run.stderr)[:2]
    assert visitors.isdecimal(), run.stderr
    assert "needs the module sqlite3" in error
    assert "KeyValueStore" in error
