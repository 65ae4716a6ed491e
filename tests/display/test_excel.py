"""Excel workbooks of results, read back by openpyxl, which is not what wrote them."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from display.inside import ZONE, encodable, set_most_rows, write_workbook
from sitestats import Entries, PageEntry, StatsQuery, UsageError
from sitestats.emulator import Emulator
from sitestats.types import Column, HourEntry, Kind, Table

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = '=HYPERLINK("https://evil.example","https://good.example")'
QUERY = (
    StatsQuery("semicomplete.com")
    .fields("pageviews", "visitors", "histogram", "pages", "referrers")
    .all_events()
    .last(days=3)
)


def read(file: str | Path | io.BytesIO) -> Any:
    """The workbook, with formulas as Excel would compute them."""
    return openpyxl.load_workbook(file)


def rows_of(sheet: Any) -> list[tuple[Any, ...]]:
    """The values of every row, with the header."""
    return [*sheet.iter_rows(values_only=True)]


def written(columns: list[Column]) -> Any:
    """The only sheet of these columns."""
    file = io.BytesIO()
    write_workbook(file, [Table("rows", columns)])
    return read(file)["rows"]


def test_every_result_has_a_sheet_for_each_list(tmp_path: Path) -> None:
    """Whoever opens the file finds the totals and all lists in it."""
    with Emulator.demo().client() as client:
        stats = client.stats.get(QUERY)
        outcomes = client.stats.get_many(
            [QUERY, QUERY.website("nobody.example"), QUERY.fields("pageviews")]
        ).collect()
        comparison = client.stats.compare(QUERY)
        websites = client.websites.list()
        before = client.stats.get_many(
            [QUERY.between("today-9d", "today-7d")]
        ).collect()
    lists = ["totals", "histogram", "pages", "referrers", "events", "queries"]
    for result, sheets in (
        *((one, lists) for one in (stats, outcomes, comparison)),
        (outcomes.compare_to(before), lists),
        (comparison["pages"], ["pages"]),
        (stats.histogram, ["histogram"]),
        (websites, ["websites"]),
    ):
        path = tmp_path / f"{type(result).__name__}.xlsx"
        result.to_excel(path)
        book = read(path)
        assert book.sheetnames == sheets
        assert all(sheet.freeze_panes == "A2" for sheet in book)
        # Printed, a page has all columns.
        assert all(sheet.page_setup.fitToHeight == 0 for sheet in book)
    # A failed query has its row, and its error.
    totals = rows_of(read(tmp_path / "Outcomes.xlsx")["totals"])
    assert totals[0] == tuple(outcomes.columns())
    assert "NotFoundError" in str(totals[2])
    queries = rows_of(read(tmp_path / "Outcomes.xlsx")["queries"])
    assert queries == [("code",), *((repr(one.query),) for one in outcomes)]
    assert len(rows_of(read(tmp_path / "WebsiteList.xlsx")["websites"])) == 4


@pytest.mark.parametrize(
    "text",
    [HOSTILE, "https://evil.example/", "+1+cmd|' /C calc'!A0", "007", "TRUE", "{=1}"],
)
def test_a_text_is_text(text: str) -> None:
    """What a visitor wrote is neither a formula nor a link, which Excel would run."""
    pages = Entries([PageEntry(text, 1, 1)], name="pages", entry_type=PageEntry)
    file = io.BytesIO()
    pages.to_excel(file)
    cell = read(file)["pages"]["A2"]
    assert (cell.value, cell.data_type, cell.hyperlink) == (text, "s", None)
    with zipfile.ZipFile(file) as book:
        sheet = book.read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet
    assert b"hyperlink" not in sheet


@given(
    st.lists(st.text(st.characters(exclude_characters="\r"), max_size=20), max_size=3)
)
def test_every_text_can_be_read_back(texts: list[str]) -> None:
    """Control characters and halves of pairs make no file that Excel must repair."""
    sheet = written([Column("value", Kind.TEXT, texts)])
    shown = [
        "" if value is None else openpyxl.utils.escape.unescape(value)
        for (value,) in rows_of(sheet)[1:]
    ]
    expected = map(encodable, texts)
    assert [*filter(None, shown)] == [*filter(None, expected)]


def test_days_and_times_are_those_of_excel() -> None:
    """A date is a date; a time is that of its zone, which a column names, and both
    hours of the night in which clocks go back are there.
    """
    hours = [dt.datetime(2026, 10, 25, hour, tzinfo=dt.UTC) for hour in (0, 1)]
    entries = Entries(
        [HourEntry(day.date(), 2, 1, start=day, hour=2) for day in hours],
        name="histogram",
        entry_type=HourEntry,
        timezone="Europe/Amsterdam",
    )
    file = io.BytesIO()
    entries.to_excel(file)
    header, *rows = rows_of(read(file)["histogram"])
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        assert cells["date"] == dt.datetime(2026, 10, 25)  # noqa: DTZ001 - Excel's
        assert cells["start"] == dt.datetime(2026, 10, 25, 2)  # noqa: DTZ001 - as above
        assert cells[ZONE] == "Europe/Amsterdam"


def test_each_kind_of_value_is_itself() -> None:
    """A number, a day and a flag keep their kind, and a text that is too long its
    beginning.
    """
    sheet = written(
        [
            Column("count", Kind.COUNT, [7, 10**15 - 1, None]),
            Column("day", Kind.DAY, [dt.date(2026, 3, 1), dt.date(1900, 3, 1), None]),
            Column("text", Kind.TEXT, ["x" * 40_000, "", None]),
            Column("flag", Kind.FLAG, [True, False, None]),
        ]
    )
    first, second, *rest = rows_of(sheet)[1:]
    assert (first[0], len(first[2]), first[3]) == (7, 32_767, True)
    assert second[:2] == (10**15 - 1, dt.datetime(1900, 3, 1))  # noqa: DTZ001 - Excel's
    assert second[3] is False
    assert all(value is None for row in rest for value in row)


def test_a_sheet_has_its_columns_and_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of a quiet week is a file as well; what is beyond Excel's 1,048,576 rows
    is not left out silently.
    """
    assert rows_of(written([Column("n", Kind.COUNT, [])])) == [("n",)]
    set_most_rows(monkeypatch, 2)
    with pytest.raises(UsageError, match="more rows than a sheet"):
        written([Column("n", Kind.COUNT, [1, 2, 3])])


