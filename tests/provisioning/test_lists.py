"""Lists of websites in every format: what is read, and where errors point."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import io
import json
import re
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioning.inside import load
from sitestats import (
    InvalidInputError,
    MissingExtraError,
    SiteStatsWarning,
    WebsiteSpec,
)
from sitestats.provisioning import ListedHostname, read_hostnames

GOOD = {
    "websites.toml": """
        # Two of them.
        [[websites]]
        hostname = "Shop.example"
        timezone = "Europe/Amsterdam"
        public = true
        label = "a, \\"b\\""

        [[websites]]
        hostname = "blog.example"
    """,
    "inline.toml": """
        websites = [
    {public=true,timezone="Europe/Amsterdam",label='a, "b"',hostname='shop.example'},
          { hostname = "blog.example" },
        ]
    """,
    "list.json": """
        [{"hostname": "shop.example", "timezone": "Europe/Amsterdam", "public": true,
          "label": "a, \\"b\\""}, {"hostname": "blog.example", "label": null}]
    """,
    "object.JSON": """
        {"websites": [{"hostname": "shop.example", "timezone": "Europe/Amsterdam",
          "public": true, "label": "a, \\"b\\""}, {"hostname": "blog.example"}]}
    """,
    "commas.csv": (
        "hostname,timezone,public,label\n"
        'shop.example,Europe/Amsterdam,TRUE,"a, ""b"""\n'
        "blog.example\n"
    ),
    "export": (
        "# of today\n\n"
        "Host-Name,TIME ZONE,is_public,label\n"
        'shop.example,Europe/Amsterdam,1,"a, ""b"""\n'
        "#old.example\nblog.example\n"
    ),
    "semicolons.csv": (
        "label;public;hostname;timezone\r\n"
        '"a, ""b""";true;shop.example;Europe/Amsterdam\r\n'
        ";;blog.example;\r\n"
    ),
}


@pytest.mark.parametrize(("name", "text"), GOOD.items(), ids=GOOD)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_each_kind_of_file_is_read(
    tmp_path: Path, name: str, text: str, mark: str
) -> None:
    """TOML, JSON and CSV give the same specifications, in the file's order."""
    path = tmp_path / name
    path.write_bytes((mark + text).encode())
    assert WebsiteSpec.load(path) == (
        WebsiteSpec("shop.example", "Europe/Amsterdam", public=True, label='a, "b"'),
        WebsiteSpec("blog.example"),
    )
    assert WebsiteSpec.load(str(path)) == WebsiteSpec.load(path)


NAMES = {
    "hosts.txt": b"shop.example\nblog.example",
    "hosts": b"# ours\n\n  shop.example  # the shop\n\t# not this\nblog.example\n",
    "hosts.csv": b"\nshop.example\rblog.example\r\n",
    "mark.txt": b"\xef\xbb\xbfshop.example\nblog.example\n",
    "quoted.csv": b'"shop.example"\n"blog.example"\n',
    "column.csv": b"Hostname\nshop.example\n\nblog.example\n",
    "quotes": b'# x\n"hostname","label"\n"shop.example","x,\ny"\n"blog.example"\n',
    "texts.json": b' ["shop.example", "blog.example"]',
    "texts.toml": b"websites = ['shop.example', 'blog.example']",
    "toml": b"# x\n[[websites]]\nhostname='shop.example'\n[[websites]]\n"
    b"hostname='blog.example'",
    "json": b'{"websites": [{"Hostname": "shop.example"}, "blog.example"]}',
}


@pytest.mark.parametrize("name", NAMES)
def test_names_alone_are_a_list(tmp_path: Path, name: str) -> None:
    """Both readers read names alone in every format, whatever the file is called."""
    path = tmp_path / name
    path.write_bytes(NAMES[name])
    expected = ["shop.example", "blog.example"]
    assert [spec.hostname for spec in WebsiteSpec.load(path)] == expected
    assert [host.text for host in read_hostnames(path)] == expected
    with path.open("rb") as file:
        assert [host.text for host in read_hostnames(file)] == expected


