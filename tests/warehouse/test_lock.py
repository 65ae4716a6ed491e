"""Two updates of one dataset: the second one is refused, wherever it runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dlt
import pytest

from inside import locked
from sitestats import BusyError
from sitestats.emulator import Emulator
from sitestats.warehouse import forget, make_pipeline, read_coverage, read_status
from warehouse.inside import set_wait_for_a_look, set_wait_for_dlts_files
from warehouse.updates import NOW, elsewhere, pipeline, run, tables

pytestmark = pytest.mark.slow

DESTINATIONS: dict[str, Callable[[Path], Any]] = {
    "duckdb": lambda folder: dlt.destinations.duckdb(str(folder / "sitestats.duckdb")),
    "filesystem": lambda folder: dlt.destinations.filesystem(f"file://{folder}/files"),
}


def forget_in(folder: Path, destination: Any) -> None:
    """Forget a website, from another folder."""
    forget(pipeline(folder, destination), ["shop.example"])


@pytest.mark.long
@pytest.mark.parametrize("name", ["duckdb", "filesystem"])
def test_a_second_update_from_another_folder_is_refused(
    name: str, tmp_path: Path
) -> None:
    """It sends no request, and says who is updating; the first one is not disturbed,
    and the next one may begin.
    """
    emulator = Emulator.made_up(1, days=3, now=NOW)
    refused: list[str] = []

    def interfere(_done: int, _total: int | None) -> None:
        if refused:
            return
        other = DESTINATIONS[name](tmp_path)
        before = len(emulator.requests)
        with pytest.raises(BusyError) as raised:
            elsewhere(run, tmp_path / "other", emulator, other)
        refused.append(str(raised.value))
        with pytest.raises(BusyError):
            elsewhere(forget_in, tmp_path / "other", other)
        assert len(emulator.requests) == before

    given: dict[str, Any] = {"lists": ["pages"], "progress": interfere}
    report = run(tmp_path / "first", emulator, DESTINATIONS[name](tmp_path), **given)
    assert report.failed == {}
    assert f": process {os.getpid()} on " in refused[0]
    given["progress"] = None
    run(tmp_path / "other", emulator, DESTINATIONS[name](tmp_path), **given)
    second = pipeline(tmp_path / "other", DESTINATIONS[name](tmp_path))
    assert [*read_coverage(second)] == [*emulator.websites]


def test_two_runs_that_begin_at_once_do_not_disturb_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one makes or empties the files of dlt, the other one waits. Here it waits
    for no time, and is refused. A status holds nothing else.
    """
    set_wait_for_dlts_files(monkeypatch, 0)
    refused: list[str] = []

    def at_once(owner: Any, step: str, other: Callable[[], object]) -> None:
        """Do *other* at the end of the next *step* of dlt."""
        work = getattr(owner, step)

        def disturbed(*args: Any, **options: Any) -> Any:
            monkeypatch.setattr(owner, step, work)
            result = work(*args, **options)
            with pytest.raises(BusyError, match="another run begins in "):
                elsewhere(other)
            refused.append(step)
            return result

        monkeypatch.setattr(owner, step, disturbed)

    def make() -> dlt.Pipeline:
        return make_pipeline(folder=tmp_path)

    def lock_and_make() -> None:
        with locked(str(beside / "sitestats.lock"), busy="the status has it"):
            make()

    beside = tmp_path / ".dlt" / "pipelines" / "duckdb-web"
    first = make()
    at_once(dlt, "pipeline", lambda: read_status(first))
    second = make()
    at_once(dlt.Pipeline, "drop", lock_and_make)
    assert read_status(second).coverage == {}
    assert refused == ["pipeline", "drop"]


def test_a_status_waits_for_no_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would hold up the update, whose next load waits for the status."""
    set_wait_for_a_look(monkeypatch, 3_600)
    made = make_pipeline(folder=tmp_path)
    lock = tmp_path / ".dlt" / "pipelines" / "duckdb-web" / "sitestats.lock"
    with locked(str(lock), busy="not seen"), pytest.raises(BusyError):
        read_status(made)


@pytest.mark.long
def test_an_update_that_has_lost_its_lock_loads_nothing(tmp_path: Path) -> None:
    """Somebody removed the file, so another update may have the lock."""
    emulator = Emulator.made_up(1, days=3, now=NOW)
    run(tmp_path, emulator, lists=["pages"])
    before = tables(tmp_path)
    lock = tmp_path / "sitestats.duckdb.lock"

    def remove(_done: int, _total: int | None) -> None:
        lock.unlink(missing_ok=True)

    with pytest.raises(BusyError, match="was removed; what was read is not loaded"):
        run(tmp_path, emulator, lists=["pages", "countries"], progress=remove)
    assert tables(tmp_path) == before
    shutil.rmtree(tmp_path / "pipelines")
    assert run(tmp_path, emulator).failed == {}
