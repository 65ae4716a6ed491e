"""``StatsQuery``: the query builder.

A query holds its parameters as the text that is sent. Every step returns a new
query and checks its own arguments; ``validate`` checks what spans steps.
"""
# ruff: noqa: SLF001 - the functions of this module belong to its class, whose
# public names are the users' alone

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from itertools import product
from typing import Any, Final, Generic, TypeAlias, Unpack, cast, final, overload

import attrs

from sitestats._base.errors import InvalidInputError, Problem
from sitestats._base.fields import FieldName, FieldsT, FieldsT_co, NameT
from sitestats._base.hostnames import BaseAddress
from sitestats._base.text import shown
from sitestats._base.zones import zone_names
from sitestats._public import explained
from sitestats._wire.cached import cached_property
from sitestats._wire.messages import JsonValue
from sitestats._wire.values import Value

from . import periods, rules, urls
from .crossing import (
    SeveralMetadata,
    SeveralValues,
    filters_of,
    metadata_of,
    websites_in,
)
from .parameters import (
    ALWAYS_SENT,
    PARAMETERS,
    Filters,
    checked_filter,
    checked_param,
    checked_params,
    in_order,
    parameter_of,
    warn_of_mistakes,
)
from .periods import Day, NamedPeriod, NumpyDay, PreviousUnit, Relation, Span, Unit
from .requested import Parameters, read_parameters
from .rules import METADATA, HasHostname, Interval, MetadataValue, Problems, refusal


