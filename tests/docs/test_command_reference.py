"""The reference of the command has all that the command has."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

from cli.inside import app

pytest.importorskip("sphinx")

ROOT: Final = Path(__file__).parents[2]
EXTENSION: Final = ROOT / "docs" / "_extensions" / "command_reference.py"
PAGE: Final = (ROOT / "docs" / "reference" / "command.md").read_text("utf-8")


def commands(
    command: click.Command, path: tuple[str, ...] = ("sitestats",)
) -> Iterator[tuple[str, click.Command]]:
    """Each command, with the words that run it."""
    yield " ".join(path), command
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from commands(below, (*path, name))


def test_the_reference_has_every_command_and_option() -> None:
    """Each command has a section, and in it a row for each option, with its text."""
    reference = runpy.run_path(str(EXTENSION))["reference"]()
    sections = re.split(r"^## (.+)$", reference, flags=re.MULTILINE)[1:]
    texts = dict(zip(sections[::2], sections[1::2], strict=True))
    every = dict(commands(app))
    assert texts.keys() == every.keys()
    assert len(every) > 12
    for path, command in every.items():
        rows = re.findall(r"^\| (.+?) \| .+ \|$", texts[path], re.MULTILINE)
        written = {name for row in rows for name in re.findall(r"`(-\S+)`", row)}
        options = [one for one in command.params if isinstance(one, click.Option)]
        known = {name for one in options for name in one.opts + one.secondary_opts}
        assert written - {"--help"} == known - {"--help"}, path


def test_the_table_has_every_variable() -> None:
    """Each variable that the package reads has a row, and no other of its own has."""
    sources = (path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    text = "".join(sources)
    read = {*re.findall(r"\bSITESTATS_[A-Z_]*[A-Z]\b", text)}
    read |= {"SITESTATS_API_KEY_FILE", "SITESTATS_USER_ID_FILE"}
    assert len(read) >= 8
    named = {*re.findall(r"`_?([A-Z][A-Z_]+)(?:=\w+)?`", PAGE)}
    assert {name for name in named if name.startswith("SITESTATS")} == (
        read | {"SITESTATS_COMPLETE"}
    )
    others = {*re.findall(r"environ(?:\.get\(|\[)\"([A-Z_]+)", text)}
    others |= {*re.findall(r"\"((?:SSL|XDG)_[A-Z_]+)\"", text)}
    assert len(others) >= 6
    assert others <= named
