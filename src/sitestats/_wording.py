"""How a refusal shows the value it refuses, and finds the name that was meant."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Final

_LONGEST: Final = 60


def shown(value: object) -> str:
    """*value* for a message: short, on one line, whatever the value is.

    A value of an unknown type is named by its type alone, since its own repr
    may be long, secret or broken.
    """
    if value is None or isinstance(value, str | bool | int | float | date):
        try:
            text = ascii(value) if isinstance(value, str) else repr(value)
        except Exception:  # noqa: BLE001 - a subclass may raise anything; an int of 5,000 digits does
            return f"a value of type {type(value).__name__}"
        if len(text) <= _LONGEST:
            return _readable(value, text)
        return f"{text[: _LONGEST - 1]}…"
    return f"a value of type {type(value).__name__}"


def _readable(value: object, text: str) -> str:
    # ascii() is safe everywhere but hard to read for most of the world: keep
    # its escapes for what can't be printed alone.
    if isinstance(value, str) and value.isprintable():
        return str.__repr__(value)
    return text


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of *known* that *name* was probably meant to be, or None."""
    import difflib

    by_folded = {item.casefold(): item for item in known}
    # The cut bounds the time: a hostile name may be a megabyte.
    folded = name[:100].casefold()
    if folded in by_folded:
        return by_folded[folded]
    close = difflib.get_close_matches(folded, by_folded, n=1)
    return by_folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` Did you mean 'pages'?``, with the space before it, or nothing."""
    right = nearest(name, known)
    return "" if right is None else f" (did you mean {right!r}?)"