@final
@explained()
@attrs.frozen(init=False, eq=False, repr=False)
class StatsQuery(Value, Generic[FieldsT_co]):
    """The query for one website: an immutable value, bound to no client.

    Each step returns a new query. A step for a single value replaces what an
    earlier call set; ``where`` and ``where_metadata`` merge by name. Two
    queries are equal when they send the same parameters.

    Every step checks its arguments at once and raises an ``InvalidInputError`` with
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
    _values: Mapping[str, str]
    _page: str | None = None
    _word: NamedPeriod | None = None
    """The period, where it is named as of a moment and has its days in a zone."""
    _zone: Mapping[str, str] = {}
    """The ``Website``'s zone as it is sent, for as long as ``timezone`` sets none."""
    _is_of_address: bool = False
    """Whether ``from_url`` made it, where nobody has called the steps."""

    def __init__(self, website: str | HasHostname) -> None:
        """Make a query for a website, by its host name or a ``Website`` (section 4.3).

        The query uses the time zone of a ``Website``, for this website alone.

        Raises:
            InvalidInputError: *website* is not a valid host name.
        """
        name, zone = rules.hostname(website), _zone_of(website)
        cast("Any", self).__attrs_init__(name, ALWAYS_SENT, zone=zone)

    @cached_property
    def _parameters(self) -> Parameters:
        return read_parameters(
            self.hostname,
            self._page,
            self._sent,
            self._word,
            is_of_address=self._is_of_address,
        )

    @property
    def _sent(self) -> Mapping[str, str]:
        return {**self._zone, **self._values}

    # --- fields and events ---

    @overload
    def fields(self, *names: NameT) -> StatsQuery[NameT]: ...

    # This signature serves completion, and calls where mypy infers too narrowly.
    @overload
    def fields(self, *names: FieldName) -> StatsQuery: ...  # type: ignore[overload-cannot-match]

    def fields(self, *names: FieldName) -> StatsQuery[Any]:
        """Request these fields, each once (section 4.3).

        Raises:
            InvalidInputError: A name is unknown or missing.

        >>> StatsQuery("example.com").fields("visitors", "pageviews")
        StatsQuery('example.com').fields('pageviews', 'visitors')
        """
        return self._with({"fields": rules.fields(names)})

    def events(self, *names: str) -> StatsQuery[FieldsT_co]:
        """Request the counts of the events with these names (section 4.3).

        Raises:
            InvalidInputError: A name is empty or has a comma or a ``*`` in it.
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
        ``"today-30d"``, or a ``datetime`` or ``numpy.datetime64`` at midnight without
        a time zone, as pandas has for a day. None leaves the day to the service: one
        month ago for *start*, today for *end* (section 8).

        Raises:
            InvalidInputError: A day is not valid, or the end is before the start.

        >>> StatsQuery("example.com").between("2026-03-01", "2026-03-31")
        StatsQuery('example.com').between('2026-03-01', '2026-03-31')
        """
        with Problems() as problems:
            first, last = (
                None if day is None else problems.check(periods.day, day, name)
                for name, day in (("start", start), ("end", end))
            )
            problems.extend(periods.order_problems(first, last))
        return self._during((first, last))

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
            days: How many days. They end yesterday.
            weeks: How many weeks before this one, from Monday to Sunday.
            months: How many calendar months before this one.
            today: Whether the days end today, which is not over yet.
            now: The present for weeks and months, as for ``during``.

        Raises:
            InvalidInputError: Not exactly one of days, weeks and months is given, or it
                is not an int from 1 to 99,999.

        >>> query = StatsQuery("example.com")
        >>> query.last(days=30).params()["end"]
        'yesterday'
        >>> from datetime import UTC, datetime
        >>> now = datetime(2026, 3, 5, tzinfo=UTC)
        >>> query.timezone("UTC").last(months=18, now=now).params()["start"]
        '2024-09-01'
        """
        return self._during(periods.last(days, today, weeks, months, now))

    def since(self, day: Day) -> StatsQuery[FieldsT_co]:
        """Set the period: the days from *day* to today (section 4.3).

        Raises:
            InvalidInputError: The day is not valid; see ``between``.
        """
        return self._during((periods.day(day, "since"), None))

    def on(self, day: Day) -> StatsQuery[FieldsT_co]:
        """Set the period: one day (section 4.3).

        Raises:
            InvalidInputError: The day is not valid; see ``between``.
        """
        text = periods.day(day, "on")
        return self._during((text, text))

    def during(
        self, period: str | int | date | Span | NumpyDay, *, now: datetime | None = None
    ) -> StatsQuery[FieldsT_co]:
        """Set the period: a year, quarter, month, week or day (section 4.3).

        Args:
            period: ``2026`` or ``"2026"``, ``"2026-Q1"``, ``"2026-03"``, ``"2026-W10"``
                (a week of ISO 8601, which begins on Monday), ``"2026-03-05"``, a
                ``date``, a ``pandas.Period`` of whole days, or a ``numpy.datetime64``
                of a day, month or year. Or a word:
                ``"last-week"``, ``"last-month"``, ``"last-quarter"`` or ``"last-year"``
                for the last whole one, and ``"this-week"`` and so on for this one until
                today. The query's time zone decides which days a word means.
            now: The present for a word: a datetime with a time zone. None reads this
                machine's clock at this call.

        Raises:
            InvalidInputError: The period is not valid.

        >>> StatsQuery("example.com").during("2026-Q1")
        StatsQuery('example.com').between('2026-01-01', '2026-03-31')
        >>> from datetime import UTC, datetime
        >>> now = datetime(2026, 3, 31, 23, tzinfo=UTC)
        >>> query = StatsQuery("example.com").during("last-month", now=now)
        >>> query.timezone("Asia/Tokyo").params()["end"]
        '2026-03-31'
        """
        return self._during(periods.period_of(period, now))

    def previous(self, unit: PreviousUnit) -> StatsQuery[FieldsT_co]:
        """Make the same query for an earlier period, to compare the two.

        ``client.stats.compare`` does so itself.

        Args:
            unit: ``"period"``, as many days just before; ``"week"``, as many days one
                week before, or more weeks if the period is longer; ``"month"`` or
                ``"quarter"``, as many whole ones just before; ``"year"``, the same days
                a year before, or 365 days before if the period has placeholders. For
                ``during("this-month")``, ``"period"`` and ``"month"`` are as many days
                from the beginning of the month before, and likewise for weeks and
                quarters; for ``during("this-year")``, the same dates.

        Raises:
            InvalidInputError: The unit is unknown; or the period is left to the
                service, is from a date to a placeholder, or is not whole months or
                quarters.

        >>> query = StatsQuery("example.com")
        >>> query.last(days=7).previous("period")
        StatsQuery('example.com').between('today-14d', 'today-8d')
        >>> query.during("2026-03").previous("month")
        StatsQuery('example.com').between('2026-02-01', '2026-02-28')
        """
        return _previous(self, unit, "previous")

    def pinned(
        self, *, timezone: str | None = None, now: datetime | None = None
    ) -> StatsQuery[FieldsT_co]:
        """Make a query for the same days, with dates in place of words.

        A start or end that is left to the service becomes its default: one month ago,
        or the last day of a shorter month, to today (section 8).

        Args:
            timezone: The website's zone, which decides which days words mean. If the
                query has a zone, that one is used.
            now: The present: a datetime with a time zone. None reads this machine's
                clock.

        Raises:
            InvalidInputError: The zone is missing, or a day of the period has another
                form.

        >>> from datetime import UTC, datetime
        >>> now = datetime(2026, 3, 31, 23, tzinfo=UTC)
        >>> query = StatsQuery("example.com").on("yesterday")
        >>> query.pinned(timezone="Asia/Tokyo", now=now)
        StatsQuery('example.com').on('2026-03-31')
        """
        if self._word is None and None not in map(periods.as_date, _days(self)):
            return self
        name = parameters_of(self).timezone
        if timezone is not None and name is None:
            name = periods.timezone(timezone, "pinned")
        if name is None:
            message = "words are days in a time zone: use .pinned(timezone=…)"
            raise refusal("period-zone", message, "pinned")
        start, end = _days(self._with({"timezone": name}))
        return self.between(*periods.pinned(start, end, name, now))

    def each(
        self,
        unit: Unit | None = None,
        *,
        websites: Iterable[str | HasHostname] | None = None,
        metadata: SeveralMetadata | None = None,
        **filters: SeveralValues,
    ) -> tuple[StatsQuery[FieldsT_co], ...]:
        """Make a query for each website, each value of filters, each part of the
        period, or for all combinations of these.

        The queries are in the order of the websites, then of the values, then of the
        days. Together they cover the period exactly, so the first and the last week,
        month, quarter or year may be cut. Weeks begin on Monday.

        The period needs dates; ``pinned`` turns words into dates. A period of
        placeholders can be split into days, which are placeholders again. They are
        right in the zone of every website if they are sent before midnight.

        Args:
            unit: ``"day"``, ``"week"``, ``"month"``, ``"quarter"`` or ``"year"``; None
                splits nothing.
            websites: Host names or websites, such as ``client.websites.list()``. A
                website's queries use its time zone, unless ``timezone`` set one.
            metadata: Values of metadata filters, by their keys: see
                ``where_metadata``.
            filters: Values of a filter of ``where``: texts, or the entries of the
                filter's list, such as ``country=stats.countries``. Each value is taken
                once. An entry that no filter can name, such as traffic without a
                country, is left out, with a ``SiteStatsWarning``.

        Raises:
            InvalidInputError: The unit or a filter is unknown, all arguments are
                missing, a host name or a value is not valid, or the period can't be
                split.

        >>> query = StatsQuery("example.com").between("2026-01-15", "2026-02-28")
        >>> for month in query.each("month"):
        ...     print(month)
        StatsQuery('example.com').between('2026-01-15', '2026-01-31')
        StatsQuery('example.com').between('2026-02-01', '2026-02-28')
        >>> websites = client.websites.list()
        >>> len(websites), len(query.each("month", websites=websites))
        (3, 6)
        >>> for one in query.each(country=["NL", "BE"], metadata={"plan": ["pro"]}):
        ...     print(one.params()["country"], one.params()["metadata.plan"])
        NL pro
        BE pro
        """
        wholes: list[StatsQuery[FieldsT_co] | None] = [self]
        with Problems() as problems:
            if websites is not None:
                # A str is one name, although it can be iterated, and so is a row.
                names = websites_in(websites)
                wholes = [problems.check(self.website, name) for name in names]
            dimensions = [
                *(problems.check(filters_of, *pair) for pair in filters.items()),
                *(
                    problems.check(metadata_of, *pair)
                    for pair in (metadata or {}).items()
                ),
            ]
        combinations = [*product(*(one for one in dimensions if one is not None))]
        queries = tuple(
            whole._with(dict(combination)) if combination else whole
            for whole in wholes
            if whole is not None
            for combination in combinations
        )
        if unit is None and (websites is not None or dimensions):
            return queries
        return tuple(
            whole._during(days)
            for whole in queries
            for days in periods.split(*_days(whole), unit)
        )

    def timezone(self, name: str) -> StatsQuery[FieldsT_co]:
        """Set the time zone of the days, in place of the website's (section 4.3).

        Raises:
            InvalidInputError: *name* is not in the tz database, or lacks its capitals.

        >>> StatsQuery("example.com").timezone("Europe/Amsterdam")
        StatsQuery('example.com').timezone('Europe/Amsterdam')
        """
        return self._with({"timezone": periods.timezone(name)})

    def interval(self, name: Interval) -> StatsQuery[FieldsT_co]:
        """Set the unit of the histogram's entries; by default a day (section 4.3).

        Raises:
            InvalidInputError: *name* is not hour, day, week, month or year.
        """
        return self._with({"interval": rules.interval(name)})

    # --- filters ---

    def where(self, /, **filters: Unpack[Filters]) -> StatsQuery[FieldsT_co]:
        """Count only what matches all of these filters (section 4.3).

        A ``*`` at the end of a value matches everything that starts with the rest. None
        removes a filter.

        Args:
            page: A single page, such as ``"/contact"``, or a contains search,
                ``"*…*"``.
            pages: One page or several, or a contains search.
            country: A country's code, such as ``"NL"``.
            referrer: A normalised referrer, such as ``"google"``.
            utm_source, utm_medium, utm_campaign, utm_content, utm_term: A
                campaign's parameter.
            browser_name: A browser, such as ``"Firefox"``.
            os_name: An operating system, such as ``"Android"``.
            device_type: ``"mobile"``, ``"tablet"``, ``"desktop"`` or ``"tv"``.

        Raises:
            InvalidInputError: A name is unknown, or a value breaks a rule.

        >>> query = StatsQuery("example.com").where(pages=["/blog*", "/docs*"])
        >>> query.params()["pages"]
        '/blog*,/docs*'
        """
        with Problems() as problems:
            changes = {
                name: problems.check(checked_filter, name, value)
                for name, value in cast("Mapping[str, object]", filters).items()
            }
        return self._filtered(changes)

    def where_metadata(
        self,
        mapping: Mapping[str, MetadataValue | None] | None = None,
        /,
        **more: MetadataValue | None,
    ) -> StatsQuery[FieldsT_co]:
        """Count only what has all of these metadata (section 4.3).

        Values match exactly. All of them match stored text. A number also matches a
        stored number, ``True`` and ``False`` a boolean, and a datetime with a time zone
        a date.

        Raises:
            InvalidInputError: A key has other characters than letters, digits and
                underscores, or a value has another type.

        >>> StatsQuery("example.com").where_metadata(plan="pro", seats=5)
        StatsQuery('example.com').where_metadata({'plan': 'pro', 'seats': '5'})
        """
        given = cast("object", mapping)
        if given is not None and not isinstance(given, Mapping):
            message = "name each key: .where_metadata(plan='pro')"
            raise refusal("metadata-key", message, "where_metadata")
        pairs = {**(mapping or {}), **more}.items()
        with Problems() as problems:
            checked = [problems.check(rules.metadata, *pair) for pair in pairs]
        return self._filtered(dict(filter(None, checked)))

    # --- the rest ---

    def limit(self, entries: int) -> StatsQuery[FieldsT_co]:
        """Set how many entries each list has at most, 1 to 1,000 (section 8).

        The default is 50. Events and the histogram are not cut.

        Raises:
            InvalidInputError: *entries* is not an int from 1 to 1,000.
        """
        return self._with({"limit": rules.limit(entries)})

    def path(self, page: str) -> StatsQuery[FieldsT_co]:
        """Request one page by its address (section 4.3).

        *page* is the decoded path, not percent-encoded. For the root page, or for
        several pages by a ``*``, use ``where(page=…)``.

        Raises:
            InvalidInputError: *page* does not start with a slash, is the root page, or
                has a ``*``, a dot segment or a control character.

        >>> query = StatsQuery("example.com").path("/over ons")
        >>> query.url("https://x.example").partition("?")[0]
        'https://x.example/example.com/over%20ons.json'
        """
        path = rules.path(page)
        warn_of_mistakes("page", path, "path")
        return _changed(self, page=path)

    def website(self, website: str | HasHostname) -> StatsQuery[FieldsT_co]:
        """Request the same of another website, by its host name or a ``Website``.

        Unless ``timezone`` set a zone, the query uses the zone of the ``Website``; for
        a host name, the service chooses it.

        Raises:
            InvalidInputError: *website* is not a valid host name.

        >>> StatsQuery("example.com").last(days=30).website("example.org")
        StatsQuery('example.org').last(days=30)
        """
        name, zone = rules.hostname(website), _zone_of(website)
        return _changed(self, self._values, self._word, zone, hostname=name)

    def version(self, number: int) -> StatsQuery:
        """Request another version of the format than the default (section 9).

        Raises:
            InvalidInputError: *number* is not an int from 1 to the latest version.
        """
        return self._with({"version": rules.version(number)})

    def info(self, *, wanted: bool = True) -> StatsQuery[FieldsT_co]:
        """Request a description of the fields, which is in ``Stats.raw`` (section 4.3).

        Args:
            wanted: False takes back what a query requested.

        Raises:
            InvalidInputError: *wanted* is neither True nor False.
        """
        return self._with({"info": rules.info(wanted)})

    def extra_param(
        self,
        name: str,
        value: str | bool | float | None,  # noqa: FBT001 - one kind of value of several
    ) -> StatsQuery:
        """Send a parameter without checking its value.

        Use it for parameters that the service's document does not have. The value
        replaces what a step set for that parameter; None removes it. The rules that
        span steps apply to it, too.

        Raises:
            InvalidInputError: The name is empty or ``callback``, or the value can't
                be sent.

        >>> query = StatsQuery("example.com").extra_param("start", "2026-W10")
        >>> query.params()["start"]
        '2026-W10'
        """
        key, where = rules.extra_name(name), f"extra_param({shown(name)}, …)"
        return self._with({key: None if value is None else rules.scalar(value, where)})

    # --- checking and sending ---

    def problems(self, has_key: bool | None = None) -> tuple[Problem, ...]:  # noqa: FBT001 - a fact about the client
        """Return every broken rule that spans steps.

        Args:
            has_key: Whether the client that sends the query has an API key. If it is
                not False, the rules that need a key are not checked.

        >>> [problem.rule for problem in StatsQuery("example.com").problems()]
        ['fields-or-events']
        """
        return _problems(self._parameters, has_key=has_key)

    def validate(self, has_key: bool | None = None) -> None:  # noqa: FBT001 - as above
        """Check the rules that span steps; see ``problems``.

        Raises:
            InvalidInputError: Rules are broken; ``problems`` of the error has all of
                them.
        """
        if problems := self.problems(has_key):
            raise InvalidInputError(problems)

    def params(self) -> dict[str, str]:
        """Return the parameters that are sent, without host name and path.

        Their order depends only on the parameters, so they make a stable cache
        key.

        Raises:
            InvalidInputError: The period is a word, and the time zone is missing.

        >>> StatsQuery("example.com").fields("visitors").version(5).params()
        {'version': '5', 'info': 'false', 'fields': 'visitors'}
        """
        parameters = parameters_of(self)
        if parameters.unresolved:
            raise InvalidInputError(parameters.unresolved)
        return dict(parameters.params)

    def url(self, base_url: str | BaseAddress) -> str:
        """Return the full address of the query's data (section 4.3).

        Raises:
            InvalidInputError: *base_url* is not valid; or the period is a word, and the
                time zone is missing.

        >>> StatsQuery("example.com").version(5).url("https://stats.example.org")
        'https://stats.example.org/example.com.json?version=5&info=false'
        """
        self.params()
        return f"{urls.parse_base(base_url, 'url')}{parameters_of(self).request.target}"

    @classmethod
    def from_url(
        cls, address: str, base_url: str | BaseAddress | None = None
    ) -> StatsQuery:
        """Read a query from the address of a dashboard or of its data.

        An address that ends in ``.json`` is an address of data. ``version`` and
        ``info`` have their defaults unless the address has another value. (For an
        address without a version, the service itself uses version 1, section 9.)
        Parameters that the document does not have are sent, as with ``extra_param``.
        Any other address belongs to a dashboard, and can have only documented
        parameters.

        Args:
            address: With ``https://`` or ``http://``.
            base_url: The service's base address, if it has a path of its own.

        Raises:
            InvalidInputError: *address* is not an address of the service, or parts of
                it break rules; ``problems`` of the error has all of them.

        >>> address = "https://stats.example.org/example.com/contact?country=NL"
        >>> StatsQuery.from_url(address)
        StatsQuery('example.com').path('/contact').where(country='NL')
        """
        hostname, page, params = urls.read_address(address, base_url)
        query = _changed(StatsQuery(hostname)._filtered(params), page=page)
        object.__setattr__(query, "_is_of_address", True)
        return query

    # --- a value ---

    def to_dict(self) -> dict[str, JsonValue]:
        """The query as plain values, ready for JSON: the host name, the ``page`` of the
        address, and the ``parameters`` as they are sent.

        ``period`` is a period by its name, whose days depend on the time zone, and
        ``website_timezone`` is the zone of the ``Website`` that the query was made
        from. Both are None for other queries.

        >>> query = StatsQuery("example.com").fields("visitors").limit(5)
        >>> query.to_dict()["parameters"]["limit"]
        '5'
        """
        word = self._word
        return {
            "hostname": self.hostname,
            "page": self._page,
            "parameters": dict(parameters_of(self).params),
            "period": None if word is None else word.to_dict(),
            "website_timezone": self._zone.get("timezone"),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, JsonValue]) -> StatsQuery:
        """Read a query from the values of ``to_dict``.

        Raises:
            InvalidInputError: A value breaks a rule; ``problems`` of the error has all
                of them.

        >>> query = StatsQuery("example.com").fields("visitors").limit(5)
        >>> StatsQuery.from_dict(query.to_dict()) == query
        True
        """
        given: Mapping[str, Any] = values
        try:
            with Problems() as problems:
                params = checked_params(given["parameters"].items(), problems)
                hostname = problems.check(rules.hostname, given["hostname"])
                for name, rule in _RULES.items():
                    if given.get(name) is not None:
                        problems.check(rule, given[name])
            # Without another part, the query would be about more than was meant.
            if given.keys() <= {"hostname", "parameters", *_RULES}:
                return _restored({**given, "hostname": hostname, "parameters": params})
        except InvalidInputError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError):
            pass
        message = "give what StatsQuery.to_dict() returned"
        raise refusal("address", message, "from_dict")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StatsQuery):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[type[PickledQuery], tuple[str]]:
        # One text: caches compare pickles, and equal objects make unlike pickles if
        # one of them has an object twice.
        import json

        return PickledQuery, (json.dumps(self.to_dict()),)

    def __repr__(self) -> str:
        return _code(self)

    @property
    def _key(self) -> tuple[object, ...]:
        parameters = parameters_of(self)
        params, word = parameters.params.items(), parameters.unresolved and self._word
        return self.hostname, self._page, frozenset(params), word

    def _with(
        self, changes: Mapping[str, str | None], word: NamedPeriod | None = None
    ) -> StatsQuery[FieldsT_co]:
        given = {**self._values, **changes}.items()
        values = {**ALWAYS_SENT, **{n: v for n, v in given if v is not None}}
        keeps_period = "start" not in changes and "end" not in changes
        zone: Mapping[str, str] = {} if "timezone" in changes else self._zone
        return _changed(self, values, self._word if keeps_period else word, zone)

    def _during(
        self, period: tuple[str | None, str | None] | NamedPeriod
    ) -> StatsQuery[FieldsT_co]:
        if isinstance(period, NamedPeriod):
            return self._with({"start": None, "end": None}, period)
        return self._with({"start": period[0], "end": period[1]})

    def _filtered(self, changes: Mapping[str, str | None]) -> StatsQuery[FieldsT_co]:
        """Return a copy with *changes*, and warn of each that is probably a mistake."""
        for name, value in changes.items():
            if value is not None and value != self._values.get(name):
                warn_of_mistakes(name, value)
        return self._with(changes)


def _changed(
    query: StatsQuery[FieldsT],
    values: Mapping[str, str] | None = None,
    word: NamedPeriod | None = None,
    zone: Mapping[str, str] | None = None,
    *,
    hostname: str | None = None,
    page: str | None = None,
) -> StatsQuery[FieldsT]:
    """A copy of *query* with these parts, which are not checked again."""
    changed: Any = object.__new__(StatsQuery)
    changed.__attrs_init__(
        hostname or query.hostname,
        query._values if values is None else values,
        page or query._page,
        query._word if values is None else word,
        query._zone if zone is None else zone,
        query._is_of_address,
    )
    return cast("StatsQuery[FieldsT]", changed)


_RULES: Final[Mapping[str, Callable[[Any], object]]] = {
    "page": rules.path,
    "period": NamedPeriod.from_dict,
    "website_timezone": periods.timezone,
}
"""The rules of what the JSON of a query may lack, by name."""


class PickledQuery:
    """What makes a query of its pickle; a class, as Streamlit hashes no function."""

    def __new__(cls, text: str) -> Any:
        """Make the query that had this text."""
        import json

        return _restored(json.loads(text))


def _restored(values: Mapping[str, Any]) -> StatsQuery:
    """The query of what ``to_dict`` made, whose parts are not checked again."""
    period, zone = values.get("period"), values.get("website_timezone")
    word, of_website = None, dict[str, str]()
    texts = {**values["parameters"]}
    if period is not None:
        now = periods.moment_of(datetime.fromisoformat(period["now"]))
        word = NamedPeriod(period["unit"], period["count"], now)
        # They are its days.
        texts.pop("start", None)
        texts.pop("end", None)
    if zone is not None:
        of_website["timezone"] = texts.pop("timezone", zone)
    empty = StatsQuery(values["hostname"])
    return _changed(empty, texts, word, of_website, page=values.get("page"))


def _zone_of(website: object) -> Mapping[str, str]:
    """The parameter of the website's time zone; nothing leaves it to the service."""
    zone = getattr(website, "timezone", None)
    # This machine may not know the zone's name.
    return {"timezone": zone} if isinstance(zone, str) and zone in zone_names() else {}


