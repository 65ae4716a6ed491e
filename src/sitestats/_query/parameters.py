"""The parameters of the Stats API (sections 4.3, 8, 9): a table with a row for each.

In which order they are sent, which step sets them and how a text of them is checked,
from which version on they exist, whether they filter, and what is probably a mistake
follows from the row of a parameter. Type checkers can't read a table: ``Filters`` is
written beside it, and a test names what is missing there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, TypedDict, cast

import attrs

from sitestats._base.errors import warn
from sitestats._base.text import did_you_mean, shown
from sitestats._words import filter_advice

from . import periods, rules
from .rules import METADATA
from .versions import SENT_VERSION

# --- the names, for type checkers ---------------------------------------------------


class Filters(TypedDict, total=False):
    """The filters of the Stats API (section 4.3); None removes a filter.

    A ``*`` at the end of a value matches everything that starts with the rest. ``page``
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


# --- the table ----------------------------------------------------------------------


@attrs.frozen
class LikelyMistake:
    """A value that the service takes, but that is probably a mistake."""

    rule: str
    pattern: str
    """What such a value begins with; for a metadata filter, its key and value."""
    message: str


@attrs.frozen
class Parameter:
    """What is known of one parameter."""

    name: str
    """Its name as it is sent; of metadata filters, the beginning of their names."""
    step: str
    """The step of a query that sets it."""
    rule: Callable[[Any], str] | None = attrs.field(default=None, kw_only=True)
    """Checks the argument of the step, and makes the text that is sent; None for a
    filter, whose values have rules of their own."""
    read: Callable[[str], Any] = attrs.field(default=str, kw_only=True)
    """Makes the argument of the step again, of a text."""
    always: str | None = attrs.field(default=None, kw_only=True)
    """What is sent if no step sets it; None sends nothing."""
    is_of_pages: bool = attrs.field(default=False, kw_only=True)
    """Whether it is a filter of pages, which a contains search needs."""
    takes_several: bool = attrs.field(default=False, kw_only=True)
    """Whether a filter takes several values, with commas between them."""
    values: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    """The values of a filter that has no others."""
    likely_mistakes: tuple[LikelyMistake, ...] = attrs.field(default=(), kw_only=True)

    @property
    def is_filter(self) -> bool:
        """Whether it leaves traffic out."""
        return self.step in {"where", "where_metadata"}


def number_in(text: str | None) -> int | None:
    """The number that *text* is; None for other texts, which ``extra_param`` allows."""
    return int(text) if text and re.fullmatch("[0-9]{1,9}", text) else None


def _number(text: str) -> int | str:
    return number_in(text) or text


def _flag(text: str) -> bool | str:
    return {"true": True, "false": False}.get(text, text)


def _names(text: str) -> tuple[str, ...]:
    """The arguments of a step that takes several names."""
    return tuple(text.split(","))


def _one_or_more(text: str) -> str | list[str]:
    """The value of a filter that takes one or several."""
    return text.split(",") if "," in text else text


def _events(names: tuple[str, ...]) -> str:
    """All events have a step of their own."""
    return "*" if names == ("*",) else rules.events(names)


_filter = partial(Parameter, step="where")
_OF_PATHS: Final = (
    LikelyMistake(
        "page-slash", "[^/*^]", "no page matches: every path starts with '/'"
    ),
    LikelyMistake(
        "page-path",
        ".*[?#]",
        "no page matches: a path ends before '?' and '#'; use .where(utm_source=…) and "
        "others for a query",
    ),
    LikelyMistake(
        "page-pattern",
        r"\^|.*(\.[*+]|\\|\(.*\|.*\)|\[.+-.+\]|\$\Z)",
        "the value looks like a regular expression, and is taken literally: a '*' at "
        "the end matches every path that begins so",
    ),
)
"""What can't be a path."""

