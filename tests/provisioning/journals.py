"""Runs of ``ensure`` that end early, and what they leave: journals, and adds."""

from __future__ import annotations

import json
from pathlib import Path

from provisioning.inside import own_journals
from sitestats.emulator import Emulator


class Killed(BaseException):
    """The process ends here: no code after it runs."""


def hostname_of(body: bytes) -> str:
    """The host name of an add."""
    return str(json.loads(body)["hostname"])


def sent(emulator: Emulator) -> list[str]:
    """The host names of all adds that the emulator got, in order."""
    return [hostname_of(r.body) for r in emulator.requests if r.method == "POST"]


def let_time_pass(*journals: Path, seconds: float = 86_400) -> None:
    """Make all adds in *journals* and in the state folder older by so many seconds."""
    for journal in (*journals, *own_journals()):
        records = [json.loads(line) for line in journal.read_bytes().splitlines()]
        for record in records:
            if "at" in record:
                record["at"] -= seconds
        journal.write_text("".join(f"{json.dumps(record)}\n" for record in records))