def parameters_of(query: StatsQuery) -> Parameters:
    """The parameters of *query* as they are sent, and their meaning."""
    return query._parameters


def validated(query: StatsQuery, *, has_key: bool) -> Parameters:
    """The parameters of *query* as they are sent, once every rule was checked.

    Raises:
        InvalidInputError: Rules are broken, or it is not a query; it holds every
            problem.
    """
    check_query(query)
    if problems := _problems(query._parameters, has_key=has_key):
        raise InvalidInputError(problems)
    return query._parameters


def _problems(parameters: Parameters, *, has_key: bool | None) -> tuple[Problem, ...]:
    needed = parameters.key_problems if has_key is False else ()
    return parameters.problems + needed


def queries_in(given: Any, where: str = "queries", *, is_awaited: bool = False) -> Any:
    """*given*, which has many queries.

    Raises:
        InvalidInputError: It can't have any; the message says what to give.
    """
    if isinstance(given, StatsQuery):
        message = "they are many: call get(query), or get_many([query])"
        raise InvalidInputError([Problem(message, where=where)])
    # A row of a frame, and a result, can be iterated, and have a host name.
    is_one = isinstance(given, str) or hasattr(given, "hostname")
    is_many = hasattr(given, "__iter__") and not is_one
    if not is_many and not (is_awaited and hasattr(given, "__aiter__")):
        check_query(given, where)
    return given


