"""Completion in real shells: bash and zsh in a terminal of their own, and fish."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import pytest
from click.shell_completion import get_completion_class

from sitestats.cli._app import app
from sitestats.cli._completion import CHANGES

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shells of POSIX")

CASES: Final = {
    "a command": ("em", "emulator "),
    "an option": ("stats --hosts-f", "--hosts-from "),
    "a field": ("stats a.example -f pagev", "-f pageviews "),
    "a field of a list": ("stats a.example -f pages,coun", "pages,countries "),
    "a profile": ("stats --profile wo", "--profile work "),
    "a filter": ("stats a.example --where coun", "--where country="),
    "a file": ("stats --hosts-from the_ho", "--hosts-from the_hosts.txt "),
}
"""What is typed before TAB, and what stands there then."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment of a shell that finds the command, and two profiles."""
    home = tmp_path_factory.mktemp("home")
    command = home / "bin" / "sitestats"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sitestats "$@"\n')
    command.chmod(0o755)
    profiles = home / "sitestats" / "config.toml"
    profiles.parent.mkdir()
    profiles.write_text("[profiles.work]\n[profiles.private]\n", "utf-8")
    (home / "the_hosts.txt").touch()
    return {
        "PATH": f"{command.parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "PS1": "$ ",
        "COLUMNS": "200",
    }


START: Final = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], ""),
    "zsh": (["zsh", "-f", "-i"], "stty cols 200; autoload -U compinit; compinit -D; "),
}


@contextmanager
def terminal(shell: str, environment: Mapping[str, str]) -> Iterator[int]:
    """Our end of the terminal of a shell that has the completion's script."""
    import pty

    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")  # few machines have every shell
    command, prepare = START[shell]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        cwd=environment["HOME"],
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            script = f'eval "$(sitestats completion {shell})"'
            os.write(ours, f"{prepare}{script}; echo READ''Y\n".encode())
            read_until(ours, "READY\r\n")
            yield ours
        finally:
            process.kill()
            os.close(ours)


def read_until(terminal: int, wanted: str) -> str:
    """What the shell wrote up to what is *wanted*, or in thirty seconds."""
    shown, end = "", time.monotonic() + 30
    while wanted not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65_536).decode(errors="replace")
    return shown


@pytest.mark.long
@pytest.mark.once
@pytest.mark.parametrize("shell", START)
def test_tab_completes(shell: str, environment: Mapping[str, str]) -> None:
    """TAB completes commands, options, fields, profiles, filters and files."""
    with terminal(shell, environment) as screen:
        for name, (typed, completed) in CASES.items():
            # Behind an equals sign the value follows, without a space.
            after = "NL" if completed.endswith("=") else ""
            os.write(screen, f"sitestats {typed}\t{after}".encode())
            assert completed + after in read_until(screen, completed + after), name
            # Empty the line, and see that it is.
            os.write(screen, b"\x15echo EMP''TY\n")
            assert "EMPTY" in read_until(screen, "EMPTY\r\n"), name


@pytest.mark.long
@pytest.mark.once
@pytest.mark.skipif(shutil.which("fish") is None, reason="few machines have fish")
def test_fish_completes(environment: Mapping[str, str]) -> None:
    """Fish completes the same."""
    lines = [f"complete -C 'sitestats {typed}'" for typed, _ in CASES.values()]
    done = subprocess.run(
        ["fish", "-c", "; ".join(["sitestats completion fish | source", *lines])],
        env=environment,
        cwd=environment["HOME"],
        capture_output=True,
        text=True,
        check=True,
    )
    shown = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert shown == [completed.split()[-1] for _, completed in CASES.values()]


@pytest.mark.parametrize("shell", CHANGES)
def test_the_scripts_are_clicks(shell: str) -> None:
    """Every version of click has the line of the script that is changed, once."""
    found = get_completion_class(shell)
    assert found is not None
    source = found(app, {}, "sitestats", "_SITESTATS_COMPLETE").source()
    assert source.count(CHANGES[shell][0]) == 1


LOADED: Final = """
import sys
sys.argv = ["sitestats", *{arguments!r}]
from sitestats.cli import main
try:
    main()
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""
DEAR: Final = {
    *("rich", "httpx", "msgspec", "cattrs", "asyncio", "sitestats._query.builder"),
    "sitestats._client.client",
}


@pytest.mark.parametrize(
    ("words", "word", "more"),
    [
        ("sitestats", "web", set()),
        ("sitestats stats", "--fi", {"sitestats.cli._stats"}),
        ("sitestats stats a.example -f", "pag", {"sitestats.cli._stats"}),
        ("sitestats compare a.example --against", "p", {"sitestats.cli._compare"}),
        ("sitestats stats --profile", "w", {"sitestats._common.profiles"}),
        ("sitestats websites", "en", {"sitestats.cli._websites"}),
        ("sitestats websites plan a.csv", "--col", {"sitestats.cli._websites"}),
    ],
)
def test_completion_loads_little(
    words: str, word: str, more: set[str], environment: Mapping[str, str]
) -> None:
    """What completes loads neither rich, nor a client, nor the rules of queries."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(arguments=[])],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ
        | {
            "XDG_CONFIG_HOME": environment["HOME"],
            "_SITESTATS_COMPLETE": "bash_complete",
            "COMP_WORDS": f"{words} {word}",
            "COMP_CWORD": str(len(words.split())),
        },
    )
    assert done.stdout
    loaded = done.stderr.split()
    assert more <= {*loaded}
    assert not DEAR & {*loaded}
    # The name of a command is completed without one.
    assert more or not any("cli._websites" in name for name in loaded)


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_what_runs_no_command_loads_no_command(option: str) -> None:
    """The version and the overview load neither a command nor rich nor a client."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(arguments=[option])],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not (DEAR | {"sitestats.cli._websites"}) & {*done.stderr.split()}
