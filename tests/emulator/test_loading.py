"""Loading page views and events: files and mappings, keys and types, the errors."""

from __future__ import annotations

import csv
import gzip
import io
import re
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from bare_client import NOW, GetStats
from sitestats import StatsQuery
from sitestats.emulator import Emulator

PATH = '/a,"b"\nc'
COLUMNS = ["added_iso", "hostname", "path", "is_unique", "is_robot"]
COLUMNS += ["metadata.plan_text", "query"]
CELLS = [
    ("2026-03-10T10:00:00.000Z", "example.com", PATH, "true", "", "pro, é", "x"),
    ("2026-03-11T10:00:00.000Z", "Example.COM.", "/", "false", "true", "", ""),
    ("2026-03-12T10:00:00.000Z", "new.example", "/", "", "", "", ""),
]


def write(path: Path, text: str) -> None:
    """Write *text*, compressed where the name says so."""
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


# -- files


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "my.rows.CSV"])
def test_files(
    tmp_path: Path, emulator: Emulator, get_stats: GetStats, name: str
) -> None:
    """Each form of file loads the same rows, and adds new websites."""
    table = io.StringIO()
    csv.writer(table).writerows([COLUMNS, *CELLS])
    write(tmp_path / name, table.getvalue())
    emulator.load(str(tmp_path / name))
    data = get_stats(fields="pages,pageviews,visitors").json()
    assert data["pages"] == [{"value": PATH, "pageviews": 1, "visitors": 1}]
    found = get_stats(fields="pageviews", **{"metadata.plan": "pro, é"}).json()
    assert found["pageviews"] == 1
    assert get_stats("new.example", fields="pageviews").json()["pageviews"] == 1
    assert emulator.websites == ("example.com", "new.example")


def test_a_column_beside_the_one_that_it_is_like_is_left_out(
    tmp_path: Path, emulator: Emulator
) -> None:
    """An export may have more than is documented; only what would stay empty is a
    mistake.
    """
    path = tmp_path / "rows.csv"
    write(path, "hostname,path,page\nexample.com,/a,A\n")
    assert emulator.load(path).left_out == ("page",)
    write(path, "hostname,page\nexample.com,/a\n")
    with pytest.raises(ValueError, match="did you mean 'path'"):
        emulator.load(path)


def test_only_an_empty_cell_is_null(
    tmp_path: Path, emulator: Emulator, get_stats: GetStats
) -> None:
    """Spaces and texts such as "null" are values; a byte order mark is ignored."""
    path = tmp_path / "rows.csv"
    text = 'hostname,path\nexample.com,NULL\nexample.com, \nexample.com,""\n'
    path.write_text(text, encoding="utf-8-sig")
    emulator.load(path)
    data = get_stats(fields="pages,pageviews").json()
    assert [entry["value"] for entry in data["pages"]] == [" ", "NULL"]
    assert data["pageviews"] == 3


NO_ROWS = [
    ("rows.csv", "", "first line"),
    ("rows.csv", "hostname,path\nexample.com,/,/\n", "rows.csv: row 1 has 3 cells"),
    ("rows.csv", 'hostname,path\nexample.com,"/\n', "rows.csv: "),
    ("rows.csv", "hostname,is_unique\na.example,x\n", "row 1: is_unique"),
    ("rows.xlsx", "", "give a .csv or .csv.gz file"),
    ("csv", "", "give a .csv or .csv.gz file"),
]


