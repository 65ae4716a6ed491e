"""Text for messages: quote values safely, shorten, suggest names, escape."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from itertools import islice
from typing import Any, Final

_LONGEST: Final = 60
"""Characters of a value in a message."""
_LONGEST_VALUE: Final = 1000
"""Characters of a text in a repr or a table."""
_MOST_ITEMS: Final = 20
_DEEPEST: Final = 3
"""Items, and levels within each other, of an array or an object in a repr."""
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
        return _on_a_line(repr(str.__str__(value)[: _LONGEST + 1]))
    if value is None or isinstance(value, bool | int | float | date):
        # A subclass's repr may raise anything; that of an int of 5,000 digits does.
        with suppress(Exception):
            return _on_a_line(repr(value))
    return f"a value of type {type(value).__name__}"


def _on_a_line(text: str) -> str:
    return cut(text if text.isprintable() else ascii(text), _LONGEST)


def cut(text: str, most: int) -> str:
    """*text*, shortened to *most* characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def bounded(value: Any, depth: int = _DEEPEST) -> Any:
    """A value of JSON for a repr: what is long or deep in it is cut first.

    >>> bounded({"a": ["x" * 1000, 7], "b": [[["deep"]]]})["b"]
    [['…']]
    """
    whole = value
    if isinstance(value, str):
        return cut(value, _LONGEST_VALUE)
    if not isinstance(value, (dict, list)) or not value:
        return whole
    if not depth:
        return "…"
    if isinstance(value, dict):
        names = [*islice(whole, _MOST_ITEMS)]
        short = {cut(name, _LONGEST): bounded(whole[name], depth - 1) for name in names}
        return short if len(names) == len(whole) else {**short, "…": "…"}
    items = [bounded(item, depth - 1) for item in whole[:_MOST_ITEMS]]
    return items if len(items) == len(whole) else [*items, "…"]


def counted(number: int, noun: str) -> str:
    """``"1 website"``, ``"2,000 websites"``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The closest of *known* to *name*, or None."""
    import difflib

    by_folded = {item.casefold(): item for item in known}
    # The cut bounds the time: a hostile name may be a megabyte.
    folded = name[:100].casefold()
    if folded in by_folded:
        return by_folded[folded]
    close = difflib.get_close_matches(folded, by_folded, n=1)
    return by_folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` (did you mean 'pages'?)``, with the space before it, or nothing."""
    right = nearest(name, known)
    return "" if right is None else f" (did you mean {right!r}?)"


# --- text for terminals and UTF-8 -------------------------------------------------


def plain(text: str) -> str:
    """*text* with everything that can't be printed shown as an escape."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )


def encodable(text: str) -> str:
    """*text* with halves of surrogate pairs shown as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def as_cell_text(text: str) -> str:
    """*text* such that a spreadsheet takes it for text, never for a formula.

    >>> as_cell_text("=1+1"), as_cell_text("a;-1"), as_cell_text("1-1")
    ("'=1+1", "a;'-1", '1-1')
    """
    return _FORMULA.sub(r"\1'", text)


def csv_line(values: Iterable[object]) -> str:
    """A line of CSV: None is an empty cell, and a flag is ``true`` or ``false``.

    >>> print(csv_line(["a b", " c", True, None, "d;e"]), end="")
    a b," c",true,,"d;e"
    """
    return ",".join(map(_cell, values)) + "\n"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    if isinstance(value, bool):
        return text.lower()
    # Readers drop blanks around a cell without quotes.
    if text == text.strip() and text.isprintable() and not {*',;"'} & {*text}:
        return text
    return '"' + text.replace('"', '""') + '"'
