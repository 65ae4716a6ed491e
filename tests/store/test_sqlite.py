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
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sitestats import (
    ConfigurationError,
    QueryError,
    SiteStatsWarning,
    StatsQuery,
    Store,
    StoreStats,
)
from sitestats._store import sqlite as module
from stores import execute

pytestmark = pytest.mark.standard_library


DATE = datetime.now(UTC).date() - timedelta(days=2)
DAY = StatsQuery("semicomplete.com").fields("visitors").on(DATE)
KEY = "example.com:response:0123"
OTHER = "other.example:response:0123"


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
    assert store.stats() == StoreStats(0, 0, 0)
    assert b"xxxxxxxxxx" not in store.path.read_bytes()


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        ("mixed.example", "Mixed.Example"),
        ("xn--bcher-kva.example", "b\u00fccher.example"),
        ("dot.example", "dot.example."),
        ("4.example", "4.example"),
    ],
)
def test_clear_takes_a_name_as_queries_do(
    store: Store, stored: str, given: str
) -> None:
    """The name of a website is understood as in queries, and no other one is meant."""
    for name in (stored, f"{stored}x", f"x{stored}"):
        store.set(f"{name}:response:1", b"value")
    assert store.clear(given) == 1
    assert store.stats().responses == 2


@pytest.mark.parametrize("wrong", ["", "*.example", "[a-z].example", ":salt", "a?.com"])
def test_clear_refuses_what_is_no_name(store: Store, wrong: str) -> None:
    """What is no host name is an error, and nothing is deleted."""
    store.set(KEY, b"value")
    with pytest.raises(QueryError):
        store.clear(wrong)
    assert store.stats().responses == 1


def test_clear_of_an_unknown_website_is_a_warning(store: Store) -> None:
    """A website that the store has nothing of may be a slip, so a warning says so."""
    store.set(KEY, b"value")
    with pytest.warns(SiteStatsWarning, match="no response about other.example"):
        assert store.clear("other.example") == 0


def test_clear_waits_for_a_reader_and_then_says_what_is_left(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another connection reads, what is deleted can't be taken from the file: an
    error says so after a while. Once the reader has ended, nothing can be read.
    """
    monkeypatch.setattr(module, "_CLEAR_PATIENCE", 0.1)
    for number in range(300):
        store.set(f"example.com:response:{number}", b"secret" * 1_000)
    reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    with closing(reader):
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchall()
        with pytest.raises(ConfigurationError, match=r"300 responses .* can still be"):
            store.clear()
        monkeypatch.setattr(module, "_CLEAR_PATIENCE", 60)
        ending = threading.Timer(0.2, reader.execute, ["COMMIT"])
        ending.start()
        assert store.clear() == 0
        ending.join()
    assert not any(b"secret" in file.read_bytes() for file in path.parent.iterdir())


def fill(path: Path, count: int, *, days: int) -> None:
    """Store entries of 1,000 bytes, the first of which was used 20 days ago."""
    first = module._today() - 20
    execute(
        path,
        "INSERT INTO entries VALUES (?, ?, 1000, ?)",
        (
            (
                f"example.com:response:{number}",
                random.randbytes(1_000),
                first + number * days // count,
            )
            for number in range(count)
        ),
    )


def test_the_size_is_bounded(path: Path) -> None:
    """A store beyond its limit loses a tenth, what was unused for longest, in steps."""
    with Store(path, max_bytes=1_000_000) as store:
        store.set("example.com:zone:1", b"UTC")
        fill(path, 1_500, days=15)
        for number in range(module._COUNT_EVERY + 50):
            store.set(f"new.example:response:{number}", b"new")
        stats = store.stats()
        assert 850_000 < stats.bytes < 905_000
        assert store.get("example.com:response:0") is None
        assert store.get("example.com:response:1499")
        assert store.get("example.com:zone:1") == b"UTC"


@pytest.mark.parametrize("stored", [500, 950])
def test_a_store_that_is_not_full_deletes_nothing(path: Path, stored: int) -> None:
    """Below its limit a store has all entries, however long they were not used."""
    with Store(path, max_bytes=1_000_000) as store:
        store.set("example.com:zone:1", b"UTC")
        fill(path, stored, days=1)
        for number in range(module._COUNT_EVERY + 50):
            store.set(f"new.example:response:{number}", b"new")
        assert store.stats().responses == stored + module._COUNT_EVERY + 50


def test_what_is_too_old_for_any_use_is_deleted(path: Path) -> None:
    """Entries that were not used for longer than ``max_age`` are deleted, in steps."""
    with Store(path, max_age=timedelta(days=10)) as store:
        store.set("example.com:zone:1", b"UTC")
        fill(path, 120, days=1)
        for number in range(module._COUNT_EVERY + 50):
            store.set(f"new.example:response:{number}", b"new")
        assert store.stats().responses == module._COUNT_EVERY + 50
        assert not store._files[os.getpid()].has_old


def test_a_use_is_recorded_once_a_day(store: Store, path: Path) -> None:
    """A use moves an entry to the end of the line, and further ones write nothing."""
    store.set(KEY, b"value")
    execute(path, "UPDATE entries SET used = used - 5")
    for _ in range(3):
        store.used(KEY)
    file = store._files[os.getpid()]
    assert file.writes == 2
    assert execute(path, "SELECT used FROM entries") == [(time.time() // 86_400,)]
    assert store.stats().hits == 3


def test_a_pickle_has_the_path_and_the_limits(path: Path) -> None:
    """A store is pickled as what it was made of."""
    with Store(path, max_age=timedelta(days=3), max_bytes=7) as store:
        again = pickle.loads(pickle.dumps(store))
    assert (again.path, again.max_age, again.max_bytes) == (path, timedelta(days=3), 7)
    assert Store(path).max_bytes == 256 * 1024 * 1024
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
    chance = random.Random(27)
    for _ in range(5):
        process = start_busy(path)
        assert process.stdout is not None
        try:
            process.wait(timeout=chance.uniform(0.3, 0.6))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        if path.exists():
            assert execute(path, "PRAGMA integrity_check") == [("ok",)]
            with Store(path) as store:
                store.get(KEY)
            rows = execute(path, "SELECT key, value FROM entries")
            assert all(value == key.encode() * 40 for key, value in rows)
