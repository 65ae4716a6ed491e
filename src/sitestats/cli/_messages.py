"""Error messages for a shell: options in place of Python, and repeated errors as one.

The library's messages name steps of the query builder and arguments of the client.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from sitestats._common.errors import (
    ConfigurationError,
    InvalidInputError,
    SiteStatsError,
)
from sitestats._common.problems import QUOTED, Problem, grouped_lines

_STEP: Final = re.compile(rf"""(?<![\w)])\.([a-z_]+)\(((?:{QUOTED}|[^()'"])*)\)""")
_ARGUMENT: Final = re.compile(rf"""(?:{QUOTED}|[^,'"])+""")


def _repeated(option: str) -> Callable[[Sequence[str]], str]:
    return lambda values: " ".join(f"{option} {value}" for value in values)


def _joined(option: str, mark: str = ",") -> Callable[[Sequence[str]], str]:
    return lambda values: f"{option} {mark.join(values)}"


STEPS: Final[dict[str, Callable[[Sequence[str]], str]]] = {
    "fields": _joined("--field"),
    "events": _repeated("--event"),
    "all_events": lambda _: "--all-events",
    "last": _joined("--last"),
    "between": lambda days: " ".join(
        f"{option} {day}"
        for option, day in zip(("--start", "--end"), days, strict=False)
    ),
    "on": _joined("--on"),
    "during": _joined("--during"),
    "each": _joined("--each"),
    "timezone": _joined("--timezone"),
    "interval": _joined("--interval"),
    "limit": _joined("--limit"),
    "where": _repeated("--where"),
    "where_metadata": _repeated("--metadata"),
    "path": _joined("--path"),
    "version": _joined("--api-version"),
    "info": lambda _: "--info",
    "extra_param": _joined("--param", "="),
}
"""The steps of the query builder, each with the option that does the same."""

_PLACES: Final = {
    "fields": "--field",
    "events": "--event",
    "all_events": "--all-events",
    "between": "--start, --end",
    "version": "--api-version",
    "where_metadata": "--metadata",
    "extra_param": "--param",
    "from_url": "HOST",
    "hostname": "HOST",
} | {
    name: f"--{name}"
    for name in (
        *("last", "on", "start", "end", "timezone", "interval", "limit", "where"),
        *("path", "info", "public", "label", "during", "each", "against"),
    )
}
"""Where an error is, each with the option that was given."""

_ANYWHERE: Final = {
    "and this client has none": "and SITESTATS_API_KEY is not set",
    "give the client a longer one": "give a longer --total-timeout",
    ", '2026-03-05', a date or a pandas.Period": " or '2026-03-05'",
    "against='previous_period'": "--against previous_period",
    "total_timeout": "--total-timeout",
    "max_response_bytes, ": "the limit, ",
    "the deadline of get_many": "the deadline",
    "columns={…}": "--column FIELD=NAME",
    "ignore_columns=True": "--ignore-columns",
    "input_format=…": "--input-format",
    "give them to the client, or set": "set",
    "; with a base address that does not come from the environment, use "
    "Client.from_env(base_url=…) to send them there": "",
    "this client is read-only": "SITESTATS_READ_ONLY is set",
    ": make one without read_only=True to write": ": unset it to write",
    "plan(…) says": "`plan` says",
    "and this client uses": "and this command uses",
    ": a script is given by client.stats.get_jsonp(query, callback=…)": "",
    "use client.stats.get_jsonp(query, callback=…)": "leave it out",
    "take them away with .where(utm_source=None, utm_content=None)": "leave them out "
    "of the address",
    "or None to take the filter away": "or leave the filter out",
    "give several in a list": "repeat the option for several",
    "give each as an argument of its own": "give each by itself",
    "give each name as an argument of its own": "give each name by itself",
    "or use .pinned('Europe/Amsterdam').… with the website's time zone": "or a "
    "--timezone",
    "use .pinned('Europe/Amsterdam') with the website's, which is website.timezone": (
        "give it as --timezone"
    ),
    "use .pinned() without a zone": "leave the other one out",
    "use .during(…), or dates": "give whole ones, or dates",
    "use .during(…), or against='previous_period'": "give whole ones, or compare with "
    "the previous period",
    "see .raw(), or request version 6": "use --api-version 6",
    "see .raw() of the result for what it has": "--format json has what there is",
    " is True or False": " is true or false",
    " is an int ": " is a whole number ",
    " is a str ": " is a text ",
}
"""What stands in the library's messages in Python, each with the words of a command."""

_ARGUMENTS: Final = {
    "api_key": "SITESTATS_API_KEY",
    "user_id": "SITESTATS_USER_ID",
    "base_url": "--base-url",
    "timeout": "--timeout",
    "total_timeout": "--total-timeout",
    "retries": "--retries",
}
# In quotes they are settings of a profile.
_ARGUMENT_NAMES: Final = re.compile(rf"(?<![\w.'-])({'|'.join(_ARGUMENTS)})\b(?!=)")


def for_a_shell(text: str) -> str:
    """*text* with options and environment variables in place of Python."""
    for python, shell in _ANYWHERE.items():
        text = text.replace(python, shell)
    return _STEP.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    write = STEPS.get(found[1])
    if write is None:
        return found[0]
    return write([_value(found[1], text) for text in _ARGUMENT.findall(found[2])])


def _value(step: str, argument: str) -> str:
    """An argument of *step* as a shell has it: ``page=/``, ``'/a b'``."""
    name, equals, value = argument.strip().rpartition("=")
    value = value.strip("'\"")
    if name and step.startswith("where"):
        value = f"{name}{equals}{value}"
    # An ellipsis stands for a value that the reader knows.
    return value if "…" in value else shlex.quote(value)


def messages_of(error: SiteStatsError) -> Iterable[str]:
    """A line for each problem of *error*; many of one kind are counted."""
    if isinstance(error, InvalidInputError):
        return grouped_lines(error.problems, place_of=_place, rewrite=for_a_shell)
    text = for_a_shell(str(error))
    if isinstance(error, ConfigurationError):
        text = _ARGUMENT_NAMES.sub(lambda name: _ARGUMENTS[name[1]], text)
    return [text]


def _place(problem: Problem) -> str:
    step, bracket, name = problem.where.partition("(")
    if step not in _PLACES or (bracket and not name.endswith(")")):
        return problem.where
    name = name.removesuffix(")").removesuffix("…").rstrip(", ").strip("'\"")
    return f"{_PLACES[step]} {name}".rstrip()
