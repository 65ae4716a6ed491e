"""The repr of a query: the chain of steps that builds it."""

from __future__ import annotations

import keyword
from collections.abc import Mapping

from sitestats._common.errors import QueryError

from .periods import MOST_DAYS, Word, days_back, last
from .requested import is_documented
from .rules import FILTERS, LATEST_VERSION, METADATA
from .urls import checked_param


def chain(
    hostname: str, page: str | None, values: Mapping[str, str], word: Word | None
) -> str:
    """The call of the constructor and of each step, as Python would read it."""
    texts = {name: text for name, text in values.items() if _is_of_step(name, text)}
    extra = sorted(values.keys() - texts.keys())
    filters = {name: texts[name] for name in FILTERS if name in texts}
    events = texts.get("events")
    steps: list[str | bool | None] = [
        f"StatsQuery({hostname!r})",
        page and f"path({page!r})",
        "fields" in texts and f"fields({_several(texts['fields'])})",
        events and ("all_events()" if events == "*" else f"events({_several(events)})"),
        word.step if word else _period(texts.get("start"), texts.get("end")),
        "timezone" in texts and f"timezone({texts['timezone']!r})",
        f"where({', '.join(map(_filter, filters.items()))})" if filters else None,
        _metadata(texts),
        "interval" in texts and f"interval({texts['interval']!r})",
        "limit" in texts and f"limit({texts['limit']})",
        "version" in texts
        and texts["version"] != str(LATEST_VERSION)
        and f"version({texts['version']})",
        texts.get("info") == "true" and "info(True)",
        *(f"extra_param({name!r}, {values[name]!r})" for name in extra),
    ]
    return ".".join(step for step in steps if isinstance(step, str) and step)


def _is_of_step(name: str, text: str) -> bool:
    """Whether a step can have set the parameter, and not ``extra_param`` alone."""
    try:
        return is_documented(name) and checked_param(name, text) == text
    except QueryError:
        return False


def _several(texts: str) -> str:
    return ", ".join(map(repr, texts.split(",")))


def _period(start: str | None, end: str | None) -> str:
    if start is None and end is None:
        return ""
    if start == end or end is None:
        return f"{'on' if end else 'since'}({start!r})"
    back, today = days_back(start or "") or 0, end == "today"
    # The same days may have another text, and the longest period has no step.
    count = back + today
    if 0 < count <= MOST_DAYS and last({"days": count}, today, None) == (start, end):
        return f"last(days={count}{', today=True' if today else ''})"
    return f"between({start!r}, {end!r})"


def _filter(pair: tuple[str, str]) -> str:
    name, text = pair
    several = name == "pages" and "," in text
    return f"{name}={text.split(',') if several else text!r}"


def _metadata(texts: Mapping[str, str]) -> str:
    given = {
        name.removeprefix(METADATA): text
        for name, text in sorted(texts.items())
        if name.startswith(METADATA)
    }
    if not given:
        return ""
    if all(key.isidentifier() and not keyword.iskeyword(key) for key in given):
        return f"where_metadata({', '.join(f'{k}={v!r}' for k, v in given.items())})"
    return f"where_metadata({given!r})"