def test_a_long_comment_is_read_at_once() -> None:
    """A line of ``#`` above the names keeps nobody waiting, nor do many of them."""
    began = time.thread_time()
    for comment in ("#" * 100_000, "# " * 50_000, "#\n" * 50_000, "\t\n " * 30_000):
        (spec,), _ = load(f"{comment}\nshop.example\n", "hosts")
        assert spec.hostname == "shop.example"
    assert time.thread_time() - began < 5


def test_host_names_are_read_beside_anything(tmp_path: Path) -> None:
    """To query websites, a list's other columns are not looked at, and an address of a
    dashboard is a name; a column of another name is named as for specifications. The
    error says which websites have none.
    """
    path = tmp_path / "list"
    path.write_text("Zeitzone;Domain\nMars;https://s.example/a.example?page=/,b\n;\n")
    (host,) = read_hostnames(path, columns={"hostname": "domain", "label": "x"})
    assert host == ListedHostname("https://s.example/a.example?page=/,b", f"{path}:2")
    path = tmp_path / "list"
    path.write_text("https://s.example/a.example?country=NL,DE#top\nb.example #x\n")
    assert read_hostnames(path) == [
        ListedHostname("https://s.example/a.example?country=NL,DE#top", f"{path}:1"),
        ListedHostname("b.example", f"{path}:2"),
    ]
    path.write_text('["a.example", {"hostname": null}, {"hostname": 7}]')
    with pytest.raises(InvalidInputError) as caught:
        read_hostnames(path)
    places = [problem.where for problem in caught.value.problems]
    assert places == [f"{path}: websites[1]", f"{path}: websites[2]"]


def test_a_list_without_websites_is_refused() -> None:
    """An empty list is a mistake of whoever wrote it, in every format."""
    for name in ("a.toml", "a.json", "a.csv", "a.txt", "a"):
        for text in ("", "\n\n", "hostname\n", "[]", "websites = []"):
            with pytest.raises(InvalidInputError):
                load(text, name)


def test_the_documentation_s_files_are_the_same_list(tmp_path: Path) -> None:
    """The two files in the documentation can be read, and are equal."""
    text = (Path(__file__).parents[2] / "docs" / "provisioning.md").read_text("utf-8")
    expected = (
        WebsiteSpec("shop.example", "Europe/Amsterdam", label="shop"),
        WebsiteSpec("blog.example", public=True),
    )
    for language, ending in (("toml", "toml"), ("text", "csv")):
        fence = rf"^```{language}\n(.+?)^```"
        (shown,) = re.findall(fence, text, re.MULTILINE | re.DOTALL)
        assert load(shown, f"websites.{ending}") == (expected, [])


