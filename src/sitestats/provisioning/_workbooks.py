"""The first sheet of a workbook of Excel, as rows of what its cells show."""

from __future__ import annotations

import io
import warnings
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any, Final
from xml.etree import ElementTree as ET
from xml.parsers import expat

import attrs

from sitestats._base.errors import InvalidInputError, Problem, load_extra, warn
from sitestats._base.text import counted, shown

from ._mistakes import problem, refuse

_MOST_OF_SHEETS: Final = 256 * 2**20
"""Bytes of the unpacked sheets: a million formatted rows are some 50 MB."""
_MOST_OF_OTHERS: Final = 32 * 2**20
"""Bytes of all other unpacked XML, which is held in memory."""
_SAVE: Final = "save it as .xlsx, or as CSV UTF-8"
_BROKEN: Final = (
    "the file is not a workbook, or damaged: save it again as .xlsx, or CSV"
)
_WRONG_CELLS: Final = {
    "f": "the cell has a formula: paste its value in place of it",
    "e": "the cell has an error: correct it",
    "d": "a date or number may look otherwise: format the cell as text, and type it",
}
_MERGED: Final = "the cell is merged with others: split them, and fill each one"


def read_workbook(data: bytes, name: str) -> list[tuple[str, list[Any]]]:
    """The rows of the first sheet that have a value, and their places.

    Raises:
        InvalidInputError: It is another kind of file, damaged, or unpacks to far more
            than a list of websites has.
    """
    load_extra("openpyxl", extra="excel")
    try:
        _check_parts(data, name)
        # openpyxl warns of parts that it would not save, such as drop-down lists.
        with warnings.catch_warnings(action="ignore"):
            rows, notes = _read(_opened(data), name)
    except InvalidInputError:
        raise
    except Exception:  # noqa: BLE001 - what it raises depends on where a file is damaged
        refuse(_BROKEN, name)
    for note in notes:
        warn(note)
    return rows


