"""The generated traffic of the benchmarks."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

import traffic
from sitestats.emulator import Emulator

pytestmark = pytest.mark.once


def test_the_same_seed_makes_the_same_rows(tmp_path: Path) -> None:
    """The same seed makes the same file, and the emulator counts every row."""
    paths = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        traffic.write(path, 2000, seed=seed)
    texts = [path.read_bytes() for path in paths]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]
    traffic.write(tmp_path / "d.csv.gz", 2000)
    emulator = Emulator()
    emulator.load(tmp_path / "d.csv.gz")
    emulator.change_website("example.com", public=True)
    with httpx.Client(transport=emulator.transport()) as client:
        data = client.get(
            "http://emulator.test/example.com.json?version=6"
            "&fields=pageviews,visitors,pages&start=2025-01-01&end=2025-12-31"
        ).json()
    assert data["pageviews"] == 2000
    assert 900 < data["visitors"] < 1300
    assert data["pages"][0]["value"] == traffic.PAGES[0]
