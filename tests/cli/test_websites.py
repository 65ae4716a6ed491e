"""``sitestats websites``: list, add, plan and ensure."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commands import exit_code, rows_of, run_in_a_terminal
from provisioning.inside import another_run
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


NO = {"ok": False, "error": "No"}


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


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """Let a person at a terminal type this."""
    monkeypatch.setattr("sys.stdin", Keyboard(typed))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)


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
    rows = rows_of(run("websites", "list", "--format=csv").out)
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


@pytest.mark.parametrize("typed", ["n\n", "\n", "no\n", ""])
def test_nothing_is_added_without_a_yes(
    emulator: Emulator,
    run: Run,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
) -> None:
    """A person at a terminal has to say yes, or ``--yes`` does: the end of the input is
    no yes. A person sees both forms of a name before it is added for ever.
    """
    for command, number in ((("ensure", file), 2), (("add", "Bücher.example"), 1)):
        monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
        done = run("websites", *command)
        assert (done.code, "give --yes" in done.err.splitlines()[-1]) == (2, True)
        at_a_terminal(monkeypatch, typed)
        done = run("websites", *command)
        assert done.code == 130
        asked = f"Add {number} website{'s' * (number > 1)}? (this can cost money, and"
        assert asked in done.err
        assert done.err.endswith("sitestats: interrupted: nothing was changed\n")
    assert "to add     xn--bcher-kva.example (Bücher.example)  UTC" in done.err
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
    assert again.code == 8
    assert "public is true and should be false" in again.out
    assert adds(emulator) == ["shop.example"]


CODES: list[tuple[dict[str, Any], dict[str, Any], str, int]] = [
    ({"status": 400}, {}, "refused added", 3),
    ({"status": 403}, {}, "refused not_tried", 3),
    ({"status": 400}, {"status": 401}, "refused refused", 3),
    ({"status": 400}, {"status": 429, "retry_after": 900}, "refused refused", 4),
    ({"status": 429, "retry_after": 900}, {}, "refused not_tried", 4),
    ({"status": 500}, {"status": 400}, "unknown refused", 4),
    ({"status": 500, "processed": True}, {}, "added added", 0),
]


@pytest.mark.parametrize(("shop", "new", "states", "code"), CODES)
def test_exit_codes_of_ensure(
    *,
    emulator: Emulator,
    run: Run,
    file: Path,
    shop: dict[str, Any],
    new: dict[str, Any],
    states: str,
    code: int,
) -> None:
    """A job can tell whether waiting helps at least one of the websites."""
    for name, fault in ((b"shop", shop), (b"new", new)):
        if fault:
            about = {"when": lambda request, name=name: name in request.body}
            emulator.fail_next(**{"body": NO} | about | fault)
    done = run("websites", "ensure", file, "--yes", "--format", "json")
    items = json.loads(done.out)["items"]
    found = [item["state"] for item in items if item["state"] != "present"]
    assert (found, done.code) == (states.split(), code)


def test_a_website_that_can_not_be_read(
    emulator: Emulator, run: Run, tmp_path: Path
) -> None:
    """It is listed, planned and requested with what can be read, one line says what
    can't, and the exit code is 5.
    """
    listed = json.loads(run("websites", "list", "--format", "json").out)
    first, *rest = ({**one, **one.pop("extra")} for one in listed)
    name, path = first["hostname"], tmp_path / "names.csv"
    path.write_text(f"hostname,timezone\n{name},UTC\nnew.example,\n")

    def given(*websites: Any) -> None:
        emulator.clear_faults()
        emulator.fail_next(None, body={"websites": websites}, path="/api/websites")

    def code_of(*arguments: object) -> int:
        done = run(*arguments, "--format", "csv")
        assert done.err.count("list of websites can't be read: $.websites[0]") == 1
        assert name in done.out
        return done.code

    given({**first, "timezone": None, "pageviews": "many"}, *rest)
    assert code_of("websites", "list") == 5
    assert code_of("stats", "--all", "--last", 2, "-f", "visitors") == 0
    assert code_of("websites", "plan", path) == 8
    path.write_text(f"hostname,timezone\n{name},UTC\n")
    assert code_of("websites", "plan", path) == 5
    assert code_of("websites", "ensure", path, "--yes") == 5
    given({**first, "hostname": None}, *rest)
    path.write_text("new.example\n")
    done = run("websites", "ensure", path, "--yes")
    assert (done.code, "not tried  new.example" in done.out) == (5, True)


@pytest.mark.parametrize(("status", "code"), [(400, 2), (500, 4)])
def test_a_full_disk_ends_a_run(
    *,
    emulator: Emulator,
    run: Run,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    code: int,
) -> None:
    """A full disk has the code of wrong use. If the outcome of a website is unknown,
    that has its own code, which comes first.
    """
    # The announcement of the first add, and its outcome.
    left = iter(range(2))

    def fsync(_descriptor: int) -> None:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    emulator.fail_next(status=status, body=NO, method="POST")
    done = run("websites", "ensure", file, "--yes")
    assert done.code == code
    assert "nothing more is sent: No space left" in done.out


def test_a_plan_adds_nothing(emulator: Emulator, run: Run, file: Path) -> None:
    """The code is 8 if something is missing or differs, and 0 if not; every format has
    every website.
    """
    done = run("websites", "plan", file)
    assert (done.code, done.err) == (8, "")
    assert done.out.splitlines()[0] == "3 websites: 2 to add, 1 present"
    # The table has the changes alone.
    assert done.out.count("present") == 1
    rows = rows_of(run("websites", "plan", file, "--format", "csv").out)
    assert [row["state"] for row in rows] == ["present", "to_add", "to_add"]
    read = json.loads(run("websites", "plan", file, "--format", "json").out)
    assert read["items"][1]["expected"]["timezone"] == "Europe/Amsterdam"
    assert adds(emulator) == []


def test_quiet_writes_what_is_wrong_alone(
    emulator: Emulator, run: Run, tmp_path: Path
) -> None:
    """A job that runs each night writes nothing, and no note on its list either, unless
    somebody has to look at it.
    """
    path = tmp_path / "list.csv"
    path.write_text("hostname,public,plan\n" + "semicomplete.com,yes,pro\n" * 2)
    done = run("websites", "ensure", path, "--quiet", "--ignore-columns")
    assert (done.code, done.out, done.err) == (0, "", "")
    path.write_text("hostname,public\nsemicomplete.com,no\n")
    done = run("websites", "ensure", path, "--quiet")
    assert (done.code, done.out) == (8, "")
    assert "public is true and should be false" in done.err
    path.write_text("hostname,public,accept_differing\nsemicomplete.com,no,yes\n")
    accepted = run("websites", "ensure", path, "--quiet")
    assert (accepted.code, accepted.out, accepted.err) == (0, "", "")


LISTED = "Domain;Öffentlich;Kunde\nshop.example;WAHR;x\nnew.example;;\n"
COLUMNS = ("--column", "hostname=Domain", "--column", "public=Öffentlich")


def test_an_export_of_a_spreadsheet(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Columns have options, by which an error names them; and a pipe is a file."""
    path = tmp_path / "export.csv"
    path.write_text(LISTED, "utf-8")
    done = run("websites", "plan", path)
    assert done.code == 2
    assert (
        "no column 'hostname': add it, or map another one by columns= (--column)\n"
        in done.err
    )
    assert "ignore it by ignore_columns=True (--ignore-columns)\n" in done.err
    options = (*COLUMNS, "--ignore-columns")
    done = run("websites", "plan", path, *options)
    assert done.code == 8
    assert done.err.startswith("sitestats: warning: ")
    assert done.err.endswith("ignored columns: 'Kunde'\n")
    assert "to add     shop.example  UTC, public" in done.out
    for given, out, err in (
        (options, done.out, done.err.replace(f"{path}", "standard input")),
        ((), "", "sitestats: standard input: there is no column 'hostname'"),
    ):
        pipe = io.TextIOWrapper(io.BytesIO(LISTED.encode()))
        monkeypatch.setattr("sys.stdin", pipe)
        piped = run("websites", "plan", "-", *given)
        assert piped.out == out
        assert piped.err.startswith(err)
    twice = run("websites", "plan", path, *COLUMNS[:2], *COLUMNS[:2])
    assert "--column hostname=… is given twice" in twice.err


