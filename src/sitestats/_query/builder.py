"""``StatsQuery``: the query builder.

A query holds its parameters as the text that is sent. Every step returns a new
query and checks its own arguments; ``validate`` checks what spans steps.
"""
# ruff: noqa: SLF001 - the functions of this module belong to its class, whose
# public names are the users' alone

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Final, TypeAlias, Unpack, cast, final

import attrs

from sitestats._common.errors import QueryError, warn
from sitestats._common.fields import TOTALS, FieldName
from sitestats._common.hostnames import BaseAddress
from sitestats._common.problems import Problem
from sitestats._common.text import shown
from sitestats._common.wire import HttpRequest
from sitestats._common.zones import zone_names

from . import dashboards, periods, rules, units, urls, validation
from . import filters as filter_rules
from . import values as value_rules
from .filters import MetadataValue
from .periods import Day, StoredDay
from .requested import Requested, read_requested, sorted_params, with_days
from .rules import Filters, HasHostname, Interval
from .units import Span, Unit

if TYPE_CHECKING:
    from .previous import PreviousUnit, Relation

_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_FLAGS: Final = {"true": True, "false": False}
_PERIOD: Final = frozenset(("start", "end"))

_ALWAYS_SENT: Final[Mapping[str, StoredDay]] = {
    "version": str(rules.LATEST_VERSION),
    "info": "false",
}


