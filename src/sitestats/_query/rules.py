"""The table of rules: everything that is checked before a request is sent.

``RULES`` has a row for each rule: its name, the section of the service's document,
and a sentence. A problem bears the name of its row. To find the code that enforces
a rule, search for the name: ``contains-one-pattern``, which refuses a second
pattern, is checked in ``filters`` (within one value) and in ``validation`` (between
several). ``values`` has the checks of single values, ``periods`` those of days,
``hostnames`` those of host names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final, Literal, Protocol, TypeAlias, TypedDict, cast, get_args

import attrs

from sitestats._common.errors import QueryError
from sitestats._common.hostnames import HostnameError, normalise_hostname
from sitestats._common.problems import Problem
from sitestats._common.text import shown


@attrs.frozen
class Rule:
    """One rule: a row of the table."""

    name: str
    section: str
    """Where the service's document states it, such as ``"4.3"``."""
    text: str
    """The rule in one sentence."""


_ROWS: Final = {
    "hostname": "4.3: A query is for one website, by its host name alone.",
    "text": "4.3: Names and values are UTF-8 text: no half of a surrogate pair.",
    # The path of a page-specific address.
    "path-slash": "4.3: The path of a page-specific address starts with a slash.",
    "path-root": "4.3: The root page has no address of its own: use the filter page.",
    "path-dots": "4.3: No part of a path is '.' or '..'.",
    "path-control": "4.3: A path has no control characters.",
    # Single values.
    "version-range": "9: The version is a whole number from 1 to 6.",
    "limit-range": "8: The limit is a whole number from 1 to 1000.",
    "timezone-name": "4.3: A time zone is a name of the tz database in its exact case.",
    "interval-name": "4.3: The interval is hour, day, week, month or year.",
    "interval-version": "9: The interval hour exists from version 6 on.",
    "info-flag": "4.3: info is true or false.",
    # Fields and events.
    "field-name": "4.3: A field is one of the fifteen names.",
    "fields-or-events": "4.3: From version 3 on, a query has fields, events or both.",
    "event-name": "4.3: An event's name is not empty and has no comma and no '*'.",
    "events-all": "4.3: Either events are named or all are requested.",
    # The period.
    "period-day": "4.3: A day is a date YYYY-MM-DD, today, yesterday or today-30d.",
    "period-date": "4.3: A date is one of the calendar.",
    "period-naive": "4.3: A time of day needs a time zone.",
    "period-zone": "4.3: A moment needs the query's time zone to be a day.",
    "period-order": "4.3: The end, which is included, is not before the start.",
    "period-days": "4.3: A period of whole days has at least one.",
    "period-unit": "4.3: A unit is a whole day, week, month, quarter or year.",
    "period-words": "4.3: Weeks, months and years of a period need its dates.",
    # Filters.
    "filter-name": "4.3: A filter is one of the twelve names.",
    "filter-text": "4.3: A filter's value is text.",
    "filter-empty": "4.3: A filter has a value that is not empty.",
    "filter-star": "4.3: A '*' stands at the end of a value (Wildcards, 1).",
    "pages-comma": "4.3: A comma separates pages, so none has one inside.",
    "device-type": (
        "4.3: It is mobile, tablet, desktop or tv, or the beginning of one with a '*'."
    ),
    "path-or-page": "4.3: A query with a path has no filter page or pages.",
    "page-slash": "4.3: A page is given by its path, which starts with a slash.",
    "country-code": "4.3: A country is given by its code.",
    "referrer-normalized": "4.3: A referrer is a normalised name, not an address.",
    # Contains searches: a pattern that starts and ends with '*'.
    "contains-filter": "4.3: Only page filters take a contains search (Wildcards, 2).",
    "contains-key": "5: A contains search needs an API key, for public websites too.",
    "contains-one-pattern": "4.3: A contains search has exactly one pattern.",
    "contains-star": "4.3: A contains search has a '*' at both ends and none inside.",
    "contains-length": (
        "8: A contains search has at least 12 characters other than '/' between its "
        "'*'."
    ),
    "contains-fields": (
        "4.3: A contains search has no other fields than pageviews, visitors, "
        "histogram."
    ),
    "contains-events": "4.3: A contains search gives no events.",
    # Metadata filters.
    "metadata-key": "4.3: A key has letters, digits and underscores (Metadata, 1).",
    "metadata-value": (
        "4.3: A value is text, a number, a flag or a moment in UTC (Metadata, 3 to 5)."
    ),
    "metadata-version": "9: Metadata filters exist from version 6 on.",
    "metadata-suffix": "4.3: A key has no storage type at its end (Metadata, 1).",
    "metadata-star": "4.3: A '*' is a plain character in a value (Metadata, 7).",
    # Parameters that have no step.
    "extra-name": "4.3: A parameter has a name that is not empty.",
    "extra-value": "4.3: A parameter's value is text, a number or a flag.",
    "callback-step": "4.3: A callback is for one call, not part of a query.",
    "callback-name": "4.3: A callback is one or more identifiers and dots.",
    # Adding a website.
    "website-hostname": "4.2: A website is added by its host name alone.",
    "website-timezone": (
        "4.2: A time zone is a valid name: the service would silently use UTC for "
        "others."
    ),
    "website-public": "4.2: A website is public (true) or private (false).",
    "website-label": "4.2: A label is text.",
    # Addresses.
    "address": (
        "4.3: An address is the base address, a host name, a page's path, .json for "
        "data."
    ),
    "address-once": "4.3: A parameter is given once.",
    "address-parameter": "4.3: The parameters of an address are those of the document.",
    "address-page": "4.3: The path of an address is a page's, no view of a dashboard.",
    "address-length": "8: An address has at most 64,000 characters (our own limit).",
    # Custom endpoints.
    "custom-method": "1: A custom endpoint is called by an HTTP method.",
    "custom-path": "1: A custom endpoint is a path below the base address.",
    "custom-params": "1: Parameters are names with text, numbers or flags.",
    "custom-body": "1: A body is a value that JSON can hold.",
}
"""Each rule by its name: the section of the document, and a sentence."""
RULES: Final[Mapping[str, Rule]] = {
    name: Rule(name, section, text)
    for name, row in _ROWS.items()
    for section, _, text in [row.partition(": ")]
}

