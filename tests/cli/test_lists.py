"""Lists on the command line: columns, standard input, quiet, only changes, as specs."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from commands import Run

EXPORT = "Kunde;Domain;Öffentlich\nMüller;semicomplete.com;WAHR\n;müller.example;\n"
COLUMNS = ("--column", "hostname=Domain", "--column", "public=Öffentlich")


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A list as a German spreadsheet writes it."""
    path = tmp_path / "export.csv"
    path.write_bytes(EXPORT.encode("cp1252"))
    return path


def test_an_export_is_planned(emulator: Emulator, run: Run, export: Path) -> None:
    """Names, words and encoding of an export are read, with a note on each guess."""
    done = run("websites", "plan", export, *COLUMNS, "--ignore-columns")
    assert done.code == 8
    assert done.out.splitlines() == [
        "2 websites: 1 to add, 1 present, 0 differing",
        "present    semicomplete.com",
        "to add     xn--mller-kva.example (müller.example)  UTC, private",
    ]
    encoding, ignored = done.err.splitlines()
    assert encoding.startswith(f"sitestats: warning: {export}: it is not in UTF-8")
    assert ignored == f"sitestats: warning: {export}: ignored columns: 'Kunde'"
    form = run("websites", "plan", export, *COLUMNS, "--ignore-columns", "--format=csv")
    row = list(csv.DictReader(io.StringIO(form.out)))[1]
    assert row["hostname"] == "xn--mller-kva.example"
    assert row["written"] == "müller.example"


def test_standard_input_is_read(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list from a pipe is read by its content; it can't say yes, too."""

    def pipe(text: str) -> None:
        stream = io.TextIOWrapper(io.BytesIO(text.encode()))
        monkeypatch.setattr("sys.stdin", stream)

    pipe("hostname\nnew.example\n")
    done = run("websites", "plan", "-")
    assert (done.code, done.err) == (8, "")
    pipe("hostname\nnew.example\n")
    done = run("websites", "ensure", "-", "--input-format", "csv")
    assert (done.code, "give --yes" in done.err) == (2, True)
    pipe("hostname\nhttp://new.example\n")
    done = run("websites", "ensure", "-", "--input-format", "csv", "--yes")
    assert done.code == 2
    assert "2:1: 'http://new.example' has a scheme" in done.err
    pipe("hostname\nnew.example\n")
    done = run("websites", "ensure", "-", "--input-format", "csv", "--yes")
    assert done.code == 0
    assert "new.example" in emulator.websites


def test_the_options_of_a_list_are_those_of_every_command(
    emulator: Emulator, run: Run, export: Path
) -> None:
    """A list is read by plan, stats and compare alike, with the same options; what
    resembles a field is named or mapped before it is left out.
    """
    export.write_bytes(b"Zeitzone;Domain\nUTC;semicomplete.com\n")
    domain = ("--column", "hostname=domain", "--ignore-columns")
    refused = run("websites", "plan", export, *domain)
    assert refused.code == 2
    assert "give --column timezone=Zeitzone, or leave it out with" in refused.err
    assert "with --ignore-column Zeitzone\n" in refused.err
    named = (*domain, "--ignore-column", "Zeitzone")
    assert run("websites", "plan", export, *named, "-q").code == 0
    for command in ("stats", "compare"):
        options = (*named, "--input-format", "csv", "--last", "2", "-f", "visitors")
        done = run(command, "--hosts-from", export, *options, "--format", "csv")
        assert (done.code, done.err) == (0, "")
        assert "semicomplete.com,UTC" in done.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--column", "hostname"], "--column takes FIELD=NAME, not 'hostname'"),
        (["--column", "label=a", "--column", "label=b"], "--column label=… is given"),
        (["--column", "host=Domain"], "did you mean 'hostname'"),
        (["--input-format", "ods"], "'txt', 'csv', 'toml'"),
        ([], "or name the one that is meant with --column"),
        (["--column", "hostname=Domain"], "and --ignore-columns leaves"),
    ],
)
def test_options_of_a_list_that_do_not_fit(
    emulator: Emulator, run: Run, export: Path, options: list[str], words: str
) -> None:
    """What is wrong with a list and its options is reported in words of the command."""
    done = run("websites", "plan", export, *options)
    assert done.code == 2
    assert words in done.err
    assert emulator.requests == ()


def test_only_changes_leaves_out_what_was_there(
    emulator: Emulator, run: Run, export: Path
) -> None:
    """With --only-changes no line is about a website that was there as specified."""
    plan = ("websites", "plan", export, *COLUMNS, "--ignore-columns", "--only-changes")
    done = run(*plan)
    assert done.out.splitlines() == [
        "2 websites: 1 to add, 1 present, 0 differing",
        "to add     xn--mller-kva.example (müller.example)  UTC, private",
    ]
    read = json.loads(run(*plan, "--format", "json").out)
    assert [item["written"] for item in read["items"]] == ["müller.example"]
    assert read["complete"] is False
    rows = run(*plan, "--format", "csv").out.splitlines()
    assert [row.partition(",")[0] for row in rows] == [
        "hostname",
        "xn--mller-kva.example",
    ]


