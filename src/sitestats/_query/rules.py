"""The rules of single values: what each step of a query checks.

A rule is a function: it takes what the user gave, and returns the text that is sent or
raises an ``InvalidInputError`` that cites the rule by its name. Rules of days are in
``periods``, rules of filters in ``parameters``, and rules that span steps in
``requested``. ``RULES`` has the names of all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from typing import (
    Final,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    get_args,
)

from sitestats._base.errors import InvalidInputError, Problem
from sitestats._base.fields import FIELDS
from sitestats._base.hostnames import normalise_hostname
from sitestats._base.text import did_you_mean, shown
from sitestats._words import field_advice, value_meant

from .versions import LATEST_VERSION

P = ParamSpec("P")
T = TypeVar("T")

_RULES_OF: Final = {
    "1": "custom-method custom-path custom-params custom-body",
    "4.2": "website-hostname website-timezone website-public website-label",
    "4.3": """
        hostname text path-slash path-root path-segment path-star
        timezone-name interval-name info-flag field-name fields-or-events
        event-name
        period-day period-date period-naive period-zone period-order period-days
        period-unit period-words
        filter-name filter-text filter-empty filter-star pages-comma device-type
        path-or-page page-slash page-path page-pattern country-code
        referrer-normalized
        contains-filter contains-one-pattern contains-star contains-fields
        contains-events
        metadata-key metadata-value metadata-suffix metadata-star
        extra-name extra-value callback-step callback-name
        address address-parameter
        """,
    "5": "contains-key",
    "8": "limit-range contains-length",
    "9": "version-range interval-version metadata-version",
}
RULES: Final = {
    rule: section for section, rules in _RULES_OF.items() for rule in rules.split()
}
"""The section of the service's document that states a rule, by the rule's name."""

Interval: TypeAlias = Literal["hour", "day", "week", "month", "year"]
"""The width of the histogram's buckets (section 4.3)."""
INTERVALS: Final[tuple[Interval, ...]] = get_args(Interval)


class HasHostname(Protocol):
    """What has the host name of a website, as a ``Website`` has."""

    @property
    def hostname(self) -> str:
        """The host name."""
        ...


MetadataValue: TypeAlias = str | bool | int | float | datetime
"""A value of a metadata filter; a datetime needs a time zone (section 4.3)."""

METADATA: Final = "metadata."
"""The beginning of a metadata filter's parameter."""
DEFAULT_LIMIT: Final = 50
_KEY: Final = re.compile("[a-zA-Z0-9_]+")
_EACH: Final = "query.each(metadata={{{!r}: […]}})"


def broken(rule: str, message: str, where: str) -> Problem:
    """A problem that cites *rule*."""
    return Problem(message, rule, RULES[rule], where)


def refusal(rule: str, message: str, where: str) -> InvalidInputError:
    """The error for one broken *rule*."""
    return InvalidInputError([broken(rule, message, where)])


