"""What a Stats request asks for, and every rule that it can break.

Each rule is checked where it can be told, and all that are broken are told at
once. The numbers are the sections of the service's document.
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

FIELDS: Final = (
    "pageviews",
    "visitors",
    "histogram",
    *LISTS,
    "seconds_on_page",
)
"""The fifteen names of ``fields`` (section 4.3)."""

FILTERS: Final = {
    "page": "path",
    "pages": "path",
    "country": "country",
    "referrer": "referrer",
    "utm_source": "utm_source",
    "utm_medium": "utm_medium",
    "utm_campaign": "utm_campaign",
    "utm_content": "utm_content",
    "utm_term": "utm_term",
    "browser_name": "browser_name",
    "os_name": "os_name",
    "device_type": "device_type",
}
"""The filters, each with the column that it looks at (section 4.3)."""

DEVICES: Final = ("mobile", "tablet", "desktop", "tv")
SEARCHABLE: Final = frozenset({"pageviews", "visitors", "histogram"})
"""What a contains search may ask for (section 4.3)."""

NEWEST: Final = 6
"""The version with hours and metadata filters (section 9)."""

WITH_FIELDS: Final = 3
"""The first version that answers what ``fields`` names."""

WITH_PAGES: Final = 2
"""The version whose answers always have the pages (section 9)."""

MOST_ENTRIES: Final = 1000
"""The largest ``limit`` (section 8)."""

SHORTEST_SEARCH: Final = 12
"""Characters of a contains search that are no slashes (section 8)."""

MOST_BUCKETS: Final = 200_000
"""A histogram of more entries is refused: 22 years of hours, 547 of days.

