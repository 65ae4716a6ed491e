"""Text for messages: quote values safely, suggest names, escape for terminals."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from typing import Final

_LONGEST: Final = 60


def shown(value: object) -> str:
    """*value* for a message: short, on one line, whatever the value is.

    A value of an unknown type is named by its type alone, since its own repr
    may be long, secret or broken.
    """
    if isinstance(value, str):
        # The cut before the repr bounds the time.
        return _cut(repr(str.__str__(value)[: _LONGEST + 1]))
    if value is None or isinstance(value, bool | int | float | date):
        # A subclass's repr may raise anything; that of an int of 5,000 digits does.
        with suppress(Exception):
            return _cut(repr(value))
    return f"a value of type {type(value).__name__}"


def _cut(text: str) -> str:
    line = text if text.isprintable() else ascii(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


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
