"""What the tests of commands know of the inside."""

from __future__ import annotations

import sys
import tomllib
from datetime import datetime
from importlib.resources import files
from types import SimpleNamespace

import pytest

from sitestats._assistants.tools import LARGEST_ANSWER, Tools, WrongCallError
from sitestats.cli._app import app
from sitestats.cli._exits import MEANINGS, Code

_WORDS = tomllib.loads(files("sitestats").joinpath("words.toml").read_text("utf-8"))
ADVICE = [*_WORDS["options"], *_WORDS["commands"]]
"""What the errors about unknown options and commands say to type."""

__all__ = [
    "ADVICE",
    "LARGEST_ANSWER",
    "MEANINGS",
    "Code",
    "Tools",
    "WrongCallError",
    "app",
    "end_at_once",
    "set_present_of_commands",
    "speak_to_no_assistant",
    "uninstall_mcp",
]


def set_present_of_commands(patch: pytest.MonkeyPatch, now: datetime) -> None:
    """Have the commands of the warehouse take *now* for the present."""
    clock = SimpleNamespace(now=lambda _zone: now)
    patch.setattr("sitestats.cli._warehouse.datetime", clock)


def end_at_once(patch: pytest.MonkeyPatch) -> None:
    """Have ``sitestats emulator`` end where it would wait for Ctrl-C."""
    patch.setattr("sitestats.cli._emulator._wait", lambda: None)


def speak_to_no_assistant(patch: pytest.MonkeyPatch) -> None:
    """Have ``sitestats mcp`` end where it would read what an assistant calls."""
    patch.setattr("sitestats._assistants.server.serve", lambda _tools: None)


def uninstall_mcp(patch: pytest.MonkeyPatch) -> None:
    """Have no library of the extra ``mcp``, as far as the command sees."""
    patch.delitem(sys.modules, "sitestats._assistants.server", raising=False)
    patch.setitem(sys.modules, "mcp.server.lowlevel", None)
