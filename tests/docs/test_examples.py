"""The example programs run, each as a user would run it."""

from __future__ import annotations

import asyncio
import importlib
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import httpx
import pytest

from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = [pytest.mark.slow, pytest.mark.once]

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """Variables that make a program use an emulator on a socket."""
    emulator = Emulator.demo()
    with emulator.serve() as address:
        yield os.environ | variables_of(emulator, address)


def variables_of(emulator: Emulator, address: str) -> dict[str, str]:
    """What a program reads to use *emulator* at *address*."""
    return {
        "SITESTATS_BASE_URL": address,
        "SITESTATS_API_KEY": emulator.api_key,
        "SITESTATS_USER_ID": emulator.user_id,
        "PYTHONIOENCODING": "utf-8",
    }


# In one process, since importing takes most of the time.
RUNS = """
import json, runpy, sys

program, runs = sys.argv[1], json.loads(sys.argv[2])
for arguments in runs:
    sys.argv = [program, *arguments]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        print("ended with", end.code)
    print(end="\\f")
"""


def run(
    environment: dict[str, str], program: str, *runs: Sequence[str]
) -> tuple[list[str], str]:
    """The output of each run of *program* with its arguments, and all errors."""
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUNS, EXAMPLES / program, dumps(runs)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split("\f")[:-1], finished.stderr


def test_the_dashboard_shows_every_website(environment: dict[str, str]) -> None:
    """The dashboard shows all websites, also when one of them fails."""
    names = ("semicomplete.com", "nobody.example.com")
    (every, two), _ = run(environment, "dashboard.py", (), names)
    assert "semicomplete.com" in every
    assert "1,586" in every
    assert "1,586" in two
    assert "nobody.example.com" in two


def test_the_analyst_sees_what_was_read(environment: dict[str, str]) -> None:
    """The analyst's program prints totals, days, pages and referrers."""
    (shown,), _ = run(environment, "readers.py", ["semicomplete.com"])
    assert "/projects/xdotool/" in shown
    assert shown.count("█") > 10
    assert "google" in shown


def test_the_operator_adds_once(environment: dict[str, str]) -> None:
    """The operator's program adds each website once, also when it runs twice."""
    arguments = ("Europe/Amsterdam", "example.com", "shop.example.com")
    (first, second), _ = run(environment, "add_websites.py", arguments, arguments)
    assert first.count(": added, Europe/Amsterdam") == 2
    assert second.count(": present") == 2


def test_an_endpoint_of_an_application(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The FastAPI endpoint returns numbers, and turns our errors into statuses."""
    for name in ("BASE_URL", "API_KEY"):
        monkeypatch.setenv(f"SITESTATS_{name}", environment[f"SITESTATS_{name}"])
    monkeypatch.syspath_prepend(str(EXAMPLES))
    module = importlib.import_module("fastapi_dashboard")

    async def get(*paths: str) -> list[httpx.Response]:
        transport = httpx.ASGITransport(module.app)
        async with (
            module.with_client(module.app),
            httpx.AsyncClient(transport=transport, base_url="http://app") as browser,
        ):
            return [await browser.get(path) for path in paths]

    good, unknown, wrong = asyncio.run(
        get(
            "/semicomplete.com?days=7",
            "/nobody.example.com",
            "/semicomplete.com?days=0",
        )
    )
    assert good.json()["pageviews"] == 1586
    assert len(good.json()["days"]) == 7
    assert unknown.status_code == 404
    assert wrong.status_code == 422
    for response in (unknown, wrong):
        assert list(response.json()) == ["error"]
        assert "json" not in response.json()["error"]


@pytest.mark.long
def test_the_nightly_job_loads_each_day_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nightly job has a row for each day of each website, also when it runs twice;
    a locked website costs no other one anything.
    """
    pytest.importorskip("dlt")
    monkeypatch.chdir(tmp_path)
    emulator = Emulator.made_up(2, days=4)
    emulator.add_website("locked.example", locked=True)
    first = str(datetime.now(UTC).date() - timedelta(days=3))
    with emulator.serve() as address:
        variables = os.environ | variables_of(emulator, address)
        shown, errors = run(variables, "nightly_warehouse.py", [first], [first])
    for one in shown:
        assert one.count("complete through") == 2
        assert one.endswith("ended with 1\n")
    assert errors.count("locked.example: WebsiteLockedError: ") == 2
    with duckdb.connect("sitestats.duckdb", read_only=True) as database:
        days = database.execute("SELECT hostname, first_day FROM web.days").fetchall()
    assert len(days) == len(set(days))
    assert {name for name, _ in days} == {"shop.example", "blog.example"}
    assert len(days) >= 4


def test_the_digest_shows_what_grew(environment: dict[str, str]) -> None:
    """The digest has both totals, the most read pages, and what is new."""
    (shown,), _ = run(environment, "weekly_digest.py", ["semicomplete.com"])
    assert "1,586 pageviews" in shown
    assert "/projects/xdotool/" in shown
    assert "+382 google" in shown


def test_provisioning_from_a_file(environment: dict[str, str], tmp_path: Path) -> None:
    """The plan adds nothing, the run adds once, and a second run adds nothing."""
    file = tmp_path / "websites.toml"
    file.write_text('[[websites]]\nhostname = "toml.example.com"\n', "utf-8")
    runs = [[str(file)], *[[str(file), "--yes"]] * 2]
    (plan, first, second), _ = run(environment, "provision.py", *runs)
    assert "1 to add" in plan
    assert "1 added" in first
    assert "1 present" in second


def test_every_example_is_tested() -> None:
    """Every program in examples/ has a test that runs it."""
    files = Path(__file__).parent.glob("test_*.py")
    source = "".join(file.read_text(encoding="utf-8") for file in files)
    assert all(
        f'"{path.name}"' in source or f'"{path.stem}"' in source
        for path in EXAMPLES.glob("*.py")
    )