def check_query(given: object, where: str = "query") -> None:
    """Check that *given* is a query.

    Raises:
        InvalidInputError: It is not; the message says how to make one.
    """
    if isinstance(given, StatsQuery):
        return
    advice = (
        "make one by StatsQuery('example.com').fields(…), and one for each website by "
        "query.each(websites=…)"
    )
    if isinstance(given, list | tuple):
        advice = "for many, use client.stats.get_many(queries).collect()"
    message = f"a query is a StatsQuery, not {shown(cast('Any', given))}: {advice}"
    raise InvalidInputError([Problem(message, where=where)])


Against: TypeAlias = (
    Relation | str | int | date | Span | NumpyDay | tuple[Day, Day] | StatsQuery
)
"""The other period of a comparison: by its relation, by what ``during`` takes, by its
days, or as a query."""


def query_against(query: StatsQuery[FieldsT], other: Against) -> StatsQuery[FieldsT]:
    """*query* for the period that it is compared with.

    Raises:
        InvalidInputError: *other* is not a period, or the one before is not known.
    """
    check_query(query)
    if isinstance(other, StatsQuery):
        return other
    if isinstance(other, tuple) and len(other) == 2:  # noqa: PLR2004 - a pair
        return query.between(*other)
    if isinstance(other, str) and other in periods.RELATIONS:
        return _previous(query, periods.RELATIONS[other], "against")
    word = query._word
    if word is not None and not word.count and other == f"last-{word.unit}":
        return _previous(query, "period", "against")
    return query._during(periods.period_of(other, None, "against"))


