"""What a query requests: its parameters as they are sent, their meaning, and the rules
that span several steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, Literal
from urllib.parse import quote

import attrs

from sitestats._common.fields import FIELDS, TOTALS
from sitestats._common.problems import Problem
from sitestats._common.text import shown
from sitestats._common.wire import Credentials, HttpRequest

from .periods import as_date, order_problems
from .rules import (
    DEFAULT_LIMIT,
    FILTERS,
    LATEST_VERSION,
    METADATA,
    PAGE_FILTERS,
    broken,
    is_contains,
    one_pattern,
)

# The order of the document's tables; metadata and unknown parameters follow.
_ORDER: Final[tuple[str, ...]] = (
    *("version", "start", "end", "limit", "timezone"),
    *("info", "events", "interval", "fields"),
    *FILTERS,
)
_DOCUMENTED: Final = frozenset(_ORDER)
_CONTAINS_FIELDS: Final = frozenset(("pageviews", "visitors", "histogram"))
_WITHOUT_FIELDS: Final = 1
"""The version that has all fields, whatever is requested."""
_ALWAYS_WITH_PAGES: Final = 2
_MOST_ENCODED: Final = 12
"""The most characters that one becomes: four bytes of UTF-8, percent-encoded."""
LONGEST_ADDRESS: Final = 64_000
"""The most characters of an address, without the base address, as it is sent.

