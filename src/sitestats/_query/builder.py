"""``StatsQuery``: the query builder.

A query holds its parameters as the text that is sent. Every step returns a new
query and checks its own arguments; ``validate`` checks what spans steps.
"""
# ruff: noqa: SLF001 - the functions of this module belong to its class, whose
# public names are the users' alone

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import cached_property
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    TypeAlias,
    Unpack,
    cast,
    final,
    overload,
)

import attrs

from sitestats._common.errors import QueryError, warn
from sitestats._common.fields import FieldName, FieldsT, FieldsT_co, NameT
from sitestats._common.hostnames import BaseAddress
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown
from sitestats._common.wire import HttpRequest
from sitestats._common.zones import zone_names

from . import periods, rules, urls
from .periods import Day, PreviousUnit, Relation, Span, Unit, Word
from .repr import chain
from .requested import Requested, key_problems, read_requested
from .rules import (
    FILTERS,
    Filters,
    HasHostname,
    Interval,
    MetadataValue,
    Problems,
    refusal,
)

_PERIOD: Final = frozenset(("start", "end"))
_ALWAYS_SENT: Final = {"version": str(rules.LATEST_VERSION), "info": "false"}


@final
@attrs.frozen(init=False, eq=False, repr=False)
class StatsQuery(Generic[FieldsT_co]):
    """The query for one website: an immutable value, bound to no client.

    Each step returns a new query. A step for a single value replaces what an
    earlier call set; ``where`` and ``where_metadata`` merge by name. Two
    queries are equal when they send the same parameters.

    Every step checks its arguments at once and raises a ``QueryError`` with
    all problems of the call; rules that span steps are checked by
    ``validate``, which a client calls before it sends anything.

    >>> query = (
    ...     StatsQuery("example.com")
    ...     .fields("pageviews", "pages")
    ...     .last(days=30)
    ...     .where(country="NL")
    ... )
    >>> query.params()["start"]
    'today-30d'
    >>> query == query.where(country="BE").where(country="NL")
    True
    """

    hostname: str
    """The website's host name as it is sent: lower case, punycode."""
    _page: str | None
    _values: Mapping[str, str]
    _word: Word | None
    """The period, where it is named as of a moment and has its days in a zone."""

    def __init__(self, website: str | HasHostname) -> None:
        """Make a query for a website, by its host name or a ``Website`` (section 4.3).

        The time zone of a ``Website`` becomes that of the query.

        Raises:
            QueryError: It is no host name.
        """
        _fill(
            self, rules.hostname(website), None, _with_zone(_ALWAYS_SENT, website), None
        )

    @cached_property
    def _requested(self) -> Requested:
        values, unresolved = dict(self._values), tuple[Problem, ...]()
        if self._word is not None:
            try:
                days = self._word.days(values.get("timezone"))
                values |= zip(("start", "end"), days, strict=True)
            except QueryError as error:
                unresolved = error.problems
        return read_requested(self.hostname, self._page, values, unresolved)

    # --- fields and events ---

    @overload
    def fields(self, *names: NameT) -> StatsQuery[NameT]: ...

    # For completion, and where mypy infers too narrowly.
    @overload
    def fields(self, *names: FieldName) -> StatsQuery: ...  # type: ignore[overload-cannot-match]

    def fields(self, *names: FieldName) -> StatsQuery[Any]:
        """Request these fields, each once (section 4.3).

        Raises:
            QueryError: A name is unknown, or there is none.

        >>> StatsQuery("example.com").fields("visitors", "pageviews")
        StatsQuery('example.com').fields('pageviews', 'visitors')
        """
        return self._with({"fields": rules.fields(names)})

    def events(self, *names: str) -> StatsQuery[FieldsT_co]:
        """Request the counts of the events with these names (section 4.3).

        Raises:
            QueryError: A name is empty or has a comma or a ``*`` in it.
        """
        return self._with({"events": rules.events(names)})

    def all_events(self) -> StatsQuery[FieldsT_co]:
        """Request the counts of all events, at most 1,000 (sections 4.3, 8)."""
        return self._with({"events": "*"})

    # --- the period ---

    def between(
        self, start: Day | None = None, end: Day | None = None
    ) -> StatsQuery[FieldsT_co]:
        """Set the period: the days from *start* to *end*, both included (section 4.3).

        A day is a ``date``, ``"2026-03-01"``, ``"today"``, ``"yesterday"`` or
        ``"today-30d"``, or a ``datetime``, whose own date counts. None leaves it to the
        service: one month ago, and today.

        Raises:
            QueryError: A day is none of these, or the end is before the start.

        >>> StatsQuery("example.com").between("2026-03-01", "2026-03-31")
        StatsQuery('example.com').between('2026-03-01', '2026-03-31')
        """
        with Problems() as problems:
            days = {
                name: None
                if value is None
                else problems.check(periods.day, value, name)
                for name, value in (("start", start), ("end", end))
            }
            problems.extend(periods.order_problems(days["start"], days["end"]))
        return self._with(days)

    def last(
        self,
        days: int | None = None,
        *,
        weeks: int | None = None,
        months: int | None = None,
        today: bool = False,
        now: datetime | None = None,
    ) -> StatsQuery[FieldsT_co]:
        """Set the period: the last whole days, weeks or months (section 4.3).

        Args:
            days: How many days. They end yesterday; with ``today=True`` they end
                today, which is not over yet.
            weeks: How many weeks before this one, from Monday to Sunday.
            months: How many months of the calendar before this one.
            today: Whether the days end today.
            now: The moment that weeks and months are before, as for ``during``.

        Raises:
            QueryError: Not exactly one is given, or it is no int from 1 to 99,999.

        >>> query = StatsQuery("example.com")
        >>> query.last(days=30).params()["end"]
        'yesterday'
        >>> from datetime import UTC, datetime
        >>> now = datetime(2026, 3, 5, tzinfo=UTC)
        >>> query.timezone("UTC").last(months=18, now=now).params()["start"]
        '2024-09-01'
        """
        given = {"days": days, "weeks": weeks, "months": months}
        return self._during(periods.last(given, today, now))

    def since(self, day: Day) -> StatsQuery[FieldsT_co]:
        """Set the period: the days from *day* to today (section 4.3).

        Raises:
            QueryError: *day* is no day; see ``between``.
        """
        return self._with({"start": periods.day(day, "since"), "end": None})

    def on(self, day: Day) -> StatsQuery[FieldsT_co]:
        """Set the period: one day (section 4.3).

        Raises:
            QueryError: *day* is no day; see ``between``.
        """
        text = periods.day(day, "on")
        return self._with({"start": text, "end": text})

    def during(
        self, period: str | int | date | Span, *, now: datetime | None = None
    ) -> StatsQuery[FieldsT_co]:
        """Set the period: a year, quarter, month, week or day (section 4.3).

        Args:
            period: ``2026`` or ``"2026"``, ``"2026-Q1"``, ``"2026-03"``, ``"2026-W10"``
                (a week of ISO 8601, which begins on Monday), ``"2026-03-05"``, a
                ``date``, or a ``pandas.Period`` of whole days. Or a word:
                ``"last-week"``, ``"last-month"``, ``"last-quarter"``, ``"last-year"``
                for the last whole one, and ``"this-week"`` and so on for this one until
                today. A word is stored with the moment of this call, and becomes dates
                in the query's zone when its parameters are read.
            now: The moment of a word: a datetime with a time zone. This machine's
                clock when None.

        Raises:
            QueryError: It is none of these.

        >>> StatsQuery("example.com").during("2026-Q1")
        StatsQuery('example.com').between('2026-01-01', '2026-03-31')
        >>> from datetime import UTC, datetime
        >>> now = datetime(2026, 3, 31, 23, tzinfo=UTC)
        >>> query = StatsQuery("example.com").during("last-month", now=now)
        >>> query.timezone("Asia/Tokyo").params()["end"]
        '2026-03-31'
        """
        return self._during(periods.named(period, now))

    def previous(self, unit: PreviousUnit) -> StatsQuery[FieldsT_co]:
        """Make the same query for the time before, to compare the two.

        So two lists of queries, and ``outcomes.compare_to``, compare many websites.

        Args:
            unit: ``"period"``, as many days just before; ``"week"`` and ``"month"``, as
                many whole weeks or months just before; ``"year"``, the same days a year
                before, which are 365 days before where the period has words. Before
                ``during("this-month")`` and the like are as many days from the
                beginning of the last month, for ``"period"`` and ``"month"``.

        Raises:
            QueryError: It is none of these, or the period of this query is not known:
                it has none, is from a date to a placeholder, or is no whole weeks or
                months.

        >>> query = StatsQuery("example.com")
        >>> query.last(days=7).previous("period")
        StatsQuery('example.com').between('today-14d', 'today-8d')
        >>> query.during("2026-03").previous("month")
        StatsQuery('example.com').between('2026-02-01', '2026-02-28')
        """
        return _previous(self, unit, "previous")

    def pinned(
        self, zone: str | None = None, now: datetime | None = None
    ) -> StatsQuery[FieldsT_co]:
        """Make a query for the same days that has dates in place of words.

        What is left to the service becomes its default: one month ago, in a shorter
        month its last day, to today (section 8).

        Args:
            zone: The time zone in which the words are days: that of the query, and
                where it has none that of the website. It can be left out where the
                query has one.
            now: When it is that day: a datetime with a time zone. This machine's
                clock when None.

        Raises:
            QueryError: The zone is missing, or is not that of the query; or the
                period has something else than dates and words.

        >>> from datetime import UTC, datetime
        >>> now = datetime(2026, 3, 31, 23, tzinfo=UTC)
        >>> StatsQuery("example.com").on("yesterday").pinned("Asia/Tokyo", now)
        StatsQuery('example.com').on('2026-03-31')
        """
        own = requested(self).timezone
        name = own if zone is None else periods.timezone(zone, "pinned")
        if own not in {None, name}:
            message = (
                f"the query has the time zone {shown(own)}, and not {shown(zone)}: use "
                ".pinned() without a zone"
            )
            raise refusal("period-zone", message, "pinned")
        if self._word is None and not requested(self).is_relative:
            return self
        if name is None:
            message = "words are days in a time zone: use .pinned(website.timezone)"
            raise refusal("period-zone", message, "pinned")
        params = self._with({"timezone": name}).params()
        start, end = params.get("start"), params.get("end")
        return self.between(*periods.pinned(start, end, name, now))

    def each(
        self,
        unit: Unit | None = None,
        *,
        websites: Iterable[str | HasHostname] | None = None,
    ) -> tuple[StatsQuery[FieldsT_co], ...]:
        """Make a query for each website, for each part of the period, or for both.

        The queries of a website follow each other, in the order of its days. Together
        they cover the period exactly. Where it begins or ends within a week, a month or
        a year, that one is cut. Weeks begin on Monday.

        To be split, the period needs dates: make them of words by ``pinned``. Days
        alone are also made of words, and are words then, which are right in the zone of
        every website as long as they are sent before midnight.

        Args:
            unit: ``"day"``, ``"week"``, ``"month"`` or ``"year"``; None splits nothing.
            websites: Host names, or what has one, such as ``client.websites.list()``.
                A website's time zone becomes that of its queries, where this query has
                none.

        Raises:
            QueryError: There is no such unit, or neither a unit nor websites; one of
                these is no website; or the period has words.

        >>> query = StatsQuery("example.com").between("2026-01-15", "2026-02-28")
        >>> for month in query.each("month"):
        ...     print(month)
        StatsQuery('example.com').between('2026-01-15', '2026-01-31')
        StatsQuery('example.com').between('2026-02-01', '2026-02-28')
        >>> websites = client.websites.list()
        >>> len(websites), len(query.each("month", websites=websites))
        (3, 6)
        """
        wholes = (self,) if websites is None else _of_each(self, websites)
        if unit is None and websites is not None:
            return wholes
        return tuple(
            whole._with({"start": start, "end": end})
            for whole in wholes
            for start, end in _split(whole, unit)
        )

    def timezone(self, name: str) -> StatsQuery[FieldsT_co]:
        """Set the time zone of days, instead of the website's (section 4.3).

        Raises:
            QueryError: The tz database has no such name, in this case.

        >>> StatsQuery("example.com").timezone("Europe/Amsterdam")
        StatsQuery('example.com').timezone('Europe/Amsterdam')
        """
        return self._with({"timezone": periods.timezone(name)})

    def interval(self, name: Interval) -> StatsQuery[FieldsT_co]:
        """Set the width of the histogram's buckets (section 4.3).

        Raises:
            QueryError: It is none of hour, day, week, month and year.
        """
        return self._with({"interval": rules.interval(name)})

    # --- filters ---

    def where(self, /, **filters: Unpack[Filters]) -> StatsQuery[FieldsT_co]:
        """Count only what matches all of these filters (section 4.3).

        A ``*`` at the end of a value matches everything that begins so. None takes
        a filter away.

        Args:
            page: A single page, such as ``"/contact"``.
            pages: One page or several; like *page* it also takes one contains
                search, ``"*…*"``.
            country: A country's code, such as ``"NL"``.
            referrer: A normalised referrer, such as ``"google"``.
            utm_source, utm_medium, utm_campaign, utm_content, utm_term: A
                campaign's parameter.
            browser_name: A browser, such as ``"Firefox"``.
            os_name: An operating system, such as ``"Android"``.
            device_type: ``"mobile"``, ``"tablet"``, ``"desktop"`` or ``"tv"``.

        Raises:
            QueryError: A name is unknown, or a value breaks a rule.

        >>> query = StatsQuery("example.com").where(pages=["/blog*", "/docs*"])
        >>> query.params()["pages"]
        '/blog*,/docs*'
        """
        changes = dict[str, str | None]()
        with Problems() as problems:
            for name, value in cast("Mapping[str, object]", filters).items():
                is_given = value is not None or name not in FILTERS
                check = problems.check
                changes[name] = (
                    check(rules.filter_value, name, value) if is_given else None
                )
        return self._filtered(changes)

    def where_metadata(
        self,
        mapping: Mapping[str, MetadataValue | None] | None = None,
        /,
        **more: MetadataValue | None,
    ) -> StatsQuery[FieldsT_co]:
        """Count only what has all of these metadata (section 4.3).

        Values match exactly. Numbers match stored numbers and text, ``True``
        and ``False`` stored flags and text, a datetime with a time zone stored
        moments and text.

        Raises:
            QueryError: A key has other characters than letters, digits and
                underscores, or a value is of another type.

        >>> StatsQuery("example.com").where_metadata(plan="pro", seats=5)
        StatsQuery('example.com').where_metadata(plan='pro', seats='5')
        """
        pairs = (*rules.metadata_items(mapping), *more.items())
        with Problems() as problems:
            checked = [problems.check(rules.metadata, *pair) for pair in pairs]
        return self._filtered(dict(filter(None, checked)))

    # --- the rest ---

    def limit(self, entries: int) -> StatsQuery[FieldsT_co]:
        """Set how many entries each list has at most, 1 to 1000 (section 8).

        Without this step the service gives 50. Events and the histogram are
        not cut.

        Raises:
            QueryError: It is no int from 1 to 1000.
        """
        return self._with({"limit": rules.limit(entries)})

    def path(self, page: str) -> StatsQuery[FieldsT_co]:
        """Request one page by its address (section 4.3).

        *page* is the decoded path, not percent-encoded; a ``*`` is a plain
        character here.

        Raises:
            QueryError: It does not start with a slash, it is the root page
                (``where(page="/")``), or it has a dot segment or a control
                character.

        >>> StatsQuery("example.com").path("/over ons").url("https://x.example")
        'https://x.example/example.com/over%20ons.json?version=6&info=false'
        """
        return _changed(self, page=rules.path(page))

    def website(self, website: str | HasHostname) -> StatsQuery[FieldsT_co]:
        """Request the same of another website, by its host name or a ``Website``.

        The time zone of a ``Website`` becomes that of the query, where this has none.

        Raises:
            QueryError: It is no host name.

        >>> StatsQuery("example.com").last(days=30).website("example.org")
        StatsQuery('example.org').last(days=30)
        """
        values = _with_zone(self._values, website)
        return _changed(self, hostname=rules.hostname(website), values=values)

    def version(self, number: int) -> StatsQuery:
        """Request the format of an older version, 1 to 6 (section 9).

        Raises:
            QueryError: It is no int from 1 to 6.
        """
        return self._with({"version": rules.version(number)})

    def info(self, wanted: bool) -> StatsQuery[FieldsT_co]:  # noqa: FBT001 - the only argument
        """Request more information about the fields (section 4.3).

        Raises:
            QueryError: It is neither True nor False.
        """
        return self._with({"info": rules.info(wanted)})

    def extra_param(
        self,
        name: str,
        value: str | bool | float | None,  # noqa: FBT001 - one kind of value of several
    ) -> StatsQuery:
        """Send a parameter without checking its value.

        For what the service may add, or takes without documenting it. The
        value replaces what a step set for that parameter; None removes it. The rules
        that span steps count it too.

        Raises:
            QueryError: The name is empty or ``callback``, or the value can't
                be sent.

        >>> StatsQuery("example.com").extra_param("start", "2026-W10").params()
        {'version': '6', 'start': '2026-W10', 'info': 'false'}
        """
        key, where = rules.extra_name(name), f"extra_param({shown(name)}, …)"
        return self._with({key: None if value is None else rules.scalar(value, where)})

    # --- checking and sending ---

    def problems(self, has_key: bool | None = None) -> tuple[Problem, ...]:  # noqa: FBT001 - a fact about the client
        """Every broken rule that spans steps.

        Args:
            has_key: Whether the client that will send the query has an API
                key; None when that is not known, and then no rule is broken
                for the lack of one.

        >>> [problem.rule for problem in StatsQuery("example.com").problems()]
        ['fields-or-events']
        """
        wanted = requested(self)
        return (
            wanted.problems
            if has_key is not False
            else (*wanted.problems, *key_problems(wanted))
        )

    def validate(self, has_key: bool | None = None) -> None:  # noqa: FBT001 - as above
        """Check the rules that span steps; see ``problems``.

        Raises:
            QueryError: Rules are broken; it holds every problem.
        """
        if problems := self.problems(has_key):
            raise QueryError(problems)

    def params(self) -> dict[str, str]:
        """Return the parameters that are sent, without host name and path.

        Their order depends only on the parameters, so they make a stable cache
        key.

        Raises:
            QueryError: The period is a word, and there is no time zone.

        >>> StatsQuery("example.com").fields("visitors").params()
        {'version': '6', 'info': 'false', 'fields': 'visitors'}
        """
        wanted = requested(self)
        if wanted.unresolved:
            raise QueryError(wanted.unresolved)
        return dict(wanted.params)

    def url(self, base_url: str | BaseAddress) -> str:
        """Return the full address of the query's data (section 4.3).

        Raises:
            QueryError: *base_url* is no base address; or the period is a word, and
                there is no time zone.

        >>> StatsQuery("example.com").url("https://stats.example.org")
        'https://stats.example.org/example.com.json?version=6&info=false'
        """
        pairs = tuple(self.params().items())
        request = HttpRequest("GET", requested(self).address, pairs)
        return f"{urls.parse_base(base_url, 'url')}{request.target}"

    @classmethod
    def from_url(
        cls, address: str, base_url: str | BaseAddress | None = None
    ) -> StatsQuery:
        """Read a query from the address of a dashboard or of its data.

        An address that ends in ``.json`` is one of data. ``version`` is 6 and
        ``info`` is false unless the address has another value. The service
        itself takes version 1 where there is none (section 9): for its older
        format add ``.version(1)``. What the document does not have is sent as by
        ``extra_param``.

        Any other address is a dashboard's, and has documented parameters alone.

        Args:
            address: With ``https://`` or ``http://``.
            base_url: Where the service is, when that has a path of its own. The
                same host with ``dashboard.`` in front belongs to it.

        Raises:
            QueryError: It is no such address, or a part of it breaks a rule; it holds
                every problem.

        >>> address = "https://stats.example.org/example.com/contact?country=NL"
        >>> StatsQuery.from_url(address)
        StatsQuery('example.com').path('/contact').where(country='NL')
        """
        found = urls.read_address(address, base_url)
        query = StatsQuery(found.hostname)._filtered(found.params)
        return query if found.page is None else _changed(query, page=found.page)

    # --- a value ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StatsQuery):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return chain(self.hostname, self._page, self._values, self._word)

    @property
    def _key(self) -> tuple[object, ...]:
        wanted = requested(self)
        word = self._word if wanted.unresolved else None
        return self.hostname, self._page, frozenset(wanted.params.items()), word

    def _with(self, changes: Mapping[str, str | None]) -> StatsQuery[FieldsT_co]:
        values: dict[str, Any] = {**self._values, **changes}
        if None in changes.values():
            given = {name: one for name, one in values.items() if one is not None}
            values = _ALWAYS_SENT | given
        word = self._word if _PERIOD.isdisjoint(changes) else None
        return _changed(self, values=values, word=word)

    def _during(self, period: tuple[str, str] | Word) -> StatsQuery[FieldsT_co]:
        if isinstance(period, Word):
            return _changed(self._with(dict.fromkeys(_PERIOD)), word=period)
        return self._with({"start": period[0], "end": period[1]})

    def _filtered(self, changes: Mapping[str, str | None]) -> StatsQuery[FieldsT_co]:
        """With *changes*, and a warning of each new one that is probably a mistake."""
        for name, value in changes.items():
            if value is not None and value != self._values.get(name):
                for problem in rules.unlikely(name, value):
                    warn(str(problem))
        return self._with(changes)


