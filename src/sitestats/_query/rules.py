"""Every rule of the service's document that can be checked before sending.

``RULES`` is the table: a name, the section that states the rule, and the rule
in our words. A problem bears the name of its row, so whatever mentions the
name enforces the rule: the one that refuses a second pattern is the row
``contains-one-pattern``, and it is found in ``filters`` (within one value)
and in ``validation`` (between several). ``values`` and ``periods`` hold the checks of
single values and of days, ``hostnames`` those of host names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

import attrs

from sitestats._common.errors import Problem
from sitestats._common.hostnames import HostnameError, normalise_hostname
from sitestats._common.text import shown


@attrs.frozen
class Rule:
    """One rule: a row of the table."""

    name: str
    section: str
    """Where the service's document states it, such as ``"4.3"``."""
    text: str
    """The rule in our words."""
    warns: bool = False
    """Whether breaking it is a warning, since the service takes the value."""


RULES: Final[Mapping[str, Rule]] = {
    rule.name: rule
    for rule in (
        Rule("hostname", "4.3", "A query is for one website, by its host name alone."),
        Rule(
            "text",
            "4.3",
            "Names and values are text that UTF-8 can encode: no half of a "
            "surrogate pair.",
        ),
        # The path of a page-specific address.
        Rule(
            "path-slash",
            "4.3",
            "The path of a page-specific address starts with a slash.",
        ),
        Rule(
            "path-root",
            "4.3",
            "The root page has no address of its own: it is asked for with the "
            "filter page.",
        ),
        Rule(
            "path-dots",
            "4.3",
            "No part of a path is '.' or '..', which would lead to another address.",
        ),
        Rule("path-control", "4.3", "A path has no control characters."),
        # Single values.
        Rule("version-range", "9", "The version is a whole number from 1 to 6."),
        Rule("limit-range", "8", "The limit is a whole number from 1 to 1000."),
        Rule(
            "timezone-name",
            "4.3",
            "A time zone is a name of the tz database, written with its capitals.",
        ),
        Rule(
            "interval-name",
            "4.3",
            "The interval is one of hour, day, week, month and year.",
        ),
        Rule("interval-version", "9", "The interval hour exists from version 6 on."),
        Rule("info-flag", "4.3", "info is true or false."),
        # What is asked for.
        Rule("field-name", "4.3", "A field is one of the fifteen names."),
        Rule(
            "fields-or-events",
            "4.3",
            "From version 3 on a query asks for fields, for events, or for both.",
        ),
        Rule(
            "event-name",
            "4.3",
            "An event's name is not empty and has no comma, which separates names, "
            "and no '*', which stands for all events.",
        ),
        Rule("events-all", "4.3", "Either events are named or all are asked for."),
        # The period.
        Rule(
            "period-day",
            "4.3",
            "A start or an end is a date YYYY-MM-DD or a placeholder: today, "
            "yesterday, today-30d.",
        ),
        Rule("period-date", "4.3", "A date is one of the calendar."),
        Rule(
            "period-naive",
            "4.3",
            "A time of day needs a time zone, as the service asks for days of one.",
        ),
        Rule(
            "period-zone",
            "4.3",
            "A moment is a day only in a time zone, so a query with one names a zone.",
        ),
        Rule("period-order", "4.3", "The end, which is included, is not before start."),
        Rule("period-days", "4.3", "A period of whole days has at least one."),
        # Filters.
        Rule("filter-name", "4.3", "A filter is one of the twelve names."),
        Rule("filter-text", "4.3", "A filter's value is text."),
        Rule("filter-empty", "4.3", "A filter has a value that is not empty."),
        Rule(
            "filter-star",
            "4.3",
            "A '*' in a filter stands at its end, where it matches everything that "
            "starts so (Wildcards, 1).",
        ),
        Rule(
            "pages-comma",
            "4.3",
            "A comma separates the pages of the filter pages, so none has one inside.",
        ),
        Rule(
            "device-type",
            "4.3",
            "A device type is mobile, tablet, desktop or tv, or the beginning of one "
            "with a '*'.",
        ),
        Rule(
            "path-or-page",
            "4.3",
            "A query for one page by its address has no filter page or pages.",
        ),
        Rule(
            "page-slash",
            "4.3",
            "A page is given by its path, which starts with a slash.",
            warns=True,
        ),
        Rule("country-code", "4.3", "A country is given by its code.", warns=True),
        Rule(
            "referrer-normalized",
            "4.3",
            "A referrer is given as the service normalizes it, not as an address.",
            warns=True,
        ),
        # Contains searches: a pattern that starts and ends with '*'.
        Rule(
            "contains-filter",
            "4.3",
            "Only page and pages take a contains search (Wildcards, 2).",
        ),
        Rule(
            "contains-key",
            "5",
            "A contains search needs an API key, for public websites too.",
        ),
        Rule(
            "contains-one-pattern",
            "4.3",
            "A contains search has exactly one pattern, in page or in pages.",
        ),
        Rule(
            "contains-star",
            "4.3",
            "A contains search has a '*' at both ends and none inside.",
        ),
        Rule(
            "contains-length",
            "8",
            "A contains search has at least 12 characters other than '/' between "
            "its two '*'.",
        ),
        Rule(
            "contains-fields",
            "4.3",
            "With a contains search only pageviews, visitors and histogram are asked "
            "for.",
        ),
        Rule(
            "contains-events", "4.3", "With a contains search no events are asked for."
        ),
        # Metadata filters.
        Rule(
            "metadata-key",
            "4.3",
            "A metadata key has letters, digits and underscores (Metadata, 1).",
        ),
        Rule(
            "metadata-value",
            "4.3",
            "A metadata value is text, a number, true, false, or a moment in UTC "
            "(Metadata, 3 to 5).",
        ),
        Rule("metadata-version", "9", "Metadata filters exist from version 6 on."),
        Rule(
            "metadata-suffix",
            "4.3",
            "A metadata key is written without its storage type (Metadata, 1).",
            warns=True,
        ),
        Rule(
            "metadata-star",
            "4.3",
            "Metadata values match exactly: a '*' is a plain character (Metadata, 7).",
            warns=True,
        ),
        # The escape hatch.
        Rule("extra-name", "4.3", "A parameter has a name that is not empty."),
        Rule("extra-value", "4.3", "A parameter's value is text, a number or a flag."),
        Rule(
            "callback-step",
            "4.3",
            "A callback wraps the answer, so it goes with one call and is no part of "
            "a query.",
        ),
        Rule("callback-name", "4.3", "A callback is one or more identifiers and dots."),
        # Adding a website.
        Rule("website-hostname", "4.2", "A website is added by its host name alone."),
        Rule(
            "website-timezone",
            "4.2",
            "A time zone is a valid name: the service would turn another one into "
            "UTC without a word.",
        ),
        Rule("website-public", "4.2", "A website is public (true) or private (false)."),
        Rule("website-label", "4.2", "A label is text."),
        # Addresses.
        Rule(
            "address",
            "4.3",
            "The address of a query is the base address, the host name, a page's "
            "path, and .json for data.",
        ),
        Rule("address-once", "4.3", "A parameter is given once."),
        Rule("custom-method", "1", "A custom endpoint is called by a method of HTTP."),
        Rule(
            "custom-path",
            "1",
            "A custom endpoint is a path below the base address, and nothing else.",
        ),
        Rule("custom-params", "1", "Parameters are names with text, numbers or flags."),
        Rule("custom-body", "1", "A body is a value that JSON can hold."),
    )
}

