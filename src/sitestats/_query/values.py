"""Check single values of a query: fields, events, path, limit, version.

Every function takes whatever the user gave and returns the text that is sent,
or every problem of that value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Integral
from typing import Final

from sitestats._common.fields import FIELDS
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown

from .rules import (
    HIGHEST_LIMIT,
    INTERVALS,
    LATEST_VERSION,
    TextOrProblems,
    refused,
    sendable_text,
)

_FIELD_SET: Final = frozenset[str](FIELDS)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def path(value: object) -> TextOrProblems:
    """The path of a page, decoded."""
    given = str.__str__(value) if isinstance(value, str) else ""
    if not given.startswith("/"):
        return refused(
            "path-slash",
            "a page's path is text that starts with '/', such as '/contact', "
            f"not {shown(value)}",
            "path",
        )
    text = sendable_text(given, "path")
    if not isinstance(text, str):
        return text
    if text == "/":
        return refused(
            "path-root",
            "the root page has no address of its own: use .where(page='/')",
            "path",
        )
    problems: list[Problem] = []
    if _CONTROL.search(text):
        problems += refused(
            "path-control",
            f"{shown(text)} has a control character: take it out",
            "path",
        )
    parts = text.split("/")
    if "." in parts or ".." in parts:
        problems += refused(
            "path-dots",
            f"{shown(text)} has '.' or '..' between its slashes: give the path "
            "that they lead to",
            "path",
        )
    return problems or text


def whole_number(value: object, low: int, high: int) -> str | None:
    """A whole number between two bounds, or None."""
    # numpy's whole numbers are Integral and no int; a bool is an int.
    if isinstance(value, bool) or not isinstance(value, Integral):
        return None
    number = int(value)
    return str(number) if low <= number <= high else None


def version(value: object) -> TextOrProblems:
    """The version of the Stats API."""
    return whole_number(value, 1, LATEST_VERSION) or refused(
        "version-range",
        f"the version is a whole number from 1 to {LATEST_VERSION}, not {shown(value)}",
        "version",
    )


def limit(value: object) -> TextOrProblems:
    """How many entries each list may have."""
    return whole_number(value, 1, HIGHEST_LIMIT) or refused(
        "limit-range",
        f"the limit is a whole number from 1 to {HIGHEST_LIMIT}, not {shown(value)}",
        "limit",
    )


def interval(value: object) -> TextOrProblems:
    """The width of the histogram's buckets."""
    text = str.__str__(value) if isinstance(value, str) else ""
    if text in INTERVALS:
        return text
    hint = did_you_mean(text, INTERVALS)
    return refused(
        "interval-name",
        f"the interval is 'hour', 'day', 'week', 'month' or 'year', not "
        f"{shown(value)}{hint}",
        "interval",
    )


def info(value: object) -> TextOrProblems:
    """Whether the response explains its fields."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return refused("info-flag", f"info is true or false, not {shown(value)}", "info")


def fields(names: Iterable[object]) -> TextOrProblems:
    """The fields, each once and in the document's order."""
    found: set[str] = set()
    problems: list[Problem] = []
    for name in names:
        text = str.__str__(name) if isinstance(name, str) else ""
        if text in _FIELD_SET:
            found.add(text)
        else:
            problems += refused("field-name", _no_field(name), "fields")
    if not found and not problems:
        problems += refused(
            "field-name",
            "name at least one field, such as .fields('pageviews')",
            "fields",
        )
    return problems or ",".join(name for name in FIELDS if name in found)


def _no_field(name: object) -> str:
    if not isinstance(name, str):
        return (
            f"a field is named by a str, not {shown(name)}: give each name by "
            "itself, such as .fields('pages', 'visitors')"
        )
    if "," in str.__str__(name):
        return (
            f"{shown(name)} is not one name: give each by itself, such as "
            ".fields('pages', 'visitors')"
        )
    return (
        f"{shown(name)} is not a field{did_you_mean(name, FIELDS)}; the fields are "
        f"{', '.join(FIELDS)}"
    )


def events(names: Iterable[object]) -> TextOrProblems:
    """The names of events, in the order that was given and each once."""
    found: dict[str, None] = {}
    problems: list[Problem] = []
    given = tuple(names)
    for name in given:
        if isinstance(name, str) and str.__str__(name) == "*":
            message = (
                "names and all events do not go together: use .all_events() alone"
                if len(given) > 1
                else "'*' is not an event's name: use .all_events()"
            )
            problems += refused("events-all", message, "events")
            continue
        text = _event(name)
        if isinstance(text, str):
            found[text] = None
        else:
            problems += text
    if not given:
        problems += refused(
            "event-name",
            "name at least one event, such as .events('signup'), or use .all_events()",
            "events",
        )
    return problems or ",".join(found)


def _event(name: object) -> TextOrProblems:
    message: str
    if not isinstance(name, str):
        message = (
            f"an event is named by a str, not {shown(name)}: give each name by "
            "itself, such as .events('signup', 'purchase')"
        )
    elif not (text := str.__str__(name)):
        message = "an event's name is empty: leave it out"
    elif "," in text:
        message = (
            f"{shown(name)} has a comma, which separates names: give each name by "
            "itself"
        )
    elif "*" in text:
        message = (
            f"{shown(name)} has a '*', and events have no wildcards: give whole "
            "names, or use .all_events()"
        )
    else:
        return sendable_text(text, "events")
    return refused("event-name", message, "events")


def scalar(value: object, where: str) -> TextOrProblems | None:
    """Text, a flag or a number as it is sent; None for everything else."""
    if isinstance(value, str):
        return sendable_text(value, where)
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        if isinstance(value, Integral):
            return int.__repr__(int(value))
        if isinstance(value, float):
            return _decimal(float(value))
    except ValueError:
        # Python formats no int of more than 4,300 digits.
        return None
    return None


def _decimal(value: float) -> str | None:
    if value.is_integer():
        # The tracker is written in JavaScript, which formats 5.0 as 5.
        return str(int(value))
    # Few queries have fractions.
    from decimal import Decimal

    text = format(Decimal(repr(value)), "f")
    return text if text[-1].isdecimal() else None


def extra_name(name: object) -> TextOrProblems:
    """The name of a parameter that has no step of its own."""
    text = str.__str__(name) if isinstance(name, str) else ""
    if not text:
        return refused(
            "extra-name",
            f"the parameter's name is text that is not empty, not {shown(name)}",
            "extra_param",
        )
    if text == "callback":
        return refused(
            "callback-step",
            "a callback is no part of a query: leave it out (get_jsonp takes one)",
            "extra_param",
        )
    return sendable_text(text, "extra_param")


def extra_value(name: str, value: object) -> TextOrProblems:
    """The value of a parameter that has no step of its own."""
    where = f"extra_param({shown(name)}, …)"
    text = scalar(value, where)
    if text is not None:
        return text
    return refused(
        "extra-value",
        f"the value is a str, a bool, an int or a finite float, not {shown(value)}",
        where,
    )
