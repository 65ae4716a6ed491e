"""Every rule of the service's document that can be checked before sending.

``RULES`` is the table: a name, the section that states the rule, and the rule
in our words. Below it stands one function for each kind of value. Each takes
whatever the user gave and returns the text that is sent, or every problem of
that value; each problem bears the name of its row. Rules that span several
values are at the end: they return problems alone.

So the rule that refuses a second pattern is the row ``contains-one-pattern``,
and whatever mentions that name below enforces it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from numbers import Integral
from typing import Final, Literal, TypeAlias, cast

import attrs

from ._errors import Problem
from ._hostnames import HostnameError, normalise_hostname
from ._wording import did_you_mean, shown


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

FieldName: TypeAlias = Literal[
    "pageviews",
    "visitors",
    "histogram",
    "pages",
    "countries",
    "referrers",
    "utm_sources",
    "utm_mediums",
    "utm_campaigns",
    "utm_contents",
    "utm_terms",
    "browser_names",
    "os_names",
    "device_types",
    "seconds_on_page",
]
"""A field of the Stats API (section 4.3)."""

Interval: TypeAlias = Literal["hour", "day", "week", "month", "year"]
"""The width of the histogram's buckets (section 4.3)."""

FIELDS: Final[tuple[FieldName, ...]] = (
    "pageviews",
    "visitors",
    "histogram",
    "pages",
    "countries",
    "referrers",
    "utm_sources",
    "utm_mediums",
    "utm_campaigns",
    "utm_contents",
    "utm_terms",
    "browser_names",
    "os_names",
    "device_types",
    "seconds_on_page",
)
INTERVALS: Final[tuple[Interval, ...]] = ("hour", "day", "week", "month", "year")
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

_FIELD_SET: Final = frozenset[str](FIELDS)
_PAGE_FILTERS: Final = ("page", "pages")
_CONTAINS_FIELDS: Final = frozenset(("pageviews", "visitors", "histogram"))
_CONTAINS_LENGTH: Final = 12
_METADATA_KEY: Final = re.compile(r"[a-zA-Z0-9_]+")
_METADATA_SUFFIXES: Final = ("_text", "_int", "_bool", "_date")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def broken(rule: str, message: str, where: str) -> Problem:
    """A problem that cites the row *rule* of the table."""
    row = RULES[rule]
    return Problem(message, rule=row.name, section=row.section, where=where)


