"""Words from elsewhere: what other tools call things, and what to type here.

Each error about a name, a step, an argument, a value or an option that does not exist
looks here. ``words.toml`` has the words: a row is all that another one needs. They are
compared without case, blanks, hyphens and underscores. The file is read when there is
something to tell.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

EXTRA: Final = "*"
"""Stands in the tables for an argument without a name that has no place."""
ANY: Final = "*"
"""Stands in the tables for any field."""
MISSING: Final = "-"
"""Stands in the tables for an argument that has to be given."""


def folded(word: object) -> str:
    """*word* as the tables have it: ``"page_path"`` and ``"pagePath"`` are one.

    >>> from sitestats._words import folded
    >>> folded("page_path"), folded("--page-path"), folded("pagePath")
    ('pagepath', 'pagepath', 'pagepath')
    """
    return "".join(filter(str.isalnum, str(word)[:100].casefold()))


@cache
def _tables() -> Mapping[str, Any]:
    # They take long to import, for what only errors need.
    import tomllib
    from importlib import resources

    text = resources.files("sitestats").joinpath("words.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def _table(*names: str) -> Mapping[str, str]:
    """The advice for each word of a table; none if there is no such table."""
    rows: Any = _tables()
    for name in names:
        rows = rows.get(name, {})
    return {word: advice for advice, words in rows.items() for word in words.split()}


# --- fields and filters -------------------------------------------------------------


def field_meant(word: object) -> str:
    """The field that is meant by a word; empty for words that mean none."""
    name = folded(word)
    return _own_names().get(name) or _table("fields").get(name, "")


@cache
def _own_names() -> Mapping[str, str]:
    return {folded(name): name for name in _table("fields").values()}


def field_advice(word: object) -> str:
    """What to request in place of a field that does not exist."""
    text = str(word)[:100]
    if not text or text == "*" or folded(text) in {"all", "any", "everything"}:
        return "name each field that you want"
    if advice := _of_field(folded(text), "did you mean {!r}?"):
        return advice
    if relative_period(text):
        return period_advice(text)
    names = [field_meant(part) for part in re.split("[,;|+&]", text)]
    if len(names) > 1 and all(names):
        return f"give each by itself: .fields({', '.join(map(repr, names))})"
    # A typing mistake, which the caller tells.
    if get_close_matches(text.casefold(), _own_names().values(), n=1, cutoff=0.8):
        return ""
    found = (_of_field(part, "the nearest is {!r}") for part in _parts(text))
    return next(filter(None, found), "")


def _of_field(name: str, form: str) -> str:
    for table in ("events", "not_counted"):
        if advice := _table(table).get(name):
            return advice
    field = field_meant(name)
    # Without its step, the numbers would be those of days.
    if field == "histogram" and value_meant("interval-name", name) not in {"", "day"}:
        return _interval_advice(name)
    return form.format(field) if field else ""


def _parts(text: str) -> Iterator[str]:
    """The words in a *text* that follow each other, the longest and last ones first.

    >>> from sitestats._words import _parts
    >>> [*_parts("firstUserMedium")]
    ['firstusermedium', 'usermedium', 'firstuser', 'medium', 'user', 'first']
    """
    words = [word.lower() for word in re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)]
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length, -1, -1):
            yield "".join(words[start : start + length])


def filter_advice(word: object) -> str:
    """What to type for a filter that does not exist."""
    text = str(word)[:100]
    if match := re.fullmatch(r"(?:metadata|meta|props|event:props)[.:_](\w+)", text):
        return f"use .where_metadata({match[1]}=…)"
    _, underscores, ending = text.rpartition("__")
    if underscores and (advice := _table("lookups").get(folded(ending))):
        return advice
    if re.match("(not|no|exclude|without|except)_", text):
        return _table("lookups")["not"]
    name = folded(text.rpartition(":")[2])
    if advice := _table("not_filtered").get(name):
        return advice
    if name in _table("events"):
        return "request the counts of an event by .events('signup')"
    filters = _table("filters")
    meant = filters.get(name) or filters.get(folded(field_meant(name)))
    return f"use .where({meant})" if meant else ""


# --- attributes ---------------------------------------------------------------------


def name_advice(kind: type, word: str) -> str:
    """What to type for an attribute that *kind* does not have."""
    name = folded(word)
    titles = [base.__name__.removeprefix("Async") for base in kind.__mro__]
    for title in titles:
        if advice := _table("names", title).get(name):
            return advice
    if "StatsQuery" in titles:
        if advice := period_advice(word):
            return advice
        if advice := _interval_advice(name.removeprefix("by")):
            return advice
    field = field_meant(name)
    for title in titles if field else ():
        forms = _table("fields_of", title)
        if form := forms.get(folded(field)) or forms.get(ANY):
            return form.replace("{}", field)
    if field and hasattr(kind, field):
        return f"use .{field}"
    # What counts says why it does not count something.
    is_counting = "StatsQuery" in titles or hasattr(kind, "pageviews")
    return _of_field(name, "did you mean {!r}?") if is_counting else ""


def module_advice(word: str) -> str:
    """What to type for a name that the package does not have."""
    return _table("names", "module").get(folded(word), "")


# --- arguments ----------------------------------------------------------------------


def argument_advice(owner: str, method: str, word: str) -> str:
    """What to type in place of the argument *word* of a method; the word may be
    ``EXTRA`` or ``MISSING``.
    """
    if method == "__init__":
        method = owner
    table = _table("arguments", method)
    advice = table.get(word) or table.get(folded(word), "")
    if owner != "StatsQuery" or method not in {"StatsQuery", "fields"}:
        return advice
    # Most of what these don't take is a step.
    return advice or _table("names", owner).get(folded(word)) or table[EXTRA]


# --- values -------------------------------------------------------------------------


def value_meant(rule: str, word: object) -> str:
    """The value that is meant by a word, which a rule refuses; or a sentence about what
    there is in its place; or nothing.
    """
    return _table("values", rule).get(folded(word), "")


def _interval_advice(word: str) -> str:
    """What to type for the name of an interval."""
    meant = value_meant("interval-name", word)
    is_sentence = " " in meant or not meant
    return meant if is_sentence else f"use .fields('histogram').interval({meant!r})"


# --- periods and days ---------------------------------------------------------------

_RELATIVE: Final = re.compile(
    r"(?:last|past|prev(?:ious)?|rolling|now|(?P<since>today|yesterday)|p(?=[0-9]+[dwmy]))?"
    r"[\s_-]*(?P<number>[0-9]{1,4}(?=\W*[a-z])|[0-9]{1,3})[\s_-]*(?P<unit>[a-z]*?)s?(?:[\s_-]*ago)?(?:/[dwm])?",
    re.IGNORECASE,
)
_UNITS: Final = {
    **dict.fromkeys(("d", "day"), ("days", 1)),
    **dict.fromkeys(("w", "wk", "week"), ("weeks", 1)),
    **dict.fromkeys(("m", "mo", "mon", "month"), ("months", 1)),
    **dict.fromkeys(("q", "quarter"), ("months", 3)),
    **dict.fromkeys(("y", "yr", "year"), ("months", 12)),
    **dict.fromkeys(("h", "hr", "hour", "min", "minute"), ("hours", 1)),
    # Matomo has "last7".
    "": ("days", 1),
}
"""What a period is counted in, and how many of these one unit is."""
_FUTURE: Final = re.compile(r"next|(?:today|now)?\s*\+", re.IGNORECASE)
_NAMED: Final = re.compile(
    "(last|previous|prev|past|this|current|)(week|month|quarter|year)(?:todate)?"
)
_WHICH: Final = re.compile("^(last|previous|prev|past|this|current)")


def relative_period(text: str) -> tuple[int, str] | None:
    """The number and the unit of a period such as ``"30d"``, ``"last_7_days"``,
    ``"30daysAgo"`` or ``"12mo"``.

    >>> from sitestats._words import relative_period
    >>> relative_period("30daysAgo"), relative_period("1y"), relative_period("soon")
    ((30, 'days'), (12, 'months'), None)
    """
    match = _RELATIVE.fullmatch(text[:100].strip())
    if match is None or match["unit"].lower() not in _UNITS:
        return None
    unit, times = _UNITS[match["unit"].lower()]
    is_of_yesterday = (match["since"] or "").lower() == "yesterday"
    return int(match["number"]) * times + is_of_yesterday, unit


def period_advice(text: str) -> str:
    """What to type for words that are not a period."""
    name, table = folded(text), _table("periods")
    if _FUTURE.match(text):
        return table["tomorrow"]
    if found := relative_period(text):
        number, unit = found
        if unit == "hours":
            return table["hour"]
        return f"use .last({unit}={number})" if number else table["today"]
    if named := _NAMED.fullmatch(name):
        which = "this" if named[1] in {"this", "current", ""} else "last"
        return f"use .during('{which}-{named[2]}')"
    return table.get(name) or table.get(_WHICH.sub("", name), "")


def relation_advice(text: str) -> str:
    """The period to compare with that is meant by words."""
    name = folded(text)
    meant = value_meant("period-unit", name) or name
    if meant in {"period", "week", "month", "quarter", "year"}:
        return f"use 'previous-{meant}'"
    return period_advice(text).replace("use .", "use query.")


def day_advice(text: str) -> str:
    """What to type for words that are not a day."""
    number, unit = relative_period(text) or (0, "")
    if unit in {"days", "weeks"}:
        days = number * (7 if unit == "weeks" else 1)
        return f"use 'today-{days}d'"
    return _table("days").get(folded(text)) or period_advice(text)


# --- time zones ---------------------------------------------------------------------


def zones_meant(words: str) -> str:
    """The zones that an abbreviation or a name in *words* may mean, with blanks between
    them.
    """
    return _table("zones").get(folded(words), "")


def place_of_name(zone: str) -> str:
    """A place that people mean by a valid name of a *zone* that is not a place."""
    return _table("names_without_place").get(zone, "")


def place_of_offset(offset: str) -> str:
    """A large place of an *offset* such as ``"+5:30"``; empty if there is none."""
    return _table("offsets").get(offset, "")


# --- the command --------------------------------------------------------------------


def option_advice(option: str, known: Collection[str]) -> str:
    """What to type for an *option* that a command does not have, but others that are
    *known*.
    """
    advice = _table("options").get(folded(option), "")
    if not advice.startswith("-"):
        return advice
    # To name an option of another command would lead astray.
    return f"use {advice}" if re.split("[ ,]", advice)[0] in known else ""


def command_advice(word: str, group: str = "") -> str:
    """The command that is meant by a word in a *group* of commands."""
    advice = _table("commands").get(folded(word), "")
    if advice.startswith(f"sitestats {group}".rstrip()):
        return f"use {advice}"
    return "" if advice.startswith("sitestats ") else advice
