"""``sitestats websites``: list, add, plan and ensure."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sitestats import WebsiteSpec
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from commands import Run

FILE = """\
[[websites]]
hostname = "semicomplete.com"
public = true

[[websites]]
hostname = "shop.example"
timezone = "Europe/Amsterdam"

[[websites]]
hostname = "new.example"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with one website that exists and two that do not."""
    path = tmp_path / "websites.toml"
    path.write_text(FILE)
    return path


class Keyboard(io.StringIO):
    """Input of a person at a terminal, who types this."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let a person at a terminal type the replies."""

    def sit(typed: str) -> None:
        monkeypatch.setattr("sys.stdin", Keyboard(typed))
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    return sit


def adds(emulator: Emulator) -> list[str]:
    """The host names of requests that add a website."""
    return [
        json.loads(request.body)["hostname"]
        for request in emulator.requests
        if request.method == "POST"
    ]


def test_the_list_is_for_people_and_for_programs(emulator: Emulator, run: Run) -> None:
    """The list is a table of the main things, or everything as JSON or CSV."""
    table = run("websites", "list")
    assert table.code == 0
    assert "projects.semicomplete.com" in table.out
    # One line for each website: nothing is wrapped in a pipe.
    assert len(table.out.splitlines()) == len(emulator.websites) + 2
    read = json.loads(run("websites", "list", "--format", "json").out)
    assert read[0]["hostname"] == "semicomplete.com"
    assert read[0]["is_public"] is True
    assert read[0]["extra"] == {}
    rows = list(
        csv.DictReader(io.StringIO(run("websites", "list", "--format=csv").out))
    )
    assert [row["hostname"] for row in rows] == list(emulator.websites)
    assert rows[0]["is_public"] == "true"


def test_ensure_adds_what_is_missing(emulator: Emulator, run: Run, file: Path) -> None:
    """With --yes it adds without a question, and a second run adds nothing."""
    done = run("websites", "ensure", file, "--yes")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "3 websites: 2 added, 1 present"
    assert adds(emulator) == ["shop.example", "new.example"]
    again = run("websites", "ensure", file)
    assert again.code == 0
    assert run("websites", "plan", file).code == 0
    assert len(adds(emulator)) == 2


def test_without_a_terminal_it_does_not_ask(
    emulator: Emulator, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal and without --yes it adds nothing, and says so."""
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    for command in (("ensure", file), ("add", "new.example")):
        done = run("websites", *command)
        assert done.code == 2
        assert "give --yes" in done.err.splitlines()[-1]
    assert adds(emulator) == []


@pytest.mark.parametrize("typed", ["n\n", "\n", "no\n", "x\n", "yellow"])
def test_a_person_may_say_no(
    emulator: Emulator, run: Run, file: Path, at_a_terminal: Any, typed: str
) -> None:
    """Nothing is added unless the reply is yes."""
    at_a_terminal(typed)
    done = run("websites", "ensure", file)
    assert done.code == 12
    assert "Add 2 websites? (this can cost money, and can't be undone)" in done.err
    assert done.err.endswith("sitestats: nothing was added\n")
    assert adds(emulator) == []


def test_a_person_may_say_yes(
    emulator: Emulator, run: Run, file: Path, at_a_terminal: Any
) -> None:
    """After the plan and a yes the websites are added."""
    at_a_terminal("Yes\n")
    done = run("websites", "ensure", file)
    assert done.code == 0
    assert "to add     shop.example" in done.err
    assert done.out.splitlines()[0] == "3 websites: 2 added, 1 present"


def test_a_name_is_confirmed_as_it_was_given_and_as_it_is_sent(
    emulator: Emulator, run: Run, at_a_terminal: Any
) -> None:
    """A person sees both forms of a name before it is added for ever."""
    at_a_terminal("no\n")
    done = run("websites", "add", "Bücher.example")
    assert done.code == 12
    assert "to add     xn--bcher-kva.example (Bücher.example)  UTC" in done.err
    assert "Add 1 website? (this can" in done.err
    assert adds(emulator) == []


def test_the_end_of_input_is_no_yes(
    emulator: Emulator, run: Run, file: Path, at_a_terminal: Any
) -> None:
    """At the end of the input nothing is added."""
    at_a_terminal("")
    done = run("websites", "ensure", file)
    assert done.code == 130
    assert done.err.splitlines()[-1] == "sitestats: interrupted"
    assert adds(emulator) == []


def test_one_website_is_added_from_options(emulator: Emulator, run: Run) -> None:
    """Zone, visibility and label are options; a website that exists is left alone."""
    options = ["--timezone", "Asia/Tokyo", "--public", "--label", "shop", "--yes"]
    done = run("websites", "add", "Shop.example.", *options)
    assert (done.code, done.err) == (0, "")
    with emulator.client() as client:
        spec = WebsiteSpec("shop.example", "Asia/Tokyo", public=True, label="shop")
        assert client.websites.plan([spec]).complete
    again = run("websites", "add", "shop.example", "--private")
    assert again.code == 9
    assert "public is true and should be false" in again.out
    assert adds(emulator) == ["shop.example"]


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"status": 400, "body": {"ok": False, "error": "No"}}, 10),
        ({"status": 403, "body": {"ok": False, "error": "No"}}, 3),
        ({"status": 401, "body": {"ok": False, "error": "No"}}, 3),
        ({"status": 429, "retry_after": 900, "body": {"error": "No"}}, 4),
        ({"status": 500}, 6),
        ({"status": 500, "processed": True}, 0),
    ],
)
def test_exit_codes_of_add(
    emulator: Emulator, run: Run, file: Path, fault: dict[str, Any], code: int
) -> None:
    """The code is 0 as specified, 10 if refused, 6 if unknown, or an error's."""
    emulator.fail_next(method="POST", **fault)
    done = run("websites", "ensure", file, "--yes", "--format", "json")
    assert done.code == code
    assert len(json.loads(done.out)["items"]) == 3


def test_a_report_says_when_to_try_again(
    emulator: Emulator, run: Run, file: Path
) -> None:
    """A run that a rate limit stopped says in its report until when, by the clock."""
    emulator.fail_next(method="POST", status=429, retry_after=900)
    done = run("websites", "ensure", file, "--yes")
    assert done.code == 4
    assert "try again in 15 minutes (at " in done.out
