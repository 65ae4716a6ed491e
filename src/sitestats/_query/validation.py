"""Validate a query: the rules that span several of its steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from sitestats._common.errors import QueryError
from sitestats._common.problems import Problem
from sitestats._common.text import shown
from sitestats._common.wire import HttpRequest

from .filters import METADATA, PAGE_FILTERS, is_contains
from .periods import order_problems
from .rules import LATEST_VERSION, LONGEST_ADDRESS, broken, refused

if TYPE_CHECKING:
    from .requested import Requested

_CONTAINS_FIELDS: Final = frozenset(("pageviews", "visitors", "histogram"))
_PERIOD: Final = ("start", "end")
_WITHOUT_FIELDS: Final = 2
"""Up to this version a query does not name its fields."""
_MOST_ENCODED: Final = 12
"""The most characters that one becomes: four bytes of UTF-8, percent-encoded."""
_IGNORES_FIELDS: Final = "1"
_ALWAYS_WITH_PAGES: Final = "2"


def problems_of(requested: Requested, *, has_key: bool | None) -> list[Problem]:
    """Every problem that spans steps; *has_key* is None when not known."""
    problems = [*requested.problems]
    if requested.unchecked:
        for found in requested.unchecked.values():
            problems += found
    # Days that are text were compared when they were set.
    if requested.has_moments and requested.unchecked.keys().isdisjoint(_PERIOD):
        start, end = requested.params.get("start"), requested.params.get("end")
        problems += order_problems(start, end)
    problems += _requests_something(requested)
    problems += _needs_version(requested)
    problems += _one_way_to_a_page(requested)
    problems += _contains(requested, has_key)
    problems += _too_long(requested)
    return problems


def validate(requested: Requested, *, has_key: bool | None) -> None:
    """Check the rules that span steps.

    Raises:
        QueryError: Rules are broken; it holds every problem.
    """
    problems = problems_of(requested, has_key=has_key)
    if problems:
        raise QueryError(problems)


def _requests_something(requested: Requested) -> list[Problem]:
    if (
        requested.fields
        or requested.events is not None
        or requested.version <= _WITHOUT_FIELDS
        or not requested.unchecked.keys().isdisjoint(("fields", "version"))
    ):
        return []
    return refused(
        "fields-or-events",
        "the query requests nothing: add .fields('pageviews', …), .events('…') or "
        ".all_events(); an address without a version is one of .version(1), which "
        "needs none of them",
        "fields",
    )


def _needs_version(requested: Requested) -> list[Problem]:
    if requested.version >= LATEST_VERSION or "version" in requested.unchecked:
        return []
    problems: list[Problem] = []
    if requested.checked("interval") == "hour":
        problems += refused(
            "interval-version",
            "'hour' exists from version 6 on and the query is for version "
            f"{requested.version}: use .version(6) or .interval('day')",
            "interval",
        )
    metadata = [
        name.removeprefix(METADATA)
        for name in requested.params
        if name.startswith(METADATA) and name not in requested.unchecked
    ]
    if metadata:
        problems += refused(
            "metadata-version",
            "metadata filters exist from version 6 on and the query is for version "
            f"{requested.version}: use .version(6), or leave "
            f"{', '.join(map(repr, metadata))} out",
            "where_metadata",
        )
    return problems


def _one_way_to_a_page(requested: Requested) -> list[Problem]:
    if requested.path is None:
        return []
    return [
        broken(
            "path-or-page",
            "the address names a page already: leave "
            f".path({shown(requested.path)}) or the filter {name} out",
            f"where({name}=…)",
        )
        for name in ("page", "pages")
        if requested.checked(name) is not None
    ]


def _contains(requested: Requested, has_key: bool | None) -> Iterable[Problem]:  # noqa: FBT001 - a fact, not a switch
    if PAGE_FILTERS.isdisjoint(requested.params):
        return
    page, pages = requested.checked("page"), requested.checked("pages")
    patterns = [] if page is None else [page]
    patterns += [] if pages is None else pages.split(",")
    searches = [text for text in patterns if is_contains(text)]
    if not searches:
        return
    search = shown(searches[0])
    if has_key is False:
        yield broken(
            "contains-key",
            f"the contains search {search} needs an API key, and api_key is not set",
            "where",
        )
    if len(patterns) > 1:
        yield broken(
            "contains-one-pattern",
            f"a contains search has exactly one pattern, and page and pages have "
            f"{len(patterns)} together: leave {search} or the others out",
            "where",
        )
    yield from _contains_fields(requested, search)
    if requested.checked("events") is not None:
        yield broken(
            "contains-events",
            f"the contains search {search} gives no events: request them in another "
            "query",
            "events",
        )


def _contains_fields(requested: Requested, search: str) -> Iterable[Problem]:
    version = requested.checked("version")
    if version == _IGNORES_FIELDS:
        return
    if version == _ALWAYS_WITH_PAGES:
        yield broken(
            "contains-fields",
            f"the contains search {search} gives pageviews, visitors and histogram "
            "alone, and responses of version 2 always have the pages: use another "
            "version",
            "version",
        )
        return
    if "fields" in requested.unchecked:
        return
    others = [name for name in requested.fields if name not in _CONTAINS_FIELDS]
    if others:
        yield broken(
            "contains-fields",
            f"the contains search {search} gives pageviews, visitors and histogram "
            f"alone: leave {', '.join(others)} out",
            "fields",
        )
    elif not requested.fields and version is not None:
        yield broken(
            "contains-fields",
            f"the contains search {search} needs .fields('pageviews'), 'visitors' "
            "or 'histogram'",
            "fields",
        )


def _too_long(requested: Requested) -> list[Problem]:
    sizes = {name: len(name) + len(text) for name, text in requested.params.items()}
    # Encoding takes longer than all other checks together.
    if _MOST_ENCODED * (len(requested.address) + sum(sizes.values())) < LONGEST_ADDRESS:
        return []
    pairs = tuple(requested.params.items())
    length = len(HttpRequest("GET", requested.address, pairs).target)
    if length <= LONGEST_ADDRESS:
        return []
    longest = max(sizes, key=lambda name: sizes[name])
    return refused(
        "address-length",
        f"the request's address would have {length:,} characters, and the limit is "
        f"{LONGEST_ADDRESS:,}: request less at once, in several queries; the longest "
        f"parameter is {shown(longest)}",
        "query",
    )
