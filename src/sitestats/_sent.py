"""From what a query holds to what is sent, and to the facts that rules look at.

A query holds text by the names of parameters. Only a moment is held as it is, since
the day that it is depends on the query's zone, which a later step may set.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from . import _periods, _rules
from ._across import Facts
from ._errors import Problem
from ._filters import METADATA
from ._periods import StoredDay

# The order of the document's tables; metadata and unknown parameters follow.
_ORDER: Final[tuple[str, ...]] = (
    "version",
    "start",
    "end",
    "limit",
    "timezone",
    "info",
    "events",
    "interval",
    "fields",
    *_rules.FILTERS,
)
_KNOWN: Final = frozenset(_ORDER)


def texts(
    held: Mapping[str, StoredDay],
) -> tuple[dict[str, StoredDay], list[Problem]]:
    """Everything as text; a moment that is no day, with the problem of it."""
    sent = dict(held)
    problems: list[Problem] = []
    for name in ("start", "end"):
        value = held.get(name)
        if value is None or isinstance(value, str):
            continue
        day = _periods.in_zone(value, _text(held, "timezone"), name)
        if isinstance(day, str):
            sent[name] = day
        else:
            problems += day
    return sent, problems


def in_order(sent: Mapping[str, StoredDay]) -> dict[str, str]:
    """The parameters in an order that depends on nothing but themselves."""
    names = [name for name in _ORDER if name in sent]
    if len(names) < len(sent):
        # Sorting by the key's kind puts metadata before unknown parameters.
        names += sorted(sent.keys() - _KNOWN, key=_metadata_first)
    return {name: str(sent[name]) for name in names}


def facts(
    held: Mapping[str, StoredDay], page_path: str | None, unjudged: Collection[str]
) -> Facts:
    """What the rules that span steps look at; what is *unjudged* is left out."""

    def judged(name: str) -> str | None:
        return None if name in unjudged else _text(held, name)

    fields, pages = judged("fields"), judged("pages")
    return Facts(
        version=int(judged("version") or _rules.LATEST_VERSION),
        path=page_path,
        fields=None if fields is None else tuple(fields.split(",")),
        events=judged("events"),
        interval=judged("interval"),
        page=judged("page"),
        pages=None if pages is None else tuple(pages.split(",")),
        metadata=tuple(
            name.removeprefix(METADATA)
            for name in held
            if name.startswith(METADATA) and name not in unjudged
        ),
        unjudged=frozenset(unjudged),
    )


def _text(held: Mapping[str, StoredDay], name: str) -> str | None:
    value = held.get(name)
    assert not isinstance(value, datetime)
    return value


def _metadata_first(name: str) -> tuple[bool, str]:
    return not name.startswith(METADATA), name
