"""Checks of the values that an emulator is set up with.

A setting of the wrong type would be taken for another one: any text counts as true. So
each is checked when it is given, in Python and over HTTP.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

_YEARS: Final = range(1000, 9001)
"""The years that an emulator's clock may show. ``Date`` headers have years of four
digits, and every period around the clock fits the calendar."""
_A_MOMENT: Final = (
    "a datetime such as datetime(2025, 1, 31, 12, tzinfo=UTC), or a text such as "
    "'2025-01-31T12:00:00Z'"
)


def flag(_instance: object, attribute: Any, value: object) -> None:
    """An attrs validator: True or False."""
    check_flag(attribute.name, value)


def text(_instance: object, attribute: Any, value: object) -> None:
    """An attrs validator: a text."""
    if not isinstance(value, str):
        raise TypeError(f"{attribute.name} must be text, not {value!r}")


def whole(least: int, most: float = math.inf) -> Callable[[object, Any, Any], None]:
    """An attrs validator: a whole number from *least* to *most*, or None."""

    def check(_instance: object, attribute: Any, value: Any) -> None:
        if value is not None:
            check_whole(attribute.name, value, least, most)

    return check


def check_flag(name: str, value: object) -> None:
    """Refuse a *value* that is neither True nor False.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")


def check_credential(name: str, value: object) -> None:
    """Refuse a *value* that a header can't hold.

    Raises:
        TypeError: It is not text.
        ValueError: It has other characters than a header's value.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {value!r}")
    if not re.fullmatch("[!-~]+", value):
        raise ValueError(f"{name} must be printable ASCII without spaces")


def check_host(host: object) -> None:
    """Refuse a *host* that no address can hold, or that is not of IPv4.

    Raises:
        TypeError: It is not text.
        ValueError: It is empty, or has other characters.
    """
    if not isinstance(host, str):
        raise TypeError(f"host must be text, not {host!r}")
    if not re.fullmatch(r"[\w.-]+", host):
        raise ValueError(
            "host must be a name or numbers of IPv4, such as '127.0.0.1', or '0.0.0.0' "
            f"for requests of other machines, not {host!r}"
        )


def check_moment(name: str, value: object) -> None:
    """Refuse a *value* that is not a moment.

    Raises:
        TypeError: It is not a datetime.
        ValueError: It has no time zone, or no clock shows it.
    """
    if not isinstance(value, datetime):
        raise TypeError(f"{name} must be {_A_MOMENT}, not {value!r}")
    if value.tzinfo is None:
        raise ValueError(f"{name} needs a time zone: give {_A_MOMENT}")
    if value.year not in _YEARS:
        raise ValueError(f"{name} must be in the years 1000 to 9000, not {value.year}")


def check_whole(name: str, value: Any, least: int, most: float = math.inf) -> None:
    """Refuse a *value* that is not a whole number from *least* to *most*.

    Raises:
        TypeError: It is not a whole number.
        ValueError: It is too small or too large.
    """
    if not is_number(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if not least <= value <= most:
        end = "or more" if most == math.inf else f"to {most:,}"
        raise ValueError(f"{name} must be {least} {end}, not {value:,}")


def check_names(given: Iterable[object], known: Iterable[str], kind: str) -> None:
    """Refuse a name that does not exist, and say which one is meant.

    Raises:
        TypeError: A name is not *known*.
    """
    names = [*known]
    # The path of the emulator itself has no name.
    listed = ", ".join(filter(None, names))
    for name in given:
        if name not in names:
            advice = f"use {listed}" if listed else "leave it out"
            if near := difflib.get_close_matches(str(name), names, 1):
                advice = f"did you mean {near[0]!r}?"
            raise TypeError(f"{name!r} is not {kind}: {advice}")


def is_number(value: Any, kind: Any) -> bool:
    """Whether *value* is a number of a *kind*; True and False are not."""
    return isinstance(value, kind) and not isinstance(value, bool)
