"""The messages of the library in a shell: options in place of steps and arguments."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import cycle
from typing import Final, cast

from sitestats import InvalidInputError, Problem
from sitestats._common.advice import Advice, Argument, Step, render
from sitestats._common.problems import grouped_lines

OPTIONS: Final = {
    "fields": "--field",
    "events": "--event",
    "between": "--start, --end",
    "pinned": "--timezone",
    "where_metadata": "--metadata",
    "version": "--api-version",
    "extra_param": "--param",
    "from_url": "HOST",
    "website": "HOST",
    "previous": "--against",
    "hostname": "HOST",
    "api_key": "SITESTATS_API_KEY",
    "user_id": "SITESTATS_USER_ID",
    "max_response_bytes": "the limit",
    "columns": "--column",
    "first_day": "--since",
} | {
    name: f"--{name.replace('_', '-')}"
    for name in (
        *("last", "on", "start", "end", "during", "each", "against", "timezone"),
        *("interval", "limit", "where", "path", "public", "label"),
        *("all_events", "base_url", "timeout", "total_timeout", "retries"),
        *("ignore_column", "ignore_columns", "input_format", "key_file"),
    )
}
"""Each step, argument and place with its options, its variable, or other words."""

_JOINED: Final = {"fields": ",", "extra_param": "="}
"""What stands between the values of steps that are one option."""
_LONGEST: Final = 60
_SECTION: Final = re.compile(r" \(section [0-9.]+\)")
"""A section of the service's document, which who runs commands need not have."""
_PAUSE: Final = re.compile(r"try again in ([0-9,]+) s\b")


def in_a_shell(message: str | Exception) -> str:
    """A text with options and variables in place of steps and arguments.

    After a number of seconds it says until when by the clock.
    """
    return _PAUSE.sub(_until, _SECTION.sub("", render(message, _words)))


def messages_of(error: Exception) -> Iterable[str]:
    """A line for each problem of an error or a warning; many of a kind are counted."""
    if isinstance(error, InvalidInputError):
        return grouped_lines(error.problems, place_of=_place, rewrite=in_a_shell)
    return [in_a_shell(error)]


def _until(found: re.Match[str]) -> str:
    seconds = int(found[1].replace(",", ""))
    minutes = math.ceil(seconds / 60)
    words = f"{seconds} seconds" if minutes <= 1 else f"{minutes} minutes"
    until = datetime.now().astimezone() + timedelta(seconds=seconds)
    return f"try again in {words} (at {until:%H:%M})"


def _place(problem: Problem) -> str:
    return OPTIONS.get(problem.where) or in_a_shell(problem.where)


def _words(advice: Advice) -> str:
    if isinstance(advice, Argument):
        return _option(advice.name, [] if advice.value is None else [advice.value])
    if not isinstance(advice, Step):
        return ""
    # The names of filters and keys are a part of the option's value.
    named = [
        f"{name}={_text(value)}" if advice.name.startswith("where") else value
        for name, value in advice.named.items()
    ]
    return _option(advice.name, [*advice.values, *named])


def _option(name: str, values: Iterable[object]) -> str:
    # Without a value it is a flag.
    texts = [_text(value) for value in values if value is not True]
    if name in _JOINED and texts:
        texts = [_JOINED[name].join(texts)]
    # An ellipsis stands for a value that the reader knows.
    quoted = (text if "…" in text else shlex.quote(text) for text in texts)
    pairs = zip(cycle(OPTIONS[name].split(", ")), quoted)
    return " ".join(map(" ".join, pairs)) or OPTIONS[name]


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, str]", value).items()
        return ",".join(f"{name}={text}" for name, text in pairs)
    text = "…" if value is ... else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