def _previous(query: StatsQuery[FieldsT], unit: str, where: str) -> StatsQuery[FieldsT]:
    word = query._word
    if word is not None and not word.count and unit in {"period", word.unit}:
        return query.between(*word.days_before(parameters_of(query).timezone))
    return query.between(*periods.previous(unit, *_days(query), where))


def _days(query: StatsQuery) -> tuple[str | None, str | None]:
    params = query.params()
    return params.get("start"), params.get("end")


# --- the repr ------------------------------------------------------------------------


_STEPS: Final = (
    "fields",
    "events",
    "between",
    "timezone",
    "where",
    "where_metadata",
    "interval",
    "limit",
    "version",
    "info",
)
"""The steps that set parameters, in the order in which a repr has them."""


def _code(query: StatsQuery) -> str:
    """The call of the constructor and of each step, as Python would read it."""
    values, word = query._sent, query._word
    texts: defaultdict[str, dict[str, str]] = defaultdict(dict)
    steps = [f"StatsQuery({query.hostname!r})"]
    extra: list[str] = []
    for name in in_order(values):
        row, text = parameter_of(name), values[name]
        if row is None or not _is_of_step(name, text):
            extra.append(f"extra_param({name!r}, {text!r})")
        elif text != row.always:
            texts[row.step][name] = text
    if query._page is not None:
        steps.append(f"path({query._page!r})")
    codes = {step: _step(step, given) for step, given in texts.items()}
    if word is not None:
        codes["between"] = f"{word.step[0]}({word.step[1]}, now={word.now!r})"
    steps += [codes[step] for step in _STEPS if step in codes]
    return ".".join([*steps, *sorted(extra)])


