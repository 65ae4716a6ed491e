"""The rules for the parameters of a Stats request, as tables, and a loop for each.

The rules are written from the service's document, not from the client's rules. One
response names all broken rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import chain
from typing import Any, Final, Generic, Literal, TypeVar, cast
from zoneinfo import ZoneInfo

import attrs
from dateutil.relativedelta import relativedelta

from ._periods import Interval, Period, is_zone, parse_day

T = TypeVar("T")

LISTS: Final = {
    "pages": "path",
    "countries": "country",
    "referrers": "referrer",
    "utm_sources": "utm_source",
    "utm_mediums": "utm_medium",
    "utm_campaigns": "utm_campaign",
    "utm_contents": "utm_content",
    "utm_terms": "utm_term",
    "browser_names": "browser_name",
    "os_names": "os_name",
    "device_types": "device_type",
}
"""The list fields, each with the column that it counts."""

FIELDS: Final = ("pageviews", "visitors", "histogram", *LISTS, "seconds_on_page")
"""The fifteen names of ``fields`` (section 4.3)."""

FILTERS: Final = {"page": "path", "pages": "path"} | {
    column: column for column in LISTS.values() if column != "path"
}
"""The filters, each with the column that it compares (section 4.3)."""

DEVICES: Final = ("mobile", "tablet", "desktop", "tv")
SEARCHABLE: Final = frozenset({"pageviews", "visitors", "histogram"})
"""The fields that a contains search may request (section 4.3)."""

LATEST: Final = 6
"""The latest version (section 9)."""

WITH_HOURS: Final = 6
"""The first version with hours (section 9)."""

WITH_METADATA: Final = 6
"""The first version with metadata filters (section 9)."""

WITH_FIELDS: Final = 3
"""The first version whose responses have the requested fields."""

WITH_PAGES: Final = 2
"""The version whose responses always have the pages (section 9)."""

SHORTEST_SEARCH: Final = 12
"""The fewest characters of a contains search, without slashes (section 8)."""

MOST_BUCKETS: Final = 200_000
"""The most hours of a histogram by hour (22 years), and days of another (547 years).

The document has no such limit. Without one, a single request could fill the memory.
"""


@attrs.frozen
class Match:
    """One column, compared with one pattern."""

    column: str
    kind: Literal["exact", "prefix", "contains"]
    text: Any
    """The text to find, or the value of a metadata column."""

    @classmethod
    def of(cls, column: str, pattern: str) -> Match:
        """Read a pattern with a star at its end, at both ends, or without one."""
        if column == "path" and re.fullmatch(r"\*.*\*", pattern, re.DOTALL):
            return cls(column, "contains", pattern[1:-1])
        if pattern.endswith("*"):
            return cls(column, "prefix", pattern[:-1])
        return cls(column, "exact", pattern)

    def fits(self, value: Any) -> bool:
        """Whether a cell of the column matches. Countries do so in any case."""
        text = self.text
        if self.column == "country":
            value, text = value.upper(), text.upper()
        if self.kind == "exact":
            return bool(value == text)
        return value.startswith(text) if self.kind == "prefix" else text in value


@attrs.frozen(kw_only=True)
class Query:
    """The parsed parameters of a Stats request."""

    given: Mapping[str, str]
    """The parameters that were sent and are valid."""
    sent: Mapping[str, str]
    """The parameters that were sent."""
    period: Period
    address: str | None
    """The page that the address names."""
    has_key: bool

    @property
    def version(self) -> int:
        """The version of the response: 1 by default (section 9)."""
        return int(self.given.get("version", "1"))

    @property
    def fields(self) -> list[str]:
        """The requested fields, in the document's order; none before version 3."""
        names = self.given.get("fields", "").split(",")
        return [name for name in FIELDS if name in names]

    @property
    def events(self) -> list[str] | None:
        """The events to count, ``["*"]`` for all of them (section 4.3).

        The service stores their names in lower case.
        """
        text = self.given.get("events")
        return None if text is None else [*dict.fromkeys(text.lower().split(","))]

    @property
    def interval(self) -> Interval:
        """The interval of the histogram; versions 1 and 2 always have days."""
        if self.version < WITH_FIELDS:
            return "day"
        return cast("Interval", self.given.get("interval", "day"))

    @property
    def limit(self) -> int:
        """The most entries of a list (section 8)."""
        return int(self.given.get("limit", "50"))

    @property
    def patterns(self) -> list[str]:
        """The values of ``page`` and ``pages``."""
        return [self.given[name] for name in ("page", "pages") if name in self.given]

    @property
    def metadata(self) -> dict[str, str]:
        """The values of the metadata filters, by their keys."""
        return {
            name.removeprefix(METADATA): value
            for name, value in self.given.items()
            if name.startswith(METADATA)
        }

    @property
    def filters(self) -> list[list[Match]]:
        """The filters by columns. One match of each filter must be true."""
        filters = [
            [
                Match.of(FILTERS[name], pattern)
                for pattern in (text.split(",") if name == "pages" else [text])
            ]
            for name, text in self.given.items()
            if name in FILTERS
        ]
        if self.address is not None:
            filters.append([Match("path", "exact", self.address)])
        return filters

    @property
    def searches(self) -> list[str]:
        """The texts of contains searches (section 4.3)."""
        return [m.text for m in chain(*self.filters) if m.kind == "contains"]

    @property
    def path(self) -> str:
        """``path`` in the response: a page, or ``*``."""
        return self.address or ",".join(self.patterns) or "*"

    @property
    def reads_pages(self) -> bool:
        """Whether a field, a filter or version 2 needs access to pages."""
        fields = self.sent.get("fields", "").split(",")
        by_page = self.address or {"page", "pages"} & self.sent.keys()
        return bool(by_page) or self.version == WITH_PAGES or "pages" in fields

    @property
    def has_histogram(self) -> bool:
        """Whether the response has a histogram, as versions 1 and 2 always do."""
        return self.version < WITH_FIELDS or "histogram" in self.fields

    @property
    def buckets(self) -> int:
        """The number of hours of a histogram by hour; else, the number of days."""
        days = (self.period.last - self.period.first).days + 1
        return days * 24 if self.interval == "hour" else days


