"""Parse the parameters of a Stats request, and check every rule for them.

All broken rules are collected, so that one response lists them. The numbers are
sections of the service's document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Final, Literal, cast, get_args
from zoneinfo import ZoneInfo

import attrs

from ._periods import Interval, Period, count, is_zone, one_month_before, parse_day

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
    name: name
    for name in (
        *("country", "referrer"),
        *("utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"),
        *("browser_name", "os_name", "device_type"),
    )
}
"""The filters, each with the column that it compares (section 4.3)."""

DEVICES: Final = ("mobile", "tablet", "desktop", "tv")
SEARCHABLE: Final = frozenset({"pageviews", "visitors", "histogram"})
"""The fields that a contains search may request (section 4.3)."""

NEWEST: Final = 6
"""The version with hours and metadata filters (section 9)."""

WITH_FIELDS: Final = 3
"""The first version whose responses have the requested fields."""

WITH_PAGES: Final = 2
"""The version whose responses always have the pages (section 9)."""

MOST_ENTRIES: Final = 1000
"""The largest ``limit`` (section 8)."""

SHORTEST_SEARCH: Final = 12
"""The fewest characters of a contains search, without slashes (section 8)."""

MOST_BUCKETS: Final = 200_000
"""The most entries of a histogram: 22 years of hours, 547 of days.