def test_quiet_writes_what_is_wrong_alone(
    emulator: Emulator, run: Run, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --quiet a run that has nothing to add writes nothing, not even a note or, in
    a terminal, a bar. What was guessed is reported before something is added for ever.
    """
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    options = (export, *COLUMNS, "--ignore-columns", "--quiet")
    planned = run("websites", "plan", *options)
    assert (planned.code, planned.out) == (8, "")
    encoding, ignored, *others = planned.err.splitlines()
    assert "was read as cp1252" in encoding
    assert "ignored columns: 'Kunde'" in ignored
    assert others == [
        "2 websites: 1 to add, 1 present, 0 differing",
        "to add     xn--mller-kva.example (müller.example)  UTC, private",
    ]
    done = run("websites", "ensure", *options, "--yes")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [encoding, ignored]
    again = run("websites", "ensure", *options, "--yes")
    assert (again.code, again.out, again.err) == (0, "", "")
    form = run("websites", "plan", *options, "--format", "json")
    assert json.loads(form.out)["complete"] is True
    assert form.err == ""
    one = run("websites", "add", "semicomplete.com", "--private", "--quiet")
    assert (one.code, one.out) == (9, "")
    assert one.err.splitlines()[1].startswith("differing  semicomplete.com")


def test_what_a_list_leaves_out_is_not_compared(
    emulator: Emulator, run: Run, tmp_path: Path
) -> None:
    """Names alone, of websites with any zone and visibility, are as specified; only
    what is missing gets the defaults. So it is with `add`.
    """
    path = tmp_path / "hosts.txt"
    path.write_text("semicomplete.com\nblog.semicomplete.com\n")
    done = run("websites", "plan", path)
    assert (done.code, done.out.splitlines()[0]) == (
        0,
        "2 websites: 0 to add, 2 present, 0 differing",
    )
    path.write_text("semicomplete.com\nplain.example\n")
    assert run("websites", "ensure", path, "--yes").code == 0
    assert emulator.client().websites.list()[-1].timezone == "UTC"
    assert run("websites", "add", "semicomplete.com").code == 0
    assert run("websites", "add", "semicomplete.com", "--timezone=UTC").code == 0
    assert run("websites", "add", "semicomplete.com", "--private").code == 9


def test_differing_websites_are_accepted_if_the_list_or_the_option_says_so(
    emulator: Emulator, run: Run, tmp_path: Path
) -> None:
    """A website that differs does not keep a job from adding the others, is code 9
    afterwards, and is shown without an error where it is accepted.
    """
    path = tmp_path / "w.csv"
    rows = ["hostname,public,Accept Differing", "semicomplete.com,no,", "new9.example"]
    path.write_text("\n".join(rows))
    assert run("websites", "plan", path).code == 8
    done = run("websites", "ensure", path, "--yes")
    assert (done.code, "added      new9.example" in done.out) == (9, True)
    accepted = run("websites", "plan", path, "--accept-differing")
    assert accepted.code == 0
    assert "differing  semicomplete.com  public is true" in accepted.out
    assert "by hand" not in accepted.out
    assert run("websites", "ensure", path, "--accept-differing", "-q").err == ""
    path.write_text("\n".join([rows[0], "semicomplete.com,no,yes"]))
    assert run("websites", "plan", path).code == 0
    path.write_text("\n".join([rows[0], "semicomplete.com,no,no"]))
    assert run("websites", "plan", path, "--accept-differing").code == 9


@pytest.mark.parametrize(
    "options",
    [
        ["--as-specs"],
        ["--as-specs", "json"],
        ["--as-specs", "toml"],
        ["--raw", "--format", "csv"],
        ["--format", "json"],
    ],
    ids=" ".join,
)
def test_the_list_is_a_file_for_plan(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    """The list that was written to a file is what is specified, word for word."""
    listed = Emulator()
    labels = ["", "=cmd|' /C calc'!A0", "'=x", "a;-b", "two\nlines", "ünï ☃", " x "]
    for number, label in enumerate(labels):
        listed.add_website(
            f"w{number}.example",
            public=number % 2 == 0,
            label=label,
            timezone="Asia/Tokyo",
        )
    with listed.serve() as address:
        monkeypatch.setenv("SITESTATS_BASE_URL", address)
        monkeypatch.setenv("SITESTATS_API_KEY", listed.api_key)
        monkeypatch.setenv("SITESTATS_USER_ID", listed.user_id)
        written = run("websites", "list", *options)
        assert written.code == 0
        path = tmp_path / "list"
        path.write_text(written.out, "utf-8", newline="")
        done = run("websites", "plan", path, "--quiet")
        assert (done.code, done.out, done.err) == (0, "", "")
        # Nothing of it is ignored that a specification has.
        path.write_text(written.out.replace("Tokyo", "Seoul"), "utf-8", newline="")
        done = run("websites", "plan", path)
        assert f" {len(labels)} differing" in done.out
        if options == ["--as-specs"]:
            assert ",'=cmd|" in written.out
            assert ",''=x" in written.out
        done = run("websites", "list", "--as-specs", "csv", "--format", "json")
        assert (done.code, "give one of them" in done.err) == (2, True)


def test_a_website_that_no_specification_can_be_is_left_out(
    emulator: Emulator, run: Run
) -> None:
    """A zone that is none is named with its website; the others are written."""
    site = {
        "hostname": "a.example",
        "is_public": False,
        "timezone": "Mars/Base",
        "has_ssl": True,
        "has_script": True,
        "own_hostname": None,
        "label": "",
        "pageviews": 0,
        "events": 0,
    }
    twice = [site, {**site, "hostname": "B.example", "timezone": "UTC"}] * 2
    emulator.fail_next(status=200, body={"success": True, "websites": twice})
    done = run("websites", "list", "--as-specs")
    assert done.code == 5
    assert done.out == "hostname,timezone,public,label\nb.example,UTC,false,\n"
    assert done.err.splitlines()[0].startswith(
        "sitestats: a.example is left out: 'Mars/Base' is not a name"
    )
