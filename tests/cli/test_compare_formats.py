"""``sitestats compare`` has the same in all formats, and as many requests at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import sitestats

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

HOST = "semicomplete.com"


def test_json_of_one_comparison_is_an_object_with_all_lists(
    emulator: Emulator, run: Run
) -> None:
    """It has what the table has, in the shape that ``stats`` prints."""
    done = run("compare", HOST, "--last", 2, "--format", "json")
    read = json.loads(done.out)
    assert done.code == 0
    assert read["visitors_change"] == 125
    assert {"pages", "countries", "referrers"} <= read.keys()
    assert read["first_day_before"] < read["first_day"]
    many = run("compare", HOST, "blog." + HOST, "--last", 2, "--format", "json")
    assert json.loads(many.out)[0]["visitors_change"] == 125


@pytest.mark.parametrize("command", ["stats", "compare"])
def test_as_many_requests_are_under_way_as_were_asked_for(
    emulator: Emulator, run: Run, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--concurrency 80 has 80 connections: a lower limit of the client would hold it
    back without a word.
    """
    made: list[int] = []
    from_env = sitestats.Client.from_env

    def noted(**options: Any) -> sitestats.Client:
        made.append(options["max_connections"])
        return from_env(**options)

    monkeypatch.setattr(sitestats.Client, "from_env", noted)
    assert run(command, "--all", "--last", 2, "--concurrency", 80).code == 0
    assert made == [80]


@pytest.mark.parametrize("command", ["stats", "compare"])
def test_a_report_is_html_or_markdown(
    emulator: Emulator, run: Run, command: str
) -> None:
    """One website has all its lists, many have a row each, or the rows of one list."""
    options = ("--last", 2, "--format")
    for hosts in ([HOST], [HOST, f"blog.{HOST}"]):
        done = run(command, *hosts, *options, "html")
        assert done.code == 0
        assert done.out.startswith("<!doctype html>")
        assert done.out.count("<html") == 1
        text = run(command, *hosts, *options, "markdown").out
        assert "visitors" in text
        assert HOST.replace(".", "") in text.replace("\\", "").replace(".", "")
        assert ("| pages |" in text) is (len(hosts) == 1)
    fields = ("-f", "visitors,pages", "--table", "pages")
    text = run(command, *hosts, *fields, *options, "markdown").out
    assert "/projects/xdotool/" in text
    done = run(command, *hosts, *fields[:2], *options, "markdown")
    assert (done.code, "--table" in done.err) == (2, True)


def test_a_report_without_rows_says_so(emulator: Emulator, run: Run) -> None:
    """No website of the period has an entry, or nothing changed."""
    options = ("-f", "utm_terms", "--on", "2001-01-01", "--format", "markdown")
    done = run("stats", HOST, f"blog.{HOST}", *options)
    assert (done.code, "none" in done.out) == (0, True)
    options = ("-f", "visitors", "--on", "2001-01-01", "--format", "markdown")
    done = run("compare", HOST, f"blog.{HOST}", *options)
    assert done.code == 0
    assert "| 0 | 0 |" in done.out
