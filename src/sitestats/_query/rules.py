"""The rules of single values: what each step of a query checks.

A rule is a function: it takes what the user gave, and returns the text that is sent or
raises a ``QueryError`` that cites the rule by its name. Rules of days are in
``periods``, those that span steps in ``requested``. ``RULES`` has the names of all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from typing import (
    Any,
    Final,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    TypeAlias,
    TypedDict,
    TypeVar,
    cast,
    get_args,
)

from sitestats._common.errors import QueryError
from sitestats._common.fields import FIELDS
from sitestats._common.hostnames import HostnameError, normalise_hostname
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown

P = ParamSpec("P")
T = TypeVar("T")

_RULES_OF: Final = {
    "1": "custom-method custom-path custom-params custom-body",
    "4.2": "website-hostname website-timezone website-public website-label",
    "4.3": """
        hostname text path-slash path-root path-dots path-control
        timezone-name interval-name info-flag field-name fields-or-events
        event-name events-all
        period-day period-date period-naive period-zone period-order period-days
        period-unit period-words
        filter-name filter-text filter-empty filter-star pages-comma device-type
        path-or-page page-slash country-code referrer-normalized
        contains-filter contains-one-pattern contains-star contains-fields
        contains-events
        metadata-key metadata-value metadata-suffix metadata-star
        extra-name extra-value callback-step callback-name
        address address-once address-parameter address-page
        """,
    "5": "contains-key",
    "8": "limit-range contains-length address-length",
    "9": "version-range interval-version metadata-version",
}
RULES: Final = {
    rule: section for section, rules in _RULES_OF.items() for rule in rules.split()
}
"""The section of the service's document that states a rule, by the rule's name."""

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


class HasHostname(Protocol):
    """What has the host name of a website, as a ``Website`` has."""

    @property
    def hostname(self) -> str:
        """The host name."""
        ...


MetadataValue: TypeAlias = str | bool | int | float | datetime
"""A value of a metadata filter; a datetime needs a time zone (section 4.3)."""

FILTERS: Final = tuple(Filters.__annotations__)
PAGE_FILTERS: Final = frozenset(("page", "pages"))
METADATA: Final = "metadata."
"""What the parameter of a metadata filter starts with."""
DEVICE_TYPES: Final = ("mobile", "tablet", "desktop", "tv")
LATEST_VERSION: Final = 6
LATEST_SHAPE: Final = 5
"""From this version on, responses have the shape that the document shows."""
HIGHEST_LIMIT: Final = 1000
DEFAULT_LIMIT: Final = 50
_CONTAINS_LENGTH: Final = 12
_COUNTRY: Final = "[A-Za-z0-9]{2}|[A-Za-z0-9]{0,2}[*]"
_NO_PATHS: Final = (
    ("path-control", r"[\x00-\x1f\x7f-\x9f]", "a control character"),
    ("path-dots", r"/\.\.?(/|\Z)", "'.' or '..' between its slashes"),
)
_CHECKED: Final = ("pages", "device_type")
"""Filters whose values have a rule beside that of stars."""
_OTHER_STEPS: Final = {
    "path": ".path('/contact') or .where(page='/contact')",
    "metadata": ".where_metadata(key='value')",
}


def broken(rule: str, message: str, where: str) -> Problem:
    """A problem that cites *rule*."""
    return Problem(message, rule, RULES[rule], where)


def refusal(rule: str, message: str, where: str) -> QueryError:
    """The error for one broken *rule*."""
    return QueryError([broken(rule, message, where)])


class Problems(list[Problem]):
    """Collects the problems of several values, to raise all of them at once."""

    def check(
        self, rule: Callable[P, T], /, *values: P.args, **named: P.kwargs
    ) -> T | None:
        """What *rule* returns, or None where it refuses the values."""
        try:
            return rule(*values, **named)
        except QueryError as error:
            self += error.problems
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Raise what the block has collected, if anything."""
        if self and kind is None:
            raise QueryError(self)


def text(value: object, where: str, rule: str = "text") -> str:
    """*value* as a plain str that can be sent."""
    if not isinstance(value, str):
        raise refusal(rule, f"the value is a str, not {shown(value)}", where)
    try:
        value.encode()
    except UnicodeEncodeError:
        message = f"{shown(value)} has half of a surrogate pair, which can't be sent"
        raise refusal("text", message, where) from None
    return str.__str__(value)


