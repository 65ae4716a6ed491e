"""The example programs run, each as a user would run it."""

from __future__ import annotations

import asyncio
import importlib
import runpy
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import duckdb
import httpx
import pytest

from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
Run: TypeAlias = Callable[..., str]


def use(emulator: Emulator, address: str, patch: pytest.MonkeyPatch) -> None:
    """Let programs use *emulator* at *address*."""
    patch.setenv("SITESTATS_BASE_URL", address)
    patch.setenv("SITESTATS_API_KEY", emulator.api_key)
    patch.setenv("SITESTATS_USER_ID", emulator.user_id)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    """Real traffic on a socket, which the environment names."""
    emulator = Emulator.demo()
    with emulator.serve() as address:
        use(emulator, address, monkeypatch)
        yield emulator


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


@pytest.mark.usefixtures("served")
def test_the_dashboard_shows_every_website(run: Run) -> None:
    """The dashboard shows all websites, also when one of them fails."""
    every = run("dashboard.py")
    two = run("dashboard.py", "semicomplete.com", "nobody.example.com")
    assert "semicomplete.com" in every
    assert "1,586" in every
    assert "1,586" in two
    assert "nobody.example.com" in two


@pytest.mark.usefixtures("served")
def test_the_analyst_sees_what_was_read(run: Run) -> None:
    """The analyst's program prints totals, days, pages and referrers."""
    shown = run("readers.py", "semicomplete.com")
    assert "/projects/xdotool/" in shown
    assert shown.count("█") > 10
    assert "google" in shown


@pytest.mark.usefixtures("served")
def test_the_operator_adds_once(run: Run) -> None:
    """The operator's program adds each website once, also when it runs twice."""
    arguments = ("Europe/Amsterdam", "example.com", "shop.example.com")
    assert run("add_websites.py", *arguments).count(": added, Europe/Amsterdam") == 2
    assert run("add_websites.py", *arguments).count(": present") == 2


@pytest.mark.usefixtures("served")
def test_an_endpoint_of_an_application(monkeypatch: pytest.MonkeyPatch) -> None:
    """The FastAPI endpoint returns numbers, and turns our errors into statuses."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    module = importlib.import_module("fastapi_dashboard")

    async def get(*paths: str) -> list[httpx.Response]:
        transport = httpx.ASGITransport(module.app)
        async with (
            module.with_client(module.app),
            httpx.AsyncClient(transport=transport, base_url="http://app") as browser,
        ):
            return [await browser.get(path) for path in paths]

    names = ("semicomplete.com?days=7", "nobody.example.com", "semicomplete.com?days=0")
    good, unknown, wrong = asyncio.run(get(*(f"/{name}" for name in names)))
    assert good.json()["pageviews"] == 1586
    assert len(good.json()["days"]) == 7
    assert [unknown.status_code, wrong.status_code] == [404, 422]
    assert [*unknown.json(), *wrong.json()] == ["error", "error"]


@pytest.mark.long
def test_the_nightly_job_loads_each_day_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nightly job has a row for each day of each website, also when it runs twice;
    a locked website costs no other one anything.
    """
    pytest.importorskip("dlt")
    monkeypatch.chdir(tmp_path)
    emulator = Emulator.made_up(2, days=4)
    emulator.add_website("locked.example", locked=True)
    first = datetime.now(UTC).date() - timedelta(days=3)
    with emulator.serve() as address:
        use(emulator, address, monkeypatch)
        for _ in range(2):
            shown = run("nightly_warehouse.py", first)
            assert shown.count("complete through") == 2
            assert "ended with 1\n" in shown
            assert "locked.example: WebsiteLockedError: " in shown
    with duckdb.connect("sitestats.duckdb", read_only=True) as database:
        days = database.execute("SELECT hostname, first_day FROM web.days").fetchall()
    assert len(days) == len(set(days)) >= 4
    assert {name for name, _ in days} == {"shop.example", "blog.example"}


@pytest.mark.usefixtures("served")
def test_the_digest_shows_what_grew(run: Run) -> None:
    """The digest has both totals, the most read pages, and what is new."""
    shown = run("weekly_digest.py", "semicomplete.com")
    assert "1,586 pageviews" in shown
    assert "/projects/xdotool/" in shown
    assert "+382 google" in shown


@pytest.mark.usefixtures("served")
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
    assert all(path.stem in source for path in EXAMPLES.glob("*.py"))