def test_files_that_can_not_be_loaded(tmp_path: Path, emulator: Emulator) -> None:
    """The error of a file names the file, or the row and the column."""
    for name, text, message in NO_ROWS:
        write(tmp_path / name, text)
        with pytest.raises(ValueError, match=re.escape(message)):
            emulator.load(tmp_path / name)
    write(tmp_path / "rows.csv.gz", "\n".join(["path", *map(str, range(9999))]))
    packed = (tmp_path / "rows.csv.gz").read_bytes()
    middle = len(packed) // 2
    for damaged in (
        packed[:middle],
        packed[:middle] + packed[:9] + packed[middle:],
        packed[:-8] + bytes(8),
        b"no" + packed,
    ):
        (tmp_path / "rows.csv.gz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"^rows\.csv\.gz: "):
            emulator.load(tmp_path / "rows.csv.gz", hostname="example.com")
    with pytest.raises(FileNotFoundError):
        emulator.load(tmp_path / "nothing.csv")
    assert emulator.websites == ("example.com",)


# -- mappings


def test_the_first_test_that_someone_writes_sees_its_visits() -> None:
    """A row without a time is in the last seven days, in every zone."""
    query = StatsQuery("example.com").fields("pageviews").last(days=7)
    for zone in ("Pacific/Kiritimati", "UTC", "Etc/GMT+12"):
        for hour in range(0, 24, 3):
            emulator = Emulator(now=NOW.replace(hour=hour))
            emulator.add_website("example.com", timezone=zone)
            emulator.load([{"path": "/"}], hostname="example.com")
            with emulator.client() as client:
                assert client.stats.get(query).pageviews == 1, (zone, hour)


def test_mappings_with_some_of_the_columns(
    emulator: Emulator, get_stats: GetStats
) -> None:
    """Columns may be missing, and values may be Python objects."""
    east = timezone(timedelta(hours=2))
    first = {"path": "/", "is_unique": True, "duration_seconds": 7.5}
    emulator.load([first], hostname="example.com")
    second: dict[str, object] = {
        "added_iso": datetime(2026, 3, 15, 1, 30, tzinfo=east),
        "datapoint": None,
        "duration_seconds": 9,
        "metadata.seen_date": datetime(2026, 1, 1, 2, tzinfo=east),
        "metadata.paying_bool": "No",
        "metadata.my key!_int": 7,
    }
    emulator.load([second, {"is_robot": "T"}, {"is_robot": 1}], hostname="example.com")
    emulator.load([])
    data = get_stats(fields="pageviews,visitors,seconds_on_page").json()
    assert (data["pageviews"], data["visitors"]) == (2, 1)
    assert data["seconds_on_page"] == 8.25
    found = {"seen": "2026-01-01T00:00:00Z", "paying": "false", "my_key": "7"}
    for key, value in found.items():
        data = get_stats(fields="pageviews", **{f"metadata.{key}": value}).json()
        assert data["pageviews"] == 1, key


def test_loads_in_any_order(emulator: Emulator, get_stats: GetStats) -> None:
    """The rows of a later load may be older."""
    for day in (14, 10, 12, 11, 13):
        row = {"hostname": "example.com", "added_iso": f"2026-03-{day}T10:00:00Z"}
        emulator.load([row])
    for day in range(8, 16):
        date = f"2026-03-{day:02}"
        found = get_stats(fields="pageviews", start=date, end=date).json()
        assert found["pageviews"] == (10 <= day <= 14), date


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"added_iso": "yesterday"}, "give ISO 8601 with a zone, such as 2026-03-10T"),
    ({"added_iso": date(2026, 3, 1)}, "row 2: added_iso can't be datetime.date"),
    ({"added_iso": "2026-03-10"}, "row 2: added_iso can't be"),
    ({"added_iso": "2026-03-10T10:00:00"}, "row 2: added_iso can't be"),
    ({"added_iso": "2026-02-30T10:00:00Z"}, "row 2: added_iso can't be"),
    ({"added_iso": datetime(2026, 3, 1)}, "row 2: added_iso can't be"),  # noqa: DTZ001 - the point
    ({"is_unique": "perhaps"}, "can't be 'perhaps': give true or false"),
    ({"is_robot": 2.5}, "row 2: is_robot"),
    ({"datapoint": True}, "can't be True: give the name of an event"),
    ({"path": 7}, "row 2: path can't be 7: give text"),
    ({"path": b"/"}, "row 2: path can't be b'/'"),
    ({"country_code": "Netherlands"}, "give two letters, such as NL"),
    ({"duration_seconds": "12 s"}, "give seconds, 0 or more"),
    ({"duration_seconds": float("nan")}, "give seconds, 0 or more"),
    ({"duration_seconds": -1}, "give seconds, 0 or more"),
    ({"device_type": "phone"}, "give one of mobile, tablet, desktop, tv"),
    ({"hostname": "no host", "metadata.new_int": 1}, "hostname can't be 'no host'"),
    ({"hostname": None}, "no hostname"),
    ({"is_uniqe": True}, "did you mean 'is_unique'"),
    ({"metadata.plan": "pro"}, "metadata.<key>_<type>"),
    ({"metadata._text": "pro"}, "metadata.<key>_<type>"),
    ({"metadata.a_date": "2026-01-01"}, "give ISO 8601 with a zone"),
    ({"metadata.a_int": "nan"}, "give a number"),
    ({"metadata.a_int": "1e5"}, "give a number"),
    ({"metadata.a_bool": "maybe"}, "row 2: metadata.a_bool"),
]