The document has no such limit. Without one, a single request could fill the memory.
"""

PARAMETERS: Final = frozenset(
    {
        *("version", "start", "end", "limit", "timezone"),
        *("info", "callback", "events", "interval", "fields"),
        *FILTERS,
    }
)

_CALLBACK: Final = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*", re.ASCII)
_KEY: Final = re.compile(r"[a-zA-Z0-9_]+")


@attrs.frozen
class Problem:
    """One broken rule, and the section of the document that has it."""

    text: str
    section: str

    def __str__(self) -> str:
        return f"{self.text} (section {self.section})"


@attrs.frozen
class Match:
    """One column, compared with one pattern."""

    column: str
    kind: Literal["exact", "prefix", "contains"]
    text: str


@attrs.frozen
class Filter:
    """A row passes when one of the matches is true."""

    name: str
    matches: tuple[Match, ...]


@attrs.frozen
class Query:
    """The parsed parameters of a Stats request."""

    version: int
    period: Period
    fields: tuple[str, ...] = ()
    """As requested; versions 1 and 2 have fixed ones."""
    events: tuple[str, ...] | Literal["*"] | None = None
    filters: tuple[Filter, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    interval: Interval = "day"
    limit: int = 50
    timezone: str = "UTC"
    info: str | None = None
    callback: str | None = None
    path: str = "*"
    """``path`` in the response: a page, or ``*``."""
    contains: bool = False
    reads_pages: bool = False
    """Whether it needs access to pages: a field, a filter or version 2 (section 5)."""


class Reader:
    """Parses the parameters of one request, and collects the broken rules."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.problems: list[Problem] = []
        self.params: dict[str, str] = {}
        self.metadata: dict[str, str] = {}
        for name, value in pairs:
            if name.startswith("metadata."):
                known = self.metadata
            elif name in PARAMETERS:
                known = self.params
            else:
                continue  # the service ignores unknown parameters
            if name in known:
                self.refuse(f"{name} is given twice", "4.3")
            known[name] = value

    def refuse(self, text: str, section: str) -> None:
        """Add a broken rule."""
        self.problems.append(Problem(text, section))

    def version(self) -> int:
        """The version of the response: 1 by default (section 9)."""
        text = self.params.get("version", "1")
        if text not in {"1", "2", "3", "4", "5", "6"}:
            self.refuse(f"version is 1 to 6, not {text!r}", "4.3")
            return 6
        return int(text)

    def fields(self, version: int) -> tuple[str, ...]:
        """The requested fields, in the document's order; none before version 3."""
        if version < WITH_FIELDS:
            return ()
        text = self.params.get("fields")
        names = set(text.split(",")) if text else set[str]()
        for name in sorted(names - set(FIELDS)):
            self.refuse(f"{name!r} in fields is no field", "4.3")
        if text == "" or (text is None and "events" not in self.params):
            self.refuse(
                "Fields param is required, for example: "
                "fields=pageviews,visitors,histogram",
                "2.3",
            )
        return tuple(name for name in FIELDS if name in names)

    def events(self) -> tuple[str, ...] | Literal["*"] | None:
        """The events to count (section 4.3)."""
        text = self.params.get("events")
        if text is None:
            return None
        if text == "*":
            return "*"
        names = tuple(dict.fromkeys(text.split(",")))
        if "" in names:
            self.refuse("events has an empty name", "4.3")
        if any("*" in name for name in names):
            self.refuse("events takes names, or a single * for all", "4.3")
        return names

    def limit(self) -> int:
        """The most entries of a list (section 8)."""
        text = self.params.get("limit", "50")
        if not re.fullmatch("[1-9][0-9]{0,3}", text) or int(text) > MOST_ENTRIES:
            self.refuse(f"limit is 1 to 1000, not {text!r}", "8")
            return 50
        return int(text)

    def interval(self, version: int) -> Interval:
        """The histogram's interval; hours need version 6 (section 9)."""
        text = self.params.get("interval", "day")
        if text not in get_args(Interval):
            names = ", ".join(get_args(Interval))
            self.refuse(f"interval is one of {names}, not {text!r}", "4.3")
            return "day"
        if text == "hour" and version < NEWEST:
            self.refuse("interval=hour needs version=6", "9")
        return cast("Interval", text)

    def info(self) -> str | None:
        """Whether the response explains its fields; the text as it was sent."""
        text = self.params.get("info")
        if text not in {None, "true", "false"}:
            self.refuse(f"info is true or false, not {text!r}", "4.3")
        return text

    def callback(self) -> str | None:
        """The name of the function of a JSONP response (section 4.3)."""
        text = self.params.get("callback")
        if text is not None and not _CALLBACK.fullmatch(text):
            self.refuse(f"callback is no name of a function: {text!r}", "4.3")
            return None
        return text

    def timezone(self, default: str) -> str:
        """The zone of the period: that of the request, else the website's."""
        text = self.params.get("timezone", default)
        if not is_zone(text):
            self.refuse(
                f"timezone is a valid time zone name in its exact case, not {text!r}",
                "4.3",
            )
            return default
        return text

    def period(self, zone: ZoneInfo, today: date) -> Period:
        """The requested days, with the defaults of section 8."""
        days = {"start": one_month_before(today), "end": today}
        for name in days:
            if (text := self.params.get(name)) is not None:
                day = parse_day(text, today)
                if day is None:
                    self.refuse(
                        f"{name} is a date like 2025-01-31, today, yesterday or "
                        f"today-30d, not {text!r}",
                        "4.3",
                    )
                    return Period(today, today, zone)
                days[name] = day
        if days["start"] > days["end"]:
            default = (
                ""
                if {"start", "end"} <= set(self.params)
                else ("; left out, start is one month ago and end is today")
            )
            self.refuse(
                f"start ({days['start']}) is after end ({days['end']}){default}", "8"
            )
            return Period(today, today, zone)
        return Period(days["start"], days["end"], zone)

    def filters(self) -> tuple[Filter, ...]:
        """The filters, except those by metadata (section 4.3)."""
        found: list[Filter] = []
        for name, column in FILTERS.items():
            if (text := self.params.get(name)) is None:
                continue
            values = text.split(",") if name == "pages" else [text]
            matches: list[Match] = []
            for value in values:
                match = self._match(name, column, value)
                if match is not None:
                    matches.append(match)
            found.append(Filter(name, tuple(matches)))
        return tuple(found)

    def _match(self, name: str, column: str, value: str) -> Match | None:
        is_prefix = value.endswith("*") and value.count("*") == 1
        if not value:
            self.refuse(f"{name} has an empty value", "4.3")
            return None
        if "*" in value and not is_prefix:
            if column == "path" and value[0] == value[-1] == "*":
                return Match(column, "contains", value[1:-1])
            self.refuse(f"{name} takes a * at its end alone, not {value!r}", "4.3")
            return None
        text = value.removesuffix("*")
        if name == "device_type" and not any(
            device.startswith(text) if is_prefix else device == text
            for device in DEVICES
        ):
            self.refuse(
                f"device_type is one of {', '.join(DEVICES)}, or the beginning of one "
                f"and a *, not {value!r}",
                "4.3",
            )
        return Match(column, "prefix" if is_prefix else "exact", text)

    def metadata_filters(self, version: int) -> tuple[tuple[str, str], ...]:
        """The filters by metadata, all of which must match (section 4.3)."""
        found: list[tuple[str, str]] = []
        for name, value in self.metadata.items():
            key = name.removeprefix("metadata.")
            if not _KEY.fullmatch(key):
                self.refuse(
                    f"a metadata key has letters, digits and _ alone, not {key!r}",
                    "4.3",
                )
            found.append((key, value))
        if found and version < NEWEST:
            self.refuse("metadata filters need version=6", "9")
        return tuple(found)

    def contains(self, query: Query, *, path: str | None, has_key: bool) -> bool:
        """Whether this is a contains search; its rules are checked then."""
        pages = [
            match
            for filter_ in query.filters
            if filter_.name in {"page", "pages"}
            for match in filter_.matches
        ]
        searches = [match for match in pages if match.kind == "contains"]
        if not searches:
            return False
        if not has_key:
            self.refuse("a contains search needs an API key", "4.3")
        given = sum(
            len(self.params[name].split(",")) if name == "pages" else 1
            for name in ("page", "pages")
            if name in self.params
        )
        if given > 1 or path is not None:
            self.refuse("a contains search has exactly one path pattern", "4.3")
        for match in searches:
            if "*" in match.text:
                self.refuse("a contains search has no * inside", "4.3")
            if len(match.text.replace("/", "").replace("*", "")) < SHORTEST_SEARCH:
                self.refuse(
                    "a contains search has at least 12 characters that are no "
                    "slashes between its wildcards",
                    "4.3",
                )
        fields = self.params.get("fields", "").split(",")
        if query.version == WITH_PAGES:
            self.refuse(
                "a contains search gives no pages, and version 2 always has the pages",
                "9",
            )
        elif query.version >= WITH_FIELDS and not set(fields) <= SEARCHABLE:
            self.refuse(
                "a contains search requests pageviews, visitors and histogram alone",
                "4.3",
            )
        if query.events is not None:
            self.refuse("a contains search requests no events", "4.3")
        return True


