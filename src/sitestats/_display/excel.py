"""Excel workbooks of results: a sheet for each list, written by XlsxWriter.

pandas' own ``to_excel`` refuses zones, and lets a visitor's ``=HYPERLINK(…)`` become a
live formula. Here every text is written as text.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from zoneinfo import ZoneInfo

from sitestats._base.errors import UsageError, load_extra
from sitestats._base.text import cut, encodable
from sitestats._results.bases import Table
from sitestats._results.tables import Column, Kind

if TYPE_CHECKING:
    import os
    from typing import IO

_MOST_ROWS: Final = 1_048_575
_LONGEST_TEXT: Final = 32_767
_FORMATS: Final = {
    Kind.COUNT: ("#,##0", "right"),
    Kind.NUMBER: ("#,##0.0", "right"),
    Kind.DAY: ("yyyy-mm-dd", "left"),
    Kind.MOMENT: ("yyyy-mm-dd hh:mm", "left"),
    # LibreOffice would show a number.
    Kind.FLAG: ('"TRUE";"TRUE";"FALSE"', "left"),
    "year": ("0", "right"),
    # A share below the whole is never rounded up to the whole.
    "share": ('[>=1]0.0%;[>0.9994]"99.9%";0.0%', "right"),
}
"""How values are written, and the side on which they stand."""
_NARROWEST: Final = 17
"""Characters of a column of numbers, days or moments, which ``autofit`` measures as if
they had no format: Excel shows hashes where one does not fit."""
_WIDEST: Final = 60
"""Characters of a column of texts."""
ZONE: Final = "zone_of_times"
"""The column that names the zone of a sheet's times: Excel's times have no zone."""


def write_workbook(
    file: str | os.PathLike[str] | IO[bytes], tables: Iterable[Table]
) -> None:
    """Write a sheet for each of the *tables*, with its name.

    Raises:
        MissingExtraError: XlsxWriter is not installed.
        UsageError: The file's name is not a workbook's, or a list has more
            rows than a sheet.
        OSError: The file can't be written.
    """
    if not hasattr(file, "write"):
        _check_ending(Path(cast("str", file)))
    xlsxwriter = load_extra("xlsxwriter", extra="excel")
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        heads = [book.add_format({"bold": True, "align": a}) for a in ("left", "right")]
        looks = {
            key: book.add_format({"num_format": text, "align": side})
            for key, (text, side) in _FORMATS.items()
        }
        for table in tables:
            sheet = book.add_worksheet(table.title[:31])
            sheet.freeze_panes(1, 0)
            # Printed, all columns are on one page, below their names.
            sheet.set_landscape()
            sheet.fit_to_pages(1, 0)
            sheet.repeat_rows(0)
            # Each text stays text: the options of version 3.2.0 leave "{=1}" a formula.
            sheet.add_write_handler(str, cast("Any", type(sheet)).write_string)
            _write(sheet, _with_zone(table.body), heads, looks)
    if hasattr(file, "write"):
        cast("IO[bytes]", file).write(buffer.getvalue())
    else:
        Path(cast("str", file)).write_bytes(buffer.getvalue())


def _check_ending(path: Path) -> None:
    if path.suffix.lower() in {"", ".xlsx"}:
        return
    advice = "give it the ending .xlsx"
    if path.suffix.lower() in {".csv", ".tsv"}:
        advice = "use .to_pandas().to_csv('file.csv')"
    raise UsageError(f"{path.name} is not the name of a workbook: {advice}")


def _write(sheet: Any, columns: Sequence[Column], heads: Any, looks: Any) -> None:
    for place, column in enumerate(columns):
        if len(column.cells) > _MOST_ROWS:
            raise UsageError(
                f"{sheet.name} has more rows than a sheet of Excel: use .to_pandas()"
            )
        look = looks.get(column.name) or looks.get(column.kind)
        sheet.write_string(0, place, column.name, heads[column.is_number])
        cells = [_cell(value, column) for value in column.cells]
        sheet.write_column(1, place, cells, look)
        if look:
            sheet.set_column(place, place, _NARROWEST)
    sheet.autofit()
    for place, column in enumerate(columns):
        if any(isinstance(cell, str) and len(cell) > _WIDEST for cell in column.cells):
            sheet.set_column(place, place, _WIDEST)


def _cell(value: Any, column: Column) -> Any:
    """*value* as Excel can hold it."""
    match value:
        case dt.datetime():
            return value.astimezone(ZoneInfo(column.zone)).replace(tzinfo=None)
        case str():
            return cut(encodable(value), _LONGEST_TEXT)
        case _:
            return value


def _with_zone(columns: Sequence[Column]) -> list[Column]:
    """The columns, and last the zone of the times."""
    moments = [column for column in columns if column.kind is Kind.MOMENT]
    zones = [
        Column(ZONE, Kind.TEXT, [cell and column.zone for cell in column.cells])
        for column in moments[-1:]
    ]
    return [*columns, *zones]