def _step(step: str, texts: Mapping[str, str]) -> str:
    """The call of a step that sets the parameters to these *texts*."""
    if step == "between":
        return _period(texts.get("start"), texts.get("end"))
    if step == "where_metadata":
        keys = {name.removeprefix(METADATA): text for name, text in texts.items()}
        return f"where_metadata({keys!r})"
    if texts.get("events") == "*":
        return "all_events()"
    if step == "info":
        # What is not sent by default is that of the step.
        return "info()"
    given = {name: PARAMETERS[name].read(text) for name, text in texts.items()}
    if step == "where":
        return f"where({', '.join(f'{name}={one!r}' for name, one in given.items())})"
    (argument,) = given.values()
    is_several = isinstance(argument, tuple)
    several = cast("tuple[object, ...]", argument if is_several else (argument,))
    return f"{step}({', '.join(map(repr, several))})"


def _is_of_step(name: str, text: str) -> bool:
    """Whether a step can have set the parameter, and not ``extra_param`` alone."""
    try:
        return checked_param(name, text) == text
    except InvalidInputError:
        return False


def _period(start: str | None, end: str | None) -> str:
    if start == end:
        return f"on({start!r})"
    if end is None:
        return f"since({start!r})"
    # The same days may have another text, and the longest period has no step.
    today = end == "today"
    days = (periods.days_back(start) or 0) + today
    if 0 < days <= periods.MOST_DAYS and periods.last(days, today) == (start, end):
        return f"last(days={days}, today=True)" if today else f"last(days={days})"
    return f"between({start!r}, {end!r})"
