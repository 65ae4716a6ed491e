"""``Stats``: the statistics of one response, with their query."""

# The converter gave the values their types.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    Never,
    TypeAlias,
    Unpack,
    cast,
)

import attrs

from sitestats._base.errors import (
    InvalidInputError,
    InvalidResponseError,
    Problem,
    UnrequestedAttributeError,
    warn,
)
from sitestats._base.fields import (
    ENVELOPE,
    FIELDS,
    TOTALS,
    FieldsT,
    FieldsT_contra,
    TableName,
)
from sitestats._base.text import cut, shown
from sitestats._public import explained
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._query.versions import SENT_VERSION
from sitestats._wire.messages import Headers, JsonValue, load_json
from sitestats._wire.values import Value, for_json

from . import late
from .bases import Displayed, HasLists, draw
from .entries import (
    Entries,
    EventCount,
    HistogramEntry,
    ListEntry,
    PageEntry,
    check_list,
)
from .tables import Column, label_of, of_rows, subject

_List: TypeAlias = Entries[ListEntry]

KNOWN_NAMES: Final = frozenset(
    (*FIELDS, "events", *ENVELOPE, "docs", "info", "ok", "success", "url")
)
"""Names that responses were seen to have; all others are in ``Stats.extra``."""

ABOUT: Final = (*ENVELOPE, "first_day", "last_day", "partial", "responded_at")
"""The attributes that the JSON of a result has."""


