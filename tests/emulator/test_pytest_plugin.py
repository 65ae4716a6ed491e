"""The pytest plugin's fixtures, as a user's tests have them."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

USERS_TESTS = """
import anyio
import pytest

from sitestats import StatsQuery

QUERY = StatsQuery("example.com").fields("pageviews").last(days=7)


@pytest.mark.parametrize("turn", [1, 2])
def test_client(sitestats_emulator, sitestats_client, turn):
    assert sitestats_emulator.websites == ()
    sitestats_emulator.load([{"hostname": "example.com"}])
    assert sitestats_client.stats.get(QUERY).pageviews == 1
    assert len(sitestats_emulator.requests) == 1


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_async_client(sitestats_emulator, sitestats_async_client, backend):
    async def main():
        return await sitestats_async_client.stats.get(QUERY)

    sitestats_emulator.load([{"hostname": "example.com"}])
    assert anyio.run(main, backend=backend).pageviews == 1


@pytest.mark.anyio
async def test_in_a_loop(sitestats_emulator, sitestats_async_client):
    sitestats_emulator.load([{"hostname": "example.com"}])
    assert (await sitestats_async_client.stats.get(QUERY)).pageviews == 1


class TestOverridden:
    @pytest.fixture
    def sitestats_emulator(self, sitestats_emulator):
        sitestats_emulator.add_website("mine.example", public=True)
        return sitestats_emulator

    def test_the_client_follows(self, sitestats_client):
        [website] = sitestats_client.websites.list()
        assert website.hostname == "mine.example"
"""


def test_the_fixtures(tmp_path: Path) -> None:
    """The fixtures need no import, and each test has an emulator of its own."""
    (tmp_path / "test_users.py").write_text(USERS_TESTS)
    # pytest loads these by their entry points, with many others that take seconds.
    plugins = {one.name: one.value for one in entry_points(group="pytest11")}
    used = ("-p", plugins["sitestats"], "-p", plugins["anyio"])
    # A folder for temporary files may be within the checkout, which has settings.
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", *used, "."],
        cwd=tmp_path,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=True,
    )
