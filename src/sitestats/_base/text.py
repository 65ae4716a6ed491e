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
FORMULA: Final = "'* *[=+\\-@\uff1d\uff0b\uff0d\uff20]"
"""A pattern of what a spreadsheet takes for a formula, and of that marked as text."""
# A spreadsheet that writes decimals with a comma splits cells at semicolons.
_FORMULA: Final = re.compile(rf"(^|;)(?={FORMULA})")


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


def csv_line(values: Iterable[object]) -> str:
    """A line of CSV: None is an empty cell, and a flag is ``true`` or ``false``.

    A ``'`` keeps a spreadsheet from taking a text for a formula.

    >>> print(csv_line(["a b", True, None, "d,e", "=1+1", "a;-1", "1-1"]), end="")
    a b,true,,"d,e",'=1+1,a;'-1,1-1
    """
    cells = [_cell(value) for value in values]
    # Readers drop blanks around a cell without quotes.
    has_blanks = any(isinstance(cell, str) and cell != cell.strip() for cell in cells)
    line = StringIO()
    csv.writer(
        line,
        quoting=csv.QUOTE_ALL if has_blanks else csv.QUOTE_MINIMAL,
        lineterminator="\n",
    ).writerow(cells)
    return line.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return _FORMULA.sub(r"\1'", value) if isinstance(value, str) else value
