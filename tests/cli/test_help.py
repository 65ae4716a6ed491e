"""Help in groups, suggestions, and what a person reads about a wrong word."""

from __future__ import annotations

import logging
import os
import re
from typing import TYPE_CHECKING

import click
import pytest

from commands import run_in_a_terminal
from sitestats.cli._app import app
from sitestats.cli._help import GroupedCommand

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

HOST = "semicomplete.com"


def commands(group: click.Group = app, path: str = "") -> list[tuple[str, ...]]:
    """The words of every command whose options are in groups."""
    found: list[tuple[str, ...]] = []
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            found += commands(command, f"{path} {name}")
        elif isinstance(command, GroupedCommand):
            found.append((*path.split(), name))
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_option_is_in_one_group(run: Run, words: tuple[str, ...]) -> None:
    """No option is lost, and the list of others is short enough to be read."""
    out = run(*words, "--help").out
    assert "Which websites:\n" in out or words == ("url",)
    assert "Output:\n" in out or words == ("url",)
    assert "Connection:\n" in out
    others = out.partition("\nOptions:\n")[2].partition("\n\n")[0]
    assert len([line for line in others.splitlines() if line[2:3] == "-"]) <= 7
    assert out.count("  --timeout SECONDS") == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("stat", "No such command 'stat'. Did you mean stats? (see sitestats --help)"),
        ("websites pan", "Did you mean plan? (see sitestats websites --help)"),
        (
            f"stats {HOST} --feild pages",
            "--field … --profile … (see sitestats stats --help)",
        ),
        (
            "stats",
            "name a HOST, or give --all or --hosts-from FILE (see sitestats stats",
        ),
        (f"stats {HOST} --on 01.10.2026", "--on: a day is a date, 'YYYY-MM-DD'"),
        (f"stats {HOST} --limit 0", "--limit: "),
    ],
)
def test_a_wrong_word_names_the_right_one(
    emulator: Emulator, run: Run, line: str, words: str
) -> None:
    """A typo gets a suggestion, the option that was typed and where the help is, and no
    section of a document that a reader of the shell does not have.
    """
    done = run(*line.split())
    assert done.code == 2
    # click's quotes between these words differ from one version to the next.
    assert re.search(".*".join(map(re.escape, words.split(" … "))), done.err)
    assert "(section" not in done.err


@pytest.mark.parametrize(
    ("options", "variable", "expected"),
    [
        ((), None, 0),
        (("-v",), None, 1),
        (("-vv",), None, 3),
        ((), "info", 1),
        ((), "DEBUG", 3),
    ],
)
def test_what_a_command_does_is_logged(  # noqa: PLR0917 - fixtures
    emulator: Emulator,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    variable: str | None,
    expected: int,
) -> None:
    """-v has a line for each retry, -vv for each attempt, and no line has the key."""
    if variable is not None:
        monkeypatch.setenv("SITESTATS_LOG", variable)
    emulator.fail_next(status=503)
    done = run("stats", HOST, "-f", "visitors", "--last", 2, *options)
    assert done.code == 0
    lines = done.err.splitlines()
    assert len(lines) == expected
    assert all(line.startswith(f"sitestats: GET /{HOST}.json: ") for line in lines)
    assert emulator.api_key not in done.err
    emulator.clear_faults()
    # The handler is gone with the command, and so is the level.
    assert logging.getLogger("sitestats").level == logging.NOTSET
    assert run("stats", HOST, "--last", 2, "-f", "visitors").err.count("\n") == (
        1 if variable == "DEBUG" else 0
    )
    monkeypatch.setenv("SITESTATS_LOG", "loud")
    assert run("stats", HOST).code == 2


def test_a_website_in_the_base_address_is_an_error(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base address that names the website makes a page of it, with 0 page views."""
    base = os.environ["SITESTATS_BASE_URL"]
    monkeypatch.setenv("SITESTATS_BASE_URL", f"{base}/{HOST}")
    body = {"hostname": HOST, "path": f"/{HOST}", "pageviews": 0, "version": 6}
    emulator.fail_next(status=200, body=body)
    done = run("stats", HOST, "-f", "pageviews", "--last", 2)
    assert done.code == 5
    assert "leave the website's name out of the base address" in done.err


def test_a_long_pause_says_when_to_try_again(emulator: Emulator, run: Run) -> None:
    """After a 429 the reader learns for how long, and until when by the clock."""
    emulator.fail_next(status=429, retry_after=600)
    done = run("stats", HOST, "-f", "visitors")
    assert done.code == 4
    assert ": try again in 10 minutes (at " in done.err
    emulator.fail_next(status=429, retry_after=50)
    done = run("stats", HOST, "-f", "visitors", "--total-timeout", 3)
    assert ": try again in 50 seconds (at " in done.err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_a_terminal_shows_a_pause_while_it_lasts(emulator: Emulator, run: Run) -> None:
    """Who waits at a terminal learns for what; a pipe gets nothing."""
    command = ("stats", HOST, "-f", "visitors")
    emulator.fail_next(status=429, retry_after=1)
    assert run(*command).err == ""
    emulator.fail_next(status=429, retry_after=1)
    shown = run_in_a_terminal(*command).out
    assert f"sitestats: GET /{HOST}.json: attempt 1 got 429, retried in 1 s" in shown