@final
@attrs.frozen(init=False, eq=False, repr=False)
class StatsQuery:
    """The query for one website: an immutable value, bound to no client.

    Each step returns a new query. A step for a single value replaces what an
    earlier call set; ``where`` and ``where_metadata`` merge by name. Two
    queries are equal when they send the same parameters and leave the same
    ones unchecked (see ``extra_param``).

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
    _page_path: str | None
    _values: Mapping[str, StoredDay]
    _unchecked: Mapping[str, tuple[Problem, ...]]
    """The parameters that were not checked, from ``extra_param``, or from an
    address, with their problems."""

    def __init__(self, hostname: str | HasHostname) -> None:
        """Make a query for the website *hostname*, or a ``Website`` (section 4.3).

        Raises:
            QueryError: It is no host name.
        """
        _fill(self, _text(rules.website(hostname)), None, _ALWAYS_SENT, {})

    # --- fields and events ---

    def fields(self, *names: FieldName) -> StatsQuery:
        """Request these fields, each once (section 4.3).

        Raises:
            QueryError: A name is unknown, or there is none.

        >>> StatsQuery("example.com").fields("visitors", "pageviews")
        StatsQuery('example.com').fields('pageviews', 'visitors')
        """
        return self._with({"fields": _text(value_rules.fields(names))})

    def events(self, *names: str) -> StatsQuery:
        """Request the counts of the events with these names (section 4.3).

        Raises:
            QueryError: A name is empty or has a comma or a ``*`` in it.
        """
        return self._with({"events": _text(value_rules.events(names))})

    def all_events(self) -> StatsQuery:
        """Request the counts of all events, at most 1,000 (sections 4.3, 8)."""
        return self._with({"events": "*"})

    # --- the period ---

    def between(self, start: Day | None = None, end: Day | None = None) -> StatsQuery:
        """Set the period: the days from *start* to *end*, both included (section 4.3).

        A day is a ``date``, ``"2026-03-01"``, ``"today"``, ``"yesterday"`` or
        ``"today-30d"``. A ``datetime`` with a time zone becomes its day in the
        query's zone; without one it must be midnight, as a pandas Timestamp of
        a day is. None leaves it to the service: one month ago, and today.

        Raises:
            QueryError: A day is none of these, or the end is before the start.

        >>> StatsQuery("example.com").between("2026-03-01", "2026-03-31")
        StatsQuery('example.com').between('2026-03-01', '2026-03-31')
        """
        problems: list[Problem] = []
        days: dict[str, StoredDay | None] = {}
        for name, value in (("start", start), ("end", end)):
            stored = None if value is None else periods.day(value, name)
            if isinstance(stored, list):
                problems += stored
            else:
                days[name] = stored
        problems = problems or periods.order_problems(days["start"], days["end"])
        if problems:
            raise QueryError(problems)
        return self._with(days)

    def last(
        self,
        days: int | None = None,
        *,
        weeks: int | None = None,
        months: int | None = None,
        today: bool = False,
        now: datetime | None = None,
    ) -> StatsQuery:
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
        period = units.last_units(given, today, now)
        if isinstance(period, list):
            raise QueryError(period)
        return self._with({"start": period[0], "end": period[1]})

    def since(self, day: Day) -> StatsQuery:
        """Set the period: the days from *day* to today (section 4.3).

        Raises:
            QueryError: *day* is no day; see ``between``.
        """
        return self._with({"start": _day(day, "since"), "end": None})

    def on(self, day: Day) -> StatsQuery:
        """Set the period: one day (section 4.3).

        Raises:
            QueryError: *day* is no day; see ``between``.
        """
        stored = _day(day, "on")
        return self._with({"start": stored, "end": stored})

    def during(
        self, period: str | int | date | Span, *, now: datetime | None = None
    ) -> StatsQuery:
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
        days = units.named_period(period, now)
        if isinstance(days, list):
            raise QueryError(days)
        return self._with({"start": days[0], "end": days[1]})

    def previous(self, unit: PreviousUnit) -> StatsQuery:
        """Make the same query for the time before, to compare the two.

        So two lists of queries, and ``outcomes.compare_to``, compare many websites.

        Args:
            unit: ``"period"``, as many days just before; ``"week"`` and ``"month"``, as
                many whole weeks or months just before; ``"year"``, the same days a year
                before, which are 365 days before where the period has words.

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
        # Imported here, since only a comparison needs it.
        from .previous import find_previous

        params = self.params()
        return self.between(
            *find_previous(unit, params.get("start"), params.get("end"))
        )

    @property
    def lists(self) -> tuple[str, ...]:
        """What is requested that has rows of its own, of which a frame can be made.

        >>> query = StatsQuery("example.com").fields("visitors", "pages").all_events()
        >>> query.lists
        ('pages', 'events')
        """
        wanted = requested(self)
        lists = [name for name in wanted.fields if name not in TOTALS]
        return tuple(lists if wanted.events is None else [*lists, "events"])

    @property
    def is_relative(self) -> bool:
        """Whether the period has other days tomorrow: its start or end is a word of
        the service, or is left to it. A word of ``during`` has the days of its moment.

        >>> query = StatsQuery("example.com")
        >>> query.last(days=30).is_relative, query.during("2026-03").is_relative
        (True, False)
        """
        return not all(periods.is_date(self._values.get(name)) for name in _PERIOD)

    def pinned(
        self, zone: str | None = None, now: datetime | None = None
    ) -> StatsQuery:
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
        name = own if zone is None else _text(periods.timezone(zone, "pinned"))
        if own not in {None, name}:
            raise QueryError(periods.other_zone(name, own))
        if not self.is_relative and not requested(self).has_moments:
            return self
        if name is None:
            raise QueryError(periods.no_zone())
        days, problems = with_days({**self._values, "timezone": name})
        if problems:
            raise QueryError(problems)
        params = sorted_params(days)
        start, end = params.get("start"), params.get("end")
        return self.between(*periods.pinned(start, end, name, now))

    def each(
        self,
        unit: Unit | None = None,
        *,
        websites: Iterable[str | HasHostname] | None = None,
    ) -> tuple[StatsQuery, ...]:
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
        return tuple(part for whole in wholes for part in _split(whole, unit))

    def timezone(self, name: str) -> StatsQuery:
        """Set the time zone of days, instead of the website's (section 4.3).

        Raises:
            QueryError: The tz database has no such name, in this case.

        >>> StatsQuery("example.com").timezone("Europe/Amsterdam")
        StatsQuery('example.com').timezone('Europe/Amsterdam')
        """
        return self._with({"timezone": _text(periods.timezone(name))})

    def interval(self, name: Interval) -> StatsQuery:
        """Set the width of the histogram's buckets (section 4.3).

        Raises:
            QueryError: It is none of hour, day, week, month and year.
        """
        return self._with({"interval": _text(value_rules.interval(name))})

    # --- filters ---

    def where(self, /, **filters: Unpack[Filters]) -> StatsQuery:
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
        query = _with_filters(self, cast("Mapping[str, object]", filters))
        _warn_of_unlikely(query, self)
        return query

    def where_metadata(
        self,
        mapping: Mapping[str, MetadataValue | None] | None = None,
        /,
        **more: MetadataValue | None,
    ) -> StatsQuery:
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
        query = _with_metadata(self, mapping, more)
        _warn_of_unlikely(query, self)
        return query

    # --- the rest ---

    def limit(self, entries: int) -> StatsQuery:
        """Set how many entries each list has at most, 1 to 1000 (section 8).

        Without this step the service gives 50. Events and the histogram are
        not cut.

        Raises:
            QueryError: It is no int from 1 to 1000.
        """
        return self._with({"limit": _text(value_rules.limit(entries))})

    def path(self, page: str) -> StatsQuery:
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
        return _changed(self, page=_text(value_rules.path(page)))

    def website(self, hostname: str | HasHostname) -> StatsQuery:
        """Request the same of another website, by its host name or a ``Website``.

        Raises:
            QueryError: It is no host name.

        >>> StatsQuery("example.com").last(days=30).website("example.org")
        StatsQuery('example.org').last(days=30)
        """
        return _changed(self, hostname=_text(rules.website(hostname)))

    def version(self, number: int) -> StatsQuery:
        """Request the format of an older version, 1 to 6 (section 9).

        Raises:
            QueryError: It is no int from 1 to 6.
        """
        return self._with({"version": _text(value_rules.version(number))})

    def info(self, wanted: bool) -> StatsQuery:  # noqa: FBT001 - the only argument
        """Request more information about the fields (section 4.3).

        Raises:
            QueryError: It is neither True nor False.
        """
        return self._with({"info": _text(value_rules.info(wanted))})

    def extra_param(
        self,
        name: str,
        value: str | bool | float | None,  # noqa: FBT001 - one kind of value of several
    ) -> StatsQuery:
        """Send a parameter without checking its value.

        For what the service may add, or takes without documenting it. The
        value replaces what a step set for that parameter; None removes it.

        Raises:
            QueryError: The name is empty or ``callback``, or the value can't
                be sent.

        >>> StatsQuery("example.com").extra_param("start", "2026-W10").params()
        {'version': '6', 'start': '2026-W10', 'info': 'false'}
        """
        key = _text(value_rules.extra_name(name))
        if value is None:
            return self._with({key: None})
        query = self._with({key: _text(value_rules.extra_value(key, value))})
        return _changed(query, unchecked={**query._unchecked, key: ()})

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
        return tuple(validation.problems_of(requested(self), has_key=has_key))

    def validate(self, has_key: bool | None = None) -> None:  # noqa: FBT001 - as above
        """Check the rules that span steps; see ``problems``.

        Raises:
            QueryError: Rules are broken; it holds every problem.
        """
        validation.validate(requested(self), has_key=has_key)

    def params(self) -> dict[str, str]:
        """Return the parameters that are sent, without host name and path.

        Their order depends only on the parameters, so they make a stable cache
        key.

        Raises:
            QueryError: A moment has no time zone to be a day in.

        >>> StatsQuery("example.com").fields("visitors").params()
        {'version': '6', 'info': 'false', 'fields': 'visitors'}
        """
        sent = requested(self)
        if sent.problems:
            raise QueryError(sent.problems)
        return dict(sent.params)

    def url(self, base_url: str | BaseAddress) -> str:
        """Return the full address of the query's data (section 4.3).

        Raises:
            QueryError: *base_url* is no base address, or a moment has no time
                zone to be a day in.

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
        format add ``.version(1)``. A ``callback`` is left out, with a warning;
        it is an argument of ``get_jsonp``. Undocumented
        parameters are sent as by ``extra_param``. So are those whose value a
        step would refuse, since the address of every query can be read back;
        but ``problems`` lists what is wrong with them until a step or
        ``extra_param`` replaces them.

        Any other address is a dashboard's. Two of a dashboard's own parameters
        are read: ``search=paths:…`` as a contains search, where the text is long
        enough for one, and ``period`` with ``count`` as the last days up to
        today, with a warning. A ``SiteStatsWarning`` names every other one,
        because the numbers are probably not filtered by it.

        Args:
            address: With ``https://`` or ``http://``.
            base_url: Where the service is, when that has a path of its own. The
                same host with ``dashboard.`` in front belongs to it.

        Raises:
            QueryError: It is no such address, the host name or the path breaks
                a rule, or a parameter can't be sent.

        >>> address = "https://stats.example.org/example.com/contact?country=NL"
        >>> StatsQuery.from_url(address)
        StatsQuery('example.com').path('/contact').where(country='NL')
        """
        query, problems = _read_address(address, base_url)
        for problem in problems:
            warn(str(problem))
        _warn_of_unlikely(query, None)
        return query

    # --- a value ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StatsQuery):
            return NotImplemented
        # What was not checked may be sent where a step would refuse the query.
        return self._key() == other._key() and self._unchecked == other._unchecked

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        from .repr import chain

        return chain(self.hostname, self._page_path, self._values, self._unchecked)

    def _key(self) -> tuple[object, ...]:
        sent, _ = with_days(self._values)
        return self.hostname, self._page_path, frozenset(sent.items())

    def _with(self, changes: Mapping[str, StoredDay | None]) -> StatsQuery:
        values = dict(self._values)
        for name, value in changes.items():
            if value is not None:
                values[name] = value
            elif name in _ALWAYS_SENT:
                values[name] = _ALWAYS_SENT[name]
            else:
                values.pop(name, None)
        unchecked = self._unchecked
        if unchecked:
            unchecked = {
                name: problems
                for name, problems in unchecked.items()
                if name not in changes
            }
            if not _PERIOD.isdisjoint(changes):
                unchecked = _without_order(unchecked)
        return _changed(self, values=values, unchecked=unchecked)


