"""The repr of a query: the chain of steps that builds it."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from .filters import METADATA
from .periods import EndOfWord, StoredDay, days_back, last_days
from .requested import Unchecked, Values
from .rules import FILTERS, LATEST_VERSION

_SOMEWHERE: Final = "https://stats.example"
"""A base address for an address that is read again: a query is bound to none."""


def chain(hostname: str, page: str | None, values: Values, unchecked: Unchecked) -> str:
    """The call of the constructor and of each step, as Python would read it.

    Only an address gives parameters with problems: these are in one.
    """
    checked = {name: text for name, text in values.items() if name not in unchecked}
    texts = {name: str(text) for name, text in checked.items()}
    steps = [f"StatsQuery({hostname!r})"]
    wrong = {name: str(values[name]) for name in sorted(unchecked) if unchecked[name]}
    if wrong:
        address = f"{_SOMEWHERE}/{hostname}.json?{urlencode(wrong)}"
        steps = [f"StatsQuery.from_url({address!r})"]
    if page is not None:
        steps.append(f"path({page!r})")
    if "fields" in texts:
        steps.append(f"fields({_several(texts['fields'])})")
    if "events" in texts:
        everything = texts["events"] == "*"
        names = _several(texts["events"])
        steps.append("all_events()" if everything else f"events({names})")
    steps += _period(checked.get("start"), checked.get("end"))
    if "timezone" in texts:
        steps.append(f"timezone({texts['timezone']!r})")
    steps += _filters(texts)
    steps += _metadata(texts)
    if "interval" in texts:
        steps.append(f"interval({texts['interval']!r})")
    if "limit" in texts:
        steps.append(f"limit({texts['limit']})")
    if texts.get("version", str(LATEST_VERSION)) != str(LATEST_VERSION):
        steps.append(f"version({texts['version']})")
    if texts.get("info") == "true":
        steps.append("info(True)")
    steps += [
        f"extra_param({name!r}, {values[name]!r})"
        for name in sorted(unchecked)
        if name not in wrong
    ]
    return ".".join(steps)


def _several(texts: str) -> str:
    return ", ".join(map(repr, texts.split(",")))


def _period(start: StoredDay | None, end: StoredDay | None) -> list[str]:
    either = end if start is None else start
    if either is None:
        return []
    if isinstance(either, EndOfWord):
        step = f"during({either.word!r}"
        if either.count > 1:
            step = f"last({either.word.removeprefix('last-')}s={either.count}"
        return [f"{step}, now={either.now!r})"]
    if start == end or end is None:
        return [f"{'on' if end else 'since'}({start!r})"]
    back = days_back(start) if isinstance(start, str) else None
    # The same days may have another text, and the longest period has no step.
    if back is not None and (start, end) == last_days(back, today=False):
        return [f"last(days={back})"]
    if back is not None and (start, end) == last_days(back + 1, today=True):
        return [f"last(days={back + 1}, today=True)"]
    return [f"between({start!r}, {end!r})"]


def _filters(texts: Mapping[str, str]) -> list[str]:
    given = [
        f"{name}={_pages(texts[name]) if name == 'pages' else repr(texts[name])}"
        for name in FILTERS
        if name in texts
    ]
    return [f"where({', '.join(given)})"] if given else []


def _pages(text: str) -> str:
    return repr(text.split(",")) if "," in text else repr(text)


def _metadata(texts: Mapping[str, str]) -> list[str]:
    given = {
        name.removeprefix(METADATA): text
        for name, text in sorted(texts.items())
        if name.startswith(METADATA)
    }
    if not given:
        return []
    if all(key.isidentifier() and not keyword.iskeyword(key) for key in given):
        return [f"where_metadata({', '.join(f'{k}={v!r}' for k, v in given.items())})"]
    return [f"where_metadata({given!r})"]