def plain(value: str, where: str) -> Verdict:
    """*value* as a plain str that can be sent."""
    text = str.__str__(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return [
            broken(
                "text",
                f"{shown(text)} has half of a surrogate pair in it, which can't be "
                "sent: read or decode the text again with the right encoding",
                where,
            )
        ]
    return text


# --- single values ----------------------------------------------------------


def hostname(value: object, where: str = "hostname", rule: str = "hostname") -> Verdict:
    """The host name as it is sent."""
    try:
        return normalise_hostname(value)
    except HostnameError as error:
        return [broken(rule, str(error).removesuffix("."), where)]


def path(value: object) -> Verdict:
    """The path of a page, decoded."""
    given = str.__str__(value) if isinstance(value, str) else ""
    if not given.startswith("/"):
        return [
            broken(
                "path-slash",
                f"a page's path is a str that starts with '/', such as '/contact', "
                f"not {shown(value)}",
                "path",
            )
        ]
    text = plain(given, "path")
    if not isinstance(text, str):
        return text
    if text == "/":
        return [
            broken(
                "path-root",
                "the root page has no address of its own: use .where(page='/')",
                "path",
            )
        ]
    problems: list[Problem] = []
    if _CONTROL.search(text):
        problems.append(
            broken(
                "path-control",
                f"{shown(text)} has a control character: take it out",
                "path",
            )
        )
    parts = text.split("/")
    if "." in parts or ".." in parts:
        problems.append(
            broken(
                "path-dots",
                f"{shown(text)} has '.' or '..' between its slashes: give the path "
                "that they lead to",
                "path",
            )
        )
    return problems or text


def whole_number(value: object, low: int, high: int) -> str | None:
    """A whole number between two bounds, or None."""
    # numpy's whole numbers are Integral and no int; a bool is an int and no number.
    if isinstance(value, bool) or not isinstance(value, Integral):
        return None
    number = int(value)
    return str(number) if low <= number <= high else None


def version(value: object) -> Verdict:
    """The version of the Stats API."""
    return whole_number(value, 1, LATEST_VERSION) or [
        broken(
            "version-range",
            f"the version is an int from 1 to {LATEST_VERSION}, not {shown(value)}",
            "version",
        )
    ]


def limit(value: object) -> Verdict:
    """How many entries each list may have."""
    return whole_number(value, 1, HIGHEST_LIMIT) or [
        broken(
            "limit-range",
            f"the limit is an int from 1 to {HIGHEST_LIMIT}, not {shown(value)}",
            "limit",
        )
    ]


def interval(value: object) -> Verdict:
    """The width of the histogram's buckets."""
    text = str.__str__(value) if isinstance(value, str) else ""
    if text in INTERVALS:
        return text
    hint = did_you_mean(text, INTERVALS)
    return [
        broken(
            "interval-name",
            f"the interval is 'hour', 'day', 'week', 'month' or 'year', not "
            f"{shown(value)}{hint}",
            "interval",
        )
    ]


def info(value: object) -> Verdict:
    """Whether the answer explains its fields."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return [
        broken("info-flag", f"info is True or False, not {shown(value)}", "info"),
    ]


# --- what is asked for --------------------------------------------------------


def fields(names: Iterable[object]) -> Verdict:
    """The fields, each once and in the document's order."""
    asked: set[str] = set()
    problems: list[Problem] = []
    for name in names:
        text = str.__str__(name) if isinstance(name, str) else ""
        if text in _FIELD_SET:
            asked.add(text)
        else:
            problems.append(broken("field-name", _no_field(name), "fields"))
    if not asked and not problems:
        problems.append(
            broken(
                "field-name",
                "name at least one field, such as .fields('pageviews')",
                "fields",
            )
        )
    return problems or ",".join(name for name in FIELDS if name in asked)


def _no_field(name: object) -> str:
    if not isinstance(name, str):
        return (
            f"a field is named by a str, not {shown(name)}: give each name as an "
            "argument of its own, such as .fields('pages', 'visitors')"
        )
    if "," in str.__str__(name):
        return (
            f"{shown(name)} is not one name: give each as an argument of its own, such "
            "as .fields('pages', 'visitors')"
        )
    return (
        f"{shown(name)} is not a field{did_you_mean(name, FIELDS)}; the fields are "
        f"{', '.join(FIELDS)}"
    )


def events(names: Iterable[object]) -> Verdict:
    """The names of events, in the order that was given and each once."""
    asked: dict[str, None] = {}
    problems: list[Problem] = []
    given = tuple(names)
    for name in given:
        if isinstance(name, str) and str.__str__(name) == "*":
            message = (
                "names and all events do not go together: use .all_events() alone"
                if len(given) > 1
                else "'*' is not an event's name: use .all_events()"
            )
            problems.append(broken("events-all", message, "events"))
            continue
        text = _event(name)
        if isinstance(text, str):
            asked[text] = None
        else:
            problems += text
    if not given:
        problems.append(
            broken(
                "event-name",
                "name at least one event, such as .events('signup'), or use "
                ".all_events()",
                "events",
            )
        )
    return problems or ",".join(asked)


def _event(name: object) -> Verdict:
    if not isinstance(name, str):
        message = (
            f"an event is named by a str, not {shown(name)}: give each name as an "
            "argument of its own, such as .events('signup', 'purchase')"
        )
    elif not (text := str.__str__(name)):
        message = "an event's name is empty: leave it out"
    elif "," in text:
        message = (
            f"{shown(name)} has a comma, which separates names: give each name as an "
            "argument of its own"
        )
    elif "*" in text:
        message = (
            f"{shown(name)} has a '*', and events have no wildcards: give whole names, "
            "or use .all_events()"
        )
    else:
        return plain(text, "events")
    return [broken("event-name", message, "events")]


# --- filters ------------------------------------------------------------------


def filter_value(name: str, value: object) -> Verdict:
    """The value of one filter."""
    if name not in FILTERS:
        return [broken("filter-name", _no_filter(name), "where")]
    where = f"where({name}=…)"
    if name == "pages" and not isinstance(value, str):
        return _pages(value, where)
    text = _filter_text(value, where)
    if not isinstance(text, str):
        return text
    problems = _pattern(name, text, where)
    if name == "pages" and "," in text:
        problems.append(_comma(text, where))
    if name == "device_type" and not problems:
        problems = _device_type(text, where)
    return problems or text


def _no_filter(name: str) -> str:
    if name == "path":
        return (
            "'path' is not a filter: use .path('/contact') or .where(page='/contact')"
        )
    if name.startswith("metadata"):
        return f"{shown(name)} is not a filter: use .where_metadata(key=value)"
    return (
        f"{shown(name)} is not a filter{did_you_mean(name, FILTERS)}; the filters are "
        f"{', '.join(FILTERS)}"
    )


def _filter_text(value: object, where: str) -> Verdict:
    if not isinstance(value, str):
        return [
            broken("filter-text", f"the value is a str, not {shown(value)}", where),
        ]
    if not str.__str__(value):
        return [
            broken(
                "filter-empty",
                "the value is empty: give one, or None to take the filter away",
                where,
            )
        ]
    return plain(value, where)


def _pattern(name: str, text: str, where: str) -> list[Problem]:
    """The problems with the stars in one value."""
    if "*" not in text or text.find("*") == len(text) - 1:
        return []
    if not is_contains(text):
        advice = (
            "; a contains search has one at both ends" if name in _PAGE_FILTERS else ""
        )
        return [
            broken(
                "filter-star",
                f"{shown(text)} has a '*' that is not at the end, the only place for "
                f"one{advice}",
                where,
            )
        ]
    if name not in _PAGE_FILTERS:
        return [
            broken(
                "contains-filter",
                f"{shown(text)} starts and ends with '*', which only page and pages "
                "may: leave a '*' at the end alone",
                where,
            )
        ]
    inner = text[1:-1]
    problems: list[Problem] = []
    if "*" in inner:
        problems.append(
            broken(
                "contains-star",
                f"{shown(text)} has a '*' inside: leave one at each end alone",
                where,
            )
        )
    count = len(inner) - inner.count("/") - inner.count("*")
    if count < _CONTAINS_LENGTH:
        problems.append(
            broken(
                "contains-length",
                f"{shown(text)} has {count} characters other than '/' between its two "
                f"'*': give at least {_CONTAINS_LENGTH}",
                where,
            )
        )
    return problems


def is_contains(text: str) -> bool:
    """Whether *text* is meant as a contains search."""
    return len(text) > 1 and text[0] == "*" and text[-1] == "*"


def _pages(value: object, where: str) -> Verdict:
    display = shown(value)
    several = isinstance(value, Iterable)
    if not several or isinstance(value, bytes | bytearray | memoryview | Mapping):
        return [
            broken(
                "filter-text",
                f"pages is one str or several in a list, not {display}",
                where,
            )
        ]
    try:
        given = [*cast("Iterable[object]", value)]
    except Exception as error:  # noqa: BLE001 - an iterable of the user's may raise anything
        return [
            broken(
                "filter-text",
                f"the pages could not be read: {type(error).__name__}",
                where,
            )
        ]
    if not given:
        return [
            broken(
                "filter-empty",
                "there are no pages: give one, or None to take the filter away",
                where,
            )
        ]
    texts: list[str] = []
    problems: list[Problem] = []
    for item in given:
        text = _filter_text(item, where)
        if isinstance(text, str):
            texts.append(text)
            problems += _pattern("pages", text, where)
            if "," in text:
                problems.append(_comma(text, where))
        else:
            problems += text
    problems += _single_pattern(texts, where)
    return problems or ",".join(texts)


def _single_pattern(texts: Collection[str], where: str) -> list[Problem]:
    if len(texts) > 1 and any(map(is_contains, texts)):
        return [
            broken(
                "contains-one-pattern",
                f"a contains search has exactly one pattern, and there are "
                f"{len(texts)}: ask for each in a query of its own",
                where,
            )
        ]
    return []


def _comma(text: str, where: str) -> Problem:
    return broken(
        "pages-comma",
        f"{shown(text)} has a comma, which separates pages: give several in a list, "
        "and one page that has a comma with .where(page=…)",
        where,
    )


def _device_type(text: str, where: str) -> list[Problem]:
    known = (
        any(kind.startswith(text[:-1]) for kind in DEVICE_TYPES)
        if text.endswith("*")
        else text in DEVICE_TYPES
    )
    if known:
        return []
    hint = did_you_mean(text.removesuffix("*"), DEVICE_TYPES)
    return [
        broken(
            "device-type",
            f"the device type is 'mobile', 'tablet', 'desktop' or 'tv', or the "
            f"beginning of one with a '*', not {shown(text)}{hint}",
            where,
        )
    ]


# --- metadata -------------------------------------------------------------------


def metadata_key(key: object) -> Verdict:
    """The key of a metadata filter, without ``metadata.`` in front."""
    text = str.__str__(key) if isinstance(key, str) else ""
    if _METADATA_KEY.fullmatch(text):
        return text
    return [
        broken(
            "metadata-key",
            f"a metadata key has letters A to Z, digits and underscores alone, not "
            f"{shown(key)}: the service stores every other character as '_'",
            "where_metadata",
        )
    ]


def metadata_value(key: str, value: object) -> Verdict:
    """The value of a metadata filter."""
    where = f"where_metadata({key}=…)"
    text = scalar(value, where)
    if text is None and isinstance(value, datetime):
        text = _instant(value)
    if text is not None:
        return text
    return [
        broken(
            "metadata-value",
            "the value is a str, a bool, an int, a finite float or a datetime with a "
            f"time zone, not {shown(value)}",
            where,
        )
    ]


def scalar(value: object, where: str) -> Verdict | None:
    """Text, a flag or a number as it is sent; None for everything else."""
    if isinstance(value, str):
        return plain(value, where)
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        if isinstance(value, Integral):
            return int.__repr__(int(value))
        if isinstance(value, float):
            return _decimal(float(value))
    except ValueError:
        # Python does not print an int of more than 4,300 digits.
        return None
    return None


def _decimal(value: float) -> str | None:
    if value.is_integer():
        # The tracker's numbers are JavaScript's, which prints 5.0 as 5.
        return str(int(value))
    text = format(Decimal(repr(value)), "f")
    return text if text[-1].isdecimal() else None


def _instant(value: datetime) -> str | None:
    moment = utc(value)
    if moment is None:
        return None
    if moment.microsecond:
        precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    else:
        precision = "seconds"
    return f"{moment.replace(tzinfo=None).isoformat(timespec=precision)}Z"


def utc(value: datetime) -> datetime | None:
    """An aware datetime as a plain one in UTC; None when that can't be told.

    >>> from datetime import datetime, timedelta, timezone
    >>> from sitestats._rules import utc
    >>> utc(datetime(2026, 3, 1, 1, tzinfo=timezone(timedelta(hours=2)))).day
    28
    """
    try:
        if value.utcoffset() is None:
            return None
        there = value.astimezone(UTC)
        # Subclasses (pandas' Timestamp) do not go further than this.
        return datetime(
            there.year,
            there.month,
            there.day,
            there.hour,
            there.minute,
            there.second,
            there.microsecond,
            tzinfo=UTC,
        )
    except Exception:  # noqa: BLE001 - a tzinfo of the user's may raise anything
        return None


def metadata_warnings(pairs: Mapping[str, str]) -> list[Problem]:
    """What is probably not meant, though the service takes it."""
    found: list[Problem] = []
    for key, text in pairs.items():
        where = f"where_metadata({key}=…)"
        suffix = next((end for end in _METADATA_SUFFIXES if key.endswith(end)), None)
        if suffix is not None:
            found.append(
                broken(
                    "metadata-suffix",
                    f"{key!r} ends in {suffix!r} and is taken literally: the service "
                    f"finds the type by itself, so {key.removesuffix(suffix)!r} is "
                    "probably meant",
                    where,
                )
            )
        if text.endswith("*"):
            found.append(
                broken(
                    "metadata-star",
                    f"{shown(text)} ends in '*' and is taken literally: metadata "
                    "filters have no wildcards",
                    where,
                )
            )
    return found


# --- the escape hatch -------------------------------------------------------------


def extra_name(name: object) -> Verdict:
    """The name of a parameter that has no step of its own."""
    text = str.__str__(name) if isinstance(name, str) else ""
    if not text:
        return [
            broken(
                "extra-name",
                f"the parameter's name is a str that is not empty, not {shown(name)}",
                "extra_param",
            )
        ]
    if text == "callback":
        return [
            broken(
                "callback-step",
                "a callback is no part of a query: use "
                "client.stats.get_jsonp(query, callback=…)",
                "extra_param",
            )
        ]
    return plain(text, "extra_param")


def extra_value(name: str, value: object) -> Verdict:
    """The value of a parameter that has no step of its own."""
    where = f"extra_param({shown(name)}, …)"
    text = scalar(value, where)
    if text is not None:
        return text
    return [
        broken(
            "extra-value",
            f"the value is a str, a bool, an int or a finite float, not {shown(value)}",
            where,
        )
    ]


# --- rules that span steps ----------------------------------------------------------


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
