"""The source of a warehouse, iterated without a destination."""

from __future__ import annotations

import pytest

from sitestats.emulator import Emulator
from sitestats.warehouse import _tables, sitestats_source
from updates import FIRST, NOW, ticking

pytestmark = pytest.mark.once


def test_rows_leave_while_others_are_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory holds a bounded number of rows of each table, however many come."""
    monkeypatch.setattr(_tables, "_HELD", 4)
    seen: list[str] = []
    emulator = Emulator(now=NOW)
    # No other test has them: dlt has one state for all sources without a pipeline.
    for name in ("one.test", "two.test"):
        emulator.add_website(name)
    source = sitestats_source(
        client=emulator.client(),
        first_day=FIRST,
        lists=["events"],
        concurrency=1,
        now=ticking(NOW),
        progress=lambda _done, _total: seen.append("request"),
    )
    # Lazily: a row is taken from the source when the list wants it.
    seen.extend(f"{rows.num_rows} rows" for rows in source.resources["days"])
    requests = ["request"] * 4
    # The last rows are the coverage, which may have websites of another test too.
    assert seen[:-1] == [*requests, "4 rows", "4 rows"] * 2


def test_some_websites_without_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A load makes a request even where its time is over, and says of no website that
    the update leaves out that it is not listed any more.
    """
    state: dict[str, object] = {}
    monkeypatch.setattr("dlt.current.resource_state", lambda: state)
    emulator = Emulator(now=NOW)
    for name in ("three.test", "four.test"):
        emulator.add_website(name)
    for hostnames in (None, ["four.test"]):
        emulator.forget_requests()
        source = sitestats_source(
            client=emulator.client(),
            first_day=FIRST,
            hostnames=hostnames,
            lists=["events"],
            max_seconds=0,
            now=ticking(NOW),
        )
        *_, coverage = source.resources["days"]
        # The list, and one.
        assert len(emulator.requests) == 2
    assert coverage["hostname"].to_pylist() == ["four.test"]
