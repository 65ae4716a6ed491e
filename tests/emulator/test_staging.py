"""Loading rows from files and mappings, and the errors."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from bare_client import NOW, GetStats
from sitestats.emulator import Emulator

ROWS: list[dict[str, Any]] = [
    {
        "added_iso": "2026-03-10T10:00:00.000Z",
        "hostname": "example.com",
        "path": '/a,"b"\nc',
        "is_unique": "true",
        "is_robot": "false",
        "metadata.plan_text": "pro, é",
        "query": "not=needed",
    },
    {
        "added_iso": "2026-03-11T10:00:00.000Z",
        "hostname": "Example.COM.",
        "path": "/",
        "is_unique": "false",
        "is_robot": "true",
        "metadata.plan_text": "",
        "query": "",
    },
    {
        "added_iso": "2026-03-12T10:00:00.000Z",
        "hostname": "new.example",
        "path": "/",
        "is_unique": "",
        "is_robot": "",
        "metadata.plan_text": "",
        "query": "",
    },
]


def write_csv(path: Path) -> None:
    """Write the rows as the raw export does."""
    with gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w") as file:
        writer = csv.DictWriter(file, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)


def write_lines(path: Path) -> None:
    """Write the rows as JSON lines."""
    with gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w") as file:
        file.writelines(json.dumps(row) + "\n\n" for row in ROWS)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("rows.csv", write_csv),
        ("rows.csv.gz", write_csv),
        ("my.rows.CSV", write_csv),
        ("rows.jsonl", write_lines),
        ("rows.ndjson.gz", write_lines),
    ],
)
def test_files(
    tmp_path: Path,
    emulator: Emulator,
    get_stats: GetStats,
    name: str,
    write: Callable[..., None],
) -> None:
    """Each kind of file loads the same rows, and adds new websites."""
    write(tmp_path / name)
    emulator.load(str(tmp_path / name))
    data = get_stats(fields="pages,pageviews,visitors").json()
    assert data["pages"] == [{"value": '/a,"b"\nc', "pageviews": 1, "visitors": 1}]
    assert (
        get_stats(fields="pageviews", **{"metadata.plan": "pro, é"}).json()["pageviews"]
        == 1
    )
    assert get_stats("new.example", fields="pageviews").json()["pageviews"] == 1
    assert emulator.websites == ("example.com", "new.example")


def test_a_byte_order_mark(
    tmp_path: Path, emulator: Emulator, get_stats: GetStats
) -> None:
    """A byte order mark is no part of the first column's name."""
    path = tmp_path / "rows.csv"
    path.write_text("hostname,path\nexample.com,/a\n", encoding="utf-8-sig")
    emulator.load(path)
    assert get_stats(fields="pages").json()["pages"][0]["value"] == "/a"