class Problems(list[Problem]):
    """Collects the problems of several values, to raise all of them at once."""

    def check(
        self, rule: Callable[P, T], /, *values: P.args, **options: P.kwargs
    ) -> T | None:
        """What *rule* returns, or None where it refuses the values."""
        try:
            return rule(*values, **options)
        except InvalidInputError as error:
            self += error.problems
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Raise what the block has collected, if anything."""
        if self and kind is None:
            raise InvalidInputError(self)


def are_several(value: object) -> bool:
    """Whether *value* is a list or similar, and not a text."""
    return isinstance(value, Iterable) and not isinstance(value, str)


def text(value: object, where: str, rule: str = "text") -> str:
    """*value* as a plain str that can be sent."""
    if not isinstance(value, str):
        raise refusal(rule, f"give a str, not {shown(value)}", where)
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
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real) and isfinite(value):
        # The tracker is written in JavaScript, which formats 5.0 as 5.
        return f"{Decimal(repr(float(value) + 0.0)).normalize():f}"
    message = f"give a str, a bool or a finite number, not {shown(value)}"
    raise refusal(rule, message, where)


def hostname(value: object, where: str = "hostname", rule: str = "hostname") -> str:
    """The host name of a website, given by its name or as an object that has one."""
    # A row of a frame is a tuple, and has a host name.
    name = getattr(value, "hostname", value)
    is_dict = isinstance(value, Mapping)
    if rule == "hostname" and are_several(name) and not is_dict:
        message = "give one website: .each(websites=…) of a query takes several"
        raise refusal(rule, message, where)
    try:
        return normalise_hostname(name)
    except ValueError as error:
        raise refusal(rule, str(error), where) from None


def whole_number(value: object, most: int, rule: str, where: str) -> str:
    """A whole number from 1 to *most*."""
    number = int(value) if isinstance(value, Integral) else 0
    if 1 <= number <= most and not isinstance(value, bool):
        return str(number)
    message = f"give a whole number from 1 to {most}, not {shown(value)}"
    raise refusal(rule, message, where)


def version(value: object) -> str:
    """The version of the Stats API."""
    return whole_number(value, LATEST_VERSION, "version-range", "version")


def limit(value: object) -> str:
    """How many entries each list may have."""
    return whole_number(value, 1000, "limit-range", "limit")


def one_of(
    value: object, known: tuple[str, ...], rule: str, what: str, where: str
) -> str:
    """One of the *known* names."""
    if isinstance(value, str) and value in known:
        return known[known.index(value)]
    hint = ""
    if isinstance(value, str):
        meant = value_meant(rule, value)
        hint = did_you_mean(meant or value, known)
        if " " in meant:
            hint = f" ({meant})"
    message = f"{shown(value)} is not {what}{hint}; use one of {', '.join(known)}"
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
    known = [name for name in FIELDS if name in names]
    if len(known) < len(names) or not names:
        with Problems() as problems:
            for name in names or [""]:
                problems.check(_field, name)
    return ",".join(known)


def _field(name: object) -> str:
    what = "a field"
    if are_several(name):
        what = "a field: .fields(*names) takes a list"
    elif name not in FIELDS and (use := field_advice(name)):
        known = ", ".join(FIELDS)
        message = f"{shown(name)} is not a field: {use} (known are {known})"
        raise refusal("field-name", message, "fields")
    return one_of(name, FIELDS, "field-name", what, "fields")


def events(names: Collection[object]) -> str:
    """The names of events, in the order that was given and each once."""
    with Problems() as problems:
        texts = [problems.check(_event, name) for name in names or [""]]
    return ",".join(dict.fromkeys(filter(None, texts)))


def _event(name: object) -> str:
    if not isinstance(name, str) or not name or "," in name or "*" in name:
        message = (
            f"{shown(name)} is not an event's name: give each name by itself, or use "
            ".all_events() alone"
        )
        raise refusal("event-name", message, "events")
    return text(name, "events")


def path(value: object) -> str:
    """The path of a page, decoded."""
    if not isinstance(value, str) or not value.startswith("/"):
        message = f"a page's path is text that starts with '/', not {shown(value)}"
        raise refusal("path-slash", message, "path")
    if value == "/":
        message = "the root page has no address of its own: use .where(page='/')"
        raise refusal("path-root", message, "path")
    if re.search(r"/\.\.?(/|\Z)|[\x00-\x1f\x7f-\x9f]", value):
        message = f"{shown(value)} has a control character, or '.' or '..' as a segment"
        raise refusal("path-segment", message, "path")
    if "*" in value:
        message = f"a '*' is not a wildcard in a path: use .where(page={shown(value)})"
        raise refusal("path-star", message, "path")
    return text(value, "path")


def extra_name(name: object) -> str:
    """The name of a parameter that has no step of its own."""
    if not isinstance(name, str) or not name:
        message = f"the parameter's name is text that is not empty, not {shown(name)}"
        raise refusal("extra-name", message, "extra_param")
    if name == "callback":
        message = "a query has no callback: leave it out (get_jsonp takes one)"
        raise refusal("callback-step", message, "extra_param")
    return text(name, "extra_param")


# --- filters ------------------------------------------------------------------------


def is_contains(value: str) -> bool:
    """Whether *value* is a contains search: it starts and ends with ``*``."""
    return len(value) > 1 and value[0] == "*" == value[-1]


def metadata(key: object, value: object) -> tuple[str, str | None]:
    """The parameter of a metadata filter, and its text; None is one to remove."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        message = f"a metadata key has letters A to Z, digits and '_', not {shown(key)}"
        raise refusal("metadata-key", message, "where_metadata")
    where = f"where_metadata({key}=…)"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            message = "a datetime needs a time zone, such as tzinfo=datetime.UTC"
            raise refusal("metadata-value", message, where)
        value = f"{value.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"
    if are_several(value):
        message = f"give one value: make a query of each, by {_EACH.format(key)}"
        raise refusal("metadata-value", message, where)
    sent = None if value is None else scalar(value, where, "metadata-value")
    return METADATA + key, sent