BAD: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "TOML syntax": ("a.toml", "[[websites]]\nb = ]", [("", "at line 2, column 5")]),
    "JSON syntax": ("a.json", '[\n {"a" 1}]', [("", "line 2 column 7")]),
    "a huge number": ("a.json", f'["{"9" * 5000}",\n -{"9" * 5000}]', [
        ("", "4300 digits"),
    ]),
    "deep": ("a.json", "[" * 100_000, [("", "not valid JSON")]),
    "CSV quote": ("a.csv", 'hostname\na.example\n"b', [(":3", "not valid CSV")]),
    "columns like no other": ("a.csv", "hostname,x,y\na.example,y,z", [
        ("", "'x' is not a field of a website (hostname, timezone, public, label,"),
        ("", "or ignore it by ignore_columns=True (--ignore-columns)"),
    ]),
    "no column": ("a.csv", "Domain\na.example", [
        ("", "there is no column 'hostname'"),
        ("", "'Domain' is not a field"),
    ]),
    "a key like no other": ("a.json", '{"websites": ["a.example"], "x": 1}', [
        ("", "the list 'websites' and no more"),
    ]),
    "a table": ("a.toml", "[websites]\nhostname='a.example'", [("", "are a list")]),
    "a key without a name": ("a", '[{"hostname": "a.example", "": 1}]', [
        ("", "'' is not a field"),
    ]),
    "a key twice": ("a", '["a.example", {"timezone": "UTC", "timezone": null}]', [
        (": websites[1]", "two columns or keys are the timezone"),
        (": websites[1]: hostname", "is not a valid"),
    ]),
    "the list twice": ("a", '{"websites": ["a.example"], "websites": []}', [
        ("", "the list 'websites' and no more"),
    ]),
    "infinity": ("a", '[{"hostname": "a.example", "public": NaN, "label": Infinity}]', [
        (": websites[0]: label", "not inf"),
    ]),
    "a row with #": ("a.csv", "hostname,label\n#a.example,\nb.example", [
        (":2: hostname", "'#a.example' is not a valid"),
    ]),
    "numbers": ("a.json", '["a.example", 7]', [(": websites[1]", "not 7")]),
    "columns that are there twice hide no other mistake": (
        "a.csv",
        "hostname,host-name,timezone\na.example,,utc",
        [
            (":2", "two columns or keys are the hostname"),
            (":2: timezone", "did you mean 'UTC'?"),
        ],
    ),
    "zone": (
        "a.toml",
        "[[websites]]\nhostname = 'a.example'\ntimezone  =  'europe/amsterdam'",
        [(": websites[0]: timezone", "did you mean 'Europe/Amsterdam'?")],
    ),
    "no host name": ("a.json", '[{"hostname": "a.example"}, {"label": "x"}]', [
        (": websites[1]: hostname", "is not a valid"),
    ]),
    "misspelt": ("a.json", '[{"hostname": "a.example", "timezne": "UTC"}]', [
        ("", "'timezne' is not a field of a website (did you mean 'timezone'?)"),
    ]),
    "public in words": ("a.csv", "hostname,public\na.example,maybe", [
        (":2: public", "true or false"),
    ]),
    "public as a number": (
        "a.toml",
        "websites = [{hostname = 'a.example', public = 1}]",
        [(": websites[0]: public", "true or false")],
    ),
    "a column twice": ("a.csv", "hostname,Host Name\na.example,b.example", [
        (":2", "two columns or keys are the hostname"),
    ]),
    "too many cells": ("a.csv", "hostname\na.example\nb.example,c", [
        (":3", "no column has a name for 'c': name its column, or leave it"),
    ]),
    "a line too short": ("a.csv", "timezone,label,hostname\nUTC,x", [
        (":2: hostname", "is not a valid"),
    ]),
    "no name in a line": ("a.txt", "a.example\nb example\n\nhttp://c.example", [
        (":2: hostname", "is not a valid"),
        (":4: hostname", "is not a valid"),
    ]),
    "a quoted line end": ("a.csv", 'hostname,label\na.example,"x\ny"\nb,', [
        (":4: hostname", "is not a valid"),
    ]),
    "in the order of the lines": (
        "a.csv",
        "hostname,label\na.example,x\nA.Example.,y\nb,c,d\nc\nd.example\nd.example,z",
        [
            (":3", "here and at a.csv:2, with the label 'y' here and 'x' there: leave"),
            (":4", "no column has a name for 'd'"),
            (":5: hostname", "is not a valid"),
            (":7", "d.example is given twice"),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), BAD.values(), ids=BAD)
def test_an_error_has_its_location(
    name: str, text: str, expected: list[tuple[str, str]]
) -> None:
    """Every problem has its place, in the order of the lines: the line and the field in
    CSV, the path in a tree.
    """
    with pytest.raises(InvalidInputError) as caught:
        load(text, name)
    found = caught.value.problems
    assert [one.where for one in found] == [f"{name}{at}" for at, _ in expected]
    for problem, (_, words) in zip(found, expected, strict=True):
        assert words in problem.message
        assert problem.rule.startswith("website-")