def read(
    pairs: Iterable[tuple[str, str]],
    *,
    path: str | None,
    has_key: bool,
    zone: str,
    now: datetime,
) -> tuple[Query, list[Problem]]:
    """Parse a request; the query is valid only if no rule is broken.

    Args:
        pairs: The parameters, decoded.
        path: The page that the address names.
        has_key: Whether the request has a valid key.
        zone: The website's own time zone.
        now: The present.
    """
    reader = Reader(pairs)
    version = reader.version()
    name = reader.timezone(zone)
    tz = ZoneInfo(name)
    fields = reader.fields(version)
    filters = reader.filters()
    given = [reader.params[key] for key in ("page", "pages") if key in reader.params]
    if path is not None:
        if given:
            reader.refuse(
                "a page in the address leaves no room for page or pages", "4.3"
            )
        filters = (Filter("path", (Match("path", "exact", path),)), *filters)
    query = Query(
        version=version,
        period=reader.period(tz, now.astimezone(tz).date()),
        fields=fields,
        events=reader.events(),
        filters=filters,
        metadata=reader.metadata_filters(version),
        interval=reader.interval(version),
        limit=reader.limit(),
        timezone=name,
        info=reader.info(),
        callback=reader.callback(),
        path=path or ",".join(given) or "*",
        reads_pages=bool(given)
        or path is not None
        or version == WITH_PAGES
        or "pages" in fields,
    )
    if version < WITH_FIELDS:
        # Their responses are fixed: visits by day, for any fields and interval.
        query = attrs.evolve(query, interval="day")
    if (version < WITH_FIELDS or "histogram" in fields) and (
        count(query.period, query.interval) > MOST_BUCKETS
    ):
        reader.refuse(
            f"the histogram would have more than {MOST_BUCKETS:,} entries; request a "
            "shorter period or a longer interval",
            "2.3",
        )
    contains = reader.contains(query, path=path, has_key=has_key)
    return attrs.evolve(query, contains=contains), reader.problems