def _without_order(
    unchecked: Mapping[str, tuple[Problem, ...]],
) -> dict[str, tuple[Problem, ...]]:
    """Without the problem of a whole period, one end of which has changed."""
    return {
        name: tuple(found for found in problems if found.rule != "period-order")
        for name, problems in unchecked.items()
    }


def _fill(
    query: StatsQuery,
    hostname: str,
    page: str | None,
    values: Mapping[str, StoredDay],
    unchecked: Mapping[str, tuple[Problem, ...]],
) -> None:
    # A frozen class refuses assignment, also from its own constructor.
    put = object.__setattr__
    put(query, "hostname", hostname)
    put(query, "_page_path", page)
    put(query, "_values", values)
    put(query, "_unchecked", unchecked)


def _changed(
    query: StatsQuery,
    hostname: str = "",
    page: str = "",
    values: Mapping[str, StoredDay] | None = None,
    unchecked: Mapping[str, tuple[Problem, ...]] | None = None,
) -> StatsQuery:
    """A copy of *query* with these parts, which are not checked again."""
    changed = object.__new__(StatsQuery)
    _fill(
        changed,
        hostname or query.hostname,
        page or query._page_path,
        query._values if values is None else values,
        query._unchecked if unchecked is None else unchecked,
    )
    return changed