def test_a_file_that_can_t_be_read_is_an_error(tmp_path: Path) -> None:
    """What spreadsheets on Windows write has to be saved as UTF-8. A missing file is a
    FileNotFoundError, as from open().
    """
    with pytest.raises(InvalidInputError, match="save it as UTF-8, in Excel as CSV"):
        load(b"hostname\nb\xfccher.example\n")
    with pytest.raises(FileNotFoundError):
        WebsiteSpec.load(tmp_path / "a.toml")


anything = st.binary(max_size=200) | st.text(
    "ab.,;\t\"'#\r\n\0{}[]: hostname=", max_size=80
).map(str.encode)


@given(anything, st.sampled_from(["a", "a.txt", "a.csv", "a.toml", "a.json"]))
def test_whatever_is_in_a_file_is_a_list_or_an_error(data: bytes, name: str) -> None:
    """No content of a file is another exception than an InvalidInputError."""
    for read in (WebsiteSpec.load, read_hostnames):
        stream: Any = io.BytesIO(data)
        stream.name = name
        with warnings.catch_warnings(), contextlib.suppress(InvalidInputError):
            warnings.simplefilter("ignore", SiteStatsWarning)
            assert read(stream)


# --- columns ----------------------------------------------------------------------


def test_a_column_that_is_named_is_the_only_one() -> None:
    """The column that was named is read, and with ignore_columns no other one. One that
    is not there, or is for no field, is an error.
    """
    text = "hostname;Domain\nold.example;new.example\n"
    specs, notes = load(text, columns={"hostname": "Domain"}, ignore_columns=True)
    assert specs == (WebsiteSpec("new.example"),)
    assert notes == ["list: ignored columns: 'hostname'"]
    text = "Domain;Zone\na.example;UTC\n"
    given = {"hostname": "domain", "timezone": "zone"}
    assert load(text, "pipe", columns=given)[0] == (WebsiteSpec("a.example", "UTC"),)
    cases: list[tuple[Any, str]] = [
        ({"hostname": "x"}, "no column 'x'"),
        ({"hostname": "domain", "label": "b"}, "no column 'b'"),
        ({"hostname": "domain", "host": "domain"}, "'host' is not a field"),
    ]
    for columns, words in cases:
        with pytest.raises(InvalidInputError, match=words):
            load(text, columns=columns)


def test_a_name_that_resembles_a_field_is_not_left_out() -> None:
    """With ignore_columns such a column is an error until it is renamed or mapped,
    since a website that was added with a default can't be changed.
    """
    for name in ("Zeitzone", "timezne", "zone", "lable"):
        text = f"hostname,{name},Kunde\na.example,,y\n"
        with pytest.raises(
            InvalidInputError, match=rf"'{name}' is not .*did you mean"
        ) as told:
            load(text, ignore_columns=True)
        assert len(told.value.problems) == 1
        specs, notes = load(text, columns={"label": name}, ignore_columns=True)
        assert specs == (WebsiteSpec("a.example"),)
        assert notes == ["list: ignored columns: 'Kunde'"]


def test_a_comment_is_a_line_without_a_separator() -> None:
    """A row that begins with ``#`` is none, as a note says, nor is a quoted cell, nor a
    line of one, nor a header.
    """
    text = "# of today, as it is\n#label;Host-Name\n#1 shop;a.example\n# closed\n"
    specs, notes = load(text)
    assert specs == (WebsiteSpec("a.example", label="#1 shop"),)
    assert notes == ["list:3: the row counts: if it is a comment, leave it out"]
    specs, notes = load('hostname,label\na.example,"Shop\n#1"\n')
    assert (specs, notes) == ((WebsiteSpec("a.example", label="Shop\n#1"),), [])
    with pytest.raises(
        InvalidInputError, match=r"'#b\.example' is not a valid host name"
    ):
        load('hostname\na.example\n"#b.example"\n')


def test_a_website_that_is_given_again_counts_once() -> None:
    """With the same values it is a note, which names the first one."""
    text = "hostname,label\na.example,x\n" + "A.example.,x\n" * 7 + "b.example,y\n"
    specs, notes = load(text)
    assert [spec.hostname for spec in specs] == ["a.example", "b.example"]
    (note,) = notes
    assert note.endswith("again count once: a.example (list:3) and 6 more")


