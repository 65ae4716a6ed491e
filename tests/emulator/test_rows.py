"""Rows in the database: all of a load or none, whoever reads meanwhile."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from bare_client import NOW, GetStats, bare_client
from sitestats import StatsQuery
from sitestats.emulator import Emulator, _rows

TARGET = "/semicomplete.com.json?version=6&fields=pageviews&info=false"


def test_requests_while_rows_are_loaded() -> None:
    """A request sees all rows of a load or none."""
    emulator = Emulator(now=NOW)
    emulator.add_website("semicomplete.com")
    done = threading.Event()
    seen: set[int] = set()
    failures: list[object] = []

    def work() -> None:
        with bare_client(emulator) as client:
            while not done.is_set():
                response = client.get(f"{TARGET}&metadata.kind=x")
                if response.status_code != 200:
                    failures.append(response.text)
                else:
                    seen.add(response.json()["pageviews"])

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    row = {"hostname": "semicomplete.com", "metadata.kind_text": "x"}
    for number in range(5):
        emulator.load([row | {f"metadata.extra{number}_int": 1}] * 7)
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert all(pageviews % 7 == 0 for pageviews in seen)


class Committing:
    """A connection that lets other threads run just before it commits."""

    def __init__(self, cursor: Any, get_stats: Callable[[], None]) -> None:
        self._cursor = cursor
        self._ask = get_stats

    def execute(self, query: str, *params: Any) -> Any:
        if query == "COMMIT":
            self._ask()
        return self._cursor.execute(query, *params)

    def close(self) -> None:
        self._cursor.close()


def test_requests_just_before_rows_are_committed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before a load is committed no request uses its new columns."""
    emulator = Emulator(now=NOW)
    emulator.add_website("semicomplete.com")
    rows = emulator._core.service.rows
    cursor = rows.cursor
    seen: list[int] = []

    def get_stats() -> None:
        with monkeypatch.context() as patch, bare_client(emulator) as client:
            patch.setattr(rows, "cursor", cursor)
            seen.append(client.get(f"{TARGET}&metadata.kind=x").json()["pageviews"])

    monkeypatch.setattr(rows, "cursor", lambda: Committing(cursor(), get_stats))
    emulator.load([{"hostname": "semicomplete.com", "metadata.kind_text": "x"}])
    monkeypatch.undo()
    get_stats()
    assert seen == [0, 1]


def test_an_emulator_leaves_no_cycles() -> None:
    """No reference cycle keeps an emulator and its database in memory."""
    emulator = Emulator()
    emulator.load([{"hostname": "example.com"}])
    instance = _rows._instances[emulator._core.service.rows._place]
    name = emulator._core.service.rows.table.partition(".")[0]
    left = weakref.ref(emulator)

    def databases() -> set[str]:
        rows = instance.cursor().execute("SELECT database_name FROM duckdb_databases()")
        return {row[0] for row in rows.fetchall()}

    assert name in databases()
    gc.disable()
    try:
        del emulator
        assert left() is None
        assert name not in databases()
    finally:
        gc.enable()


def test_many_rows_come_in_batches(emulator: Emulator, get_stats: GetStats) -> None:
    """A generator with more rows than a batch is loaded completely."""

    def rows() -> Iterable[dict[str, object]]:
        for number in range(45_000):
            row: dict[str, object] = {"hostname": "example.com", "path": "/"}
            # A column that comes late, and one that goes.
            row["metadata.a_int" if number > 30_000 else "utm_source"] = "1"
            yield row

    emulator.load(rows())
    data = get_stats(fields="pageviews,utm_sources").json()
    assert data["pageviews"] == 45_000
    assert data["utm_sources"][0]["pageviews"] == 30_001
    data = get_stats(fields="pageviews", **{"metadata.a": "1"}).json()
    assert data["pageviews"] == 14_999


def test_no_rows(emulator: Emulator, get_stats: GetStats) -> None:
    """No rows can be loaded; rows without columns are page views of now."""
    emulator.load([])
    assert get_stats(fields="pageviews").json()["pageviews"] == 0
    emulator.load([{}, {}], hostname="example.com")
    assert get_stats(fields="pageviews", start="today").json()["pageviews"] == 2


def test_a_late_batch_takes_the_first_back(
    emulator: Emulator, get_stats: GetStats
) -> None:
    """All rows are loaded or none, also with several batches."""
    rows = [{"hostname": "new.example", "metadata.a_text": "b"}] * 20_000
    with pytest.raises(ValueError, match="row 20001: is_unique"):
        emulator.load([*rows, {"hostname": "new.example", "is_unique": "x"}])
    assert emulator.websites == ("example.com",)
    emulator.load([{"hostname": "example.com", "metadata.c_text": "d"}])
    assert get_stats(fields="pageviews", **{"metadata.a": "b"}).json()["pageviews"] == 0
    assert get_stats(fields="pageviews", **{"metadata.c": "d"}).json()["pageviews"] == 1


def pageviews(emulator: Emulator) -> int:
    """The page views of the demo's website, of all times."""
    with emulator.client() as client:
        query = (
            StatsQuery("semicomplete.com").fields("pageviews").last(days=30, today=True)
        )
        return client.stats.get(query).pageviews


def test_demos_never_see_one_another() -> None:
    """Each has a copy of the prepared traffic: what changes in one is in no other."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    first, later = Emulator.demo(), Emulator.demo(now=now)
    before = pageviews(first)
    first.load([{"path": "/"}] * 5, hostname="semicomplete.com")
    first.load([{"metadata.plan_text": "pro"}], hostname="mine.example")
    assert pageviews(first) == before + 5
    assert pageviews(later) == pageviews(Emulator.demo()) == before
    assert later._core.service.rows.span[1].date() == date(2026, 2, 28)
    assert len(later._core.service.rows.metadata) == 4
    assert "mine.example" not in later.websites


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_has_demos_of_its_own() -> None:
    """A child prepares the traffic again, and ends as any program does."""
    program = """
import os, sys
from sitestats.emulator import Emulator, _rows
parent = Emulator.demo()
child = os.fork()
views = parent if child else Emulator.demo()
websites = views.client().websites.list()
assert [website.pageviews for website in websites][0] > 1000, websites
if not child:
    assert len(_rows._instances) == 2
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(
    "use",
    [
        "address = demo.serve(); address.__enter__()",
        """
def use():
    while True:
        demo.client().websites.list()
threading.Thread(target=use, daemon=True).start()
time.sleep(0.2)
""",
    ],
    ids=["a server that is never closed", "a thread that never ends"],
)
def test_a_program_ends_in_silence(use: str) -> None:
    """Nothing keeps the program, nor the connection, of which DuckDB would print."""
    program = f"""
import threading, time
from sitestats.emulator import Emulator
demo = Emulator.demo()
{use}
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=60
    )
    assert (run.stdout, run.stderr) == (b"", b"")