The document has no such limit; without one a single request could fill the
memory.
"""

PARAMETERS: Final = frozenset(
    {
        "version",
        "start",
        "end",
        "limit",
        "timezone",
        "info",
        "callback",
        "events",
        "interval",
        "fields",
        *FILTERS,
    }
)

_CALLBACK: Final = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*", re.ASCII)
_KEY: Final = re.compile(r"[a-zA-Z0-9_]+")


@attrs.frozen
class Problem:
    """One broken rule: what is wrong, and the section that has the rule."""

    text: str
    section: str

    def __str__(self) -> str:
        return f"{self.text} (section {self.section})"


@attrs.frozen
class Match:
    """One column of a row against one pattern."""

    column: str
    kind: Literal["exact", "prefix", "contains"]
    text: str


@attrs.frozen
class Filter:
    """A row passes when one of the matches does."""

    name: str
    matches: tuple[Match, ...]


@attrs.frozen
class Question:
    """A Stats request, understood."""

    version: int
    period: Period
    fields: tuple[str, ...] = ()
    """As asked; versions 1 and 2 answer their own."""
    events: tuple[str, ...] | Literal["*"] | None = None
    filters: tuple[Filter, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    interval: Interval = "day"
    limit: int = 50
    timezone: str = "UTC"
    info: str | None = None
    callback: str | None = None
    path: str = "*"
    """What the answer says that it is about: a page, or ``*``."""
    contains: bool = False
    pages_wanted: bool = False
    """Whether it needs to see pages: a field, a filter or version 2 (section 5)."""


class Reader:
    """Reads the parameters of one request and collects what is wrong."""

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
                continue  # the service ignores what it does not know
            if name in known:
                self.refuse(f"{name} is given twice", "4.3")
            known[name] = value

    def refuse(self, text: str, section: str) -> None:
        """Note a broken rule."""
        self.problems.append(Problem(text, section))

    def version(self) -> int:
        """The version in force: 1 when none is sent (section 9)."""
        text = self.params.get("version", "1")
        if text not in {"1", "2", "3", "4", "5", "6"}:
            self.refuse(f"version is 1 to 6, not {text!r}", "4.3")
            return 6
        return int(text)

    def fields(self, version: int) -> tuple[str, ...]:
        """The requested fields, in the document's order."""
        text = self.params.get("fields")
        asked = set(text.split(",")) if text else set[str]()
        for name in sorted(asked - set(FIELDS)):
            self.refuse(f"{name!r} in fields is no field", "4.3")
        needed = version >= WITH_FIELDS and "events" not in self.params
        if text == "" or (text is None and needed):
            self.refuse(
                "Fields param is required, for example: "
                "fields=pageviews,visitors,histogram",
                "2.3",
            )
        return tuple(name for name in FIELDS if name in asked)

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
        """How long the lists may get (section 8)."""
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
        """Whether to explain the fields, as it was sent."""
        text = self.params.get("info")
        if text not in {None, "true", "false"}:
            self.refuse(f"info is true or false, not {text!r}", "4.3")
        return text

    def callback(self) -> str | None:
        """The function that wraps the answer (section 4.3)."""
        text = self.params.get("callback")
        if text is not None and not _CALLBACK.fullmatch(text):
            self.refuse(f"callback is no name of a function: {text!r}", "4.3")
            return None
        return text

    def timezone(self, default: str) -> str:
        """The zone of the period: the request's, else the website's."""
        text = self.params.get("timezone", default)
        if not is_zone(text):
            self.refuse(
                f"timezone is a valid time zone name in its exact case, not {text!r}",
                "4.3",
            )
            return default
        return text

    def period(self, zone: ZoneInfo, today: date) -> Period:
        """The days asked about, with the defaults of section 8."""
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
        """The filters, without those for metadata (section 4.3)."""
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
        stars = value.count("*")
        if not value:
            self.refuse(f"{name} has an empty value", "4.3")
        elif stars == 0:
            if name == "device_type" and value not in DEVICES:
                self.refuse(
                    f"device_type is one of {', '.join(DEVICES)}, not {value!r}", "4.3"
                )
            return Match(column, "exact", value)
        elif stars == 1 and value.endswith("*"):
            prefix = value[:-1]
            if name == "device_type" and not any(
                device.startswith(prefix) for device in DEVICES
            ):
                self.refuse(
                    f"no device_type of {', '.join(DEVICES)} starts with {prefix!r}",
                    "4.3",
                )
            return Match(column, "prefix", prefix)
        elif (
            len(value) > 1
            and value.startswith("*")
            and value.endswith("*")
            and column == "path"
        ):
            return Match(column, "contains", value[1:-1])
        else:
            self.refuse(f"{name} takes a * at its end alone, not {value!r}", "4.3")
        return None

    def metadata_filters(self, version: int) -> tuple[tuple[str, str], ...]:
        """The metadata filters; all must match (section 4.3)."""
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

    def contains(self, question: Question, *, path: str | None, has_key: bool) -> bool:
        """Whether this is a contains search, all of whose points must hold."""
        pages = [
            match
            for filter_ in question.filters
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
        asked = self.params.get("fields", "").split(",")
        if not set(asked) <= SEARCHABLE:
            self.refuse(
                "a contains search asks for pageviews, visitors and histogram alone",
                "4.3",
            )
        if question.events is not None:
            self.refuse("a contains search asks for no events", "4.3")
        return True


def read(
    pairs: Iterable[tuple[str, str]],
    *,
    path: str | None,
    has_key: bool,
    zone: str,
    now: datetime,
) -> tuple[Question, list[Problem]]:
    """Understand a request for a website whose own time zone is *zone*.

    *path* is the page of the address. The question is only to be answered when
    no rule is broken.
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
    question = Question(
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
        pages_wanted=bool(given)
        or path is not None
        or version == WITH_PAGES
        or (version >= WITH_FIELDS and "pages" in fields),
    )
    if version < WITH_FIELDS:
        # Their answers are fixed: visits by day, whatever fields and interval say.
        question = attrs.evolve(question, interval="day")
    if (version < WITH_FIELDS or "histogram" in fields) and (
        count(question.period, question.interval) > MOST_BUCKETS
    ):
        reader.refuse(
            f"the histogram would have more than {MOST_BUCKETS:,} entries; ask for a "
            "shorter period or a longer interval",
            "2.3",
        )
    search = reader.contains(question, path=path, has_key=has_key)
    return attrs.evolve(question, contains=search), reader.problems