def test_accept_differing_is_for_the_others() -> None:
    """Whether websites may differ counts where the list does not say it."""
    text = "hostname,accept_differing\na.example,no\nb.example,\nc.example,yes\n"
    specs, _ = load(text, accept_differing=True)
    assert [spec.accept_differing for spec in specs] == [False, True, True]


# --- workbooks --------------------------------------------------------------------


def workbook(*rows: list[Any], change: Callable[[Any], object] = repr) -> bytes:
    """A workbook whose first sheet has these rows, after *change* of the sheet."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "Liste"
    for row in rows:
        sheet.append(row)
    book.create_sheet("notes").append(["nothing"])
    change(sheet)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_a_workbook_is_read() -> None:
    """The first sheet of a workbook is a list, with flags, also as LibreOffice writes
    them, numbers and empty rows. A ``#`` begins no comment, and what is wrong in an
    ignored column does not matter.
    """
    rows = [
        [None, None, " ", None],
        ["Host Name", "Öffentlich", "label", "Kunde"],
        ["a.example\xa0", "=TRUE()", 7.0, "=NA()"],
        [None, None, None, None],
        ["b.example", "nein", "'=x", dt.date(2026, 1, 1)],
        ["c.example", None, "#1", "#N/A"],
        ["d.example"],
    ]
    data = workbook(*rows, change=lambda sheet: sheet.merge_cells("D6:D7"))
    columns = {"public": "Öffentlich"}
    specs, notes = load(data, "pipe", columns=columns, ignore_columns=True)
    assert specs == (
        WebsiteSpec("a.example", public=True, label="7"),
        WebsiteSpec("b.example", public=False, label="'=x"),
        WebsiteSpec("c.example", label="#1"),
        WebsiteSpec("d.example"),
    )
    assert notes == ["pipe: ignored columns: 'Kunde'"]


CELLS: dict[str, tuple[Any, str]] = {
    "merged": (None, "merged with others"),
    "a formula": ("=UPPER(A1)", "a formula: paste its value"),
    "an error": ("#N/A", "an error"),
    "a date": (dt.date(2026, 1, 31), "a date or number"),
    "a time": (dt.time(12, 30), "a date or number"),
    "a broken number": (1.5, "a date or number"),
    "a long number": (10**11, "a date or number"),
}


@pytest.mark.parametrize(("value", "words"), CELLS.values(), ids=CELLS)
def test_a_cell_that_looks_otherwise_is_refused(value: object, words: str) -> None:
    """The error has the sheet and the cell, and what to do there. It hides no other
    mistake of its row; and who needs the host names alone does not get it.
    """
    header = ["hostname", "timezone", "public"]
    rows = [header, ["a.example", "UTC"], ["b.example", value, "perhaps"]]

    def merge(sheet: Any) -> None:
        if value is None:
            sheet.merge_cells("B2:B3")

    data = workbook(*rows, change=merge)
    with pytest.raises(InvalidInputError) as caught:
        load(data, "x.xlsx")
    problem, other = caught.value.problems
    assert problem.where == "x.xlsx: Liste!B3"
    assert words in problem.message
    assert other.where == "x.xlsx: Liste!3: public"
    names = [host.text for host in read_hostnames(io.BytesIO(data))]
    assert names == ["a.example", "b.example"]


def test_what_is_hidden_is_told() -> None:
    """Hidden rows and columns count, and notes say so; another one names the sheets
    that are not read. A hidden first sheet is refused.
    """

    def hide_row(sheet: Any) -> None:
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions.group("A", "B", hidden=True)

    def hide_sheet(sheet: Any) -> None:
        sheet.sheet_state = "veryHidden"

    rows = [["hostname"], ["a.example"], ["b.example"]]

    data = workbook(*rows, change=lambda sheet: sheet.parent["notes"].append(["more"]))
    _, notes = load(data, "x.xlsx")
    assert notes == ["x.xlsx: Liste is the only sheet that is read, not 'notes'"]
    specs, notes = load(workbook(*rows, change=hide_row), "x.xlsx")
    assert [spec.hostname for spec in specs] == ["a.example", "b.example"]
    assert notes == [
        "x.xlsx: Liste: 1 hidden row will count as the others do",
        "x.xlsx: Liste: hidden columns will count as the others do",
    ]
    with pytest.raises(
        InvalidInputError, match=r"Liste: the first sheet is hidden: show it"
    ):
        load(workbook(*rows, change=hide_sheet), "x.xlsx")


def test_errors_of_a_workbook_have_their_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong value is at its sheet and row; another file is one error, and so is the
    missing extra.
    """
    whole = workbook(["hostname", "timezone"], ["a.example", "utc"])
    with pytest.raises(InvalidInputError) as caught:
        load(whole, "x.xlsx")
    (problem,) = caught.value.problems
    assert problem.where == "x.xlsx: Liste!2: timezone"
    for data in (whole[:100], whole[:-200], whole[: len(whole) // 2]):
        with pytest.raises(InvalidInputError, match="not a workbook"):
            load(data, "pipe")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"sitestats\[excel\]"):
        load(whole, "pipe")


WORDS: dict[Any, bool | None] = {None: None, True: True, "nein": False, "1": True}
LABELS = [None, "#1", "shop", "a, b ", 'a;"b"', "x\ny", "'", "ü", "1e3", "=A1", "#N/A"]


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([None, "UTC", "Asia/Tokyo"]),
            st.sampled_from([*WORDS]),
            st.sampled_from([*LABELS, 7, 7.5, dt.date(2026, 1, 1), True]),
        ),
        min_size=1,
        max_size=5,
    ),
    separator=st.sampled_from([",", ";", "\t", ""]),
    is_merged=st.booleans(),
)
def test_a_list_is_read_as_it_looks_or_refused(
    rows: list[Any], separator: str, *, is_merged: bool
) -> None:
    """What a spreadsheet saves, as CSV or as a workbook, gives the websites that it
    shows, or an error with the places.
    """
    table = [[f"w{number}.example", *row] for number, row in enumerate(rows)]
    header, text = ["#Hostname", "timezone", "public", "label"], io.StringIO()
    csv.writer(text, delimiter=separator or ",").writerows([header, *table])
    data = f"\ufeff# a comment\r\n{text.getvalue()}".encode()
    if not separator:
        area = f"B2:B{1 + len(table)}" if is_merged else "A1:A1"
        data = workbook(header, *table, change=lambda sheet: sheet.merge_cells(area))
    shown = [
        WebsiteSpec(
            host, zone, WORDS[public], None if label is None else str(label).strip()
        )
        for host, zone, public, label in table
    ]
    try:
        found = load(data)
    except InvalidInputError as error:
        places = [problem.where for problem in error.problems]
    else:
        assert found == (tuple(shown), [])
        return
    assert not separator
    assert all(place.startswith("list: Liste!") for place in places)


# --- saved lists ------------------------------------------------------------------


def test_a_saved_list_is_read() -> None:
    """Of the service's list what only the service decides is left out, without a word,
    also where somebody removed some of these columns.
    """
    columns = "hostname,is_public,timezone,has_ssl,has_script,own_hostname,label,"
    columns += "pageviews,events"
    row = "a.example,true,UTC,true,true,,'=x,1,2"
    expected = (WebsiteSpec("a.example", "UTC", public=True, label="=x"),)
    assert load(f"{columns}\n{row}\n") == (expected, [])
    values = dict(zip(columns.split(","), row.split(","), strict=True))
    listed = {**values, "is_public": True, "label": "=x", "extra": {}}
    assert load(json.dumps([listed]), "a.json") == (expected, [])
    assert load("hostname,events\na.example,2\n") == ((WebsiteSpec("a.example"),), [])
