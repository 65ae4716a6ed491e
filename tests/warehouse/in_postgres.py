"""A real PostgreSQL: ``nox -s warehouse -- postgres``, where its programs must be."""

from __future__ import annotations

import datetime as dt
import os
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import dlt
import psycopg2
import pytest

from killed_updates import Kills
from measure_updates import DELAY, members, time_steps
from service import serving
from sitestats import Client
from sitestats.emulator import Emulator
from sitestats.warehouse import _update, sitestats_source, update
from updates import NOW, QUERIES, Tables, pipeline, run, tables, tables_of, ticking

KILLS: Final = 20
LISTS: Final = ("pages", "countries", "events")
"""Those that the queries of the page need."""
NIGHT: Final = dt.timedelta(days=1)


def program(name: str) -> str:
    """The path of one of PostgreSQL's programs, which Debian keeps off the PATH."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, places)])
    found = shutil.which(name, path=path)
    assert found, f"{name} is not installed: apt-get install postgresql"
    return found


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server on loopback, in a new folder of its own user."""
    # It refuses to run as root.
    other = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    made = subprocess.run(
        [*other, "mktemp", "-d", "/tmp/sitestats-postgres-XXXXXX"],
        check=True,
        capture_output=True,
        text=True,
    )
    folder = Path(made.stdout.strip())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    control = [*other, program("pg_ctl"), "-D", str(folder / "data"), "-s", "-w"]
    try:
        subprocess.run([*control, "init", "-o", "-A trust -E UTF8"], check=True)
        options = f"-c listen_addresses=127.0.0.1 -p {port} -k '' -F"
        log = str(folder / "log")
        subprocess.run([*control, "-l", log, "-o", options, "start"], check=True)
        try:
            user = "postgres" if other else os.environ.get("USER", "postgres")
            yield f"postgresql://{user}:unused@127.0.0.1:{port}/"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True)
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def database(address: str, request: pytest.FixtureRequest) -> str:
    """The address of a new database."""
    name = f"test_{random.Random(request.node.name).randrange(10**9)}"
    with connected(f"{address}postgres") as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    return f"{address}{name}"


@contextmanager
def connected(database: str) -> Iterator[Any]:
    """A cursor."""
    connection = psycopg2.connect(database)
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            yield cursor
    finally:
        connection.close()


class AsInDuckDB:
    """A cursor whose ``execute`` returns what has the rows."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def execute(self, sql: str) -> Any:
        self._cursor.execute(sql)
        return self._cursor


def tables_in(database: str) -> Tables:
    """The rows of each table, as ``tables`` has those of DuckDB."""
    with connected(database) as cursor:
        return tables_of(AsInDuckDB(cursor))


@pytest.mark.parametrize("file_format", ["parquet", "insert_values"])
def test_it_has_what_duckdb_has(
    database: str, tmp_path: Path, file_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows in PostgreSQL are those in DuckDB, also after a second night, with texts
    that PostgreSQL refuses, and with empty ones, whichever way they are loaded.
    """
    if file_format == "insert_values":
        monkeypatch.setattr(_update, "find_spec", lambda _: None)
    emulator = Emulator.made_up(2, days=6, now=NOW + NIGHT)
    paths = ["/a\0b", "/a\nb\\n\\", "/'\"", "/\t,;", "/é\U0001f600"]
    rows = [{"path": path, "added_iso": "2026-03-04T10:00:00.000Z"} for path in paths]
    rows += [{**row, "utm_source": ""} for row in rows]
    emulator.load(rows, hostname="texts.example")
    postgres = dlt.destinations.postgres(database)
    for now in (NOW, NOW + NIGHT):
        emulator.now = now
        run(tmp_path / "duckdb", emulator, lists=LISTS)
        run(tmp_path / "postgres", emulator, postgres, lists=LISTS)
    found = tables_in(database)
    assert found == tables(tmp_path / "duckdb")
    assert "/a\ufffdb" in str(found["pages"])
    assert len(found["days"]) > 10
    with connected(database) as cursor:
        for sql in QUERIES:
            cursor.execute(sql)


def test_a_night_reads_no_year(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A night's load finds the rows that it replaces by an index, which the first load
    made. The times of the loads, with it and without, are printed.
    """
    steps = time_steps()
    with (
        serving(DELAY, members(), 1_000) as service,
        connected(database) as cursor,
        Client(service, api_key="api-key", user_id="user", proxy=None) as client,
    ):

        def load_night(number: int) -> float:
            now = dt.datetime(2026, 2, 28, 6, tzinfo=dt.UTC) + number * NIGHT
            source = sitestats_source(
                first_day=dt.date(2026, 2, 27),
                lists=["pages"],
                client=client,
                concurrency=50,
                now=ticking(now),
            )
            update(pipeline(tmp_path, dlt.destinations.postgres(database)), source)
            return steps.pop("load")

        load_night(0)
        for table in ("days", "pages"):
            cursor.execute(f"SELECT * FROM web.{table} LIMIT 0")
            names = [column.name for column in cursor.description]
            of_before = ", ".join(names).replace("first_day", "first_day - n")
            cursor.execute(
                f"INSERT INTO web.{table} ({', '.join(names)}) SELECT {of_before} "
                f"FROM web.{table}, generate_series(1, 364) AS n"
            )
        cursor.execute("ANALYZE")
        cursor.execute(
            "EXPLAIN DELETE FROM web.pages d WHERE EXISTS (SELECT 1 FROM "
            "web_staging.pages s WHERE d.hostname = s.hostname AND d.first_day = "
            "s.first_day AND d.rank = s.rank OR d.hostname = s.hostname AND "
            "d.first_day = s.first_day)"
        )
        assert "Index Scan using pages_of_a_day" in str(cursor.fetchall())
        with_it = load_night(1)
        cursor.execute("SELECT count(*) FROM web.pages")
        rows = cursor.fetchone()[0]
        cursor.execute("DROP INDEX web.pages_of_a_day, web.days_of_a_day")
        without = load_night(2)
    with capsys.disabled():
        sys.stdout.write(f"{rows:,} rows: {with_it:.1f} s, without {without:.1f} s\n")


def test_killed_updates_leave_no_trace(database: str, tmp_path: Path) -> None:
    """Killed at random moments, again and again, an update is finished by a later one:
    each row is there, and once.
    """
    luck = random.Random(0)
    emulator = Emulator.made_up(3, days=6, now=NOW + NIGHT)
    with emulator.serve() as service:
        kills = Kills(emulator, service)
        whole = tmp_path / "whole"
        counted = [kills.update(whole, night) for night in range(2)]
        killed = 0
        for night in range(2):
            for _ in range(KILLS):
                moment = luck.randint(1, counted[night])
                folder = tmp_path / str(luck.randrange(2))
                killed += not kills.update(folder, night, moment, database=database)
            assert kills.update(tmp_path / "0", night, database=database)
    assert killed > KILLS
    assert tables_in(database) == tables(whole)
