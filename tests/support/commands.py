"""Commands, run in this process or in one of their own: fixtures of their tests."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import attrs
import click
import pytest

from cli.inside import app, set_present_of_commands
from emulator.inside import websites_put_back
from inside import set_present_of_queries
from sitestats.cli import main
from sitestats.emulator import Emulator


@attrs.frozen
class Done:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


NOW = datetime.now(UTC)
TODAY = NOW.date()


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Emulator, str]]:
    """An emulator with the demo's traffic on a loopback socket, and its address.

    Time stands still for it and for commands, so that no day ends during the tests.
    """
    emulator = Emulator.demo(now=NOW)
    with emulator.serve() as address, pytest.MonkeyPatch.context() as patch:
        set_present_of_queries(patch, NOW)
        set_present_of_commands(patch, NOW)
        yield emulator, address


@pytest.fixture
def emulator(
    served: tuple[Emulator, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Emulator]:
    """The emulator that the environment variables name."""
    emulator, address = served
    # An add that is unknown in one test is not waited for in the next one.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SITESTATS_BASE_URL", address)
    monkeypatch.setenv("SITESTATS_API_KEY", emulator.api_key)
    monkeypatch.setenv("SITESTATS_USER_ID", emulator.user_id)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    emulator.forget_requests()
    with websites_put_back(emulator):
        yield emulator
    emulator.clear_faults()


def exit_code(*arguments: object) -> int:
    """Run a command in this process, as a shell would, and return its exit code."""
    words = ["sitestats", *map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
    code = ended.value.code
    assert isinstance(code, int)
    return code


def exists(*words: str) -> bool:
    """Whether the command of these words exists, with its options and arguments.

    A test that takes each failure for the one that it is about would go on when its
    option is gone, and test nothing.
    """
    command: click.Command = app
    context, left = click.Context(app), [*words]
    try:
        while True:
            _, left, _ = command.make_parser(context).parse_args(left)
            if not isinstance(command, click.Group) or not left:
                return not left
            name, *left = left
            found = command.get_command(context, name)
            if found is None:
                return False
            command, context = found, click.Context(found, context)
    except click.NoSuchOption:
        return False


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process, as a shell would.

    A command, option or argument that does not exist fails the test, unless it is
    *mistyped* on purpose.
    """

    def run(*arguments: object, mistyped: bool = False) -> Done:
        assert exists(*map(str, arguments)) is not mistyped, arguments
        capsys.readouterr()
        code = exit_code(*arguments)
        return Done(code, *capsys.readouterr())

    return run


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of CSV."""
    return list(csv.DictReader(io.StringIO(text)))


def run_in_a_terminal(*arguments: str, typed: str) -> Done:
    """Run a command in a process of its own, whose streams are a terminal."""
    import pty

    assert exists(*arguments)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sitestats", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "80", "LINES": "24"},
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    shown = b""
    # Linux' way to say that the other side is gone.
    with suppress(OSError), os.fdopen(ours, "rb", buffering=0) as terminal:
        while read := terminal.read(65_536):
            shown += read
    return Done(process.wait(60), shown.decode(), "")


def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
    """Start a command in a process of its own, without a terminal."""
    assert exists(*arguments)
    return subprocess.Popen(
        [sys.executable, "-m", "sitestats", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | variables,
    )
