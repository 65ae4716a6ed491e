"""Workbooks as lists: what is read costs what is filled, and text is as it looks."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
import xlsxwriter

from sitestats import InvalidInputError, SiteStatsWarning, WebsiteSpec

ROWS = [["hostname", "timezone", "label"], ["a.example", "UTC", "x"]]
SPECS = (WebsiteSpec("a.example", "UTC", label="x"),)


def workbook(
    rows: list[list[str]] = ROWS, change: Callable[[Any, Any], object] | None = None
) -> bytes:
    """A workbook with these texts, after *change* of the book and its sheet."""
    stream = io.BytesIO()
    book: Any = xlsxwriter.Workbook(stream, {"in_memory": True})
    sheet = book.add_worksheet("Liste")
    for row, cells in enumerate(rows):
        for column, value in enumerate(cells):
            sheet.write_string(row, column, value)
    if change:
        change(book, sheet)
    book.close()
    return stream.getvalue()


def load(data: bytes, **options: Any) -> tuple[WebsiteSpec, ...]:
    """The specifications of a workbook."""
    return WebsiteSpec.load(io.BytesIO(data), **options)


SHEET = "xl/worksheets/sheet1.xml"


def with_part(data: bytes, change: Callable[[str], str], name: str = SHEET) -> bytes:
    """The workbook with another text of this part; or of all, and of their names."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for info in old.infolist():
            text = old.read(info).decode()
            text = change(text) if name in {info.filename, ""} else text
            info.filename = info.filename if name else change(info.filename)
            new.writestr(info, text, compresslevel=1)
    return stream.getvalue()


def with_pattern(data: bytes, pattern: str, replacement: str) -> bytes:
    """The workbook with another text in its sheet."""
    return with_part(data, lambda text: re.sub(pattern, replacement, text))


def with_last_row(cell: str) -> bytes:
    """A workbook with *cell* in the last row that a sheet can have."""
    row = f'<row r="1048576">{cell}</row></sheetData>'
    return with_pattern(workbook(), "</sheetData>", row)


def with_last_cell_formatted() -> bytes:
    """As a format that was drawn down to the end of the sheet leaves it."""
    return with_last_row('<c r="XFD1048576" s="0"/>')


def set_heights(_: Any, sheet: Any) -> None:
    """As a height that was set for many rows leaves them."""
    for row in range(2, 30_000):
        sheet.set_row(row, 30)


def merge_far_below(_: Any, sheet: Any) -> None:
    """Cells without a value, merged over many rows."""
    sheet.merge_range(10, 0, 20_000, 3, "")


DECLARED: dict[str, Callable[[], bytes]] = {
    "formatted cell": with_last_cell_formatted,
    "heights": lambda: workbook(change=set_heights),
    "merged": lambda: workbook(change=merge_far_below),
    "dimension": lambda: with_pattern(
        workbook(), '(dimension ref)="[^"]*', r'\1="A1:XFD1048576'
    ),
    "no dimension": lambda: with_pattern(workbook(), "<dimension [^>]*>", ""),
    "texts elsewhere": lambda: with_part(
        workbook(), lambda text: text.replace("sharedStrings.", "strings."), ""
    ),
    "no references": lambda: with_pattern(workbook(), '(<c|<row) r="[^"]*"', r"\1"),
    "merged beside the list": lambda: workbook(
        change=lambda _, sheet: [
            sheet.merge_range(0, column, 9, column, "") for column in range(5, 50)
        ]
    ),
    "formulas of small charts": lambda: with_pattern(
        with_last_cell_formatted(),
        "</worksheet>",
        "<extLst><f>A1</f></extLst></worksheet>",
    ),
}


