"""Excel workbooks of results: a sheet for each list, written by XlsxWriter.

pandas' own ``to_excel`` refuses zones, and lets a visitor's ``=HYPERLINK(…)`` become a
live formula. Here every text is written as text.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterable, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from sitestats._common.errors import load_extra
from sitestats._common.text import cut, encodable
from sitestats._results.tables import Column, Kind

if TYPE_CHECKING:
    import os
    from typing import IO

    from xlsxwriter import Workbook  # type: ignore[import-untyped]  # it has no types

_MOST_ROWS: Final = 1_048_575
"""The rows of a sheet below its first one. A longer list goes on in another sheet."""
_LONGEST_TEXT: Final = 32_767
"""The most characters of a cell."""
_LONGEST_NUMBER: Final = 10**15
"""Excel has fifteen digits of a number; longer ones are written as text."""
_FIRST_YEAR: Final = 1900
"""The calendar of Excel begins here; earlier days are written as text."""
_WIDEST: Final = 60
"""The most characters that a column is wide."""
_MEASURED: Final = 1000
"""The rows that a column's width is measured by."""
_FORMATS: Final = {
    Kind.COUNT: "#,##0",
    Kind.SECONDS: "#,##0.0",
    Kind.DAY: "yyyy-mm-dd",
    Kind.MOMENT: "yyyy-mm-dd hh:mm",
}
_WIDTHS: Final = {Kind.DAY: 10, Kind.MOMENT: 16}
ZONE: Final = "zone_of_times"
"""The column that names the zone of a sheet's times, which have none in Excel."""


def write_workbook(
    file: str | os.PathLike[str] | IO[bytes],
    tables: Iterable[tuple[str, Sequence[Column]]],
) -> None:
    """Write a sheet for each of the *tables*, which have a name each.

    Raises:
        MissingExtraError: XlsxWriter is not installed.
        OSError: The file can't be written.
    """
    xlsxwriter = load_extra("xlsxwriter", extra="excel")
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheets = _Sheets(book)
        for name, columns in tables:
            sheets.add(name, _with_zone(columns))
    content = buffer.getvalue()
    if callable(getattr(file, "write", None)):
        cast("IO[bytes]", file).write(content)
    else:
        Path(cast("str", file)).write_bytes(content)


class _Sheets:
    """The sheets of a workbook, whose cells have few formats."""

    def __init__(self, book: Workbook) -> None:
        self._book = cast("Any", book)
        self._bold = self._book.add_format({"bold": True})
        self._formats = {
            kind: self._book.add_format({"num_format": text})
            for kind, text in _FORMATS.items()
        }

    def add(self, name: str, columns: Sequence[Column]) -> None:
        rows = [column.rows for column in columns]
        total = max(map(len, rows), default=0)
        for number, first in enumerate(range(0, total or 1, _MOST_ROWS), start=1):
            sheet = self._book.add_worksheet(
                name if number == 1 else f"{name} {number}"
            )
            sheet.freeze_panes(1, 0)
            for place, (column, cells) in enumerate(zip(columns, rows, strict=True)):
                part = cells[first : first + _MOST_ROWS]
                sheet.set_column(place, place, _width(column, part))
                sheet.write_string(0, place, column.name, self._bold)
                self._write(sheet, place, column, part)

    def _write(self, sheet: Any, place: int, column: Column, cells: Any) -> None:
        look = self._formats.get(column.kind)
        for row, value in enumerate(cells, start=1):
            if value is None:
                continue
            cell = _cell(value, column)
            match cell:
                case str():
                    text = cut(encodable(cell), _LONGEST_TEXT)
                    sheet.write_string(row, place, text)
                case bool():
                    sheet.write_boolean(row, place, cell)
                case dt.date():
                    sheet.write_datetime(row, place, cell, look)
                case _:
                    sheet.write_number(row, place, cell, look)


def _cell(value: Any, column: Column) -> Any:
    """What Excel can hold of *value*; text in place of what it would change."""
    match value:
        case dt.datetime():
            from zoneinfo import ZoneInfo

            local = value.astimezone(ZoneInfo(column.zone)).replace(tzinfo=None)
            return local if local.year >= _FIRST_YEAR else local.isoformat(" ")
        case dt.date():
            return value if value.year >= _FIRST_YEAR else value.isoformat()
        case int() | float():
            return value if abs(value) < _LONGEST_NUMBER else str(value)
        case _:
            return value


def _with_zone(columns: Sequence[Column]) -> list[Column]:
    """The columns, and behind the last of the moments the zone that they are in."""
    moments = [column.kind is Kind.MOMENT for column in columns]
    if not any(moments):
        return [*columns]
    last = [*compress(range(len(columns)), moments)][-1]
    of = columns[last]
    zone = Column(
        ZONE, Kind.TEXT, [None if one is None else of.zone for one in of.rows]
    )
    return [*columns[: last + 1], zone, *columns[last + 1 :]]


def _width(column: Column, cells: Sequence[Any]) -> int:
    measured = [
        len(f"{value:,}" if isinstance(value, int) else str(value))
        for value in cells[:_MEASURED]
        if value is not None
    ]
    widest = _WIDTHS.get(column.kind) or max(measured, default=0)
    # The header is bold, and a cell has a margin.
    return min(_WIDEST, max(len(column.name) + 1, widest)) + 1
