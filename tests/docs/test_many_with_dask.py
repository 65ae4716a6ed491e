"""The example for a cluster: nothing is lost or doubled."""

from __future__ import annotations

import copyreg
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sitestats import Client, StatsQuery
from sitestats.emulator import Emulator

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).parents[2] / "examples"
MONTHS = ["2026-02", "2026-03"]


@pytest.fixture(scope="module")
def patch() -> Iterator[pytest.MonkeyPatch]:
    """What is patched for all tests of this file."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def emulator(patch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    """An emulator of twelve websites on a socket, which the environment names."""
    emulator = Emulator.made_up(12, days=80, now=datetime(2026, 4, 10, 12, tzinfo=UTC))
    with emulator.serve() as address:
        patch.setenv("SITESTATS_BASE_URL", address)
        patch.setenv("SITESTATS_API_KEY", emulator.api_key)
        patch.setenv("SITESTATS_USER_ID", emulator.user_id)
        yield emulator


@pytest.fixture(scope="module")
def example(patch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The program, as a module."""
    patch.syspath_prepend(str(EXAMPLES))
    pickled = dict(copyreg.dispatch_table)
    import many_with_dask

    yield many_with_dask
    # Dask has all exceptions pickled in a way of its own, in this process.
    copyreg.dispatch_table.clear()
    copyreg.dispatch_table.update(pickled)


@pytest.fixture(scope="module")
def dask(
    emulator: Emulator, example: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """A client of a cluster of two worker processes, which starting takes seconds."""
    from dask import config

    folder = str(tmp_path_factory.mktemp("dask"))
    with (
        config.set({"temporary-directory": folder}),
        example.Dask(**example.HERE) as dask,
    ):
        yield dask


def table_of(folder: Path) -> Any:
    """The data set as a table of Arrow."""
    import pyarrow.dataset

    return pyarrow.dataset.dataset(folder, partitioning="hive").to_table()


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The data set as any reader of partitioned Parquet sees it."""
    order = [("month", "ascending"), ("hostname", "ascending")]
    rows = table_of(folder).sort_by(order)
    return [
        {name: row[name] for name in ("hostname", "pageviews", "visitors", "month")}
        for row in rows.to_pylist()
    ]


@pytest.fixture(scope="module")
def expected(emulator: Emulator) -> list[dict[str, Any]]:
    """The rows that a single client reads."""
    query = StatsQuery("example.com").fields("pageviews", "visitors")
    with Client() as client:
        websites = client.websites.list()
        queries = [query.during(m).website(w) for m in MONTHS for w in websites]
        outcomes = client.stats.get_many(queries).collect()
    totals = [one.result() for one in outcomes]
    assert sum(stats.pageviews for stats in totals) > 1000
    return sorted(
        (
            {
                "hostname": stats.hostname,
                "pageviews": stats.pageviews,
                "visitors": stats.visitors,
                "month": f"{stats.first_day:%Y-%m}",
            }
            for stats in totals
        ),
        key=lambda row: (row["month"], row["hostname"]),
    )


def is_statistics(request: Any) -> bool:
    """Whether statistics are requested, and not the list of websites."""
    return bool(request.path != "/api/websites")


def statistics(emulator: Emulator) -> list[str]:
    """The websites whose statistics were requested."""
    return [request.path for request in emulator.requests if is_statistics(request)]


def test_the_program_reads_each_website_once(
    emulator: Emulator,
    example: Any,
    dask: Any,
    expected: list[dict[str, Any]],
    tmp_path: Path,
) -> None:
    """Each month of each website is one row of the data set, with the numbers that a
    single client reads, and a second run requests nothing again.
    """
    address = dask.scheduler_info()["address"]
    program = [EXAMPLES / "many_with_dask.py", tmp_path, *MONTHS, address]
    done = subprocess.run(
        [sys.executable, "-W", "error", *program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert rows_of(tmp_path) == expected
    before = len(statistics(emulator))
    assert example.read_months(dask, tmp_path, MONTHS) == []
    assert rows_of(tmp_path) == expected
    # The first 24 are those of the single client.
    assert len(statistics(emulator)) == before == 24 + 24


def test_what_failed_is_read_again(
    emulator: Emulator, example: Any, dask: Any, tmp_path: Path
) -> None:
    """A website that fails is named, has its error in the data set, and is read again
    by the next run, with its batch and no other.
    """
    emulator.fail_next(1, status=423, path="/shop.example.json")
    failed = example.read_months(dask, tmp_path, MONTHS[:1], batches=4)
    assert failed == ["shop.example"]
    errors = [row for row in table_of(tmp_path).to_pylist() if row["error"]]
    assert [row["hostname"] for row in errors] == ["shop.example"]
    before = len(statistics(emulator))
    assert example.read_months(dask, tmp_path, MONTHS[:1], batches=4) == []
    again = statistics(emulator)[before:]
    assert "/shop.example.json" in again
    assert len(again) < 12
    assert len(rows_of(tmp_path)) == 12
