"""The rules that span steps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final

import attrs

from sitestats import _periods, _rules

from ._errors import Problem
from ._filters import METADATA, is_contains
from ._periods import StoredDay
from ._rules import LATEST_VERSION, broken
from ._wording import shown

_CONTAINS_FIELDS: Final = frozenset(("pageviews", "visitors", "histogram"))


@attrs.frozen
class Facts:
    """What the steps of a query have set, as far as they were checked.

    A value that was given through the escape hatch is not judged. It is None
    here, and its name is in ``unjudged``.
    """

    version: int
    path: str | None
    fields: tuple[str, ...] | None
    events: str | None
    interval: str | None
    page: str | None
    pages: tuple[str, ...] | None
    metadata: tuple[str, ...]
    unjudged: frozenset[str]


def across(facts: Facts, has_key: bool | None) -> list[Problem]:  # noqa: FBT001 - a fact, not a switch
    """The problems between several steps; *has_key* is None when not known."""
    return [
        *_asks_for_something(facts),
        *_needs_version(facts),
        *_one_way_to_a_page(facts),
        *_contains(facts, has_key),
    ]


def _asks_for_something(facts: Facts) -> Iterable[Problem]:
    if (
        facts.fields is None
        and facts.events is None
        and facts.unjudged.isdisjoint(("fields", "events", "version"))
        and facts.version > 2  # noqa: PLR2004 - the rule's own number
    ):
        yield broken(
            "fields-or-events",
            "the query asks for nothing: add .fields('pageviews', …), .events('…') "
            "or .all_events()",
            "fields",
        )


def _needs_version(facts: Facts) -> Iterable[Problem]:
    if "version" in facts.unjudged or facts.version >= LATEST_VERSION:
        return
    if facts.interval == "hour":
        yield broken(
            "interval-version",
            f"'hour' exists from version 6 on and the query is for version "
            f"{facts.version}: use .version(6) or .interval('day')",
            "interval",
        )
    if facts.metadata:
        yield broken(
            "metadata-version",
            f"metadata filters exist from version 6 on and the query is for version "
            f"{facts.version}: use .version(6), or leave "
            f"{', '.join(map(repr, facts.metadata))} out",
            "where_metadata",
        )


def _one_way_to_a_page(facts: Facts) -> Iterable[Problem]:
    if facts.path is None:
        return
    for name, value in (("page", facts.page), ("pages", facts.pages)):
        if value is not None:
            yield broken(
                "path-or-page",
                f"the address names a page already: leave .path({shown(facts.path)}) "
                f"or the filter {name} out",
                f"where({name}=…)",
            )


def _contains(facts: Facts, has_key: bool | None) -> Iterable[Problem]:  # noqa: FBT001 - as above
    pages = facts.pages or ()
    patterns = pages if facts.page is None else (facts.page, *pages)
    searches = [text for text in patterns if is_contains(text)]
    if not searches:
        return
    search = shown(searches[0])
    if has_key is False:
        yield broken(
            "contains-key",
            f"the contains search {search} needs an API key, and this client has none",
            "where",
        )
    if len(patterns) > 1:
        yield broken(
            "contains-one-pattern",
            f"a contains search has exactly one pattern, and page and pages have "
            f"{len(patterns)} together: leave {search} or the others out",
            "where",
        )
    if "fields" not in facts.unjudged:
        others = [name for name in facts.fields or () if name not in _CONTAINS_FIELDS]
        if others:
            yield broken(
                "contains-fields",
                f"the contains search {search} gives pageviews, visitors and histogram "
                f"alone: leave {', '.join(others)} out",
                "fields",
            )
        elif not facts.fields:
            yield broken(
                "contains-fields",
                f"the contains search {search} needs .fields('pageviews'), 'visitors' "
                "or 'histogram'",
                "fields",
            )
    if facts.events is not None:
        yield broken(
            "contains-events",
            f"the contains search {search} gives no events: ask for them in a query "
            "of its own",
            "events",
        )


# --- what is sent -----------------------------------------------------------------


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
