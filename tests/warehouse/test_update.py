"""Updates into a DuckDB file: what is there after one, after more, and after a kill."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import attrs
import dlt
import duckdb
import pytest
from dlt.common.runtime import anon_tracker
from dlt.pipeline.exceptions import PipelineStepFailed

from sitestats import (
    AuthenticationError,
    BusyError,
    ConfigurationError,
    SiteStatsError,
    SiteStatsWarning,
)
from sitestats.emulator import Emulator
from sitestats.warehouse import (
    Coverage,
    Update,
    forget,
    read_coverage,
    sitestats_source,
    update,
)
from warehouse.inside import slow_down, when_free
from warehouse.updates import (
    DELETION,
    FIRST,
    LISTS,
    NOW,
    Dataset,
    pipeline,
    query,
    run,
    tables,
)

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)


@pytest.mark.long
def test_the_destination_has_the_rows_of_the_source(
    emulator: Emulator, loaded: Path, tmp_path: Path
) -> None:
    """Also after another night, in a new container, and after a load that was lost:
    what is not in the destination is requested, and nothing else.
    """
    dataset = Dataset()
    dataset.update(emulator, lists=LISTS)
    dataset.save(tmp_path)
    assert tables(loaded) == tables(tmp_path)
    schemas = query(loaded, "SELECT DISTINCT schema_name, comment FROM duckdb_tables()")
    assert ("web", "The totals of each website and day") in schemas
    assert {schema for schema, _ in schemas} == {"web"}
    types = dict(row[:2] for row in query(loaded, "DESCRIBE pages"))
    assert (types["seconds_on_page"], types["truncated"]) == ("DOUBLE", "BOOLEAN")
    folder = shutil.copytree(loaded, tmp_path / "copy")
    shutil.rmtree(folder / "pipelines")
    assert {*read_coverage(pipeline(folder))} == {*emulator.websites}
    later = Emulator.made_up(3, days=5, now=NOW)
    later.now = NOW + DAY
    source = sitestats_source(client=later.client(), max_seconds=3)
    lost = pipeline(folder)
    with pytest.MonkeyPatch.context() as patch:
        slow_down(patch)
        lost.extract(source)
    lost.normalize()
    shutil.rmtree(Path(lost.working_dir, "load"))
    assert tables(folder) == tables(loaded)
    # The same source, whose requests of before count for nothing.
    later.forget_requests()
    with duckdb.connect(folder / "sitestats.duckdb") as connection:
        # Of the page; what is deleted is not read again.
        connection.execute(DELETION.replace("2025-01-01", "2026-03-02"))
    report = update(pipeline(folder), source)
    # A histogram of each website, the day of the lag, the new one, and its month.
    assert len(later.requests) == report.requests == 3 * 4
    dataset.update(later)
    dataset.save(tmp_path / "second")
    found, expected = tables(folder), tables(tmp_path / "second")
    assert len(found.pop("pages")) < len(expected.pop("pages"))
    assert found == expected


@pytest.mark.long
def test_a_website_is_forgotten_when_it_is_gone(folder: Path) -> None:
    """One that is not listed any more keeps its rows; one that is listed has to be
    forced. Meanwhile a second run is refused, and the coverage is from a file.
    """
    made, second = pipeline(folder), pipeline(folder)
    with pytest.raises(ConfigurationError, match="did you mean 'shop"):
        forget(made, ["shop.exampel"])
    with pytest.raises(ConfigurationError, match="still lists docs"):
        forget(made, ["Docs.Example"])
    stored = folder / "pipelines" / "sitestats.coverage.json"
    refused: list[str] = []
    fewer = Emulator.made_up(2, days=5, now=NOW)

    def interfere(_done: int, _total: int | None) -> None:
        with pytest.raises(BusyError) as raised:
            forget(second, ["docs.example"])
        refused.append(str(raised.value))
        if stored.exists():
            with pytest.warns(SiteStatsWarning, match="coverage as of "):
                assert len(read_coverage(second)) == 3
            stored.unlink()
        with pytest.raises(BusyError):
            read_coverage(second)

    report = run(folder, fewer, progress=interfere)
    assert {*report.websites} == {*fewer.websites}
    assert refused[0].startswith("another run uses the pipeline 'sitestats'")
    told = "SELECT through, listed, error FROM coverage WHERE hostname = 'docs.example'"
    [(through, listed, error)] = query(folder, told)
    assert (through, listed) == (date(2026, 3, 5), False)
    assert error == "the service does not list this website any more"
    forget(made, ["Docs.Example"])
    assert query(folder, told) == []
    assert {*read_coverage(made)} == {*fewer.websites}
    assert {*json.loads(stored.read_text("utf-8"))["coverage"]} == {*fewer.websites}
    rows = query(folder, "SELECT count(*) FROM days WHERE hostname = 'docs.example'")
    assert rows == [(5,)]
    medians = "SELECT hostname, first_day, seconds_on_page FROM days ORDER BY 1, 2"
    before = query(folder, medians)
    forget(made, ["shop.example"], force=True)
    run(folder, fewer, lists=[])
    assert query(folder, medians) == before


def test_the_source_is_configured_as_dlts_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first day and the credentials can come from dlt's configuration, an error of
    the service is raised as itself, and nothing is sent about how dlt is used.
    """
    emulator = Emulator.made_up(1, days=2, now=NOW)
    with emulator.serve() as address:
        for name, value in {
            "FIRST_DAY": "2026-03-04",
            "BASE_URL": address,
            "API_KEY": emulator.api_key,
            "USER_ID": emulator.user_id,
        }.items():
            monkeypatch.setenv(f"SOURCES__SITESTATS__{name}", value)
        asked: list[Any] = []
        source = sitestats_source(approve=lambda one: bool(asked.append(one)))  # type: ignore[func-returns-value]  # it is not approved
        assert update(pipeline(tmp_path), source).loads == ()
        assert [estimate.requests for estimate in asked] == [2]
        emulator.fail_next(status=401)
        with pytest.raises(AuthenticationError):
            update(pipeline(tmp_path), sitestats_source())
    assert anon_tracker._ANON_TRACKER_ENDPOINT is None  # noqa: SLF001 - dlt's
    assert not dlt.current.run_context().runtime_config.dlthub_telemetry


