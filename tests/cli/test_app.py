"""The command line as a whole: help, exit codes, completion, other commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.shell_completion import ShellComplete

import sitestats
from cli.inside import MEANINGS, Code, app
from inside import set_clock_of_clients
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from commands import Run


def commands(group: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    """The words of each command."""
    yield path
    if isinstance(group, click.Group):
        for name in group.list_commands(click.Context(group)):
            yield from commands(command_of(group, name), *path, name)


def command_of(group: click.Group, *path: str) -> click.Command:
    """The command at *path* below *group*."""
    command: click.Command | None = group
    for name in path:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)
    assert command is not None, path
    return command


COMMANDS = list(commands(app))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_shows_examples(run: Run, path: tuple[str, ...]) -> None:
    """The help of each command has examples with options that exist; and no option
    takes a secret, as arguments show in the list of processes.
    """
    done = run(*path, "--help")
    assert (done.code, done.err) == (0, "")
    if path in {("warehouse",), ("websites",)}:
        return
    examples = re.findall(r"^ +(?:eval \"\$\()?(sitestats .+)$", done.out, re.MULTILINE)
    assert examples
    for example in examples:
        words = shlex.split(re.split(r" > |\)\"| +#", example)[0])
        check_command(words[1:])
    names = {parameter.name or "" for parameter in command_of(app, *path).params}
    # The emulator's key is made up, and opens nothing.
    if path != ("emulator",):
        assert not any(re.search("key|user|token|secret", name) for name in names)


DOCS = Path(__file__).parents[2] / "docs"


def test_the_codes_are_in_the_documentation() -> None:
    """The documentation has each exit code with its one meaning, as the help has it."""
    text = (DOCS / "reference" / "command.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+?) \| .+ \|$", text, re.MULTILINE)
    assert rows == [(str(code.value), MEANINGS[code]) for code in Code]
    assert len({*MEANINGS.values()}) == len(Code)


def check_command(words: list[str]) -> None:
    """Check that click knows the command and each of its options."""
    command: click.Command = app
    while isinstance(command, click.Group) and words:
        command = command_of(command, words.pop(0))
    known = {option for parameter in command.params for option in parameter.opts}
    used = {word.partition("=")[0] for word in words if word.startswith("-")}
    assert used <= known


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        ({"status": 401, "body": {"error": "Not\nyou"}}, 3, "Not you (status 401"),
        ({"status": 404}, 3, "status 404"),
        ({"status": 423}, 3, "status 423"),
        ({"status": 500}, 4, "status 500"),
        ({"status": 429, "retry_after": 900}, 4, "status 429"),
        ({"reset": True}, 4, ""),
        ({"garbage": True}, 5, ""),
        ({"body": "<html>"}, 5, ""),
    ],
)
def test_a_failure_is_one_line(
    emulator: Emulator, run: Run, fault: dict[str, object], code: int, words: str
) -> None:
    """Every error of the service is one line and an exit code, without a traceback."""
    emulator.fail_next(None, **fault)
    done = run("stats", "semicomplete.com", "--retries", 0)
    assert done.code == code
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("sitestats: ")
    assert words in line


def test_without_an_address_there_is_advice(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a base address the error says what to set. The environment's credentials
    go to an address that is given.
    """
    address = os.environ["SITESTATS_BASE_URL"]
    monkeypatch.delenv("SITESTATS_BASE_URL")
    for command in (["websites", "list"], ["url", "a.example"]):
        done = run(*command)
        assert done.code == 2
        assert "give --base-url, or set SITESTATS_BASE_URL" in done.err
    assert run("websites", "list", "--base-url", address).code == 0


def test_verbose_tells_of_requests(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``-v`` writes retries and pauses to standard error, ``-vv`` every attempt.
    Neither writes a key.
    """
    set_clock_of_clients(monkeypatch, sleep=lambda _seconds: None)
    told: list[str] = []
    for options in ((), ("-v",), ("-vv",)):
        emulator.fail_next(1, status=503)
        done = run("stats", "semicomplete.com", "-f", "visitors", *options)
        assert (done.code, emulator.api_key in done.err) == (0, False)
        told.append(re.sub(r" [0-9.]+ m?s\n", " …\n", done.err))
    start = "sitestats: GET /semicomplete.com.json: attempt"
    retried = f"{start} 1 got 503, retried in …\n"
    attempts = f"{start} 1 got 503 after …\n{retried}{start} 2 got 200 after …\n"
    assert told == ["", retried, attempts]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", "websites"),
        ("stats a.example --fields page", "pageviews"),
        ("stats a.example --during last", "last-month"),
        ("stats a.example --timezone europe/am", "Europe/Amsterdam"),
        ("stats a.example --where cou", "country="),
        ("stats a.example --interval ", "week"),
        ("websites add a.example --timezone Asia/To", "Asia/Tokyo"),
    ],
)
def test_a_shell_can_complete(words: str, found: str) -> None:
    """Commands, fields, filters and zones are completed."""
    complete = ShellComplete(app, {}, "sitestats", "_SITESTATS_COMPLETE")
    *arguments, incomplete = words.split(" ")
    items = complete.get_completions(arguments, incomplete)
    assert found in [item.value for item in items]


MISSING = """\
import sys
sys.modules["click"] = None
from sitestats.cli import main
main()
"""


def test_without_its_own_extra_the_command_says_so() -> None:
    """What is not installed is named, with the code of wrong use."""
    done = subprocess.run(
        [sys.executable, "-c", MISSING], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'sitestats[cli]'" in done.stderr


@pytest.mark.parametrize("library", ["dlt", "pyarrow"])
@pytest.mark.parametrize("command", ["status", "update"])
def test_without_an_extra_a_command_says_so(
    emulator: Emulator,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    command: str,
) -> None:
    """A command that needs another extra names it, too."""
    # With all of it, so that what it imports does not remember what was missing.
    with suppress(ImportError):
        import_module("sitestats.warehouse")
    for name in [*sys.modules]:
        if name.startswith("sitestats.warehouse"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(sitestats, "warehouse", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    done = run("warehouse", command)
    assert (done.code, done.out) == (2, "")
    assert "pip install 'sitestats[warehouse]'" in done.err