Verdict: TypeAlias = str | list[Problem]
"""The text that is sent, or every problem of the value (never an empty list)."""

Interval: TypeAlias = Literal["hour", "day", "week", "month", "year"]
"""The width of the histogram's buckets (section 4.3)."""

INTERVALS: Final[tuple[Interval, ...]] = get_args(Interval)
FILTERS: Final = (
    "page",
    "pages",
    "country",
    "referrer",
    "utm_source",
    "utm_medium",
    "utm_campaign",
    "utm_content",
    "utm_term",
    "browser_name",
    "os_name",
    "device_type",
)
DEVICE_TYPES: Final = ("mobile", "tablet", "desktop", "tv")
LATEST_VERSION: Final = 6
HIGHEST_LIMIT: Final = 1000
DEFAULT_LIMIT: Final = 50


def broken(rule: str, message: str, where: str) -> Problem:
    """A problem that cites the row *rule* of the table."""
    row = RULES[rule]
    return Problem(message, rule=row.name, section=row.section, where=where)


def refused(rule: str, message: str, where: str) -> list[Problem]:
    """One problem as a whole verdict."""
    return [broken(rule, message, where)]


def plain(value: str, where: str) -> Verdict:
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


def hostname(value: object, where: str = "hostname", rule: str = "hostname") -> Verdict:
    """The host name as it is sent."""
    try:
        return normalise_hostname(value)
    except HostnameError as error:
        return refused(rule, str(error).removesuffix("."), where)
