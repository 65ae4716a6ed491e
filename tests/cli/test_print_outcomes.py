"""``sitestats stats`` and ``compare`` of many websites."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import pytest

from commands import rows_of, run_in_a_terminal, start

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Run
    from sitestats.emulator import Emulator

HOST = "semicomplete.com"
BLOG = "blog.semicomplete.com"
LAST = ("--last", "4", "-f", "visitors")


def test_many_websites_are_a_row_each(emulator: Emulator, run: Run) -> None:
    """CSV of several websites has the host name, the zone and the days of each, in
    the order of the arguments.
    """
    done = run("stats", BLOG, HOST, *LAST, "--format", "csv")
    assert (done.code, done.err) == (0, "")
    first, second = rows_of(done.out)
    assert list(first) == [
        *("hostname", "timezone", "first_day", "last_day", "visitors", "partial")
    ]
    assert (first["hostname"], second["hostname"]) == (BLOG, HOST)
    assert second["visitors"] == "953"
    assert first["first_day"] < first["last_day"]


def test_each_object_says_whose_it_is(emulator: Emulator, run: Run) -> None:
    """An object has the host name and the zone where the response has none."""
    options = ("--api-version", 2, "--timezone", "Asia/Tokyo", "--format", "jsonl")
    for line in run("stats", HOST, BLOG, *LAST, *options).out.splitlines():
        assert json.loads(line)["timezone"] == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("each", "period", "days"),
    [
        (
            "month",
            ["--start", "2014-12-20", "--end", "2015-02-03"],
            ["2014-12-20", "2015-01-01", "2015-02-01"],
        ),
        ("week", ["--during", "2026-W10"], ["2026-03-02"]),
        ("year", ["--during", "2025"], ["2025-01-01"]),
        ("day", ["--during", "2026-W10", "--end", "2026-03-03"], []),
    ],
)
def test_each_unit_is_a_row(
    emulator: Emulator, run: Run, each: str, period: list[str], days: list[str]
) -> None:
    """--each splits the period, also of one website; it is cut at its ends."""
    done = run("stats", HOST, *period, "--each", each, "-f", "visitors", "--format=csv")
    assert done.code == (0 if days else 2)
    assert [row["first_day"] for row in rows_of(done.out)] == days


def test_words_are_days_of_each_website(emulator: Emulator, run: Run) -> None:
    """Words become dates in the website's zone, or the one that is given. Days alone
    stay words where no list was read, and need a period.
    """
    by_day = run("stats", HOST, "--last", 3, "--each", "day", "--format", "csv")
    assert len(rows_of(by_day.out)) == 3
    days = {request.params["start"] for request in emulator.requests}
    assert days == {"today-3d", "today-2d", "yesterday"}
    emulator.forget_requests()
    options = ("--timezone", "Asia/Tokyo", "--last", 40, "--each", "month")
    done = run("stats", HOST, *options, "--format", "csv")
    assert len(rows_of(done.out)) >= 2
    assert "today" not in emulator.requests[-1].params["start"]
    emulator.forget_requests()
    done = run("stats", HOST, "--each", "day")
    assert (done.code, "--timezone" in done.err) == (2, True)
    assert emulator.requests == ()


def test_a_list_of_each_website(emulator: Emulator, run: Run) -> None:
    """A list has rows for each website, and says in each whether it was cut."""
    options = ("--last", 4, "-f", "pages,countries", "--limit", 2, "--format", "csv")
    done = run("stats", HOST, BLOG, *options, "--table", "countries")
    rows = rows_of(done.out)
    assert [row["hostname"] for row in rows] == [HOST, HOST, BLOG, BLOG]
    assert [row["value"] for row in rows] == ["US", "DE", "US", "DE"]
    assert {row["truncated"] for row in rows} == {"true"}
    assert run("stats", HOST, BLOG, *options).code == 2
    by_day = run("stats", HOST, BLOG, "--last", 4, "-f", "histogram", "--format=csv")
    assert len(rows_of(by_day.out)) == 8
    assert "date" in rows_of(by_day.out)[0]


def test_what_a_table_of_many_shows(emulator: Emulator, run: Run) -> None:
    """A table has a line for each website, or the first ones of a list."""
    done = run("stats", HOST, BLOG, "--last", 4)
    assert done.out.split()[:7] == [
        *("website", "first", "day", "last", "day", "page", "views")
    ]
    assert "1,586" in done.out
    pages = run("stats", HOST, BLOG, "--last", 4, "-f", "pages", "--top", 2)
    assert pages.out.count(HOST) == 4
    # One line for each, whatever is in it, since a pipe has no width.
    assert len(pages.out.splitlines()) == 6


@pytest.mark.parametrize("output", ["csv", "jsonl", "json", "table"])
def test_what_failed_is_on_stderr(
    emulator: Emulator, run: Run, output: str, tmp_path: Path
) -> None:
    """One that fails spoils no other: it is a line on stderr, an object in JSON, and a
    row in the file of --errors; the code is 3, as to wait does not help.
    """
    hosts = (HOST, "nobody.example", BLOG)
    errors = ("--errors", tmp_path / "errors.csv")
    done = run("stats", *hosts, *LAST, "--format", output, *errors)
    assert done.code == 3
    assert done.out.count("semicomplete.com") == 2
    (row,) = rows_of((tmp_path / "errors.csv").read_text("utf-8"))
    assert (row["hostname"], row["status"]) == ("nobody.example", "404")
    assert "does not know" in row["error"]
    if output.startswith("json"):
        text = done.out if output == "json" else f"[{','.join(done.out.splitlines())}]"
        _, failed, _ = json.loads(text)
        assert {name: str(value) for name, value in failed.items()} == row
    else:
        assert "nobody" not in done.out
    emulator.fail_next(1, status=503)
    mixed = run("stats", *hosts, *LAST, "--retries", 0, "--concurrency", 1)
    assert mixed.code == 4
    line, summary = done.err.splitlines()
    assert line.startswith(
        "sitestats: nobody.example today-4d to yesterday: the service"
    )
    assert summary == "sitestats: 1 of 3 failed"


@pytest.mark.parametrize("command", ["stats", "compare"])
def test_labels_beside_host_names(emulator: Emulator, run: Run, command: str) -> None:
    """--with label has the label of each website from the list, in every format."""
    command_line = (command, HOST, "--last", 2, "--with", "label")
    labels = {"label": emulator.client().websites.list()[0].label}
    (row,) = rows_of(run(*command_line, "--format", "csv").out)
    assert [*row][:2] == ["hostname", "label"]
    assert labels.items() <= row.items()
    (one,) = json.loads(run(*command_line, "--format", "json").out)
    assert labels.items() <= one.items()
    assert str(labels["label"]) in run(*command_line).out


def test_many_failures_of_one_kind_are_counted(emulator: Emulator, run: Run) -> None:
    """After the fifth failure of a kind the others are counted, in one line."""
    emulator.fail_next(1, status=500)
    names = [f"n{number}.example" for number in range(30)]
    done = run("stats", HOST, *names, *LAST, "--retries", 0, "--concurrency", 1)
    assert done.code == 4
    lines = done.err.splitlines()
    assert len(lines) == 8
    assert "status 500" in lines[0]
    more = "sitestats: … and 25 more like this one, up to n29.example today-4d"
    assert lines[6:] == [f"{more} to yesterday", "sitestats: 31 of 31 failed"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "name a HOST, or give --all or --hosts-from FILE"),
        (["--all", HOST], "--all: name no HOST"),
        (
            [HOST, BLOG, "--table", "pages"],
            "requested are: no lists",
        ),
        ([HOST, BLOG, "--each", "moth"], "--each"),
        ([HOST, BLOG, "--last", "3", "--during", "2026"], "--last, --on, --during"),
        ([HOST, "--during", "2026-1"], "'this-week' or a date, not '2026-1'"),
        (["--hosts-from", "none.txt"], "--hosts-from"),
    ],
)
def test_wrong_use_of_many(
    emulator: Emulator,
    run: Run,
    options: list[str],
    words: str,
) -> None:
    """A mistake is one line and exit code 2, and nothing is sent."""
    done = run("stats", *options, "--format", "csv")
    assert done.code == 2
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert words in line
    assert emulator.requests == ()


def test_a_store_saves_requests_of_many(
    emulator: Emulator, run: Run, tmp_path: Path
) -> None:
    """A second run with --store requests nothing that is over."""
    command = ("stats", HOST, BLOG, "--during", "2026-03", "--each", "week")
    command = (*command, "--format", "csv", "--store", tmp_path / "store")
    first = run(*command)
    count = len(emulator.requests)
    assert count == 12
    assert run(*command).out == first.out
    assert len(emulator.requests) == count


# --- pipes and terminals ----------------------------------------------------------


DAYS = (
    *("--during", "2020", "--each", "day", "-f", "visitors"),
    *("--format", "csv", "--concurrency", "1"),
)


@pytest.mark.standard_library
@pytest.mark.skipif(os.name == "nt", reason="a pipe of POSIX")
def test_a_reader_that_goes_ends_the_command(emulator: Emulator) -> None:
    """With a closed pipe, as by `head -1`, the command ends without a word, and
    requests no more. Rows come before the last response.
    """
    process = start("stats", HOST, *DAYS)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith("hostname,")
    assert process.stdout.readline().startswith(f"{HOST},UTC,2020-01-01,")
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(30) == 141
    assert len(emulator.requests) < 366


@pytest.mark.standard_library
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT for a child there")
def test_an_interrupted_run_says_what_failed(emulator: Emulator) -> None:
    """After Ctrl-C the rows so far are there, and the lines of what failed."""
    process = start("stats", "nobody.example", HOST, *DAYS)
    assert process.stdout is not None
    rows = [process.stdout.readline() for _ in range(2)]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert rows[1].startswith(f"{HOST},UTC,2020-01-01,")
    # On a busy machine there are lines about the progress before.
    *lines, counted, failed, last = err.splitlines()
    first = "sitestats: nobody.example 2020-01-01: the service"
    assert any(line.startswith(first) for line in lines)
    assert "and 361 more like this one, up to nobody.example 2020-12-31" in counted
    assert failed.startswith("sitestats: 366 of ")
    assert last == "sitestats: interrupted"


@pytest.mark.skipif(os.name == "nt", reason="a terminal of POSIX")
def test_a_terminal_gets_a_bar_and_a_table(emulator: Emulator) -> None:
    """In a terminal a table comes after a progress bar, and CSV comes without one."""
    for output, bar in (("table", True), ("csv", False)):
        done = run_in_a_terminal("stats", HOST, BLOG, *LAST, "--format", output)
        assert done.code == 0
        assert ("2 of 2 queries" in done.out) is bar
        assert "953" in done.out