def test_mappings_with_some_of_the_columns(
    emulator: Emulator, get_stats: GetStats
) -> None:
    """Columns may be missing, and values may be Python objects."""
    east = timezone(timedelta(hours=2))
    emulator.load(
        [{"path": "/", "is_unique": True, "duration_seconds": 7.5}],
        hostname="example.com",
    )
    emulator.load(
        [
            {
                "hostname": "example.com",
                "added_iso": datetime(2026, 3, 15, 1, 30, tzinfo=east),
                "datapoint": None,
                "duration_seconds": 9,
                "metadata.seen_date": datetime(2026, 1, 1, 2, tzinfo=east),
                "metadata.paying_bool": False,
                "metadata.my key!_int": 7,
            },
            {"hostname": "example.com", "is_robot": True},
        ]
    )
    today = get_stats(fields="pageviews,visitors,seconds_on_page", start="today").json()
    assert (today["pageviews"], today["visitors"]) == (1, 1)
    whole = get_stats(fields="pageviews,seconds_on_page").json()
    assert (whole["pageviews"], whole["seconds_on_page"]) == (2, 8.25)
    for key, value in (
        ("seen", "2026-01-01T00:00:00Z"),
        ("paying", "false"),
        ("my_key", "7"),
    ):
        data = get_stats(fields="pageviews", **{f"metadata.{key}": value}).json()
        assert data["pageviews"] == 1, key


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"added_iso": "2026-03-10"}, "added_iso can't be '2026-03-10'"),
        ({"added_iso": "2026-03-10T10:00:00"}, "added_iso"),
        ({"added_iso": "2026-02-30T10:00:00Z"}, "added_iso"),
        ({"added_iso": NOW.replace(tzinfo=None)}, "added_iso"),
        ({"is_unique": "yes"}, "is_unique can't be 'yes'"),
        ({"is_robot": 1}, "is_robot"),
        ({"duration_seconds": "long"}, "duration_seconds"),
        ({"duration_seconds": float("nan")}, "duration_seconds"),
        ({"duration_seconds": -1}, "duration_seconds"),
        ({"duration_seconds": "inf"}, "duration_seconds"),
        ({"path": "\ud800"}, "path"),
        ({"path": b"/"}, "path"),
        ({"path": ["/"]}, "path"),
        ({"hostname": "no host"}, "'no host' is not a valid host name"),
        ({"hostname": None}, "no hostname"),
        ({"is_uniqe": True}, "did you mean 'is_unique'"),
        ({"contry_code": "NL"}, "did you mean 'country_code'"),
        ({"metadata.plan": "pro"}, "metadata.<key>_<type>"),
        ({"metadata._text": "pro"}, "metadata.<key>_<type>"),
        ({"metadata.a_int": "seven"}, "metadata.a_int can't be 'seven'"),
        ({"metadata.a_int": "1e3"}, "metadata.a_int"),
        ({"metadata.a_bool": "1"}, "metadata.a_bool"),
        ({"metadata.a_date": "2026-01-01"}, "metadata.a_date"),
        ({"metadata.a b_text": "1", "metadata.a_b_text": "2"}, "as another column"),
    ],
    ids=str,
)
def test_what_can_not_be_loaded(
    emulator: Emulator, get_stats: GetStats, row: dict[str, object], message: str
) -> None:
    """An invalid value is named, and nothing of the load is kept."""
    good: dict[str, object] = {"hostname": "example.com"}
    with pytest.raises(ValueError, match=r"\w") as caught:
        emulator.load([good, good | row])
    assert message in str(caught.value)
    if "can't be" in message:
        assert "row 2" in str(caught.value)
    assert get_stats(fields="pageviews").json()["pageviews"] == 0
    assert emulator.websites == ("example.com",)
    emulator.load([good])
    assert get_stats(fields="pageviews").json()["pageviews"] == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rows.csv", "", "first line"),
        ("rows.csv", "path,path\n/,/\n", "twice"),
        ("rows.csv", "hostname,path\nexample.com,/,/\n", "rows.csv: "),
        ("rows.csv", "hostname,is_unique\nexample.com,x\n", "row 1: is_unique"),
        ("rows.jsonl", "{}\n{\n", "line 2: not JSON"),
        ("rows.xlsx", "", "give a .csv, .jsonl or .ndjson file"),
        ("rows.gz", "", "give a .csv, .jsonl or .ndjson file"),
        ("rows", "", "give a .csv, .jsonl or .ndjson file"),
    ],
)
def test_files_that_can_not_be_loaded(
    tmp_path: Path, emulator: Emulator, name: str, text: str, message: str
) -> None:
    """The error of a file names the file."""
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=r"\w") as caught:
        emulator.load(tmp_path / name)
    assert message in str(caught.value)


def test_rows_must_be_mappings(tmp_path: Path, emulator: Emulator) -> None:
    """A row that is no mapping raises a TypeError."""
    path = tmp_path / "rows.jsonl"
    path.write_text("[1]\n")
    with pytest.raises(TypeError, match="a row is a mapping"):
        emulator.load(path)
    with pytest.raises(FileNotFoundError):
        emulator.load(tmp_path / "nothing.csv")


NAMED = {
    "data[1].csv": "data1.csv",
    "z*.csv": "zebra.csv",
    "q?.csv": "qa.csv",
    "[!a].csv": "b.csv",
    "**.csv": "any.csv",
    "d[1]/x.csv": "d1/x.csv",
    "~/x.csv": "x.csv",
    "number=7/x.csv": "x.csv",
    "sp ace;'\".csv": "x.csv",
}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", NAMED)
def test_the_file_of_that_name_is_loaded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    packed: bool,  # noqa: FBT001 - pytest gives it by its name
) -> None:
    """A name is no pattern: the file of that name is loaded, and no other."""
    monkeypatch.chdir(tmp_path)
    ending = ".gz" if packed else ""
    for file, hostname in ((name, "right.example"), (NAMED[name], "wrong.example")):
        path = Path(f"{file}{ending}")
        path.parent.mkdir(exist_ok=True)
        content = f"hostname\n{hostname}\n".encode()
        path.write_bytes(gzip.compress(content) if packed else content)
    for path in (f"{name}{ending}", tmp_path / f"{name}{ending}"):
        emulator = Emulator(now=NOW)
        emulator.load(path)
        assert emulator.websites == ("right.example",)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("name", ["a\\*.csv", os.fsdecode(b"\xff.csv")])
def test_a_name_that_duckdb_can_t_open(tmp_path: Path, name: str) -> None:
    """A name that DuckDB has no way to write is an error, and never another file."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.csv").write_text("hostname\nwrong.example\n")
    path = tmp_path / name
    path.write_text("hostname\nright.example\n")
    emulator = Emulator(now=NOW)
    with pytest.raises(ValueError, match=r"\.csv: "):
        emulator.load(path)
    assert emulator.websites == ()


@pytest.mark.parametrize("line", ["[" * 100_000, "1" * 5_000])
def test_json_lines_that_python_can_t_read(tmp_path: Path, line: str) -> None:
    """A line that is too deep or too long for Python is an error with its number."""
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"hostname": "a.example"}}\n{line}\n')
    emulator = Emulator(now=NOW)
    with pytest.raises(ValueError, match=r"rows\.jsonl, line 2: not JSON"):
        emulator.load(path)
    assert emulator.websites == ()