def test_errors_of_a_list_have_a_line_each(
    emulator: Emulator, run: Run, tmp_path: Path
) -> None:
    """Each has its place, also where 50 are alike, and nothing is requested."""
    path = tmp_path / "w.csv"
    rows = [f"w{number}.example,utc\n" for number in range(50)]
    path.write_text(f"hostname,timezone\n{''.join(rows)}b c,UTC\n")
    done = run("websites", "ensure", path, "--yes")
    assert done.code == 2
    *lines, last = done.err.splitlines()
    for number, line in enumerate(lines, start=2):
        assert line.startswith(f"sitestats: {path}:{number}: timezone: 'utc' is not a")
    assert last.startswith(f"sitestats: {path}:52: hostname: 'b c' is not")
    assert emulator.requests == ()


@pytest.mark.parametrize("output", ["csv", "json", "xlsx"])
def test_what_list_writes_plan_reads(
    emulator: Emulator,
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    output: str,
) -> None:
    """A plan of the saved list finds nothing to do, whatever the labels are."""
    for number, label in enumerate(['=1+1,"x";-y', " a", "'=x", "ü"]):
        emulator.add_website(f"w{number}.example", label=label, public=True)
    path = tmp_path / f"list.{output}"
    codes: list[object] = []
    for command in (("list", "--format", output), ("plan", str(path), "--quiet")):
        codes.append(exit_code("websites", *command))
        path.write_bytes(capsysbinary.readouterr().out or b"-")
    assert codes == [0, 0]


def test_a_run_has_a_journal(
    emulator: Emulator, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another run adds websites for the account, the code is to try later.
    Without a state folder that can be written, the error names the option for a
    journal, which is emptied in the end.
    """
    base_url, journal = os.environ["SITESTATS_BASE_URL"], file.parent / "journal"
    ensure = ("websites", "ensure", file, "--yes")
    with (
        emulator.client(base_url=base_url) as client,
        another_run(client),
    ):
        done = run(*ensure)
    assert (done.code, done.out) == (4, "")
    assert "another run adds websites for this account" in done.err
    monkeypatch.setenv("XDG_STATE_HOME", str(file))
    done = run(*ensure)
    assert done.code == 2
    assert done.err.endswith("can be written by journal= (--journal)\n")
    assert adds(emulator) == []
    assert run(*ensure, "--journal", journal).code == 0
    assert journal.read_bytes() == b""


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="a terminal of POSIX")
def test_a_bar_in_a_terminal(emulator: Emulator, tmp_path: Path) -> None:
    """It shows how far a run is, after the plan and a yes, and is gone at the end."""
    path = tmp_path / "hosts.txt"
    path.write_text("".join(f"w{number}.example\n" for number in range(20)))
    done = run_in_a_terminal("websites", "ensure", str(path), typed="y\n")
    assert done.code == 0
    assert "to add     w0.example" in done.out
    assert "Add 20 websites?" in done.out
    assert "20 websites: 20 added\r\n" in done.out
    assert "] 1 of 20 websites\r" in done.out