TextOrProblems: TypeAlias = str | list[Problem]
"""The text that is sent, or every problem of the value (never an empty list)."""

Interval: TypeAlias = Literal["hour", "day", "week", "month", "year"]
"""The width of the histogram's buckets (section 4.3)."""

INTERVALS: Final[tuple[Interval, ...]] = get_args(Interval)


class Filters(TypedDict, total=False):
    """The filters of the Stats API (section 4.3); None takes one away.

    A ``*`` at the end of a value matches everything that starts so. ``page``
    and ``pages`` also take one contains search, ``"*…*"``.
    """

    page: str | None
    """A single page, such as ``"/contact"``."""
    pages: str | Iterable[str] | None
    """One page or several."""
    country: str | None
    """A country's code, such as ``"NL"``."""
    referrer: str | None
    """A normalised referrer, such as ``"google"``."""
    utm_source: str | None
    utm_medium: str | None
    utm_campaign: str | None
    utm_content: str | None
    utm_term: str | None
    browser_name: str | None
    os_name: str | None
    device_type: str | None
    """``"mobile"``, ``"tablet"``, ``"desktop"`` or ``"tv"``."""


FILTERS: Final = tuple(Filters.__annotations__)
DEVICE_TYPES: Final = ("mobile", "tablet", "desktop", "tv")
LATEST_VERSION: Final = 6
LATEST_SHAPE: Final = 5
"""From this version on, responses have the shape that the document shows."""
HIGHEST_LIMIT: Final = 1000
LONGEST_ADDRESS: Final = 64_000
"""The most characters of an address, without the base address, as it is sent.

The document has no such limit, and neither have the client's own connections. But
httpx, which carries a transport of the user's own, refuses an address of more than
65,536, and so do servers: most of them after 8,000 already, with a status 414 or 431.
This limit leaves room for the base address, so that a query is refused in the same
way over every transport."""
DEFAULT_LIMIT: Final = 50


def broken(rule: str, message: str, where: str) -> Problem:
    """A problem that cites the row *rule* of the table."""
    row = RULES[rule]
    return Problem(message, rule=row.name, section=row.section, where=where)


def refused(rule: str, message: str, where: str) -> list[Problem]:
    """The same problem as a list, in place of a text."""
    return [broken(rule, message, where)]


def sendable_text(value: str, where: str) -> TextOrProblems:
    """*value* as a plain str that can be sent."""
    text = str.__str__(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return refused(
            "text",
            f"{shown(text)} has half of a surrogate pair in it, which can't be "
            "sent: read or decode the text again with the right encoding",
            where,
        )
    return text


class HasHostname(Protocol):
    """What has the host name of a website, as a ``Website`` has."""

    @property
    def hostname(self) -> str:
        """The host name."""
        ...


def website(value: object) -> TextOrProblems:
    """The host name of a website, which is given by its name or as an object."""
    if not isinstance(value, str):
        with suppress(Exception):  # an object of the user's may raise anything
            value = getattr(value, "hostname", value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return refused(
            "hostname",
            "a query is for one website: make those of many by "
            "query.each(websites=…), and send them by client.stats.get_many",
            "hostname",
        )
    return hostname(value)


def websites(value: object) -> Iterable[object]:
    """The websites of a list.

    Raises:
        QueryError: It is no list, but a single website, or something else.
    """
    given = value
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return cast("Iterable[object]", value)
    raise QueryError(
        refused(
            "hostname",
            "websites is a list of host names or websites, such as "
            f"client.websites.list(), not {shown(given)}: use .website(…) for one",
            "each",
        )
    )


def hostname(
    value: object, where: str = "hostname", rule: str = "hostname"
) -> TextOrProblems:
    """The host name as it is sent."""
    try:
        return normalise_hostname(value)
    except HostnameError as error:
        return refused(rule, str(error), where)
