"""The first sheet of a workbook of Excel, as rows of what its cells show."""

from __future__ import annotations

import io
import warnings
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any, Final
from xml.etree import ElementTree as ET

import attrs

from sitestats._base.errors import InvalidInputError, Problem, load_extra, warn
from sitestats._base.text import counted, shown

from ._mistakes import problem, refuse

_MOST_OF_SHEETS: Final = 256 * 2**20
"""Bytes of the unpacked sheets: a million formatted rows are some 50 MB."""
_MOST_OF_OTHERS: Final = 32 * 2**20
"""Bytes of all other unpacked XML, which is held in memory."""
_SAVE: Final = "save it as .xlsx, or as CSV UTF-8"
_OTHER_ARCHIVES: Final = (
    (
        "mimetype",
        b"opendocument",
        f"the file is of OpenDocument, such as .ods: {_SAVE}",
    ),
    ("xl/workbook.bin", b"", f"the file is a binary workbook (.xlsb): {_SAVE}"),
    (".iwa", b"", "the file is of Apple Numbers: export it as .xlsx, or as CSV"),
    (
        "_rels/.rels",
        b"purl.oclc.org/ooxml",
        "the file is Strict Open XML: save it as Excel Workbook (.xlsx), or as CSV",
    ),
)
"""A part that other archives have, what is in its beginning, and what to do."""
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
    openpyxl = load_extra("openpyxl", extra="excel")
    try:
        _check_parts(data, name)
        # openpyxl warns of parts that it would not save, such as drop-down lists.
        with warnings.catch_warnings(action="ignore"):
            book = openpyxl.load_workbook(
                io.BytesIO(data), read_only=True, keep_links=False
            )
            rows, notes = _read(book, name)
    except InvalidInputError:
        raise
    except Exception:  # noqa: BLE001 - what it raises depends on where a file is damaged
        refuse(_BROKEN, name)
    for note in notes:
        warn(note)
    return rows


