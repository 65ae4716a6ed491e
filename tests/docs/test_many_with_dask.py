"""The example for a cluster: nothing is lost or doubled."""

from __future__ import annotations

import copyreg
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sitestats import Client, StatsQuery
from sitestats.emulator import Emulator

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).parents[2] / "examples"
MONTHS = ["2026-02", "2026-03"]


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The data set as any reader of partitioned Parquet sees it."""
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(folder, partitioning="hive").to_table()
    order = [("month", "ascending"), ("hostname", "ascending")]
    return table.sort_by(order).to_pylist()


def expected() -> list[tuple[str, str, int, int]]:
    """The rows that a single client reads."""
    query = StatsQuery("example.com").fields("pageviews", "visitors")
    with Client() as client:
        websites = client.websites.list()
        queries = [query.during(m).website(w) for m in MONTHS for w in websites]
        outcomes = client.stats.get_many(queries).collect()
    totals = [one.result() for one in outcomes]
    assert sum(stats.pageviews for stats in totals) > 1000
    return sorted(
        (f"{one.first_day:%Y-%m}", one.hostname, one.pageviews, one.visitors)
        for one in totals
    )


def statistics(emulator: Emulator) -> list[str]:
    """The websites whose statistics were requested since this was last called."""
    paths = [request.path for request in emulator.requests]
    emulator.forget_requests()
    return [path for path in paths if path != "/api/websites"]


def test_the_program_reads_each_website_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each month of each website is one row of the data set, with the numbers that a
    single client reads, and a second run requests nothing again. A website that fails
    is named, has its error in the data set, and is read again by the next run, with
    its batch and no other.
    """
    monkeypatch.syspath_prepend(str(EXAMPLES))
    pickled = dict(copyreg.dispatch_table)
    import many_with_dask as example
    from dask import config

    emulator = Emulator.made_up(12, days=80, now=datetime(2026, 4, 10, 12, tzinfo=UTC))
    whole, failing = tmp_path / "whole", tmp_path / "failing"
    with (
        emulator.serve() as service,
        config.set({"temporary-directory": str(tmp_path)}),
        monkeypatch.context() as patch,
    ):
        patch.setenv("SITESTATS_BASE_URL", service)
        patch.setenv("SITESTATS_API_KEY", emulator.api_key)
        patch.setenv("SITESTATS_USER_ID", emulator.user_id)
        with example.Dask(**example.HERE) as dask:
            address = dask.scheduler_info()["address"]
            program = [EXAMPLES / "many_with_dask.py", whole, *MONTHS, address]
            done = subprocess.run(
                [sys.executable, "-W", "error", *program],
                capture_output=True,
                text=True,
                check=False,
            )
            assert (done.returncode, done.stdout) == (0, ""), done.stderr
            assert len(statistics(emulator)) == 24
            assert example.read_months(dask, whole, MONTHS) == []
            assert statistics(emulator) == []
            names = ("month", "hostname", "pageviews", "visitors")
            found = [tuple(row[name] for name in names) for row in rows_of(whole)]
            assert found == expected()

            emulator.fail_next(1, status=423, path="/shop.example.json")
            failed = example.read_months(dask, failing, MONTHS[:1], batches=4)
            assert failed == ["shop.example"]
            errors = [row["hostname"] for row in rows_of(failing) if row["error"]]
            assert errors == failed
            statistics(emulator)
            assert example.read_months(dask, failing, MONTHS[:1], batches=4) == []
            again = statistics(emulator)
            assert "/shop.example.json" in again
            assert len(again) < 12 == len(rows_of(failing))
    # Dask has all exceptions pickled in a way of its own, in this process.
    copyreg.dispatch_table.clear()
    copyreg.dispatch_table.update(pickled)