def scalar(value: object, where: str, rule: str = "extra-value") -> str:
    """Text, a flag or a number as it is sent."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return text(value, where)
    # numpy's whole numbers are Integral and no int.
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real) and isfinite(number := float(value)):
        # The tracker is written in JavaScript, which formats 5.0 as 5.
        is_whole = number.is_integer()
        return str(int(number)) if is_whole else f"{Decimal(repr(number)):f}"
    message = f"the value is a str, a bool or a finite number, not {shown(value)}"
    raise refusal(rule, message, where)


def hostname(value: object, where: str = "hostname", rule: str = "hostname") -> str:
    """The host name of a website, given by its name or as an object that has one."""
    try:
        return normalise_hostname(getattr(value, "hostname", value))
    except HostnameError as error:
        raise refusal(rule, str(error), where) from None


def whole_number(value: object, most: int, rule: str, what: str, where: str) -> str:
    """A whole number from 1 to *most*."""
    number = int(value) if isinstance(value, Integral) else 0
    if 1 <= number <= most and not isinstance(value, bool):
        return str(number)
    message = f"{what} is a whole number from 1 to {most}, not {shown(value)}"
    raise refusal(rule, message, where)


def version(value: object) -> str:
    """The version of the Stats API."""
    most = LATEST_VERSION
    return whole_number(value, most, "version-range", "the version", "version")


def limit(value: object) -> str:
    """How many entries each list may have."""
    return whole_number(value, HIGHEST_LIMIT, "limit-range", "the limit", "limit")


def one_of(
    value: object, known: Iterable[str], rule: str, what: str, where: str
) -> str:
    """One of the *known* names."""
    names = tuple(known)
    if isinstance(value, str) and value in names:
        return names[names.index(value)]
    hint = did_you_mean(value, names) if isinstance(value, str) else ""
    message = f"{shown(value)} is not {what}{hint}; use one of {', '.join(names)}"
    raise refusal(rule, message, where)


def interval(value: object) -> str:
    """The width of the histogram's buckets."""
    return one_of(value, INTERVALS, "interval-name", "an interval", "interval")


def info(value: object) -> str:
    """Whether the response explains its fields."""
    if isinstance(value, bool):
        return "true" if value else "false"
    raise refusal("info-flag", f"info is true or false, not {shown(value)}", "info")


def fields(names: Collection[object]) -> str:
    """The fields, each once and in the document's order."""
    with Problems() as problems:
        for name in names or [""]:
            if name not in FIELDS:
                problems.check(one_of, name, FIELDS, "field-name", "a field", "fields")
    return ",".join(name for name in FIELDS if name in names)


def events(names: Collection[object]) -> str:
    """The names of events, in the order that was given and each once."""
    with Problems() as problems:
        found = [problems.check(_event, name) for name in names or [""]]
    return ",".join(dict.fromkeys(filter(None, found)))


def _event(name: object) -> str:
    if not isinstance(name, str) or not name or {",", "*"} & {*name}:
        rule = "events-all" if name == "*" else "event-name"
        advice = "give each name by itself, or use .all_events() alone"
        raise refusal(rule, f"{shown(name)} is not an event's name: {advice}", "events")
    return text(name, "events")


def path(value: object) -> str:
    """The path of a page, decoded."""
    if not isinstance(value, str) or not value.startswith("/"):
        message = f"a page's path is text that starts with '/', not {shown(value)}"
        raise refusal("path-slash", message, "path")
    if value == "/":
        message = "the root page has no address of its own: use .where(page='/')"
        raise refusal("path-root", message, "path")
    with Problems() as problems:
        for rule, pattern, what in _NO_PATHS:
            if re.search(pattern, value):
                problems.append(broken(rule, f"{shown(value)} has {what}", "path"))
        problems.check(text, value, "path")
    return str.__str__(value)


def extra_name(name: object) -> str:
    """The name of a parameter that has no step of its own."""
    if not isinstance(name, str) or not name:
        message = f"the parameter's name is text that is not empty, not {shown(name)}"
        raise refusal("extra-name", message, "extra_param")
    if name == "callback":
        message = "a callback is no part of a query: leave it out (get_jsonp takes one)"
        raise refusal("callback-step", message, "extra_param")
    return text(name, "extra_param")


# --- filters ------------------------------------------------------------------------


def is_contains(value: str) -> bool:
    """Whether *value* is a contains search: it starts and ends with ``*``."""
    return len(value) > 1 and value[0] == "*" == value[-1]


def filter_value(name: str, value: object) -> str:
    """The value of one filter."""
    if name not in FILTERS:
        if advice := _OTHER_STEPS.get(name.partition(".")[0]):
            message = f"{shown(name)} is not a filter: use {advice}"
            raise refusal("filter-name", message, "where")
        one_of(name, FILTERS, "filter-name", "a filter", "where")
    where = f"where({name}=…)"
    if name != "pages" or isinstance(value, str):
        return _filter_text(name, value, where)
    if not isinstance(value, Iterable) or isinstance(value, (bytes, Mapping)):
        message = f"pages is a str or a list, not {shown(cast('Any', value))}"
        raise refusal("filter-text", message, where)
    pages = list(cast("Iterable[object]", value))
    with Problems() as problems:
        texts = [problems.check(_filter_text, name, p, where) for p in pages or [""]]
        if len(pages) > 1 and any(isinstance(p, str) and is_contains(p) for p in pages):
            problems.append(one_pattern(len(pages), where))
    return ",".join(filter(None, texts))


