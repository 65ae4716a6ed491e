"""Options and commands of other tools: the error says what to type here."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from cli.inside import ADVICE, app
from commands import Run

TYPED = """
stats a.example --metrics visitors       | --fields
stats a.example --from 2026-03-01        | --since
stats a.example --end 2026-03-31         | --until
stats a.example --period 30d             | --last 30
stats a.example --country NL             | --where country=NL
stats a.example --goal signup            | --events
stats a.example --csv                    | --format csv
stats a.example --all-time               | --since
stats a.example --realtime               | --on today
stats a.example --token x                | SITESTATS_API_KEY
stats --site a.example                   | the HOST stands by itself
stats a.example --compare previous       | sitestats compare HOST
stats a.example --fieldz visitors        | did you mean --fields?
websites add a.example --name x          | --label
websites delete a.example                | the service's own pages
websites import list.csv                 | websites ensure FILE
list                                     | websites list
stat a.example                           | did you mean stats?
"""


@pytest.mark.parametrize("row", TYPED.strip().splitlines())
def test_a_word_of_another_tool(run: Run, row: str) -> None:
    """The error has what to type, and no option that is but a little like it."""
    typed, words = (part.strip() for part in row.split("|"))
    done = run(*typed.split(), mistyped=True)
    assert done.code == 2
    assert words in done.err
    assert "--retries" not in done.err


def commands_of(
    name: str, command: click.Command
) -> Iterator[tuple[str, click.Command]]:
    """A command and those in it, by what is typed for them."""
    yield name, command
    if isinstance(command, click.Group):
        for part, below in command.commands.items():
            yield from commands_of(f"{name} {part}", below)


def test_each_advice_names_what_there_is() -> None:
    """Each option and each command that an advice names exists."""
    commands = dict(commands_of("sitestats", app))
    known = {"--help", "--version"}
    for command in commands.values():
        known.update(*(option.opts for option in command.params))
    for text in ADVICE:
        for name in re.findall("(?<![a-z-])--?[a-z][a-z-]*", text):
            assert name in known, text
        for name in re.findall(r"sitestats(?: [a-z]+(?![\w.]))+", text):
            assert name in commands, text