def _check_parts(data: bytes, name: str) -> None:
    """Refuse an archive that is no workbook, or that unpacks to far more than one."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        names = {part.filename for part in parts}
        if "mimetype" in names and b"opendocument" in archive.read("mimetype")[:100]:
            refuse(f"the file is of OpenDocument, such as .ods: {_SAVE}", name)
    if "xl/workbook.bin" in names:
        refuse(f"the file is a binary workbook (.xlsb): {_SAVE}", name)
    if any(part.endswith(".iwa") for part in names):
        refuse("the file is of Apple Numbers: export it as .xlsx, or as CSV", name)
    if "[Content_Types].xml" not in names:
        refuse("the file is an archive: unpack it, and give one list", name)
    sheets, others = 0, 0
    for part in parts:
        if part.filename.startswith("xl/worksheets/"):
            sheets += part.file_size
        elif part.filename.endswith((".xml", ".rels")):
            others += part.file_size
    if sheets > _MOST_OF_SHEETS or others > _MOST_OF_OTHERS:
        size = counted((sheets + others) // 2**20, "megabyte")
        refuse(
            f"the workbook unpacks to {size}: copy the list alone into a new one, "
            "or save it as CSV",
            name,
        )


def _opened(data: bytes) -> Any:
    """The workbook, whose rows are read when they are needed."""
    reading: Any = load_extra("openpyxl.reader.excel", extra="excel")
    reader = reading.ExcelReader(io.BytesIO(data), read_only=True, keep_links=False)
    # openpyxl takes some of the escapes in a text away, and not the others.
    reader.read_strings = partial(_keep_texts, reader, reading.SHARED_STRINGS)
    reader.read()
    return reader.wb


def _keep_texts(reader: Any, kind: str) -> None:
    """Give *reader* the texts that the cells share, with their escapes."""
    text = load_extra("openpyxl.cell.text", extra="excel").Text
    part = reader.package.find(kind)
    if part is None:
        return
    with reader.archive.open(part.PartName.removeprefix("/")) as file:
        for _, element in ET.iterparse(file):  # noqa: S314 - expat limits entities
            if element.tag.rpartition("}")[2] == "si":
                reader.shared_strings.append(text.from_tree(element).content)
                element.clear()


def _read(book: Any, name: str) -> tuple[list[tuple[str, list[Any]]], list[str]]:
    """The rows of the first sheet of *book*, and what to warn of."""
    sheet, *others = book.worksheets
    where = f"{name}: {sheet.title}"
    if sheet.sheet_state != "visible":
        refuse("the first sheet is hidden: show it, or move it to the end", where)
    notes: list[str] = []
    more = [one for one in others if len(_scan(one, most_rows=1).filled) > 1]
    if unread := [shown(one.title) for one in more]:
        notes.append(f"{where} is the only sheet that is read, not {', '.join(unread)}")
    found = _scan(sheet)
    if found.hidden_rows:
        rows = counted(found.hidden_rows, "hidden row")
        notes.append(f"{where}: {rows} will count as the others do")
    if any(column <= found.widest for column in found.hidden_columns):
        notes.append(f"{where}: hidden columns will count as the others do")
    return [*_rows(sheet, found, where)], notes


def _rows(sheet: Any, found: Found, where: str) -> Iterator[tuple[str, list[Any]]]:
    covered, filled = found.covered(), {*found.filled}
    # A sheet may say that it has a million rows, of which most are missing or formatted
    # alone. What is below the last value is not read.
    sheet.reset_dimensions()
    rows = sheet.iter_rows(max_row=max(filled, default=1), max_col=found.widest or 1)
    for number, row in enumerate(rows, start=1):
        if number in filled:
            yield (
                f"{where}!{number}",
                [
                    problem(_MERGED, _place(where, number, column))
                    if (number, column) in covered
                    else _shown(cell, where, number, column)
                    for column, cell in enumerate(row, start=1)
                ],
            )


def _shown(cell: Any, where: str, row: int, column: int) -> str | bool | Problem:
    """The text or truth value that a cell of a workbook shows, or a ``Problem``."""
    value, kind = cell.value, cell.data_type
    if value is None:
        return ""
    # LibreOffice saves a value that it read as a truth value in this way.
    if kind == "f" and value in ("=TRUE()", "=FALSE()"):
        return bool(value == "=TRUE()")
    if kind == "b":
        return bool(value)
    if kind == "n":
        # Numbers with other formats, or with more digits, look otherwise.
        is_plain = cell.number_format in {"General", "0", "@"} and value % 1 == 0
        if is_plain and abs(value) < 10**11:
            return f"{value:.0f}"
        kind = "d"
    if kind in _WRONG_CELLS:
        return problem(_WRONG_CELLS[kind], _place(where, row, column))
    # Its XML has _x000D_ for what XML can't hold.
    escape = load_extra("openpyxl.utils.escape", extra="excel")
    return str(escape.unescape(str(value)))


def _place(where: str, row: int, column: int) -> str:
    utils = load_extra("openpyxl.utils", extra="excel")
    return f"{where}!{utils.get_column_letter(column)}{row}"


# --- what a sheet says about its cells -------------------------------------------


@attrs.define
class Found:
    """What the XML of a sheet has, in the order of its rows."""

    filled: list[int] = attrs.field(factory=list[int])
    """The rows that have a value or a formula."""
    widest: int = 0
    """The last column that has one."""
    hidden_rows: int = 0
    """How many of these rows are hidden."""
    hidden_columns: list[int] = attrs.field(factory=list[int])
    """The first column of each hidden group."""
    merged: list[str] = attrs.field(factory=list[str])
    """The ranges of merged cells, such as ``"A1:B2"``."""

    def covered(self) -> set[tuple[int, int]]:
        """The rows and columns of what merged cells cover, without the first of each
        area, which has the value.
        """
        utils = load_extra("openpyxl.utils", extra="excel")
        covered: set[tuple[int, int]] = set()
        number = 0
        for area in self.merged:
            left, top, right, bottom = utils.range_boundaries(area)
            begin, end = (
                bisect_left(self.filled, top),
                bisect_right(self.filled, bottom),
            )
            number += end - begin
            if number > len(self.filled) * self.widest:
                # Cells that are merged twice would take hours.
                raise ValueError(area)
            columns = range(left, min(right, self.widest) + 1)
            covered |= {*product(self.filled[begin:end], columns)} - {(top, left)}
        return covered


def _scan(sheet: Any, most_rows: int | None = None) -> Found:
    """Find the values of a sheet without making them, until there are more rows.

    openpyxl makes an object of each cell, and keeps one of each row that has a height:
    a million that are formatted alone take it ten seconds and half a gigabyte. When it
    streams, it has neither merged cells nor what is hidden.
    """
    scanner = _Scanner()
    # openpyxl has no public name for the XML of a sheet that it streams.
    with sheet._get_source() as file:  # noqa: SLF001
        while chunk := file.read(2**16):
            scanner.parser.Parse(chunk)
            if most_rows is not None and len(scanner.found.filled) > most_rows:
                return scanner.found
    scanner.parser.Parse(b"", True)  # noqa: FBT003 - expat's way to say that it ends
    return scanner.found


class _Scanner:
    """Reads the XML of a sheet, of whatever namespace."""

    def __init__(self) -> None:
        self.found = Found()
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        utils = load_extra("openpyxl.utils", extra="excel")
        self._column_of: Any = utils.column_index_from_string
        self._row = 0
        self._column = 0
        self._is_hidden = False
        self._is_in_cell = False

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        match name.rpartition(":")[2]:
            case "row":
                self._row = int(attributes.get("r", self._row + 1))
                self._column = 0
                self._is_hidden = attributes.get("hidden") in {"1", "true"}
                self._is_in_cell = False
            case "c":
                self._column += 1
                if reference := attributes.get("r"):
                    letters = reference.rstrip("0123456789")
                    self._column = self._column_of(letters)
                self._is_in_cell = True
            case "v" | "f" | "is":
                if self._is_in_cell:
                    self._fill()
            case "col":
                if attributes.get("hidden") in {"1", "true"}:
                    self.found.hidden_columns.append(int(attributes["min"]))
            case "mergeCell":
                self.found.merged.append(attributes["ref"])
            case _:
                # Small charts and conditions have formulas, too.
                self._is_in_cell = False

    def _fill(self) -> None:
        found = self.found
        found.widest = max(found.widest, self._column)
        last = found.filled[-1] if found.filled else 0
        if self._row < last:
            raise ValueError(self._row)
        if self._row > last:
            found.filled.append(self._row)
            found.hidden_rows += self._is_hidden
