"""The example programs run, each as a user would run it."""

from __future__ import annotations

import asyncio
import importlib
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import polars as pl
import pytest

from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"


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


def run(environment: dict[str, str], program: str, *arguments: str) -> str:
    """The output of *program*."""
    finished = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / program, *arguments],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_dashboard_shows_every_website(environment: dict[str, str]) -> None:
    """The dashboard shows all websites, also when one of them fails."""
    shown = run(environment, "dashboard.py")
    assert "semicomplete.com" in shown
    assert "1,586" in shown
    shown = run(environment, "dashboard.py", "semicomplete.com", "nobody.example.com")
    assert "1,586" in shown
    assert "nobody.example.com" in shown


def test_the_analyst_sees_what_was_read(environment: dict[str, str]) -> None:
    """The analyst's program prints totals, days, pages and referrers."""
    shown = run(environment, "readers.py", "semicomplete.com")
    assert "/projects/xdotool/" in shown
    assert shown.count("█") > 10
    assert "google" in shown


def test_the_operator_adds_once(environment: dict[str, str]) -> None:
    """The operator's program adds each website once, also when it runs twice."""
    names = ("example.com", "shop.example.com")
    first = run(environment, "add_websites.py", *names)
    assert first.count(": added, Europe/Amsterdam") == 2
    second = run(environment, "add_websites.py", *names)
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


def test_the_nightly_job_writes_a_day_once(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """The nightly job leaves one complete file a day, however often it runs."""
    assert "pages" in run(environment, "nightly_parquet.py", str(tmp_path))
    files = sorted(tmp_path.glob("*/*.parquet"))
    assert len(files) == 3
    pages = pl.concat(map(pl.read_parquet, files))
    assert pages["hostname"].n_unique() == 3
    assert pages["pageviews"].sum() > 359
    shown = run(environment, "nightly_parquet.py", str(tmp_path))
    assert shown.count(" exists") == 3
    assert sorted(tmp_path.rglob("*.*")) == files


def test_a_nightly_file_has_the_day_of_its_website(tmp_path: Path) -> None:
    """Yesterday is another day in another zone, and a locked website costs no other
    one its file.
    """
    emulator = Emulator(now=datetime(2026, 3, 5, 12, tzinfo=UTC))
    for zone in ("UTC", "Pacific/Kiritimati", "America/Lima"):
        emulator.add_website(
            f"{zone.rpartition('/')[2].lower()}.example", timezone=zone
        )
    emulator.add_website("locked.example", locked=True)
    with emulator.serve() as address:
        finished = subprocess.run(
            [sys.executable, EXAMPLES / "nightly_parquet.py", str(tmp_path)],
            env=os.environ | variables_of(emulator, address),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    assert finished.returncode == 1
    assert "locked.example: " in finished.stderr
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*")} == {
        "2026-03-04/utc.example.parquet",
        "2026-03-05/kiritimati.example.parquet",
        "2026-03-04/lima.example.parquet",
    }


def test_the_digest_shows_what_grew(environment: dict[str, str]) -> None:
    """The digest has both totals, the most read pages, and what is new."""
    shown = run(environment, "weekly_digest.py", "semicomplete.com")
    assert "1,586 pageviews" in shown
    assert "/projects/xdotool/" in shown
    assert "+382 google" in shown


def test_provisioning_from_a_file(environment: dict[str, str], tmp_path: Path) -> None:
    """The plan adds nothing, the run adds once, and a second run adds nothing."""
    file = tmp_path / "websites.toml"
    file.write_text('[[websites]]\nhostname = "toml.example.com"\n', "utf-8")
    assert "1 to add" in run(environment, "provision.py", str(file))
    assert "1 added" in run(environment, "provision.py", str(file), "--yes")
    assert "1 present" in run(environment, "provision.py", str(file), "--yes")


def test_every_example_is_tested() -> None:
    """Every program in examples/ has a test that runs it."""
    here = Path(__file__)
    files = (here, here.with_name("test_many_with_dask.py"))
    source = "".join(file.read_text(encoding="utf-8") for file in files)
    assert all(
        f'"{path.name}"' in source or f'"{path.stem}"' in source
        for path in EXAMPLES.glob("*.py")
    )