@explained("plot")
@attrs.frozen(kw_only=True, repr=False, eq=False)
class Stats(HasLists["TableName"], Displayed, Value, Generic[FieldsT_contra]):
    """The statistics that a query requested (section 2.3).

    Each requested field is an attribute of its plain type. Reading another field
    raises ``FieldNotRequestedError``, so that null, zero and "not requested" are three
    different things. Two results are equal when their queries and the requested values
    are equal.

    >>> hostname = client.websites.list()[0].hostname
    >>> query = StatsQuery(hostname).fields("pageviews", "pages").limit(3)
    >>> stats = client.stats.get(query)
    >>> stats.pages[0].pageviews <= stats.pageviews
    True
    >>> "pages" in stats, "visitors" in stats, stats.requested
    (True, False, ('pageviews', 'pages'))
    """

    query: StatsQuery
    """What was requested."""
    hostname: str | None = None
    """The website's host name in the response, or None if it is missing."""
    path: str | None = None
    """The page of the response, ``"*"`` for all pages, or None if it is missing."""
    timezone: str | None = None
    """The time zone of the days and hours, or None if it is missing."""
    version: int | None = None
    """The version of the format, or None if it is missing."""
    start: dt.datetime | None = None
    """The first moment of the period, in UTC, or None if it is missing."""
    end: dt.datetime | None = None
    """The last moment of the period, in UTC, or None if it is missing."""
    first_day: dt.date | None = None
    """The first day of the period, in the zone of the response. If it is missing, it is
    the requested day, or None if the query has no date.
    """
    last_day: dt.date | None = None
    """The last day of the period, which is included; see ``first_day``."""
    generated_in_ms: int | float | None = None
    """Milliseconds that the service took, or None if it is missing."""
    partial: bool = False
    """Whether the period was not over when the service responded, for example because
    it ends today. Its numbers will still grow. False if it is not known."""
    responded_at: dt.datetime | None = None
    """When the service responded, in UTC, or None if it is not known."""
    body: bytes = b""
    """The response's body as it was received."""
    from_store: bool = False
    """Whether the response comes from ``Client(store=…)``, without a request. Its JSON
    has ``responded_at`` alone: whoever reads it has another store."""
    _headers: Mapping[str, str] = attrs.field(factory=dict[str, str], alias="headers")
    _values: Mapping[str, Any] = attrs.field(alias="values")
    _unread: Mapping[str, tuple[Problem, ...]] = attrs.field(
        factory=dict[str, tuple[Problem, ...]], alias="unread"
    )
    """The problems of each unknown value, and of each incomplete list, by name."""
    _warnings: tuple[str, ...] = attrs.field(default=(), alias="warnings")
    """The warnings of the result. A result with warnings is not stored."""

    @classmethod
    def from_body(
        cls,
        query: StatsQuery[FieldsT],
        body: bytes,
        *,
        responded_at: dt.datetime | None = None,
    ) -> Stats[FieldsT]:
        """Read a body that you have stored: the inverse of ``body``.

        The body is checked against the query, as a response is.

        Args:
            query: The query of the response.
            body: The ``body`` of the result that you stored.
            responded_at: Its ``responded_at``. Without it, no period is ``partial``.

        Raises:
            InvalidInputError: The query breaks a rule, or an argument has another type.
            StatusError: The body is an error response.
            InvalidResponseError: The body does not match the service's document, or
                does not match the query.

        >>> query = StatsQuery("semicomplete.com").fields("visitors").last(days=4)
        >>> body = client.stats.get(query).body
        >>> Stats.from_body(query, body).visitors
        953
        """
        return with_warnings(_read(query, body, responded_at))

    @classmethod
    def of(
        cls,
        query: StatsQuery[FieldsT],
        *,
        timezone: str | None = None,
        first_day: dt.date | None = None,
        last_day: dt.date | None = None,
        responded_at: dt.datetime | None = None,
        **values: Unpack[late.StatsValues],
    ) -> Stats[FieldsT]:
        """Make a result from given values, for unit tests.

        Args:
            query: What the code under test requests.
            timezone: The zone of the response; the query's, else UTC.
            first_day: The first day of the period; the query's if that is a date.
            last_day: The last day of the period; the query's if that is a date.
            responded_at: See ``from_body``.
            values: Everything that the query requests, by name. An entry of a list is a
                tuple: value, page views, visitors, and seconds if the query requests
                ``seconds_on_page``. An entry of a histogram begins with a date, or a
                datetime for hours. Events are a dict of totals by name.

        Raises:
            InvalidInputError: A requested value is missing, or a given one was not
                requested; the error names each.
            InvalidResponseError: No response can have one of the values.

        >>> query = StatsQuery("example.com").fields("visitors", "pages")
        >>> stats = Stats.of(query, visitors=3, pages=[("/a", 3, 1)])
        >>> stats.visitors, stats.pages[0].value
        (3, '/a')
        >>> Stats.of(query, visitors=3)
        Traceback (most recent call last):
        sitestats.InvalidInputError: pages: the query requests it: give pages=…
        """
        from sitestats._testing.sample_body import body_of

        body = body_of(
            query, values, timezone=timezone, first_day=first_day, last_day=last_day
        )
        stats = _read(query, body, responded_at)
        if stats.problems:
            raise InvalidResponseError(
                "no response has these values", problems=stats.problems
            )
        return stats

    @property
    def headers(self) -> Mapping[str, str]:
        """The response's headers, with credentials redacted; names match in any case.
        A stored response has only its ``Date``, and one of ``from_body`` no headers.

        >>> query = StatsQuery("semicomplete.com").fields("visitors")
        >>> client.stats.get(query).headers["Content-Type"]
        'application/json; charset=utf-8'
        """
        return Headers(self._headers)

    @property
    def pageviews(self: Stats[Literal["pageviews"]]) -> int:
        """Page views in the period (section 2.3)."""
        return self._value("pageviews")

    @property
    def visitors(self: Stats[Literal["visitors"]]) -> int:
        """Visitors in the period, that is, unique page views (section 2.3)."""
        return self._value("visitors")

    @property
    def histogram(self: Stats[Literal["histogram"]]) -> Entries[HistogramEntry]:
        """Page views and visitors by day, or by the query's interval, in ascending
        order (section 2.3). No limit shortens it.
        """
        return self._value("histogram")

    @property
    def pages(self: Stats[Literal["pages"]]) -> Entries[PageEntry]:
        """The most visited pages (section 2.3)."""
        return self._value("pages")

    @property
    def countries(self: Stats[Literal["countries"]]) -> _List:
        """Codes of the visitors' countries (section 2.3)."""
        return self._value("countries")

    @property
    def referrers(self: Stats[Literal["referrers"]]) -> _List:
        """Where visitors came from, normalised by the service (section 2.3)."""
        return self._value("referrers")

    @property
    def utm_sources(self: Stats[Literal["utm_sources"]]) -> _List:
        """Values of ``utm_source`` (section 2.3)."""
        return self._value("utm_sources")

    @property
    def utm_mediums(self: Stats[Literal["utm_mediums"]]) -> _List:
        """Values of ``utm_medium`` (section 2.3)."""
        return self._value("utm_mediums")

    @property
    def utm_campaigns(self: Stats[Literal["utm_campaigns"]]) -> _List:
        """Values of ``utm_campaign`` (section 2.3)."""
        return self._value("utm_campaigns")

    @property
    def utm_contents(self: Stats[Literal["utm_contents"]]) -> _List:
        """Values of ``utm_content`` (section 2.3)."""
        return self._value("utm_contents")

    @property
    def utm_terms(self: Stats[Literal["utm_terms"]]) -> _List:
        """Values of ``utm_term`` (section 2.3)."""
        return self._value("utm_terms")

    @property
    def browser_names(self: Stats[Literal["browser_names"]]) -> _List:
        """The visitors' browsers (section 2.3)."""
        return self._value("browser_names")

    @property
    def os_names(self: Stats[Literal["os_names"]]) -> _List:
        """The visitors' operating systems (section 2.3)."""
        return self._value("os_names")

    @property
    def device_types(self: Stats[Literal["device_types"]]) -> _List:
        """The kinds of devices: ``mobile``, ``tablet``, ``desktop``, ``tv``, or any
        other that the service sends (section 2.3).
        """
        return self._value("device_types")

    @property
    def seconds_on_page(self: Stats[Literal["seconds_on_page"]]) -> float | None:
        """Median seconds on a page (section 2.3, rule 1); None when there were too few
        visits.
        """
        return self._value("seconds_on_page")

    @property
    def events(self) -> Entries[EventCount]:
        """How often each event happened (section 2.3)."""
        return self._value("events")

    @property
    def requested(self) -> tuple[str, ...]:
        """The names of what was requested, in the document's order."""
        return parameters_of(self.query).names

    @property
    def extra(self) -> dict[str, JsonValue]:
        """The values of the response whose names this package does not know.

        If entries of a list have such values, the list's name has a dict of them for
        each entry. All are decoded anew each time. The description of the fields, in
        names that begin with two underscores, is only in ``raw()`` (section 4.3,
        ``info``).

        >>> import json
        >>> query = StatsQuery("example.com").fields("countries")
        >>> entry = {"value": "NL", "pageviews": 3, "visitors": 2, "continent": "EU"}
        >>> body = json.dumps({"bots": 7, "countries": [entry]}).encode()
        >>> Stats.from_body(query, body).extra
        {'bots': 7, 'countries': [{'continent': 'EU'}]}
        """
        raw = self.raw()
        extra: dict[str, JsonValue] = unknown_in(raw, KNOWN_NAMES)
        for name, entries in self._entries():
            rows = raw[name]
            known = entries.entry_type.sent.union(entries.entry_type.columns)
            of_entries = [
                unknown_in(row, known)
                for row in (rows if isinstance(rows, list) else ())
                if isinstance(row, dict)
            ]
            if any(of_entries):
                extra[name] = [*of_entries]
        return extra

    def raw(self) -> dict[str, JsonValue]:
        """The whole response as plain values, decoded anew each time."""
        return cast("dict[str, JsonValue]", load_json(self.body))

    def to_dict(self) -> dict[str, JsonValue]:
        """The result as plain values, ready for JSON: the ``query``, the website, the
        ``page`` and the ``filters`` that the query has, the period and the requested
        values. ``truncated`` names the lists that were cut by the limit, and
        ``problems`` what can't be read.

        ``from_dict`` reads it again, as it would read the response: ``body`` and
        ``raw()`` have what the JSON has then.
        """
        lists, about = dict(self._entries()), subject(self.query)
        del about["hostname"]
        return {
            "query": self.query.to_dict(),
            **{name: for_json(getattr(self, name)) for name in ABOUT},
            **about,
            "problems": for_json(self.problems),
            "truncated": [name for name, entries in lists.items() if entries.truncated],
            **self._values,
            **{
                name: [entry.to_dict() for entry in entries]
                for name, entries in lists.items()
            },
        }

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The values that are not as documented, each with its JSON path. The result
        leaves them out, with a ``SiteStatsWarning``; ``raw()`` has them.
        """
        return tuple(problem for found in self._unread.values() for problem in found)

    def compare_to(
        self, before: Stats[FieldsT_contra]
    ) -> late.Comparison[FieldsT_contra]:
        """Compare this result with *before*, of the same query in another period.

        >>> query = StatsQuery("semicomplete.com").fields("pageviews")
        >>> yesterday = client.stats.get(query.on("yesterday"))
        >>> yesterday.compare_to(client.stats.get(query.on("today-2d")))
        Comparison('semicomplete.com', ... against ..., pageviews=549 -> 359 (-34.6 %))
        """
        from sitestats._comparison.comparison import Comparison, warned

        if not isinstance(cast("Any", before), Stats):
            message = (
                f"before is a result, not {shown(before)}: for another period, use "
                "client.stats.compare(query, against=…)"
            )
            raise InvalidInputError([Problem(message, where="compare_to")])
        return warned([Comparison(self, before)])[0]

    def plot(
        self,
        field: TableName | None = None,
        *,
        ax: late.Axes | None = None,
        **_others: Never,
    ) -> late.Axes:
        """Draw the histogram or a list, with the website and the period as the title.

        It needs the extra ``plot``. See ``Entries.plot``.

        Args:
            field: The list to draw; None for the histogram, else the first other list.
            ax: The axes to draw into; None makes new ones of pyplot.

        Returns:
            The axes.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: The query did not request it, or it is not a list.

        >>> query = StatsQuery("semicomplete.com").fields("histogram").last(days=7)
        >>> client.stats.get(query).plot().get_title(loc="left").splitlines()[0]
        'semicomplete.com'
        """
        # The histogram is the first of the lists.
        name = field or [*dict(self._entries()), "histogram"][0]
        check_list(name)
        self._value(name)
        return draw(self, ax, _others, field=name)

    def _table(self, field: str | None = None) -> Sequence[Column]:
        if field is None:
            totals = (name for name in TOTALS if name in self)
            names = ("timezone", "first_day", "last_day", *totals, "partial")
            values = subject(self.query) | {name: getattr(self, name) for name in names}
            return of_rows([*values], [[*values.values()]])
        check_list(field)
        return self._value(field)._table()  # noqa: SLF001 - of all results

    def _lists(self) -> Iterator[tuple[str, Stats]]:
        return ((name, self) for name, _ in self._entries())

    def _entries(self) -> list[tuple[str, Entries[Any]]]:
        return [item for item in self._values.items() if isinstance(item[1], Entries)]

    def _queries(self) -> Sequence[StatsQuery]:
        return [self.query]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stats):
            return NotImplemented
        return self.query == other.query and self._values == other._values

    def __hash__(self) -> int:
        # Equal results have equal queries, and those are quick to hash.
        return hash(self.query)

    def __repr__(self) -> str:
        names = ("first_day", "last_day", "partial")
        about = {name: getattr(self, name) for name in names if getattr(self, name)}
        values = {**about, **self._values}
        for name, entries in self._entries():
            what = "entry" if len(entries) == 1 else "entries"
            cut_off = ", truncated" if entries.truncated else ""
            values[name] = f"<{len(entries)} {what}{cut_off}>"
        label = cut(label_of(self.query))
        parts = [f"{name}={value}" for name, value in values.items()]
        return f"Stats({', '.join([repr(label), *parts])})"

    def _value(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        if name in self._unread:
            raise InvalidResponseError(
                f"{name!r} of {self.query.hostname} can't be read from the response: "
                "see .raw()",
                problems=self._unread[name],
            )
        raise UnrequestedAttributeError(self._why_not(name), name=name)

    def _why_not(self, name: str) -> str:
        if name in self.requested:
            return (
                f"this version has {name!r} in another form: use "
                f".version({SENT_VERSION}) or .raw()"
            )
        if name == "events":
            step = ".events('…') or .all_events()"
        else:
            fields = parameters_of(self.query).fields
            step = f".fields{(*fields, name)}".replace(",)", ")")
        return f"{name!r} was not requested: add it to the query by {step}"


def unknown_in(
    values: Mapping[str, JsonValue], known: Collection[str]
) -> dict[str, JsonValue]:
    """The *values* whose names are not *known*, without the descriptions of fields,
    whose names begin with two underscores.
    """
    return {
        name: value
        for name, value in values.items()
        if name not in known and not name.startswith("__")
    }


def with_warnings(stats: Stats[FieldsT]) -> Stats[FieldsT]:
    """The *stats*, with the warnings that they came with, at the caller's line."""
    for sentence in stats._warnings:  # noqa: SLF001 - of this module
        warn(sentence)
    return stats


def _read(query: StatsQuery, body: bytes, responded_at: dt.datetime | None) -> Any:
    # The modules that read responses stand above the results.
    from sitestats._reading.statistics import read_body

    return read_body(query, body, responded_at)
