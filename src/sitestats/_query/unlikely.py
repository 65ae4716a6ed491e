"""Values of filters that the service takes, and that are probably mistakes.

What can't be right by its form is told when a query is made. All else is judged when a
response counted nothing: a query whose numbers are right causes no warning, since a
program may have made errors of warnings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast
from urllib.parse import unquote

from sitestats._base.countries import likely_country
from sitestats._base.text import shown
from sitestats._words import value_meant

from .parameters import PARAMETERS, can_filter

if TYPE_CHECKING:
    from .requested import Parameters

Guess: TypeAlias = Callable[[str], str | None]
"""What a value probably means; None where nothing speaks against it."""


def _known(name: str, text: str) -> str | None:
    # Versions have fields of their own, which no filter has.
    meant = value_meant(name, re.sub(r"[ /][0-9.]+\Z", "", text))
    return None if meant in {"", text} else meant


def _referrer(text: str) -> str | None:
    # Some networks and search engines have one name for all of their hosts.
    names = filter(
        None, (value_meant("referrer", part) for part in re.split("[./]", text))
    )
    meant = next(names, text)
    return None if meant == text else meant


def _page(text: str) -> str | None:
    decoded = unquote(text)
    return (
        None if decoded == text or "\N{REPLACEMENT CHARACTER}" in decoded else decoded
    )


_GUESSES: Final[Mapping[str, Guess]] = {
    "page": _page,
    "pages": _page,
    "country": likely_country,
    "referrer": _referrer,
    "browser_name": partial(_known, "browser_name"),
    "os_name": partial(_known, "os_name"),
}
"""What the value of a filter probably means, by the filter."""
_OPERATOR: Final = re.compile(r"[!=~^<>]|.*(\||\.\*|\$\Z)", re.DOTALL)
"""What other tools compute, and a filter takes literally."""
_NO_VALUE: Final = re.compile(
    r"\(.*\)|none|null|nan|n/a|not set|unknown|undefined"
    r"|direct( ?/ ?none| entry| traffic| visits?)?",
    re.IGNORECASE,
)
"""What other tools call traffic without a value."""


def unlikely_values(parameters: Parameters) -> Iterator[str]:
    """The warnings about a response to *parameters* that counted nothing."""
    for name, value in parameters.params.items():
        row = PARAMETERS.get(name)
        if row is None or not can_filter(name):
            continue
        for text in value.split(",") if row.takes_several else [value]:
            if advice := _advice(name, text):
                yield f"no traffic with {name}={shown(text)}: {advice}"
        if not row.takes_several and not row.is_of_pages and "," in value:
            yield (
                f"no traffic with {name}={shown(value)}: a filter has one value, so "
                f"make a query of each, by query.each({name}=[…])"
            )


def _advice(name: str, text: str) -> str:
    guess = _GUESSES.get(name)
    begun = text.removesuffix("*")
    meant = guess(begun) if guess else None
    if begun != begun.strip():
        meant = begun.strip()
    if begun.endswith("%"):
        # SQL's wildcard.
        meant = f"{begun.removesuffix('%')}*"
    if meant is not None:
        return f"did you mean {shown(meant + text[len(begun) :])}?"
    # Forms of paths are told before they are sent.
    if not PARAMETERS[name].is_of_pages and _OPERATOR.match(text):
        return (
            "it is taken literally; a '*' at the end matches all that begins so, and "
            "no filter leaves anything out"
        )
    if name != "page" and _NO_VALUE.fullmatch(text):
        return (
            "no filter names traffic without a value; the entry of the list whose "
            "value is None counts it"
        )
    return ""


def counted_nothing(values: Mapping[str, Any]) -> bool:
    """Whether all *values* of a response are zero, empty or unknown."""
    return not any(
        any(map(_counts, cast("Any", value))) if isinstance(value, Iterable) else value
        for value in values.values()
    )


def _counts(entry: Any) -> bool:
    """Whether an entry of a list counts something; one of a histogram may be of 0."""
    return any(getattr(entry, name, 0) for name in ("pageviews", "visitors", "total"))