def _text(result: rules.TextOrProblems) -> str:
    if isinstance(result, str):
        return result
    raise QueryError(result)


def _day(value: object, where: str) -> StoredDay:
    stored = periods.day(value, where)
    if isinstance(stored, list):
        raise QueryError(stored)
    return stored


def _with_filters(query: StatsQuery, filters: Mapping[str, object]) -> StatsQuery:
    """*query* with these filters, without a warning."""
    problems: list[Problem] = []
    merged: dict[str, str | None] = {}
    for name, value in filters.items():
        if value is None and name in rules.FILTERS:
            merged[name] = None
            continue
        text = filter_rules.filter_value(name, value)
        if isinstance(text, str):
            merged[name] = text
        else:
            problems += text
    if problems:
        raise QueryError(problems)
    return query._with(merged)


def _with_metadata(
    query: StatsQuery, mapping: object, more: Mapping[str, object]
) -> StatsQuery:
    """*query* with these metadata filters, without a warning."""
    texts = filter_rules.metadata_texts(mapping, more)
    if isinstance(texts, list):
        raise QueryError(texts)
    return query._with(texts)


def _warn_of_unlikely(query: StatsQuery, before: StatsQuery | None) -> None:
    """Warn of unlikely values in *query* that *before* did not have."""
    old: Mapping[str, object] = {} if before is None else before._values
    for name, text in query._values.items():
        # An unchecked parameter has its problems already.
        if old.get(name) != text and name not in query._unchecked:
            for problem in filter_rules.unlikely(name, str(text)):
                warn(str(problem))