def _fill(
    query: StatsQuery,
    hostname: str,
    page: str | None,
    values: Mapping[str, str],
    word: Word | None,
) -> None:
    # A frozen class refuses assignment, also from its own constructor.
    put = object.__setattr__
    put(query, "hostname", hostname)
    put(query, "_page", page)
    put(query, "_values", values)
    put(query, "_word", word)


def _changed(
    query: StatsQuery[FieldsT],
    hostname: str | None = None,
    page: str | None = None,
    values: Mapping[str, str] | None = None,
    word: Word | Literal["same"] | None = "same",
) -> StatsQuery[FieldsT]:
    """A copy of *query* with these parts, which are not checked again."""
    changed: StatsQuery[FieldsT] = object.__new__(StatsQuery)
    _fill(
        changed,
        hostname or query.hostname,
        page or query._page,
        query._values if values is None else values,
        query._word if word == "same" else word,
    )
    return changed


def _with_zone(values: Mapping[str, str], website: object) -> Mapping[str, str]:
    """*values* with the website's time zone, where they have none."""
    zone = getattr(website, "timezone", None)
    # A name that this machine does not know is left to the service.
    if "timezone" in values or not isinstance(zone, str) or zone not in zone_names():
        return values
    return {**values, "timezone": zone}


def requested(query: StatsQuery) -> Requested:
    """The parameters of *query* as they are sent, and their meaning."""
    return query._requested