The document has no such limit, but httpx refuses more than 65,536, and most servers
more than 8,000."""


@attrs.frozen
class Requested:
    """A query's parameters as they are sent, and their meaning."""

    hostname: str
    path: str | None = None
    """The page of a page-specific address, decoded: ``/contact``."""
    params: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """The parameters in the order in which they are sent."""
    unresolved: tuple[Problem, ...] = ()
    """Why it can't be sent: a word names no days without a time zone."""
    address: str = ""
    """The path of the address below the base address, encoded."""
    fields: tuple[str, ...] = ()
    """The requested fields in the document's order (section 4.3)."""
    events: tuple[str, ...] | Literal["*"] | None = None
    """The names of events, ``"*"`` for all events, None for no events."""
    limit: int = DEFAULT_LIMIT
    """The limit in force: 50 when none was set (section 8)."""
    version: int = LATEST_VERSION

    @property
    def timezone(self) -> str | None:
        """The time zone; None leaves it to the website's own."""
        return self.params.get("timezone")

    @property
    def interval(self) -> str | None:
        """The width of the histogram's buckets; None leaves it to the service."""
        return self.params.get("interval")

    @property
    def lists(self) -> tuple[str, ...]:
        """What is requested that has rows of its own."""
        lists = tuple(name for name in self.fields if name not in TOTALS)
        return lists if self.events is None else (*lists, "events")

    @property
    def is_relative(self) -> bool:
        """Whether the period has other days tomorrow: placeholders, or a default."""
        days = self.params.get("start"), self.params.get("end")
        return not self.unresolved and None in map(as_date, days)

    @property
    def is_documented(self) -> bool:
        """Whether the document has all of its parameters."""
        return all(map(is_documented, self.params))

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Every rule that spans steps and is broken, but that of a missing key."""
        return (*self.unresolved, *_problems_of(self))

    @cached_property
    def request(self) -> HttpRequest:
        """The request of these statistics (section 4.3)."""
        params = tuple(self.params.items())
        return HttpRequest("GET", self.address, params, credentials=Credentials.KEY)

    @cached_property
    def search(self) -> str:
        """The contains search among the page filters; empty without one."""
        return next(filter(is_contains, _patterns(self.params)), "")


def read_requested(
    hostname: str,
    path: str | None,
    values: Mapping[str, str],
    unresolved: tuple[Problem, ...],
) -> Requested:
    """Read the *values* of a query."""
    names = [name for name in _ORDER if name in values]
    if len(names) < len(values):
        # Metadata come before unknown parameters.
        names += sorted(
            values.keys() - _DOCUMENTED,
            key=lambda name: (not name.startswith(METADATA), name),
        )
    events = values.get("events")
    return Requested(
        hostname,
        path,
        {name: values[name] for name in names},
        unresolved,
        # Only the slashes between segments are not encoded.
        f"/{hostname}{quote(path, safe='/') if path else ''}.json",
        _documented_first(values.get("fields", "")),
        "*" if events == "*" else None if events is None else tuple(events.split(",")),
        _number(values.get("limit", ""), DEFAULT_LIMIT),
        _number(values.get("version", ""), LATEST_VERSION),
    )


def is_documented(name: str) -> bool:
    """Whether the document has a parameter of this name, other than the callback."""
    return name in _DOCUMENTED or name.startswith(METADATA)


def _documented_first(text: str) -> tuple[str, ...]:
    names = text.split(",") if text else []
    unknown = (name for name in names if name and name not in FIELDS)
    return (*(name for name in FIELDS if name in names), *unknown)


def _number(text: str, default: int) -> int:
    # An extra_param may be anything.
    return int(text) if text.isascii() and text.isdecimal() else default


def _patterns(params: Mapping[str, str]) -> list[str]:
    page, pages = params.get("page"), params.get("pages")
    return [*([page] if page else []), *(pages.split(",") if pages else [])]


# --- the rules that span steps ------------------------------------------------------


def _problems_of(wanted: Requested) -> Iterator[Problem]:
    params, version = wanted.params, wanted.version
    yield from order_problems(params.get("start"), params.get("end"))
    if not wanted.fields and wanted.events is None and version > _ALWAYS_WITH_PAGES:
        message = (
            "the query requests nothing: add .fields('pageviews', …), .events('…') or "
            ".all_events(); an address without a version is one of .version(1), which "
            "needs none of them"
        )
        yield broken("fields-or-events", message, "fields")
    if version < LATEST_VERSION and wanted.interval == "hour":
        message = (
            f"'hour' exists from version 6 on and the query is for version {version}: "
            "use .version(6) or .interval('day')"
        )
        yield broken("interval-version", message, "interval")
    if version < LATEST_VERSION and any(name.startswith(METADATA) for name in params):
        message = (
            "metadata filters exist from version 6 on and the query is for version "
            f"{version}: use .version(6)"
        )
        yield broken("metadata-version", message, "where_metadata")
    if wanted.path is not None and not PAGE_FILTERS.isdisjoint(params):
        message = (
            f"the address names a page already: leave .path({wanted.path!r}) or the "
            "filters page and pages out"
        )
        yield broken("path-or-page", message, "where")
    if wanted.search:
        yield from _contains(wanted, shown(wanted.search))
    # Encoding takes longer than all other checks together.
    size = len(wanted.address) + sum(map(len, params)) + sum(map(len, params.values()))
    if _MOST_ENCODED * size > LONGEST_ADDRESS:
        yield from _length(wanted)


def _contains(wanted: Requested, search: str) -> Iterator[Problem]:
    patterns = _patterns(wanted.params)
    if len(patterns) > 1:
        yield one_pattern(len(patterns), "where")
    others = [name for name in wanted.fields if name not in _CONTAINS_FIELDS]
    if wanted.version == _ALWAYS_WITH_PAGES:
        others = ["version 2, which always has the pages"]
    if wanted.version != _WITHOUT_FIELDS and (others or not wanted.fields):
        advice = f"leave out {', '.join(others)}" if others else "add one of these"
        message = (
            f"the contains search {search} gives the fields pageviews, visitors and "
            f"histogram alone: {advice}"
        )
        yield broken("contains-fields", message, "fields")
    if wanted.events is not None:
        message = (
            f"the contains search {search} gives no events: request them in another "
            "query"
        )
        yield broken("contains-events", message, "events")


def _length(wanted: Requested) -> Iterator[Problem]:
    pairs = tuple(wanted.params.items())
    length = len(HttpRequest("GET", wanted.address, pairs).target)
    if length > LONGEST_ADDRESS:
        longest = max(pairs, key=lambda pair: len(pair[0]) + len(pair[1]))[0]
        message = (
            f"the request's address would have {length:,} characters, and the limit is "
            f"{LONGEST_ADDRESS:,}: request less at once, in several queries; the "
            f"longest parameter is {shown(longest)}"
        )
        yield broken("address-length", message, "query")


def key_problems(wanted: Requested) -> tuple[Problem, ...]:
    """The problem of a contains search without a key."""
    if not wanted.search:
        return ()
    message = (
        f"the contains search {shown(wanted.search)} needs an API key, and api_key is "
        "not set"
    )
    return (broken("contains-key", message, "where"),)
