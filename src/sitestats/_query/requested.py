"""What a query requests: its parameters as they are sent, their meaning, and the rules
that span several steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal
from urllib.parse import quote

import attrs

from sitestats._base.errors import InvalidInputError, Problem
from sitestats._base.fields import FIELD_ROWS, SEARCHABLE, TOTALS
from sitestats._base.text import shown
from sitestats._wire.cached import cached_property
from sitestats._wire.messages import Credentials, HttpRequest

from .parameters import (
    PAGE_FILTERS,
    can_filter,
    in_order,
    is_documented,
    number_in,
)
from .periods import NamedPeriod, order_problems
from .rules import DEFAULT_LIMIT, METADATA, broken, is_contains
from .versions import SENT_VERSION, WITH_HOURS, WITH_METADATA, version_row


@attrs.frozen(slots=False)
class Parameters:
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
    version: int = SENT_VERSION
    is_of_address: bool = False
    """Whether it was read from an address, where nobody has called a step."""

    @cached_property
    def timezone(self) -> str | None:
        """The time zone; None leaves it to the website's own."""
        return self.params.get("timezone")

    @cached_property
    def interval(self) -> str | None:
        """The width of the histogram's buckets; None leaves it to the service."""
        return self.params.get("interval")

    @property
    def names(self) -> tuple[str, ...]:
        """What is requested: the fields, and events."""
        return self.fields if self.events is None else (*self.fields, "events")

    @property
    def lists(self) -> tuple[str, ...]:
        """The requested names that have rows of their own."""
        return tuple(name for name in self.names if name not in TOTALS)

    @cached_property
    def filters(self) -> str:
        """What the numbers are limited to: ``"page=/blog, country=NL"``; empty if they
        are of the whole website.
        """
        params = self.params.items()
        texts = [f"{name}={value}" for name, value in params if can_filter(name)]
        if self.path is not None:
            texts.insert(0, f"page={self.path}")
        return ", ".join(texts)

    @cached_property
    def without_effect(self) -> tuple[str, ...]:
        """A sentence about each step that changes no number of what is requested; none
        about an address, which has what a dashboard was set to.
        """
        row = version_row(self.version)
        is_known = set(self.fields) <= FIELD_ROWS.keys()
        if self.is_of_address or row.has_all_fields or not is_known:
            return ()
        of = ", ".join(self.names)
        sentences = list[str]()
        if self.interval is not None and "histogram" not in self.fields:
            sentences.append(
                f".interval({self.interval!r}) has no effect on {of}: add 'histogram' "
                "to .fields(…)"
            )
        has_lists = {*self.lists} - _UNLIMITED or row.always_has_pages
        if "limit" in self.params and not has_lists:
            sentences.append(
                f".limit({self.limit}) has no effect on {of}: add a list, such as "
                "'pages', to .fields(…)"
            )
        return tuple(sentences)

    @property
    def is_documented(self) -> bool:
        """Whether the document has all of its parameters."""
        return all(map(is_documented, self.params))

    @cached_property
    def has_documented_shape(self) -> bool:
        """Whether a response of the version has the shape that the document shows."""
        return version_row(self.version).has_documented_shape

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Every broken rule that spans steps, except the rule of a missing key."""
        return (*self.unresolved, *_problems_of(self))

    @property
    def key_problems(self) -> tuple[Problem, ...]:
        """The rule that is broken without a key."""
        if not self.search:
            return ()
        message = f"the contains search {shown(self.search)} needs an API key"
        return (broken("contains-key", message, "where"),)

    @cached_property
    def request(self) -> HttpRequest:
        """The request of these statistics (section 4.3)."""
        params = tuple(self.params.items())
        return HttpRequest("GET", self.address, params, credentials=Credentials.KEY)

    @cached_property
    def search(self) -> str:
        """The contains search among the page filters; empty without one."""
        return next(filter(is_contains, _patterns(self.params)), "")


_UNLIMITED: Final = frozenset(("histogram", "events"))
"""What has rows that no limit cuts."""


def read_parameters(
    hostname: str,
    path: str | None,
    values: Mapping[str, str],
    word: NamedPeriod | None,
    *,
    is_of_address: bool = False,
) -> Parameters:
    """Read the *values* of a query, and the days of a *word*."""
    unresolved: tuple[Problem, ...] = ()
    if word is not None:
        try:
            start, end = word.days(values.get("timezone"))
            values = {**values, "start": start, "end": end}
        except InvalidInputError as error:
            unresolved = error.problems
    return Parameters(
        hostname,
        path,
        {name: values[name] for name in in_order(values)},
        unresolved,
        # Only the slashes between segments are not encoded.
        f"/{hostname}{quote(path, safe='/') if path else ''}.json",
        tuple(filter(None, values.get("fields", "").split(","))),
        _events_in(values.get("events")),
        number_in(values.get("limit")) or DEFAULT_LIMIT,
        number_in(values.get("version")) or SENT_VERSION,
        is_of_address,
    )


def _events_in(text: str | None) -> tuple[str, ...] | Literal["*"] | None:
    """The names of events in a text of the parameter."""
    if text is None:
        return None
    if text == "*":
        return "*"
    return tuple(text.split(","))


def _patterns(params: Mapping[str, str]) -> list[str]:
    return [*filter(None, (params.get("page"), *params.get("pages", "").split(",")))]


# --- the rules that span steps ------------------------------------------------------


def _problems_of(parameters: Parameters) -> Iterator[Problem]:
    params, version = parameters.params, version_row(parameters.version)
    yield from order_problems(params.get("start"), params.get("end"))
    if not parameters.fields and parameters.events is None and version.needs_fields:
        message = (
            "the query requests nothing: add .fields('pageviews', …), .events('…') or "
            ".all_events(); only version 1, which an address without a version has, "
            "needs none"
        )
        yield broken("fields-or-events", message, "fields")
    yield from _too_new(parameters)
    if parameters.path is not None and not PAGE_FILTERS.isdisjoint(params):
        message = (
            f"the address names a page already: leave .path({parameters.path!r}) or "
            "the filters page and pages out"
        )
        yield broken("path-or-page", message, "where")
    if parameters.search:
        yield from _contains(parameters, shown(parameters.search))


def _too_new(parameters: Parameters) -> Iterator[Problem]:
    """What the query has that exists only from a later version on."""
    version = parameters.version
    if parameters.interval == "hour" and version < WITH_HOURS:
        message = f"'hour' exists {_from(WITH_HOURS, version)} or .interval('day')"
        yield broken("interval-version", message, "interval")
    has_metadata = any(name.startswith(METADATA) for name in parameters.params)
    if has_metadata and version < WITH_METADATA:
        message = f"metadata filters exist {_from(WITH_METADATA, version)}"
        yield broken("metadata-version", message, "where_metadata")


def _from(first: int, version: int) -> str:
    return (
        f"from version {first} on and the query is for version {version}: use "
        f".version({first})"
    )


def _contains(parameters: Parameters, search: str) -> Iterator[Problem]:
    if (count := len(_patterns(parameters.params))) > 1:
        message = f"a contains search has exactly one pattern, and there are {count}"
        yield broken("contains-one-pattern", message, "where")
    others = [name for name in parameters.fields if name not in SEARCHABLE]
    version = version_row(parameters.version)
    if version.always_has_pages:
        others = [f"version {version.number}, which always has the pages"]
    if not version.has_all_fields and (others or not parameters.fields):
        advice = f"leave out {', '.join(others)}" if others else "add one of these"
        message = (
            f"the contains search {search} gives the fields pageviews, visitors and "
            f"histogram alone: {advice}"
        )
        yield broken("contains-fields", message, "fields")
    if parameters.events is not None:
        message = (
            f"the contains search {search} gives no events: request them in another "
            "query"
        )
        yield broken("contains-events", message, "events")
