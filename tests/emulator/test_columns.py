"""Columns of the raw export: which cells are null, keys of metadata, and types."""

from __future__ import annotations

from pathlib import Path

import pytest

from bare_client import GetStats
from sitestats.emulator import Emulator


def test_only_an_empty_cell_is_null(
    tmp_path: Path, emulator: Emulator, get_stats: GetStats
) -> None:
    """Spaces, and texts such as "null", are values."""
    path = tmp_path / "rows.csv"
    path.write_text('hostname,path\nexample.com,NULL\nexample.com, \nexample.com,""\n')
    emulator.load(path)
    data = get_stats(fields="pages,pageviews").json()
    assert [entry["value"] for entry in data["pages"]] == [" ", "NULL"]
    assert data["pageviews"] == 3


def test_keys_differ_by_case(emulator: Emulator, get_stats: GetStats) -> None:
    """Metadata keys that differ by case alone are kept apart, unlike DuckDB's names."""
    emulator.load([{"hostname": "example.com", "metadata.Plan_text": "a"}])
    emulator.load([{"hostname": "example.com", "metadata.plan_text": "b"}])
    for key, value, found in (("Plan", "a", 1), ("plan", "b", 1), ("plan", "a", 0)):
        data = get_stats(fields="pageviews", **{f"metadata.{key}": value}).json()
        assert data["pageviews"] == found


@pytest.mark.parametrize("device", ["phone", "Mobile", " tv", "bot", "*"])
def test_a_device_type_is_one_of_four(
    emulator: Emulator, get_stats: GetStats, device: str
) -> None:
    """A device type that the document does not allow is not served by mistake."""
    allowed = ["mobile", "tablet", "desktop", "tv", "", None]
    rows = [{"hostname": "example.com", "device_type": one} for one in allowed]
    with pytest.raises(
        ValueError, match=r"row 7: device_type can't be '.+': it is one of mobile"
    ):
        emulator.load([*rows, {"hostname": "example.com", "device_type": device}])
    assert get_stats(fields="pageviews").json()["pageviews"] == 0
    emulator.load(rows)
    found = get_stats(fields="device_types").json()["device_types"]
    assert sorted(entry["value"] for entry in found) == sorted(filter(None, allowed))


STORED: list[dict[str, object]] = [
    {"metadata.a_text": "7"},
    {"metadata.a_int": 7},
    {"metadata.a_int": "7.0"},
    {"metadata.a_text": "7.0"},
    {"metadata.a_bool": True},
    {"metadata.a_text": "true"},
    {"metadata.a_date": "2026-01-01T12:00:00Z"},
    {"metadata.a_date": "2026-01-01T14:00:00+02:00"},
    {"metadata.a_text": "2026-01-01T12:00:00Z"},
    {"metadata.a_text": "x*"},
    {"metadata.a_int": "-0.50"},
    {"metadata.a_int": "123456789012345678901234567890"},
    {"metadata.A_text": "7"},
    {"metadata.a_int": "-0"},
]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("7", {0, 1, 2}),
        ("7.0", {1, 2, 3}),
        ("07.00", {1, 2}),
        ("-0.5", {10}),
        ("0", {13}),
        ("-0.0", {13}),
        ("0.5", set[int]()),
        ("true", {4, 5}),
        ("True", set[int]()),
        ("false", set[int]()),
        ("2026-01-01T12:00:00Z", {6, 7, 8}),
        ("2026-01-01T12:00:00.000Z", {6, 7}),
        ("2026-01-01T12:00Z", {6, 7}),
        ("2026-01-01T14:00:00+02:00", set[int]()),
        ("2026-02-30T12:00:00Z", set[int]()),
        ("2026-01-01", set[int]()),
        ("x*", {9}),
        ("x", set[int]()),
        ("123456789012345678901234567890", {11}),
        ("123456789012345678901234567891", set[int]()),
        ("1e2", set[int]()),
    ],
)
def test_metadata_types_are_detected(
    emulator: Emulator, get_stats: GetStats, value: str, found: set[int]
) -> None:
    """A metadata value matches every type that it may stand for, and text."""
    emulator.load(
        {"hostname": "example.com", "path": f"/{number}", **stored}
        for number, stored in enumerate(STORED)
    )
    data = get_stats(fields="pages", **{"metadata.a": value}).json()
    assert {int(entry["value"][1:]) for entry in data["pages"]} == found
