"""The messages of the library in a shell: options in place of steps and arguments."""

from __future__ import annotations

import ast
import math
import re
import shlex
from datetime import datetime, timedelta
from itertools import cycle
from typing import Final

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
    "columns": "--column",
    "first_day": "--since",
} | {
    name: f"--{name.replace('_', '-')}"
    for name in (
        *("last", "on", "start", "end", "during", "each", "against", "timezone"),
        *("interval", "limit", "where", "path", "public", "label"),
        *("all_events", "base_url", "timeout", "total_timeout", "retries"),
        *("ignore_columns", "key_file"),
    )
}
"""Each step, argument and place with its options, its variable, or other words."""

_NAMED: Final = re.compile(
    # .limit(5); a place, as in "limit: …"; an argument, as in "total_timeout".
    r"\.(?P<step>\w+)\((?P<values>(?:'[^']*'|\"[^\"]*\"|[^()'\"])*)\)"
    r"|^(?P<place>\w+)(?:\((?P<part>[^()]*)\))?(?=: | is | has )"
    r"|(?<![\w.'\"])(?P<word>[a-z]+_[a-z_]+\b(?! of )|(?:against|columns)(?==))"
    r"(?:=(?P<value>'[^']*'|\{[^{}]*\}|\w+))?",
    re.MULTILINE,
)
_JOINED: Final = {"fields": ",", "extra_param": "="}
"""What stands between the values of steps that are one option."""
_SECTION: Final = re.compile(r" \(section [0-9.]+\)")
"""A section of the service's document, which who runs commands need not have."""
_PAUSE: Final = re.compile(r"try again in ([0-9,]+) s\b")


def in_a_shell(message: object) -> str:
    """A text or an error with options in place of steps and arguments.

    After a number of seconds it says until when by the clock.

    >>> in_a_shell("limit: use .where(page='/a b') or .fields('pages', …)")
    "--limit: use --where 'page=/a b' or --field pages,…"
    """
    text = _NAMED.sub(_option, _SECTION.sub("", str(message)))
    return _PAUSE.sub(_until, text)


def _option(found: re.Match[str]) -> str:
    name = found["step"] or found["place"] or found["word"]
    if name not in OPTIONS:
        return found[0]
    given = found["values"] or found["part"] or found["value"] or ""
    try:
        call = ast.parse(f"f({given})".replace("…", "..."), mode="eval").body
    except SyntaxError:
        return found[0]
    assert isinstance(call, ast.Call)
    values = list(map(_value, call.args))
    for keyword in call.keywords:
        # The names of filters and keys are a part of the option's value.
        key = f"{keyword.arg}=" if name.startswith("where") else ""
        values.append(key + _value(keyword.value))
    if name in _JOINED and values:
        values = [_JOINED[name].join(values)]
    # An ellipsis stands for a value that the reader knows.
    quoted = (text if "…" in text else shlex.quote(text) for text in values if text)
    pairs = zip(cycle(OPTIONS[name].split(", ")), quoted)
    words = " ".join(map(" ".join, pairs)) or OPTIONS[name]
    # A step that follows another one begins without a space.
    follows = found["step"] and found.string[: found.start()][-1:] == ")"
    return f" {words}" if follows else words


def _value(node: ast.expr) -> str:
    if isinstance(node, ast.Dict):
        pairs = zip(filter(None, node.keys), node.values, strict=False)
        return ",".join(f"{_value(key)}={_value(value)}" for key, value in pairs)
    if not isinstance(node, ast.Constant) or node.value is ...:
        return "…"
    # True is that of a flag.
    return "" if node.value is True else str(node.value)


def _until(found: re.Match[str]) -> str:
    seconds = int(found[1].replace(",", ""))
    minutes = math.ceil(seconds / 60)
    words = f"{seconds} seconds" if minutes <= 1 else f"{minutes} minutes"
    until = datetime.now().astimezone() + timedelta(seconds=seconds)
    return f"try again in {words} (at {until:%H:%M})"
