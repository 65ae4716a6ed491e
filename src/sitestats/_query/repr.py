"""The repr of a query: the chain of steps that builds it."""

from __future__ import annotations

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
    filters = ", ".join(_filter(name, texts[name]) for name in FILTERS if name in texts)
    metadata = {
        name.removeprefix(METADATA): text
        for name, text in sorted(texts.items())
        if name.startswith(METADATA)
    }
    events = texts.get("events")
    steps = [
        f"StatsQuery({hostname!r})",
        page and f"path({page!r})",
        "fields" in texts and f"fields({_several(texts['fields'])})",
        events and ("all_events()" if events == "*" else f"events({_several(events)})"),
        word and f"{word.step[0]}({word.step[1]}, now={word.now!r})",
        _period(texts.get("start"), texts.get("end")),
        "timezone" in texts and f"timezone({texts['timezone']!r})",
        filters and f"where({filters})",
        metadata and f"where_metadata({metadata!r})",
        "interval" in texts and f"interval({texts['interval']!r})",
        "limit" in texts and f"limit({texts['limit']})",
        texts.get("version") not in {None, str(LATEST_VERSION)}
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


def _filter(name: str, text: str) -> str:
    several = name == "pages" and "," in text
    return f"{name}={text.split(',') if several else text!r}"


def _period(start: str | None, end: str | None) -> str | None:
    if start == end or end is None:
        return start and f"{'on' if end else 'since'}({start!r})"
    # The same days may have another text, and the longest period has no step.
    count = (days_back(start) or 0) + (end == "today")
    if 0 < count <= MOST_DAYS and last(count, end == "today") == (start, end):
        return f"last(days={count}{', today=True' if end == 'today' else ''})"
    return f"between({start!r}, {end!r})"