def test_what_can_not_be_loaded(emulator: Emulator, get_stats: GetStats) -> None:
    """An invalid value is named, and nothing of the load is kept."""
    good: dict[str, object] = {"hostname": "example.com"}
    for row, message in REFUSED:
        with pytest.raises(ValueError, match=re.escape(message)):
            emulator.load([good, good | row])
    for rows in (good, [good, "path"]):
        with pytest.raises(TypeError, match=r"not a mapping: .* load\(\["):
            emulator.load(rows)  # type: ignore[arg-type]
    assert get_stats(fields="pageviews").json()["pageviews"] == 0
    # A column of the refused rows can be added.
    emulator.load([good, good | {"metadata.new_int": 1}])
    for params, count in (({}, 2), ({"metadata.new": "1"}, 1)):
        assert get_stats(fields="pageviews", **params).json()["pageviews"] == count


# -- metadata

STORED: list[tuple[str, object]] = [
    *(("a_text", "7"), ("a_int", 7), ("a_int", "7.0"), ("a_text", "7.0")),
    *(("a_bool", True), ("a_text", "true"), ("a_date", "2026-01-01T12:00:00Z")),
    ("a_date", "2026-01-01T14:00:00+02:00"),
    *(("a_text", "2026-01-01T12:00:00Z"), ("a_text", "x*"), ("a_int", "-0.50")),
    *(("a_int", "12345678901234567890"), ("A_text", "7"), ("a_int", "-0")),
]
FOUND: dict[str, set[int]] = {
    "7": {0, 1, 2},
    "7.0": {1, 2, 3},
    "07.00": {1, 2},
    "-0.5": {10},
    "0": {13},
    "true": {4, 5},
    "x*": {9},
    "12345678901234567890": {11},
    "2026-01-01T12:00:00Z": {6, 7, 8},
    "2026-01-01T12:00:00.000Z": {6, 7},
    "2026-01-01T12:00:00+00:00": {6, 7},
}
NOT_FOUND = ["0.5", "True", "false", "x", "1e2", "9" * 60, "2026-01-01"]
NOT_FOUND += ["12345678901234567891", "2026-01-01T14:00:00+02:00"]


def test_metadata_types_are_detected(emulator: Emulator, get_stats: GetStats) -> None:
    """A metadata value matches every type that it may stand for, and text.

    Keys that differ by case alone are kept apart.
    """
    emulator.load(
        {"hostname": "example.com", "path": f"/{number}", f"metadata.{key}": value}
        for number, (key, value) in enumerate(STORED)
    )
    for value in (*FOUND, *NOT_FOUND):
        data = get_stats(fields="pages", **{"metadata.a": value}).json()
        found = {int(entry["value"][1:]) for entry in data["pages"]}
        assert found == FOUND.get(value, set()), value


# -- at once


def test_emulators_never_see_one_another() -> None:
    """Each has a copy of the demo's traffic: what changes in one is in no other."""
    first, later = Emulator.demo(now=NOW), Emulator.demo(now=NOW)
    query = StatsQuery("semicomplete.com").fields("pageviews").last(days=7)
    first.load([{"path": "/"}] * 5, hostname="semicomplete.com")
    first.load([{"metadata.plan_text": "pro"}], hostname="mine.example")
    with first.client() as one, later.client() as other:
        assert one.stats.get(query).pageviews == other.stats.get(query).pageviews + 5
    assert "mine.example" not in later.websites