def requested(query: StatsQuery) -> Requested:
    """The parameters of *query* as they are sent, and their meaning."""
    return read_requested(
        query.hostname, query._page_path, query._values, query._unchecked
    )


def validated(query: StatsQuery, *, has_key: bool) -> Requested:
    """The parameters of *query* as they are sent, once every rule was checked.

    Raises:
        TypeError: It is no query; the message has what to write in its place.
        QueryError: Rules are broken; it holds every problem.
    """
    _check_query(query)
    found = requested(query)
    validation.validate(found, has_key=has_key)
    return found


def _check_query(given: object) -> None:
    if isinstance(given, StatsQuery):
        return
    website = rules.website(given)
    name = website if isinstance(website, str) else "example.com"
    raise TypeError(
        f"a query is a StatsQuery, not {shown(given)}: make one by "
        f"StatsQuery({name!r}).fields(…)"
    )


Against: TypeAlias = "Relation | str | int | date | Span | tuple[Day, Day] | StatsQuery"
"""The other period of a comparison: by its relation, by what ``during`` takes, by its
days, or as a query."""


def query_against(query: StatsQuery, other: Against) -> StatsQuery:
    """*query* for the period that it is compared with.

    Raises:
        QueryError: There is no such period.
    """
    _check_query(query)
    given: object = other
    if isinstance(given, StatsQuery):
        return given
    if isinstance(other, tuple) and len(other) == 2:  # noqa: PLR2004 - a pair
        return query.between(*other)
    from .previous import RELATIONS, no_relation

    if isinstance(given, str) and given in RELATIONS:
        return query.previous(RELATIONS[given])
    try:
        return query.during(cast("str", given))
    except QueryError as error:
        raise QueryError(no_relation(given, error.problems)) from None


def _of_each(query: StatsQuery, websites: object) -> tuple[StatsQuery, ...]:
    """*query* for each of the *websites*, in its time zone."""
    found = list[StatsQuery]()
    problems = list[Problem]()
    own = "timezone" in query._values
    for website in rules.websites(websites):
        hostname = rules.website(website)
        if isinstance(hostname, list):
            problems += hostname
            continue
        zone = None if own else getattr(website, "timezone", None)
        # A name that this machine does not know is left to the service.
        known = zone in zone_names() if isinstance(zone, str) else False
        of_zone = query._with({"timezone": str(zone)}) if known else query
        found.append(_changed(of_zone, hostname=hostname))
    if problems:
        raise QueryError(problems)
    return tuple(found)


