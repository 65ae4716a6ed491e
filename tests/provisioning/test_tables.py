"""Tables as people and spreadsheets write them: encodings, long and odd rows."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from same_text import SameText
from sitestats import MissingExtraError, SiteStatsWarning, SpecError, WebsiteSpec
from sitestats.provisioning import read_host_list
from website_lists import load

pytestmark = pytest.mark.standard_library


EXPORT = (
    "Kunde;Domain;Öffentlich\r\nMüller & Söhne;müller.example;WAHR\r\n;b.example;\r\n"
)
DOMAIN = {"hostname": "Domain", "public": "Öffentlich"}


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", "it is in UTF-16"),
        ("cp1252", "was read as cp1252"),
    ],
)
def test_the_export_of_a_spreadsheet_is_read(
    encoding: str, words: str, same_text: SameText
) -> None:
    """A German export has other names, words, separators and encodings, and a note
    names an encoding that is not UTF-8.
    """
    specs, notes = load(EXPORT.encode(encoding), columns=DOMAIN, ignore_columns=True)
    assert specs == (
        WebsiteSpec("müller.example", public=True),
        WebsiteSpec("b.example"),
    )
    assert specs[0].written == "müller.example"
    assert notes[-1] == "list: ignored columns: 'Kunde'"
    assert len(notes) == (2 if words else 1)
    assert words in notes[0]
    same_text("\n".join(notes))


@pytest.mark.parametrize(
    ("input_format", "text"),
    [
        ("csv", "Domain\tpublic\tKunde\na.example\tyes\tx\n"),
        ("json", '[{"Domain": "a.example", "public": true, "Kunde": "x"}]'),
        ("toml", "[[websites]]\nDomain = 'a.example'\npublic = true\nKunde = 'x'"),
    ],
)
def test_names_are_given_in_every_format(input_format: str, text: str) -> None:
    """Other names, and names to ignore, are given for JSON and TOML too."""
    specs, notes = load(
        text, input_format, columns={"hostname": "Domain"}, ignore_columns=True
    )
    assert specs == (WebsiteSpec("a.example", public=True),)
    assert notes == ["list: ignored columns: 'Kunde'"]
    with pytest.raises(SpecError, match="'Kunde' is not a"):
        load(text, input_format, columns={"hostname": "Domain"})
    with pytest.raises(SpecError, match="'Domain' is not a"):
        load(text, input_format)


def test_empty_columns_at_the_end_are_no_columns() -> None:
    """Separators that a spreadsheet writes up to its widest row are left out."""
    specs, notes = load("hostname;label;;\na.example;x;;\nb.example;;;;;\n")
    assert [spec.hostname for spec in specs] == ["a.example", "b.example"]
    assert notes == []
    with pytest.raises(SpecError, match="4 cells, and the first line names 2"):
        load("hostname;label;;\na.example;x;;y\n")


def test_thousands_of_wrong_rows_are_a_few_lines() -> None:
    """Errors of a long list are grouped in the exception, too."""
    rows = (f"w{n:04}.example,Europe/Amsterdam{n:04}" for n in range(2_000))
    with pytest.raises(SpecError) as caught:
        load("\n".join(["hostname,timezone", *rows]))
    messages = [problem.message for problem in caught.value.problems]
    assert len(messages) == 2_000
    *lines, last = str(caught.value).splitlines()
    assert len(lines) == 20
    assert last == "… and 1,980 more"


WIDE = ",".join(["hostname", *(f"column {n}" for n in range(39))])


@pytest.mark.parametrize(
    ("text", "options", "outcome"),
    [
        (
            "\n".join([WIDE, *(f"w{n}.example" + ",x" * 39 for n in range(1_000))]),
            {"ignore_columns": True},
            1_000,
        ),
        ("hostname,label\na.example," + "x" * 2**20, {}, 1),
        ("hostname\n" + "x" * 2**20, {}, "longer than a host name can be"),
        ("hostname\na.example" + "," * 2**16, {}, 1),
        ("hostname\na.example" + ",x" * 2**16, {}, "65537 cells"),
        ("hostname" + ",hostname" * 20_000, {}, "is given twice"),
        ("hostname,label\na.example," + '"' * (2**20 + 1), {}, "never closed"),
        ("hostname\ra.example\r\nb.example\nc.example", {}, 3),
        ("hostname\n" + "a.example\n" * 5_000, {}, 1),
    ],
    ids=[
        *("columns", "label", "host name", "separators", "cells", "names", "quotes"),
        *("line ends", "repeated"),
    ],
)
def test_what_is_long_or_odd_is_read_or_refused(
    text: str, options: dict[str, Any], outcome: int | str
) -> None:
    """Long rows, many columns and mixed ends of lines are read, or a short error."""
    if isinstance(outcome, int):
        specs, _ = load(text, **options)
        assert len(specs) == outcome
        return
    with pytest.raises(SpecError, match=outcome) as caught:
        load(text, **options)
    assert len(str(caught.value)) < 300


def test_rows_may_be_shorter_or_longer_than_the_first() -> None:
    """A row that ends before the host name, or has cells too many, says so there."""
    with pytest.raises(SpecError) as caught:
        load("public,label,hostname\nyes\nno,x,a.example,1,2")
    assert [problem.where for problem in caught.value.problems] == [
        "list:2:1",
        "list:3:16",
    ]


def workbook(rows: list[list[Any]], **more: Any) -> io.BytesIO:
    """A workbook whose first sheet has these rows."""
    book = openpyxl.Workbook(**more)
    sheet = book.active
    assert sheet is not None
    sheet.title = "Liste"
    for row in rows:
        sheet.append(row)
    book.create_sheet("notes").append(["nothing"])
    stream = io.BytesIO()
    book.save(stream)
    stream.seek(0)
    return stream


def test_a_workbook_is_read(tmp_path: Path) -> None:
    """The first sheet of a workbook is a list, with flags, numbers and empty rows."""
    rows = [
        [None, None, None, None],
        ["Host Name", "Öffentlich", "label", "Kunde"],
        ["a.example", True, 7, "x"],
        [None, None, None, None],
        ["b.example", "nein", "'=x", None],
        ["c.example"],
    ]
    path = tmp_path / "list.xlsx"
    path.write_bytes(workbook(rows).getvalue())
    options: Any = {"columns": {"public": "Öffentlich"}, "ignore_columns": True}
    with pytest.warns(SiteStatsWarning, match="ignored columns: 'Kunde'"):
        specs = WebsiteSpec.load(path, **options)
    assert specs == (
        WebsiteSpec("a.example", public=True, label="7"),
        WebsiteSpec("b.example", public=False, label="'=x"),
        WebsiteSpec("c.example"),
    )
    assert [host.text for host in read_host_list(path)] == [
        *("a.example", "b.example", "c.example"),
    ]


def test_errors_of_a_workbook_have_their_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wrong value is at its sheet and cell; what is no workbook is one error, and so
    is the missing extra.
    """
    stream = workbook([["hostname", "timezone"], ["a.example", "utc"]])
    stream.name = "x.xlsx"
    with pytest.raises(SpecError) as caught:
        WebsiteSpec.load(stream)
    (problem,) = caught.value.problems
    assert problem.where == "x.xlsx: Liste!B2"
    whole = stream.getvalue()
    for data in (
        whole[:100],
        whole[:-200],
        whole[:500] + b"x" + whole[501:],
        b"PK\3\4",
    ):
        with contextlib.suppress(SpecError):
            WebsiteSpec.load(io.BytesIO(data))
    with pytest.raises(SpecError, match="no workbook"):
        WebsiteSpec.load(io.BytesIO(whole[:100]))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"sitestats\[excel\]"):
        WebsiteSpec.load(io.BytesIO(whole))


YES = "yes YES 1 true True WAHR ja waar VRAI oui verdadero vero"
NO = "no 0 false Falsch nein ONWAAR nee faux non falso"


def test_yes_and_no_are_read() -> None:
    """Yes and no are read in any case, and as spreadsheets write them."""
    words = [*YES.split(), *NO.split()]
    rows = [f"w{number}.example,{word}" for number, word in enumerate(words)]
    specs, _ = load("\n".join(["hostname,public", *rows]))
    read = {word: spec.public for word, spec in zip(words, specs, strict=True)}
    assert read == {word: word in YES.split() for word in words}
