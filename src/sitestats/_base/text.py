"""Text for messages: quote values safely, shorten, suggest names, escape."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from io import StringIO
from typing import Final

_LONGEST: Final = 60
"""Characters of a value in a message."""
# What a spreadsheet takes for a formula at the beginning of a cell, also in the wide
# forms of East Asia, and what was marked as text before.
_FORMULA: Final = r"'*[^\S\r\n]*[=+\-@\uff1d\uff0b\uff0d\uff20]"
# Where decimals have a comma, a spreadsheet splits a line at semicolons, and takes line
# ends within a value for the ends of rows.
_BEGINNING: Final = r"(?:^|(?<=[;\r\n]))"
_TO_MARK: Final = re.compile(rf"{_BEGINNING}(?={_FORMULA})|^(?=')")
_MARKED: Final = re.compile(rf"{_BEGINNING}'(?={_FORMULA})|^'(?=')")


def shown(value: object) -> str:
    """*value* for a message: short, on one line, whatever the value is.

    A value of an unknown type is named by its type alone, since its own repr
    may be long, secret or broken.
    """
    if isinstance(value, str):
        # The cut before the repr bounds the time.
        text = repr(value[: _LONGEST + 1])
        return cut(text if text.isprintable() else ascii(text), _LONGEST)
    if value is None or isinstance(value, bool | int | float | date):
        # The repr of an int of 5,000 digits raises a ValueError.
        with suppress(ValueError):
            return cut(repr(value), _LONGEST)
    return f"a value of type {type(value).__name__}"


def cut(text: str, most: int = 1000) -> str:
    """*text*, shortened to *most* characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def counted(number: int, noun: str) -> str:
    """``"1 website"``, ``"2,000 websites"``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` (did you mean 'pages'?)``, with the space before it, or nothing."""
    import difflib

    by_folded = {item.casefold(): item for item in known}
    # The cut bounds the time: a hostile name may be a megabyte.
    close = difflib.get_close_matches(name[:100].casefold(), by_folded, n=1)
    return f" (did you mean {by_folded[close[0]]!r}?)" if close else ""


# --- text for terminals and UTF-8 -------------------------------------------------


def plain(text: str) -> str:
    """*text* with everything that can't be printed shown as an escape."""
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )


def encodable(text: str) -> str:
    """*text* with halves of surrogate pairs shown as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def csv_line(values: Iterable[object], *, marked: bool = True) -> str:
    """A line of CSV: None is an empty cell, and a flag is ``true`` or ``false``.

    If it is *marked*, a ``'`` keeps a spreadsheet from running a text as a formula, and
    a text that begins with ``'`` has another one, so that ``unmarked`` gets each back.

    >>> print(csv_line(["a b", True, None, "d,e", "=1+1", "a;-1", "1-1"]), end="")
    a b,true,,"d,e",'=1+1,a;'-1,1-1
    """
    cells = [_cell(value, marked=marked) for value in values]
    needs_quotes = any(isinstance(cell, str) and _needs_quotes(cell) for cell in cells)
    line = StringIO()
    csv.writer(
        line,
        quoting=csv.QUOTE_ALL if needs_quotes else csv.QUOTE_MINIMAL,
        lineterminator="\n",
    ).writerow(cells)
    return line.getvalue()


def _needs_quotes(cell: str) -> bool:
    """Whether a reader would change it, in which the csv module sees no reason."""
    # Blanks around a cell are dropped, and before Python 3.13 it may end a line.
    return cell != cell.strip() or "\r" in cell


def _cell(value: object, *, marked: bool) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and marked:
        return _TO_MARK.sub("'", value)
    return value


def unmarked(cell: str) -> str:
    """The text of a cell without the ``'`` that ``csv_line`` put before a formula.

    >>> unmarked("'=1+1"), unmarked("a;'-1"), unmarked("'tis")
    ('=1+1', 'a;-1', "'tis")
    """
    return _MARKED.sub("", cell)