def validated(query: StatsQuery, *, has_key: bool) -> Requested:
    """The parameters of *query* as they are sent, once every rule was checked.

    Raises:
        TypeError: It is no query; the message has what to write in its place.
        QueryError: Rules are broken; it holds every problem.
    """
    wanted: Requested | None = getattr(query, "_requested", None)
    # Most queries break no rule, and are sent many times.
    if wanted is None or wanted.problems or (wanted.search and not has_key):
        _check_query(query)
        query.validate(has_key=has_key)
    assert wanted is not None, "a query knows what it requests"
    return wanted


def _check_query(given: object) -> None:
    if not isinstance(given, StatsQuery):
        name = given if isinstance(given, str) else "example.com"
        raise TypeError(
            f"a query is a StatsQuery, not {shown(given)}: make one by "
            f"StatsQuery({shown(name)}).fields(…)"
        )


Against: TypeAlias = "Relation | str | int | date | Span | tuple[Day, Day] | StatsQuery"
"""The other period of a comparison: by its relation, by what ``during`` takes, by its
days, or as a query."""


def query_against(query: StatsQuery[FieldsT], other: Against) -> StatsQuery[FieldsT]:
    """*query* for the period that it is compared with.

    Raises:
        QueryError: There is no such period.
    """
    _check_query(query)
    if isinstance(other, StatsQuery):
        return other
    if isinstance(other, tuple) and len(other) == 2:  # noqa: PLR2004 - a pair
        return query.between(*other)
    if isinstance(other, str) and other in periods.RELATIONS:
        return _previous(query, periods.RELATIONS[other], "against")
    if query._word is not None and other == f"last-{query._word.to_date}":
        return _previous(query, "period", "against")
    try:
        return query.during(cast("str", other))
    except QueryError as error:
        if any(problem.rule != "period-unit" for problem in error.problems):
            raise
    names = ", ".join(map(repr, periods.RELATIONS))
    hint = did_you_mean(other, periods.RELATIONS) if isinstance(other, str) else ""
    message = (
        f"against is {names}, a period such as '2026-03', a pair of days, or a query, "
        f"not {shown(other)}{hint}"
    )
    raise refusal("period-unit", message, "against")


def _previous(query: StatsQuery[FieldsT], unit: str, where: str) -> StatsQuery[FieldsT]:
    word = query._word
    if word is not None and word.to_date and unit in {"period", word.to_date}:
        return query.between(*word.days_before(requested(query).timezone))
    params = query.params()
    days = periods.previous(unit, params.get("start"), params.get("end"), where)
    return query.between(*days)


def _of_each(
    query: StatsQuery[FieldsT], websites: object
) -> tuple[StatsQuery[FieldsT], ...]:
    """*query* for each of the *websites*, in its time zone."""
    if not isinstance(websites, Iterable) or isinstance(
        websites, (str, bytes, Mapping)
    ):
        message = (
            "websites is a list of host names or websites, such as "
            f"client.websites.list(), not {shown(cast('Any', websites))}: use "
            ".website(…) for one"
        )
        raise refusal("hostname", message, "each")
    with Problems() as problems:
        found = [
            problems.check(query.website, website)
            for website in cast("Iterable[str | HasHostname]", websites)
        ]
    return tuple(filter(None, found))


def _split(query: StatsQuery, unit: object) -> Iterator[tuple[str, str]]:
    params = query.params()
    return periods.split(params.get("start"), params.get("end"), unit)
