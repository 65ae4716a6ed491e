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