@pytest.mark.parametrize(
    ("name", "words"), [("x.csv", r"\.to_csv\("), ("x.xls", r"\.xlsx")]
)
def test_a_workbook_has_the_name_of_one(name: str, words: str, tmp_path: Path) -> None:
    """A file that is named as a CSV file is not a workbook in disguise."""
    path = tmp_path / name
    with pytest.raises(UsageError, match=words):
        write_workbook(path, [Table("rows", [Column("n", Kind.COUNT, [1])])])
    assert not path.exists()


def test_a_year_is_no_count() -> None:
    """A year has no comma, in a sheet and wherever weeks are shown."""
    columns = [Column("year", Kind.COUNT, [2026]), Column("n", Kind.COUNT, [2026])]
    year, count = written(columns)[2]
    assert (year.number_format, count.number_format) == ("0", "#,##0")
    with Emulator.demo().client() as client:
        weeks = client.stats.get(QUERY.interval("week")).histogram
    for shown in (str(weeks), weeks.to_html(), weeks.to_markdown()):
        assert "2,0" not in shown


def test_columns_are_as_wide_as_their_values() -> None:
    """Excel shows a number or a date that does not fit as hashes."""
    sheet = written(
        [
            Column("n", Kind.COUNT, [1_234_567_890]),
            Column("d", Kind.DAY, [dt.date(2026, 3, 1)]),
            Column("value", Kind.TEXT, ["/" * 1000]),
        ]
    )
    widths = [sheet.column_dimensions[name].width for name in "ABC"]
    assert widths[0] >= len("1,234,567,890")
    assert widths[1] >= len("2026-03-01")
    assert widths[2] < 70
