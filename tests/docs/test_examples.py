"""The example programs run, each as a user would run it."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pytest

from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
Run: TypeAlias = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a program with arguments, and returns what it printed."""

    def run(program: str, *arguments: object) -> str:
        path = str(EXAMPLES / program)
        monkeypatch.setattr(sys, "argv", [path, *map(str, arguments)])
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as end:
            print("ended with", end.code)  # noqa: T201 - beside what it printed
        return "".join(capsys.readouterr())

    return run


HOST = "semicomplete.com"
SHOWN: dict[str, tuple[list[str], list[str]]] = {
    "dashboard.py": ([HOST, "nobody.example.com"], ["1,586", "nobody.example.com"]),
    "readers.py": ([HOST], ["/projects/xdotool/", "█", "google"]),
    "weekly_digest.py": (
        [HOST],
        ["1,586 pageviews", "/projects/xdotool/", "+382 google"],
    ),
}


@pytest.mark.usefixtures("emulator")
def test_what_programs_show(run: Run) -> None:
    """The dashboard, also of a website that fails; the analyst's program, with bars;
    the digest, with what grew.
    """
    assert "1,586" in run("dashboard.py")
    for program, (arguments, words) in SHOWN.items():
        shown = run(program, *arguments)
        assert all(word in shown for word in words), shown


@pytest.mark.parametrize("program", ["readers.py", "weekly_digest.py", "provision.py"])
def test_a_program_without_its_argument_shows_how_it_is_run(
    run: Run, program: str
) -> None:
    """The line to type is the output, not a traceback."""
    shown = run(program)
    assert shown.startswith("ended with ")
    assert f"python examples/{program} " in shown


LISTS: dict[str, Any] = {
    "pageviews": 3,
    "visitors": None,
    "pages": [{"value": "/a", "pageviews": 3, "visitors": 2, "seconds_on_page": None}],
    "referrers": None,
    "histogram": None,
}


@pytest.mark.parametrize(
    ("program", "body", "words"),
    [
        ("dashboard.py", {"pageviews": 3, "visitors": None}, "3   unknown"),
        ("dashboard.py", {"pageviews": 3, "visitors": 2}, f"{HOST}  "),
        ("readers.py", LISTS, "3 /a  unknown"),
        ("weekly_digest.py", LISTS, "unknown visitors"),
    ],
)
@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_what_is_not_known_is_said(
    emulator: Emulator, run: Run, program: str, body: dict[str, Any], words: str
) -> None:
    """Totals and lists that a response lacks end no program, and are not zeros."""
    emulator.fail_next(2, body={"ok": True, **body}, path=f"/{HOST}.json")
    assert words in run(program, HOST)


@pytest.mark.long
def test_the_nightly_job_loads_each_day_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nightly job has a row for each day of each website, also when it runs twice;
    a locked website costs no other one anything.
    """
    pytest.importorskip("dlt")
    monkeypatch.chdir(tmp_path)
    assert "nightly_warehouse.py 2026-01-01" in run("nightly_warehouse.py")
    emulator = Emulator.made_up(2, days=4)
    emulator.add_website("locked.example", locked=True)
    first = datetime.now(UTC).date() - timedelta(days=3)
    with emulator.serve() as address:
        monkeypatch.setenv("SITESTATS_BASE_URL", address)
        monkeypatch.setenv("SITESTATS_API_KEY", emulator.api_key)
        monkeypatch.setenv("SITESTATS_USER_ID", emulator.user_id)
        for _ in range(2):
            shown = run("nightly_warehouse.py", first)
            assert shown.count("complete through") == 2
            assert "ended with 1\n" in shown
            assert "locked.example: WebsiteLockedError: " in shown
    with duckdb.connect("sitestats.duckdb", read_only=True) as database:
        days = database.execute("SELECT hostname, first_day FROM web.days").fetchall()
    assert len(days) == len(set(days)) >= 4
    assert {name for name, _ in days} == {"shop.example", "blog.example"}


@pytest.mark.usefixtures("emulator")
def test_provisioning_from_a_file(run: Run, tmp_path: Path) -> None:
    """The plan adds nothing, the run adds once, and a second run adds nothing."""
    file = tmp_path / "websites.toml"
    file.write_text('[[websites]]\nhostname = "toml.example.com"\n', "utf-8")
    assert "1 to add" in run("provision.py", file)
    assert "1 added" in run("provision.py", file, "--yes")
    assert "1 present" in run("provision.py", file, "--yes")


def test_every_example_is_tested() -> None:
    """Every program in examples/ has a test that runs it."""
    files = Path(__file__).parent.glob("test_*.py")
    source = "".join(file.read_text("utf-8") for file in files)
    paths = [*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.mjs")]
    assert all(path.stem in source for path in paths)
