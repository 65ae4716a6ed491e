"""``sitestats stats`` and ``sitestats url``."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Run

HOST = "semicomplete.com"


def test_the_overview_is_for_people(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without options totals, a chart and tables are shown."""
    monkeypatch.setattr(emulator._core.service, "null_entries", True)
    done = run("stats", HOST, "--last", 4, "--top", 3)
    assert (done.code, done.err) == (0, "")
    for words in (
        "1,586 page views",
        "█",
        "/projects/xdotool/ ",
        "… 47 more; cut by the limit: there may be others",
        "countries",
        "(none)",
    ):
        assert words in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_the_address_has_no_key(emulator: Emulator, run: Run) -> None:
    """The printed URL has no credential."""
    done = run("url", HOST)
    assert done.code == 0
    assert emulator.api_key not in done.out


def test_json_is_the_result(emulator: Emulator, run: Run) -> None:
    """JSON has everything that was requested, in ASCII."""
    done = run("stats", HOST, "-f", "pageviews,pages", "--last", 4, "--format", "json")
    read = json.loads(done.out)
    assert read["pageviews"] == 1586
    assert len(read["pages"]) == 50
    assert read["truncated"] == ["pages"]
    assert done.out.isascii()


def test_csv_is_one_table(emulator: Emulator, run: Run) -> None:
    """A list has a line for each entry, and totals are one line."""
    done = run("stats", HOST, "-f", "pages", "--last", 4, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert len(rows) == 50
    assert rows[0] == {
        "value": "/projects/xdotool/",
        "pageviews": "203",
        "visitors": "154",
    }
    totals = run(
        *("stats", HOST, "-f", "pageviews,visitors", "--last", 4, "--format", "csv")
    )
    assert totals.out == "pageviews,visitors\n1586,953\n"
    assert totals.err == ""


def test_truncated_csv_says_so_on_stderr(emulator: Emulator, run: Run) -> None:
    """A list that the limit cut is reported on stderr, not among the rows."""
    arguments = ["stats", HOST, "-f", "pages", "--last", 4, "--format", "csv"]
    cut = run(*arguments, "--limit", 3)
    assert len(cut.out.splitlines()) == 4
    assert cut.err == (
        "sitestats: warning: pages: cut by the limit: there may be others\n"
    )
    assert run(*arguments, "--limit", 1000).err == ""


def test_csv_needs_a_table(emulator: Emulator, run: Run) -> None:
    """With several lists --table is required."""
    arguments = ["stats", HOST, "-f", "pages,countries", "--last", 4, "--format", "csv"]
    done = run(*arguments)
    assert done.code == 2
    assert "--table with one of pages, countries" in done.err
    assert run(*arguments, "--table", "countries").out.splitlines()[1].startswith("US,")
    assert run(*arguments, "--table", "os_names").code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--field", "pagviews"], "did you mean 'pageviews'?"),
        (["--where", "contry=NL"], "did you mean 'country'"),
        (["--where", "country"], "--where takes NAME=VALUE"),
        (["--where", "country=NL", "--where", "country=BE"], "given twice"),
        (["--event", "a", "--all-events"], "give one of the two"),
        (["--timezone", "europe/amsterdam"], "'Europe/Amsterdam'"),
        (["--limit", "x"], "--limit"),
        (["--feild", "pages"], "--field"),
        (["--format", "xml"], "json"),
    ],
)
def test_wrong_use_is_one_line(
    emulator: Emulator, run: Run, arguments: list[str], words: str
) -> None:
    """A mistake is one line and exit code 2, and nothing is sent."""
    done = run("stats", HOST, *arguments)
    assert done.code == 2
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("sitestats: ")
    assert words in line
    assert emulator.requests == ()


def test_every_problem_is_reported_at_once(emulator: Emulator, run: Run) -> None:
    """Each wrong option has a line of its own, and so has the host name."""
    done = run(
        *("stats", "http://", "--field", "x", "--limit", 0, "--where", "y=z"),
        *("--path", "x"),
    )
    assert done.code == 2
    assert len(done.err.splitlines()) == 5


def test_control_characters_are_escaped(emulator: Emulator, run: Run) -> None:
    """Control characters in paths and referrers are shown, not sent to the terminal."""
    emulator.load(
        [
            {"path": "/\x1b[2J\x1b]0;owned\x07", "document_referrer": "a\u202eb"},
            {"path": "/[bold]:smile:"},
        ],
        hostname="evil.example",
    )
    done = run("stats", "evil.example", "-f", "pages,referrers", "--last", 7)
    assert "/\\x1b[2J\\x1b]0;owned\\x07" in done.out
    assert "/[bold]:smile:" in done.out
    assert all(text.isprintable() for text in done.out.split("\n"))


def test_a_warning_is_one_line(run: Run) -> None:
    """A warning is one line beside the result."""
    done = run(
        *("url", HOST, "--metadata", "plan_text=x", "--base-url", "https://s.org")
    )
    assert done.code == 0
    (line,) = done.err.splitlines()
    assert line.startswith("sitestats: warning: ")
    assert "plan_text" in line


def test_a_store_saves_requests(
    emulator: Emulator, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --store, or SITESTATS_STORE, days that are over are requested once."""
    day = str(datetime.now(UTC).date() - timedelta(days=2))
    command = ("stats", HOST, "--start", day, "--end", day, "--format", "json")
    first = run(*command, "--store", tmp_path / "store")
    monkeypatch.setenv("SITESTATS_STORE", str(tmp_path / "store"))
    assert run(*command).out == first.out
    assert len(emulator.requests) == 1