@pytest.mark.long
def test_the_import_reads_and_changes_nothing(tmp_path: Path) -> None:
    """Neither dlt's configuration, which may be broken, nor the environment."""
    (tmp_path / ".dlt").mkdir()
    (tmp_path / ".dlt" / "config.toml").write_text("broken = [", "utf-8")
    code = "import os; was = {**os.environ}; import sitestats.warehouse; "
    code += "assert {**os.environ} == was"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


LINUX = (
    'IO Error: Could not set lock on file "/srv/x.duckdb": Conflicting lock is held in '
    "/usr/bin/python3.11 (PID 15026). See also https://duckdb.org/"
)
WINDOWS = (
    'IO Error: Cannot open file "c:\\x.duckdb": The process cannot access the file '
    "because it is being used by another process.\n\nFile is already open in \n"
    "C:\\Python311\\python.exe (PID 8)"
)


def failing(text: str) -> NoReturn:
    """Fail as a step of dlt does."""
    with TemporaryDirectory() as folder:
        made = dlt.pipeline("unused", pipelines_dir=folder)
        raise PipelineStepFailed(made, "load", "1", OSError(text), None)  # type: ignore[arg-type]  # no step has run


def test_a_file_in_use_has_a_holder() -> None:
    """DuckDB's texts become an error that names the file, and who has it; another
    failure is raised at once.
    """
    for text, file, holder in (
        (LINUX, "/srv/x.duckdb", r"python3.11 \(PID 15026\)"),
        (WINDOWS, r"c:\\x.duckdb", r"python.exe \(PID 8\)"),
    ):
        with pytest.raises(BusyError, match=f'file "{file}": .*{holder}'):
            when_free(lambda text=text: failing(text))
    with pytest.raises(PipelineStepFailed):
        when_free(lambda: failing("no space left"), in_an_update=True)


def a_report(good: int, failed: int) -> Update:
    """A report of so many websites; the failed ones have no day."""
    day = {"timezone": "UTC", "lists": [], "first": FIRST, "read_from": FIRST}
    site = Coverage.from_state({**day, "reached": FIRST})
    bad = attrs.evolve(site, failed=(FIRST,), error="ServerError: it failed")
    sites = {f"s{n}.example": site if n < good else bad for n in range(good + failed)}
    return Update((), 2_000, sites)


def test_a_report_is_a_line_plain_data_and_an_error() -> None:
    """Its error names five websites and counts them all; without one there is none."""
    a_report(3, 0).raise_for_failures()
    named = r"7 of 1,007 websites failed: s1000\.example: Ser.*; s1004\.example: [^;]*$"
    with pytest.raises(SiteStatsError, match=named):
        a_report(1_000, 7).raise_for_failures()
    report = a_report(2, 1)
    assert repr(report) == (
        "<Update: 2,000 requests, 0 loads, 2 of 3 websites up to date>"
    )
    assert json.loads(json.dumps(report.to_dict())) == {
        "requests": 2_000,
        "loads": 0,
        "websites": 3,
        "oldest": None,
        "failed": {"s2.example": "ServerError: it failed"},
        "rows": {},
        "days_changed": 0,
        "fallen": {},
        "doubts": [],
    }
    assert a_report(2, 0).to_dict()["oldest"] == "2026-03-01"
    # The service listed no website.
    assert a_report(0, 0).to_dict()["oldest"] is None