@attrs.frozen
class Rule(Generic[T]):
    """A rule about one parameter, or about a query."""

    keeps: Callable[[T], object]
    text: str
    section: str = "4.3"


# --- the rules for one parameter ------------------------------------------------------


def _like(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern, re.DOTALL | re.ASCII).fullmatch


_LIST: Final = "(?:{0})(?:,(?:{0}))*"
_VALUE: Final = r"[^*]+\*?|\*"
_STAR: Final = "a value that is not empty, with a * only at its end"

FORMS: Final[dict[str, Rule[str]]] = {
    "version": Rule(_like(f"[1-{LATEST}]"), f"version is 1 to {LATEST}"),
    "fields": Rule(
        _like(_LIST.format("|".join(FIELDS))),
        f"fields are some of {', '.join(FIELDS)}",
    ),
    "events": Rule(
        _like(r"\*|" + _LIST.format("[^*,]+")),
        "events are names, or a single * for all",
    ),
    "limit": Rule(_like("[1-9][0-9]{0,2}|1000"), "limit is 1 to 1000", "8"),
    "interval": Rule(
        _like("hour|day|week|month|year"),
        "interval is one of hour, day, week, month, year",
    ),
    "info": Rule(_like("true|false"), "info is true or false"),
    "callback": Rule(
        _like(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*"),
        "callback is the name of a function",
    ),
    **{
        name: Rule(
            _like(r"today|yesterday|today-(0|[1-9][0-9]*)d|\d{4}-\d\d-\d\d"),
            f"{name} is a date like 2025-01-31, today, yesterday or today-30d",
        )
        for name in ("start", "end")
    },
    "timezone": Rule(is_zone, "timezone is a time zone name in its exact case"),
    **{name: Rule(_like(_VALUE), f"{name} is {_STAR}") for name in FILTERS},
    "page": Rule(_like(rf"{_VALUE}|\*.*\*"), f"page is {_STAR}, or at both ends"),
    "pages": Rule(
        _like(_LIST.format(r"[^*,]+\*?|\*|\*[^,]*\*")),
        f"each of pages is {_STAR}, or at both ends",
    ),
    "device_type": Rule(
        lambda text: any(
            device == text or (text.endswith("*") and device.startswith(text[:-1]))
            for device in DEVICES
        ),
        f"device_type is one of {', '.join(DEVICES)}, or the beginning of one and a *",
    ),
}
METADATA: Final = "metadata."
_KEY: Final = Rule(_like("[a-zA-Z0-9_]+"), "a metadata key has letters, digits and _")

# --- the rules for several ------------------------------------------------------------

RULES: Final[tuple[Rule[Query], ...]] = (
    Rule(
        lambda q: q.version < WITH_FIELDS or q.fields or q.events is not None,
        "Fields param is required, for example: fields=pageviews,visitors,histogram",
        "2.3",
    ),
    Rule(
        lambda q: q.given.get("interval") != "hour" or q.version >= WITH_HOURS,
        f"interval=hour needs version={WITH_HOURS}",
        "9",
    ),
    Rule(
        lambda q: not q.metadata or q.version >= WITH_METADATA,
        f"metadata filters need version={WITH_METADATA}",
        "9",
    ),
    Rule(
        lambda q: not (q.address and q.patterns),
        "a page in the address can't be combined with page or pages",
    ),
    Rule(
        lambda q: q.period.first <= q.period.last,
        "start is after end; by default, start is one month ago and end is today",
        "8",
    ),
    Rule(
        lambda q: not q.has_histogram or q.buckets <= MOST_BUCKETS,
        f"the histogram has at most {MOST_BUCKETS:,} days or hours: request a shorter "
        "period",
        "2.3",
    ),
)
SEARCH_RULES: Final[tuple[Rule[Query], ...]] = (
    Rule(lambda q: q.has_key, "a contains search needs an API key"),
    Rule(
        lambda q: len([m for m in chain(*q.filters) if m.column == "path"]) == 1,
        "a contains search has exactly one path pattern",
    ),
    Rule(
        lambda q: not any("*" in text for text in q.searches),
        "a contains search has no * inside",
    ),
    Rule(
        lambda q: all(
            len(re.sub("[*/]", "", text)) >= SHORTEST_SEARCH for text in q.searches
        ),
        "a contains search has at least 12 characters besides slashes between its "
        "wildcards",
    ),
    Rule(
        lambda q: q.version != WITH_PAGES,
        "a contains search can't request pages, which version 2 always has",
        "9",
    ),
    Rule(
        lambda q: SEARCHABLE.issuperset(q.fields),
        "a contains search requests only pageviews, visitors and histogram",
    ),
    Rule(lambda q: q.events is None, "a contains search requests no events"),
)
"""The rules of contains searches."""


def read(
    pairs: Iterable[tuple[str, str]],
    *,
    path: str | None,
    has_key: bool,
    zone: str,
    now: datetime,
) -> tuple[Query, list[str]]:
    """Parse a request; the query is valid only if no rule is broken.

    Args:
        pairs: The parameters, decoded. Unknown ones are ignored.
        path: The page that the address names.
        has_key: Whether the request has a valid key.
        zone: The website's own time zone.
        now: The present.
    """
    problems: list[str] = []
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given:
            problems.append(f"{name} is given twice (section 4.3)")
        if name in FORMS or name.startswith(METADATA):
            given[name] = value
    if given.get("version", "1") in {"1", "2"}:
        # Responses of these versions don't depend on the fields.
        given.pop("fields", None)
    sent = dict(given)
    for name, value in sent.items():
        key = name.removeprefix(METADATA)
        rule, text = (FORMS[name], value) if key == name else (_KEY, key)
        if not rule.keeps(text):
            problems.append(f"{rule.text}, not {text!r} (section {rule.section})")
            del given[name]
    tz = ZoneInfo(given.get("timezone", zone))
    today = now.astimezone(tz).date()
    # One month before the 31st is the last day of a shorter month.
    days = {"start": today - relativedelta(months=1), "end": today}
    for name in days.keys() & given.keys():
        day = parse_day(given[name], today)
        if day is None:
            problems.append(f"{given[name]!r} is not a day (section 4.3)")
        else:
            days[name] = day
    query = Query(
        given=given,
        sent=sent,
        period=Period(days["start"], days["end"], tz),
        address=path,
        has_key=has_key,
    )
    # An invalid parameter would confuse these rules.
    rules = () if problems else RULES + (SEARCH_RULES if query.searches else ())
    problems += [f"{r.text} (section {r.section})" for r in rules if not r.keeps(query)]
    return query, problems