@pytest.mark.parametrize("make", DECLARED.values(), ids=DECLARED)
def test_what_a_sheet_declares_costs_nothing(
    make: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sheet is read until its last value, however large it says that it is: no cell
    is made of what is only formatted, merged or declared.
    """
    from openpyxl.cell.read_only import ReadOnlyCell

    made: list[object] = []
    init: Any = ReadOnlyCell.__init__

    def count(self: Any, *arguments: Any, **named: Any) -> None:
        made.append(self)
        init(self, *arguments, **named)

    monkeypatch.setattr(ReadOnlyCell, "__init__", count)
    assert load(make()) == SPECS
    assert len(made) == 6


def test_a_value_far_away_is_read() -> None:
    """A million rows without a cell may be between the rows of a list. A note beside it
    is refused with its place.
    """
    cell = '<c r="A1048576" t="inlineStr"><is><t>b.example</t></is></c>'
    data = with_last_row(cell)
    assert [spec.hostname for spec in load(data)] == ["a.example", "b.example"]
    data = workbook(change=lambda _, sheet: sheet.write(5, 16_383, "a note"))
    with pytest.raises(
        InvalidInputError, match=r"Liste!6: no column has a name for 'a"
    ):
        load(data)


BOMBS: dict[str, tuple[Callable[[str], str], str, str]] = {
    "a sheet": (
        lambda text: text + " " * 270_000_000,
        SHEET,
        "unpacks to 257 megabytes: copy the list alone",
    ),
    "texts": (
        lambda text: text + " " * 40_000_000,
        "xl/sharedStrings.xml",
        "unpacks to 38 megabytes: copy the list alone",
    ),
    "merged again and again": (
        lambda text: text.replace(
            "</sheetData>",
            "</sheetData><mergeCells>"
            + '<mergeCell ref="A1:XFD1048576"/>' * 1000
            + "</mergeCells>",
        ),
        SHEET,
        "damaged",
    ),
}


@pytest.mark.parametrize(
    ("change", "part", "words"),
    [
        pytest.param(*bomb, id=name, marks=[pytest.mark.long] * (name == "a sheet"))
        for name, bomb in BOMBS.items()
    ],
)
def test_a_bomb_is_refused(change: Callable[[str], str], part: str, words: str) -> None:
    """A workbook that unpacks to far more than a list has is not unpacked, nor read
    where its merged cells would take hours.
    """
    data = with_part(workbook(), change, part)
    assert len(data) < 10**7
    with pytest.raises(InvalidInputError, match=words):
        load(data)


def test_entities_do_not_expand() -> None:
    """Some bytes of XML can stand for gigabytes of text."""
    entities = "<!ENTITY a0 'aaaaaaaaaa'>"
    for level in range(1, 13):
        entities += f"<!ENTITY a{level} '{f'&a{level - 1};' * 10}'>"

    def expand(text: str) -> str:
        text = text.replace("?>", f"?><!DOCTYPE a [{entities}]>", 1)
        return text.replace("<t>x</t>", "<t>&a12;</t>").replace("<v>2<", "<v>&a12;<")

    for part in (SHEET, "xl/sharedStrings.xml"):
        with pytest.raises(InvalidInputError, match="damaged"):
            load(with_part(workbook(), expand, part))


def test_a_header_that_can_not_be_read_is_named_by_its_place() -> None:
    """A column with a formula for its name may be ignored, as another column may."""
    data = workbook(change=lambda _, sheet: sheet.write_formula("D1", "=A1"))
    with pytest.raises(InvalidInputError, match=r"Liste!D1' is not a field of a web"):
        load(data)
    with pytest.warns(SiteStatsWarning, match=r"ignored columns: '.*Liste!D1'"):
        assert load(data, ignore_columns=True) == SPECS


def test_a_strict_workbook_says_how_to_save_it() -> None:
    """Excel saves it as .xlsx, too, so that to save it again would never help."""
    data = with_part(
        workbook(),
        lambda text: text.replace(
            "schemas.openxmlformats.org/officeDocument/2006",
            "purl.oclc.org/ooxml/officeDocument",
        ),
        "_rels/.rels",
    )
    with pytest.raises(InvalidInputError, match="save it as Excel Workbook"):
        load(data)


def test_what_is_hidden_or_merged_is_told_of_rows_with_values() -> None:
    """Hidden rows and columns without a value are not news; nor are merged cells to the
    right of the list, or in a title above it. Those within it are refused.
    """

    def hide(book: Any, sheet: Any) -> None:
        sheet.set_row(50, None, None, {"hidden": True})
        sheet.set_column(7, 9, None, None, {"hidden": True})
        book.add_worksheet("empty").write_blank(50, 7, None, book.add_format())

    with warnings.catch_warnings():
        warnings.simplefilter("error", SiteStatsWarning)
        assert load(workbook(change=hide)) == SPECS
    data = workbook(change=lambda _, sheet: sheet.merge_range("C2:E2", "x"))
    assert load(data) == SPECS
    titled = [["Our websites"], ["Domain", "timezone"], ["a.example", "UTC"]]
    data = workbook(titled, lambda _, sheet: sheet.merge_range("A1:B1", "Our websites"))
    with pytest.raises(InvalidInputError, match="'Domain' is not a field"):
        load(data)
    data = workbook(change=lambda _, sheet: sheet.merge_range("B2:C2", "UTC"))
    with pytest.raises(InvalidInputError, match=r"Liste!C2: the cell is merged"):
        load(data)