def _split(query: StatsQuery, unit: object) -> Iterator[StatsQuery]:
    params = query.params()
    days = units.split(params.get("start"), params.get("end"), unit)
    return (query._with({"start": start, "end": end}) for start, end in days)


# --- addresses --------------------------------------------------------------------


def _read_address(
    address: object, base_url: str | BaseAddress | None
) -> tuple[StatsQuery, list[Problem]]:
    """Make a query of *address*, each parameter by its own step.

    The problems are those to warn of.
    """
    split = urls.split_address(address, base_url)
    page, params = split.page, dict(split.pairs)
    warned = urls.view_problems(split)
    if params.pop("callback", None) is not None:
        warned += urls.callback_problems()
    if not split.is_data:
        params, unclear = dashboards.documented_parameters(params, page)
        warned += unclear
    # Problems that make the address unreadable, and problems of its values.
    problems, found = urls.repeated_parameters(split.pairs), list[Problem]()
    # Until its host name is checked, so that all problems are reported.
    query = StatsQuery("example.com")
    try:
        query = StatsQuery(split.hostname)
    except QueryError as error:
        problems += error.problems
    if page is not None:
        try:
            query = query.path(page)
        except QueryError as error:
            problems += error.problems
    # The two ends of a period have one step.
    period = {name: text for name, text in params.items() if name in _PERIOD}
    groups = [{name: params[name]} for name in params if name not in _PERIOD]
    for group in (period, *groups):
        try:
            query = _with_params(query, group)
        except QueryError as error:
            found += error.problems
            try:
                query = _with_unchecked(query, group, error.problems)
            except QueryError as worse:
                problems += worse.problems
    if problems:
        raise QueryError(dict.fromkeys([*problems, *found]))
    return query, warned


def _with_unchecked(
    query: StatsQuery, params: Mapping[str, str], problems: tuple[Problem, ...]
) -> StatsQuery:
    for name, text in params.items():
        query = query.extra_param(name, text)
    unchecked = dict(query._unchecked)
    for name in params:
        # A problem of a whole period stands once, with its first parameter.
        other = _PERIOD - {name}
        unchecked[name] = tuple(
            found
            for found in problems
            if name not in _PERIOD or found.where not in other
        )
        problems = tuple(found for found in problems if found not in unchecked[name])
    return _changed(query, unchecked=unchecked)


def _with_params(query: StatsQuery, params: Mapping[str, str]) -> StatsQuery:
    """*query* with these parameters set by their own step, which checks them."""
    if params.keys() <= _PERIOD:
        return query.between(**params)
    ((name, text),) = params.items()
    if name in _STEPS:
        return _STEPS[name](query, text)
    if name in rules.FILTERS:
        return _with_filters(query, {name: text})
    if name.startswith(filter_rules.METADATA):
        return _with_metadata(
            query, {name.removeprefix(filter_rules.METADATA): text}, {}
        )
    return query.extra_param(name, text)


def _number(text: str) -> int:
    # The step refuses what is no number.
    return int(text) if _NUMBER.fullmatch(text) else cast("int", text)


def _flag(text: str) -> bool:
    return _FLAGS[text] if text in _FLAGS else cast("bool", text)


_STEPS: Final[Mapping[str, Callable[[StatsQuery, str], StatsQuery]]] = {
    "version": lambda query, text: query.version(_number(text)),
    "limit": lambda query, text: query.limit(_number(text)),
    "timezone": lambda query, text: query.timezone(text),
    "info": lambda query, text: query.info(_flag(text)),
    "interval": lambda query, text: query.interval(cast("Interval", text)),
    "fields": lambda query, text: query.fields(
        *cast("list[FieldName]", text.split(","))
    ),
    "events": lambda query, text: (
        query.all_events() if text == "*" else query.events(*text.split(","))
    ),
    "pages": lambda query, text: _with_filters(query, {"pages": text.split(",")}),
}