def _check_parts(data: bytes, name: str) -> None:
    """Refuse what is not a workbook, or unpacks to far more than one."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        names = {part.filename for part in parts}
        for ending, words, message in _OTHER_ARCHIVES:
            found = next((one for one in names if one.endswith(ending)), None)
            if found and words in archive.open(found).read(1000):
                refuse(message, name)
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


def _texts_of(book: Any) -> list[str]:
    """The texts that the cells of *book* share, with their escapes: openpyxl takes some
    of them away, and not the others.
    """
    archive = book._archive  # noqa: SLF001 - it has no public name
    text = load_extra("openpyxl.cell.text", extra="excel").Text
    texts: list[str] = []
    for name in archive.namelist():
        if name.lower().endswith("sharedstrings.xml"):
            for _, element in ET.iterparse(archive.open(name)):  # noqa: S314 - expat limits entities
                if element.tag.rpartition("}")[2] == "si":
                    texts.append(text.from_tree(element).content)
                    element.clear()
    return texts


def _read(book: Any, name: str) -> tuple[list[tuple[str, list[Any]]], list[str]]:
    """The rows of the first sheet of *book*, and what to warn of."""
    texts, (sheet, *others) = _texts_of(book), book.worksheets
    where = f"{name}: {sheet.title}"
    if sheet.sheet_state != "visible":
        refuse("the first sheet is hidden: show it, or move it to the end", where)
    notes: list[str] = []
    more = [one for one in others if len([*islice(Sheet(one, texts).read(), 2)]) > 1]
    if unread := [shown(one.title) for one in more]:
        notes.append(f"{where} is the only sheet that is read, not {', '.join(unread)}")
    found = Sheet(sheet, texts)
    filled = dict(found.read())
    if found.hidden_rows:
        rows = counted(found.hidden_rows, "hidden row")
        notes.append(f"{where}: {rows} will count as the others do")
    widest = max((max(cells) for cells in filled.values()), default=0)
    if any(column <= widest for column in found.hidden_columns):
        notes.append(f"{where}: hidden columns will count as the others do")
    covered = _covered(found.merged, [*filled], widest)
    cells_by_row: list[tuple[str, list[Any]]] = [
        (
            f"{where}!{number}",
            [
                problem(_MERGED, _place(where, number, column))
                if (number, column) in covered
                else _shown(cells.get(column), where)
                for column in range(1, widest + 1)
            ],
        )
        for number, cells in filled.items()
    ]
    return cells_by_row, notes


def _shown(cell: Any, where: str) -> str | bool | Problem:
    """The text or truth value that a cell of a workbook shows, or a ``Problem``."""
    if cell is None:
        return ""
    value, kind = cell.value, cell.data_type
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
        return problem(_WRONG_CELLS[kind], _place(where, cell.row, cell.column))
    # Its XML has _x000D_ for what XML can't hold.
    escape = load_extra("openpyxl.utils.escape", extra="excel")
    return str(escape.unescape(str(value)))


def _place(where: str, row: int, column: int) -> str:
    utils = load_extra("openpyxl.utils", extra="excel")
    return f"{where}!{utils.get_column_letter(column)}{row}"


def _covered(
    areas: Iterable[str], rows: Sequence[int], widest: int
) -> set[tuple[int, int]]:
    """The rows and columns that merged cells cover within a list, without the first
    cell of each area, which has the value.
    """
    utils = load_extra("openpyxl.utils", extra="excel")
    covered: set[tuple[int, int]] = set()
    most = len(rows) * widest
    for area in areas:
        left, top, right, bottom = utils.range_boundaries(area)
        columns = range(left, min(right, widest) + 1)
        among = rows[bisect_left(rows, top) : bisect_right(rows, bottom)]
        most -= len(columns) and len(among)
        if most < 0:
            # Cells that are merged twice would take hours.
            raise ValueError(area)
        covered |= {*product(among, columns)} - {(top, left)}
    return covered


@attrs.define
class Sheet:
    """A sheet, which is read once. What is only formatted is not kept.

    openpyxl's own ways to read a sheet keep an object of each formatted cell and row,
    of which there may be a million; or leave out what is merged and hidden.
    """

    _sheet: Any
    _texts: Sequence[str]
    """The texts that its cells share with others."""
    hidden_rows: int = 0
    """How many rows with a value are hidden."""
    hidden_columns: list[int] = attrs.field(factory=list[int])
    """The first column of each hidden group."""
    merged: list[str] = attrs.field(factory=list[str])
    """The ranges of merged cells, such as ``"A1:B2"``."""

    def read(self) -> Iterator[tuple[int, dict[int, Any]]]:
        """The rows that have a value or a formula, each with its cells by column."""
        reading = load_extra("openpyxl.worksheet._reader", extra="excel")
        cell_of = load_extra("openpyxl.cell.read_only", extra="excel").ReadOnlyCell
        # openpyxl has no public names for what streams a sheet. It finds the texts in a
        # part of another name. What is a date is seen from the formats.
        texts = self._texts or self._sheet._shared_strings  # noqa: SLF001
        parser, last = reading.WorkSheetParser(None, texts), 0
        with self._sheet._get_source() as file:  # noqa: SLF001
            for _, element in ET.iterparse(file):  # noqa: S314 - expat limits entities
                match element.tag.rpartition("}")[2]:
                    case "row":
                        number, found = parser.parse_row(element)
                        parser.row_dimensions.clear()
                        cells = {
                            cell["column"]: cell_of(self._sheet, **cell)
                            for cell in found
                            if cell["value"] is not None
                        }
                        if cells and number <= last:
                            raise ValueError(number)
                        if cells:
                            last = number
                            self.hidden_rows += _is_hidden(element)
                            yield number, cells
                        element.clear()
                    case "col" if _is_hidden(element):
                        self.hidden_columns.append(int(element.attrib["min"]))
                    case "mergeCell":
                        self.merged.append(element.attrib["ref"])
                    case _:
                        pass


def _is_hidden(element: ET.Element) -> bool:
    return element.get("hidden") in {"1", "true"}