def _filter_text(name: str, value: object, where: str) -> str:
    given = text(value, where, "filter-text")
    if not given:
        message = "the value is empty: give one, or leave the filter out"
        raise refusal("filter-empty", message, where)
    if name not in _CHECKED and "*" not in given:
        return given
    with Problems() as problems:
        if name == "pages" and "," in given:
            message = f"{shown(given)} has a comma: give each by itself, or use page"
            problems.append(broken("pages-comma", message, where))
        if "*" in given[:-1]:
            stars = _stars(name, given)
            problems.extend(broken(rule, message, where) for rule, message in stars)
        elif name == "device_type":
            start = given.removesuffix("*")
            if given == start or not any(k.startswith(start) for k in DEVICE_TYPES):
                known = DEVICE_TYPES
                problems.check(
                    one_of, given, known, "device-type", "a device type", where
                )
    return given


def one_pattern(count: int, where: str) -> Problem:
    """The problem of a contains search beside other pages."""
    message = f"a contains search has exactly one pattern, and there are {count}"
    return broken("contains-one-pattern", message, where)


def _stars(name: str, given: str) -> Iterator[tuple[str, str]]:
    value, inner = shown(given), given[1:-1]
    literally = f"; .extra_param({name!r}, …) sends a value that has one as it is"
    if not is_contains(given):
        yield "filter-star", f"{value} has a '*' that is not at its end{literally}"
        return
    if name not in PAGE_FILTERS:
        message = f"{value}: only page and pages take a contains search{literally}"
        yield "contains-filter", message
        return
    if "*" in inner:
        yield "contains-star", f"{value} has a '*' inside: leave one at each end alone"
    if (count := len(re.sub(r"[/*]", "", inner))) < _CONTAINS_LENGTH:
        least = f"and {_CONTAINS_LENGTH} is the least"
        yield "contains-length", f"{value} has {count} characters besides '/', {least}"


def metadata(key: object, value: object) -> tuple[str, str | None]:
    """The parameter of a metadata filter, and its text; None is one to remove."""
    if not isinstance(key, str) or not re.fullmatch("[a-zA-Z0-9_]+", key):
        message = f"a metadata key has letters A to Z, digits and '_', not {shown(key)}"
        raise refusal("metadata-key", message, "where_metadata")
    name, where = METADATA + key, f"where_metadata({key}=…)"
    if value is None:
        return name, None
    if isinstance(value, datetime) and value.tzinfo is not None:
        moment = value.astimezone(UTC).replace(tzinfo=None)
        is_exact = moment.microsecond % 1000 or not moment.microsecond
        precision = "auto" if is_exact else "milliseconds"
        return name, moment.isoformat(timespec=precision) + "Z"
    return name, scalar(value, where, "metadata-value")


def unlikely(name: str, value: str) -> Iterator[Problem]:
    """What is probably a mistake in a filter that the service takes."""
    key = name.removeprefix(METADATA)
    where = f"where({name}=…)" if key == name else f"where_metadata({key}=…)"
    given = shown(value)
    if name in PAGE_FILTERS:
        for page in value.split(",") if name == "pages" else [value]:
            if not page.startswith(("/", "*")):
                message = f"{shown(page)} matches no page: every path starts with '/'"
                yield broken("page-slash", message, where)
    elif name == "country" and not re.fullmatch(_COUNTRY, value):
        message = f"{given} is not a country code: these have two letters, as 'NL'"
        yield broken("country-code", message, where)
    elif name == "referrer" and re.match("https?:|//|www[.]", value, re.IGNORECASE):
        message = f"{given} looks like an address: referrers are names, as 'google'"
        yield broken("referrer-normalized", message, where)
    elif key != name:
        if re.search("_(text|int|bool|date)$", key):
            message = f"{key!r} is taken literally: leave the type at its end out"
            yield broken("metadata-suffix", message, where)
        if value.endswith("*"):
            message = f"{given} is taken literally: metadata filters have no wildcards"
            yield broken("metadata-star", message, where)


# --- parameters by their names ------------------------------------------------------


def metadata_items(mapping: object) -> Iterable[tuple[object, object]]:
    """The pairs of a mapping that may be None."""
    if not isinstance(mapping, Mapping | None):
        message = f"give a mapping of keys to values, not {shown(mapping)}"
        raise refusal("metadata-value", message, "where_metadata")
    return cast("Mapping[object, object]", mapping or {}).items()