PARAMETERS: Final[Mapping[str, Parameter]] = {
    row.name: row
    for row in (
        Parameter(
            "version",
            "version",
            rule=rules.version,
            read=_number,
            always=str(SENT_VERSION),
        ),
        Parameter("start", "between", rule=partial(periods.day, where="start")),
        Parameter("end", "between", rule=partial(periods.day, where="end")),
        Parameter("limit", "limit", rule=rules.limit, read=_number),
        Parameter("timezone", "timezone", rule=periods.timezone),
        Parameter("info", "info", rule=rules.info, read=_flag, always="false"),
        Parameter("events", "events", rule=_events, read=_names),
        Parameter("interval", "interval", rule=rules.interval),
        Parameter("fields", "fields", rule=rules.fields, read=_names),
        _filter("page", is_of_pages=True, likely_mistakes=_OF_PATHS),
        _filter(
            "pages",
            is_of_pages=True,
            takes_several=True,
            read=_one_or_more,
            likely_mistakes=_OF_PATHS,
        ),
        _filter(
            "country",
            likely_mistakes=(
                LikelyMistake(
                    "country-code",
                    r"(?!([A-Za-z0-9]{2}|[A-Za-z0-9]{0,2}\*)\Z)",
                    "the value is not a country code: these have two letters, such as "
                    "'NL'",
                ),
            ),
        ),
        _filter(
            "referrer",
            likely_mistakes=(
                LikelyMistake(
                    "referrer-normalized",
                    r"(?i:[a-z-]+://|//|www\.)",
                    "the value looks like an address: referrers are names, such as "
                    "'google'",
                ),
            ),
        ),
        _filter("utm_source"),
        _filter("utm_medium"),
        _filter("utm_campaign"),
        _filter("utm_content"),
        _filter("utm_term"),
        _filter("browser_name"),
        _filter("os_name"),
        _filter("device_type", values=("mobile", "tablet", "desktop", "tv")),
        Parameter(
            METADATA,
            "where_metadata",
            likely_mistakes=(
                LikelyMistake(
                    "metadata-suffix",
                    r"\w+_(text|int|bool|date)=",
                    "the key is taken literally: leave the type at its end out",
                ),
                LikelyMistake(
                    "metadata-star",
                    r".*\*\Z",
                    "the '*' is taken literally: metadata filters have no wildcards",
                ),
            ),
        ),
    )
}
"""The row of each parameter by its name, in the order in which they are sent."""


# --- what follows from it -----------------------------------------------------------

FILTERS: Final = tuple(
    row.name for row in PARAMETERS.values() if row.is_filter and row.name != METADATA
)
"""The filters that have a name of their own."""
PAGE_FILTERS: Final = frozenset(
    row.name for row in PARAMETERS.values() if row.is_of_pages
)
ALWAYS_SENT: Final[Mapping[str, str]] = {
    row.name: row.always for row in PARAMETERS.values() if row.always is not None
}
"""What is sent if no step sets it."""


def parameter_of(name: str) -> Parameter | None:
    """The row of a parameter; None if the document does not have it."""
    return PARAMETERS.get(METADATA if name.startswith(METADATA) else name)


def is_documented(name: str) -> bool:
    """Whether the document has a parameter of this name, other than the callback."""
    return parameter_of(name) is not None


def can_filter(name: str) -> bool:
    """Whether a parameter leaves traffic out, as one may that is not documented."""
    row = parameter_of(name)
    return row is None or row.is_filter


def in_order(names: Iterable[str]) -> list[str]:
    """The *names* of parameters in the order in which they are sent.

    It is the order of the table; metadata come after the other filters by their keys,
    and last what is not documented.
    """
    given = {*names}
    known = [name for name in PARAMETERS if name in given]
    if len(known) < len(given):
        more = sorted(given.difference(known))
        known += sorted(more, key=is_documented, reverse=True)
    return known


def checked_param(name: str, text: str) -> str | None:
    """The *text* of a parameter, checked as its own step does."""
    text, row = rules.text(text, name), parameter_of(name)
    if row is None:
        rules.extra_name(name)
        return text
    if row.name == METADATA:
        rules.metadata(name.removeprefix(METADATA), text)
        return text
    argument = row.read(text)
    return row.rule(argument) if row.rule else checked_filter(name, argument)


def checked_params(
    pairs: Iterable[tuple[str, str]], problems: rules.Problems
) -> dict[str, str]:
    """The texts of parameters, each checked; the *problems* get what is wrong."""
    params = dict[str, str]()
    for name, text in pairs:
        if (checked := problems.check(checked_param, name, text)) is not None:
            params[name] = checked
    problems += periods.order_problems(params.get("start"), params.get("end"))
    return params


