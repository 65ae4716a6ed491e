"""Check filters and metadata filters, and format their values.

Every function takes whatever the user gave and returns the text that is sent,
or every problem of that value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Final, TypeAlias, cast

from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown

from .periods import utc
from .rules import DEVICE_TYPES, FILTERS, TextOrProblems, broken, refused, sendable_text
from .values import scalar

MetadataValue: TypeAlias = str | bool | int | float | datetime
"""A value of a metadata filter; a datetime needs a time zone (section 4.3)."""


METADATA: Final = "metadata."
"""What the parameter of a metadata filter starts with."""

PAGE_FILTERS: Final = frozenset(("page", "pages"))
_CONTAINS_LENGTH: Final = 12
_METADATA_KEY: Final = re.compile(r"[a-zA-Z0-9_]+")
# The document lists no codes, and some services have "T1" for Tor.
_COUNTRY: Final = re.compile(r"[A-Za-z0-9]{2}|[A-Za-z0-9]{0,2}\*")
_ADDRESS: Final = re.compile(r"https?:|//|www\.", re.IGNORECASE)
_METADATA_SUFFIXES: Final = ("_text", "_int", "_bool", "_date")


@lru_cache
def _place(step: str, name: str) -> str:
    # A query is made of more valid values than of wrong ones, whose place is shown.
    return f"{step}({name}=…)"


def filter_value(name: str, value: object) -> TextOrProblems:
    """The value of one filter."""
    if name not in FILTERS:
        return refused("filter-name", _no_filter(name), "where")
    where = _place("where", name)
    if name == "pages":
        return _pages([value] if isinstance(value, str) else value, where)
    text = _filter_text(value, where)
    if not isinstance(text, str):
        return text
    problems = _pattern(name, text, where)
    if name == "device_type" and not problems:
        problems = _device_type(text, where)
    return problems or text


def _no_filter(name: str) -> str:
    if name == "path":
        return (
            "'path' is not a filter: use .path('/contact') or .where(page='/contact')"
        )
    if name.startswith("metadata"):
        return f"{shown(name)} is not a filter: use .where_metadata(key='value')"
    return (
        f"{shown(name)} is not a filter{did_you_mean(name, FILTERS)}; the filters are "
        f"{', '.join(FILTERS)}"
    )


def _filter_text(value: object, where: str) -> TextOrProblems:
    if not isinstance(value, str):
        message = f"the value is a str, not {shown(value)}"
        if where == "where(page=…)":
            message += ": several pages are .where(pages=…)"
        return refused("filter-text", message, where)
    if not str.__str__(value):
        return refused(
            "filter-empty",
            "the value is empty: give one, or leave the filter out",
            where,
        )
    return sendable_text(value, where)


def _pattern(name: str, text: str, where: str) -> list[Problem]:
    """The problems with the stars in one value."""
    if "*" not in text or text.find("*") == len(text) - 1:
        return []
    if not is_contains(text):
        advice = (
            "; a contains search has one at both ends"
            if name in PAGE_FILTERS
            else _literally(name)
        )
        return refused(
            "filter-star",
            f"{shown(text)} has a '*' that is not at the end, the only place for "
            "one" + advice,
            where,
        )
    if name not in PAGE_FILTERS:
        return refused(
            "contains-filter",
            f"{shown(text)} starts and ends with '*', which only page and pages "
            "may: leave a '*' at the end alone" + _literally(name),
            where,
        )
    inner = text[1:-1]
    problems: list[Problem] = []
    if "*" in inner:
        problems += refused(
            "contains-star",
            f"{shown(text)} has a '*' inside: leave one at each end alone",
            where,
        )
    count = len(inner) - inner.count("/") - inner.count("*")
    if count < _CONTAINS_LENGTH:
        problems += refused(
            "contains-length",
            f"{shown(text)} has {count} characters other than '/' between its two "
            f"'*': give at least {_CONTAINS_LENGTH}",
            where,
        )
    return problems


def _literally(name: str) -> str:
    # The document does not say how a '*' in a stored value is to be given.
    return f"; a value that has one is sent as it is by .extra_param({shown(name)}, …)"


def is_contains(text: str) -> bool:
    """Whether *text* is a contains search: it starts and ends with ``*``."""
    return len(text) > 1 and text[0] == "*" and text[-1] == "*"


def _pages(value: object, where: str) -> TextOrProblems:
    display = shown(value)
    several = isinstance(value, Iterable)
    if not several or isinstance(value, bytes | bytearray | memoryview | Mapping):
        return refused(
            "filter-text",
            f"pages is one str or several in a list, not {display}",
            where,
        )
    try:
        given = [*cast("Iterable[object]", value)]
    except Exception as error:  # noqa: BLE001 - an iterable of the user's may raise anything
        return refused(
            "filter-text", f"the pages could not be read: {type(error).__name__}", where
        )
    if not given:
        return refused(
            "filter-empty",
            "there are no pages: give one, or leave the filter out",
            where,
        )
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
    if len(texts) > 1 and any(map(is_contains, texts)):
        problems += refused(
            "contains-one-pattern",
            f"a contains search has exactly one pattern, and there are {len(texts)}: "
            "use a query for each",
            where,
        )
    return problems or ",".join(texts)


def _comma(text: str, where: str) -> Problem:
    return broken(
        "pages-comma",
        f"{shown(text)} has a comma, which separates pages: give each by itself, "
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
    return refused(
        "device-type",
        f"the device type is 'mobile', 'tablet', 'desktop' or 'tv', or the "
        f"beginning of one with a '*', not {shown(text)}{hint}",
        where,
    )


# --- metadata ---


def metadata_texts(
    mapping: object, more: Mapping[str, object]
) -> dict[str, str | None] | list[Problem]:
    """The parameters of metadata filters; None for those to remove."""
    pairs = _pairs(mapping)
    if pairs is None:
        message = f"give a mapping of keys to values, not {shown(mapping)}"
        return refused("metadata-value", message, "where_metadata")
    problems: list[Problem] = []
    texts: dict[str, str | None] = {}
    for key, value in (*pairs, *more.items()):
        name = metadata_key(key)
        if not isinstance(name, str):
            problems += name
            continue
        text = None if value is None else metadata_value(name, value)
        if isinstance(text, list):
            problems += text
        else:
            texts[METADATA + name] = text
    return problems or texts


def _pairs(mapping: object) -> Collection[tuple[object, object]] | None:
    if mapping is None:
        return ()
    if not isinstance(mapping, Mapping):
        return None
    try:
        return [*cast("Mapping[object, object]", mapping).items()]
    except Exception:  # noqa: BLE001 - a mapping of the user's may raise anything
        return None


def metadata_key(key: object) -> TextOrProblems:
    """The key of a metadata filter, without ``metadata.`` in front."""
    text = str.__str__(key) if isinstance(key, str) else ""
    if _METADATA_KEY.fullmatch(text):
        return text
    return refused(
        "metadata-key",
        f"a metadata key has letters A to Z, digits and underscores alone, not "
        f"{shown(key)}: the service stores every other character as '_'",
        "where_metadata",
    )


def metadata_value(key: str, value: object) -> TextOrProblems:
    """The value of a metadata filter."""
    where = _place("where_metadata", key)
    text = scalar(value, where)
    if text is None and isinstance(value, datetime):
        text = _instant(value)
    if text is not None:
        return text
    return refused(
        "metadata-value",
        "the value is a str, a bool, an int, a finite float or a datetime with a "
        f"time zone, not {shown(value)}",
        where,
    )


def _instant(value: datetime) -> str | None:
    moment = utc(value)
    if moment is None:
        return None
    if moment.microsecond:
        precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    else:
        precision = "seconds"
    return f"{moment.replace(tzinfo=None).isoformat(timespec=precision)}Z"


# --- warnings: what the service takes, and is probably a mistake ---


def unlikely(name: str, text: str) -> list[Problem]:
    """Problems of a parameter that the service takes, but is probably a mistake."""
    if name.startswith(METADATA):
        return _unlikely_metadata(name.removeprefix(METADATA), text)
    where = _place("where", name)
    if name in PAGE_FILTERS:
        pages = text.split(",") if name == "pages" else [text]
        return [_no_slash(page, where) for page in pages if page[:1] not in ("/", "*")]
    if name == "country" and not _COUNTRY.fullmatch(text):
        message = f"{shown(text)} is no country code: these have two letters, as 'NL'"
        return [broken("country-code", message, where)]
    if name == "referrer" and _ADDRESS.match(text):
        message = (
            f"{shown(text)} looks like an address, and referrers are normalized, as "
            "'google': the field referrers lists their names"
        )
        return [broken("referrer-normalized", message, where)]
    return []


def _no_slash(page: str, where: str) -> Problem:
    return broken(
        "page-slash",
        f"{shown(page)} matches no page, as every path starts with '/': "
        f"{shown('/' + page)} is probably meant",
        where,
    )


def _unlikely_metadata(key: str, text: str) -> list[Problem]:
    found: list[Problem] = []
    where = _place("where_metadata", key)
    suffix = next((end for end in _METADATA_SUFFIXES if key.endswith(end)), None)
    if suffix is not None:
        found += refused(
            "metadata-suffix",
            f"{key!r} ends in {suffix!r} and is taken literally: the service "
            f"finds the type by itself, so {key.removesuffix(suffix)!r} is "
            "probably meant",
            where,
        )
    if text.endswith("*"):
        found += refused(
            "metadata-star",
            f"{shown(text)} ends in '*' and is taken literally: metadata filters "
            "have no wildcards",
            where,
        )
    return found