# --- the rules of filters ----------------------------------------------------------

_CONTAINS_LENGTH: Final = 12


def _of_filter(name: object) -> str:
    """What to type for a filter that does not exist."""
    advice = filter_advice(name)
    # The names of metadata are the user's own.
    is_key = isinstance(name, str) and re.fullmatch("[a-zA-Z0-9_]+", name)
    if is_key and not advice and not did_you_mean(str(name), FILTERS):
        return f"if it is metadata of yours, use .where_metadata({name}=…)"
    return advice


def checked_filter(name: str, value: object, where: str = "") -> str | None:
    """The value of one filter as it is sent; None takes the filter away."""
    if name not in FILTERS and (advice := _of_filter(name)):
        known = ", ".join(FILTERS)
        message = f"{shown(name)} is not a filter: {advice} (known are {known})"
        raise rules.refusal("filter-name", message, "where")
    rules.one_of(name, FILTERS, "filter-name", "a filter", "where")
    if value is None:
        return None
    parameter = PARAMETERS[name]
    where = where or f"where({name}=…)"
    if not rules.are_several(value):
        return _filter_text(parameter, value, where)
    if not parameter.takes_several:
        each = f"make a query of each, by query.each({name}=[…])"
        use = "pages takes several" if parameter.is_of_pages else each
        raise rules.refusal("filter-text", f"give one value: {use}", where)
    values = [*cast("Iterable[object]", value)] or [""]
    with rules.Problems() as problems:
        texts = [
            problems.check(_filter_text, parameter, item, where) for item in values
        ]
    return ",".join(filter(None, texts))


def _filter_text(parameter: Parameter, value: object, where: str) -> str:
    given = rules.text(value, where, "filter-text")
    if not given:
        message = "the value is empty: give one, or leave the filter out"
        raise rules.refusal("filter-empty", message, where)
    if parameter.takes_several and "," in given:
        message = f"{shown(given)} has a comma: give each by itself, or use page"
        raise rules.refusal("pages-comma", message, where)
    if "*" in given[:-1]:
        _check_stars(parameter, given, where)
    elif parameter.values and not _begins_one(given, parameter.values):
        rule = parameter.name.replace("_", "-")
        what = f"a {parameter.name.replace('_', ' ')}"
        rules.one_of(given, parameter.values, rule, what, where)
    return given


def _begins_one(given: str, values: tuple[str, ...]) -> bool:
    """Whether *given* is the beginning of one of *values* and a ``*``."""
    beginning = given.removesuffix("*")
    return beginning != given and any(value.startswith(beginning) for value in values)


def _check_stars(parameter: Parameter, given: str, where: str) -> None:
    count = len(given[1:-1].replace("/", ""))
    literally = f"; .extra_param({parameter.name!r}, …) sends it as it is"
    if not rules.is_contains(given):
        rule, wrong = "filter-star", f"has a '*' that is not at its end{literally}"
    elif not parameter.is_of_pages:
        rule, wrong = "contains-filter", f"is for page and pages alone{literally}"
    elif "*" in given[1:-1]:
        rule, wrong = "contains-star", "has a '*' inside: leave one at each end alone"
    elif count < _CONTAINS_LENGTH:
        wrong = f"has {count} characters besides '/': {_CONTAINS_LENGTH} is the least"
        rule = "contains-length"
    else:
        return
    raise rules.refusal(rule, f"{shown(given)} {wrong}", where)


def warn_of_mistakes(name: str, value: str, where: str = "") -> None:
    """Warn of what is probably a mistake in a filter that the service takes."""
    row = parameter_of(name)
    if row is None:
        return
    given, place = value, f"where({name}=…)"
    if row.name == METADATA:
        key = name.removeprefix(METADATA)
        given, place = f"{key}={value}", f"where_metadata({key}=…)"
    texts = given.split(",") if row.takes_several else [given]
    for one in row.likely_mistakes:
        # A page is one by its address, so only what ends a path is a mistake there.
        is_of_place = where != "path" or one.rule == "page-path"
        if is_of_place and any(
            re.match(one.pattern, text, re.DOTALL) for text in texts
        ):
            warn(str(rules.broken(one.rule, one.message, where or place)))
