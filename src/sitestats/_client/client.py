"""Sync client: runs the sans-I/O operations."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Never, Self, overload

from sitestats._base.fields import FieldsT
from sitestats._base.progress import Progress
from sitestats._protocol import operations
from sitestats._protocol.flow import Moment
from sitestats._public import explained, wrong_arguments
from sitestats._query.builder import Against, StatsQuery
from sitestats._results.stats import Stats
from sitestats._results.websites import AddedWebsite, WebsiteList
from sitestats._wire.cached import cached_property
from sitestats._wire.messages import JsonValue

from . import late
from .base import API, BaseClient
from .runner import Runner

if TYPE_CHECKING:
    import httpx  # noqa: F401 - the base class names it


@explained()
class WebsitesAPI(API[Runner]):
    """The Admin API: ``client.websites`` (sections 4.1 and 4.2)."""

    def list(self) -> WebsiteList:
        """List every website of the user (section 4.1).

        Returns:
            The websites in the service's order, with estimates of page views and events
            per 30 days. A notebook shows them as a table; ``to_pandas`` and similar
            methods make a frame of them.

        Raises:
            ConfigurationError: The client has no API key or no user ID.
            StatusError: The service returned an error response; see its subclasses.
            TransportError: No complete response arrived, even after all retries.
            InvalidResponseError: The response does not match the service's document.

        Example:
            >>> [website.hostname for website in client.websites.list()][:2]
            ['semicomplete.com', 'blog.semicomplete.com']
        """
        return self._runner.run(operations.list_websites(self._session))

    def add(
        self,
        hostname: str,
        *,
        timezone: str | None = None,
        public: bool = False,
        label: str | None = None,
    ) -> AddedWebsite:
        """Add a website to the user's default team (section 4.2).

        Adding can cost money and can't be undone, so the request is sent once. If a
        failure leaves it unknown whether the website was added, look at ``list()``, or
        use ``ensure``, which does so itself.

        Args:
            hostname: Such as ``"example.com"``.
            timezone: A name of the tz database, with its capitals. None leaves it to
                the service, which uses UTC.
            public: Whether everybody may see the statistics.
            label: Any text.

        Returns:
            The website as the service added it. Differences from the arguments, and
            what can't be read, cause a ``SiteStatsWarning``.

        Raises:
            InvalidInputError: A value breaks a rule. No request is sent.
            ConfigurationError: The client has no API key or no user ID, or is
                read-only.
            StatusError: The service returned an error response; see its subclasses.
            TransportError: No complete response arrived; ``maybe_sent`` tells
                whether the website may exist now.
            InvalidResponseError: The response does not match the service's document.

        Example:
            >>> client.websites.add("shop.example.com", timezone="Asia/Tokyo").timezone
            'Asia/Tokyo'
        """
        return self._runner.run(
            operations.add_website(
                self._session, hostname, timezone=timezone, public=public, label=label
            )
        )

    def plan(self, specs: Iterable[late.WebsiteSpec | str]) -> late.ProvisioningPlan:
        """Show what ``ensure`` would do, by the list of websites (section 4.1).

        Args:
            specs: The websites that should exist, as specifications or host names;
                ``WebsiteSpec.load`` reads them from a file.

        Returns:
            The websites to add, those that exist, and those that exist but differ.

        Raises:
            InvalidInputError: A host name is not valid, or is given twice. No request
                is sent.
            SiteStatsError: The list can't be read; see ``list``.

        Example:
            >>> from sitestats import WebsiteSpec
            >>> plan = client.websites.plan([WebsiteSpec("new.example")])
            >>> print(plan)
            1 website: 1 to add
            to add     new.example  UTC, private
        """
        from sitestats.provisioning._report import plan_websites
        from sitestats.provisioning._specs import as_specs

        return plan_websites(as_specs(specs), self.list())

    def ensure(
        self,
        specs: Iterable[late.WebsiteSpec | str],
        *,
        journal: str | os.PathLike[str] | None = None,
        progress: Progress = None,
        interrupted: Callable[[late.ProvisioningReport], object] | None = None,
    ) -> late.ProvisioningReport:
        """Add the missing websites of *specs*, one at a time (section 4.2).

        A run sends no website twice. If a failure leaves it unknown whether a website
        was added, the run reads the list again. An error response that every website
        would get (credentials, role, plan) ends the run; an error of a single website
        does not. ``total_timeout`` applies to each request.

        The run writes each website to a journal before it sends the request. The
        journal is a file in the user's state folder, one for each account, and its lock
        excludes other runs on this machine. After an interruption, even a power cut,
        the next run waits for a request that may still be in progress, up to its
        ``total_timeout``, and then adds the website only if the list does not show it.

        Args:
            specs: The websites that should exist, as specifications or host names;
                ``WebsiteSpec.load`` reads them from a file.
            journal: The path of a second journal, for machines whose state folder does
                not last or can't be written.
            progress: True shows a bar in a terminal or a notebook, and a line every
                ten seconds in a log; a function is called with ``(done, total)``.
            interrupted: Called with the report so far if the run is interrupted by a
                ``KeyboardInterrupt``, a cancellation, or another exception that is not
                a ``SiteStatsError``. The exception is raised afterwards. A website
                whose request was in progress is ``unknown``.

        Returns:
            The outcome of every website, in the given order.

        Raises:
            InvalidInputError: A host name is not valid, or is given twice; or a journal
                is damaged, or is another file or for another service; it is not
                changed.
            ReadOnlyError: The client is read-only.
            BusyError: Another run uses the account or the journal.
            ConfigurationError: No journal is given, and the state folder can't be
                written.
            OSError: The journal can't be opened.
            SiteStatsError: The list can't be read. No website is added.

        Example:
            >>> from sitestats import WebsiteSpec
            >>> specs = [
            ...     WebsiteSpec("b.example", public=True),
            ...     WebsiteSpec("c.example"),
            ... ]
            >>> print(client.websites.ensure(specs))
            2 websites: 2 added
            added      b.example
            added      c.example
        """
        from sitestats.provisioning._run import open_run

        session = self._session
        with open_run(session, specs, journal, progress, interrupted) as events:
            return self._runner.run(events.flow(), events.handle)


@explained("get_many", "compare", "get_jsonp")
class StatsAPI(API[Runner]):
    """The Stats API: ``client.stats`` (section 4.3)."""

    def get(  # noqa: D417 - more arguments are an error
        self,
        query: StatsQuery[FieldsT],
        *more: Never,
        fresh: bool = False,
        **others: Never,
    ) -> Stats[FieldsT]:
        """Request the statistics of one website or one page (section 4.3).

        Args:
            query: The query; it is checked against every rule of the document first.
            fresh: Whether to send the request even if the client's store has the
                response.

        Returns:
            What was requested, typed. A field that was not requested raises
            ``FieldNotRequestedError`` when it is read.

        Raises:
            InvalidInputError: The query breaks a rule. No request is sent.
            StatusError: The service returned an error response; see its subclasses.
            TransportError: No complete response arrived, even after all retries.
            InvalidResponseError: The response does not match the service's document.

        Example:
            >>> query = StatsQuery("semicomplete.com").fields("pageviews").last(days=4)
            >>> client.stats.get(query).pageviews
            1586
        """
        if more or others:
            raise wrong_arguments(type(self), "get", more, others)
        clock = self._runner.clock or time.time
        started = Moment(time.monotonic(), clock())
        return self._runner.run(
            operations.get_stats(self._session, query, started, fresh=fresh)
        )

    @overload
    def compare(
        self,
        query: StatsQuery[FieldsT],
        against: Against = ...,
        *,
        concurrency: int = ...,
        progress: Progress = ...,
        deadline: float | None = ...,
        fresh: bool = ...,
    ) -> late.Comparison[FieldsT]: ...

    @overload
    def compare(
        self,
        query: Iterable[StatsQuery],
        against: Against = ...,
        *,
        concurrency: int = ...,
        progress: Progress = ...,
        deadline: float | None = ...,
        fresh: bool = ...,
    ) -> late.Comparisons: ...

    def compare(
        self,
        query: StatsQuery | Iterable[StatsQuery],
        against: Against = "previous-period",
        *,
        concurrency: int = 20,
        progress: Progress = None,
        deadline: float | None = None,
        fresh: bool = False,
    ) -> late.Comparison | late.Comparisons:
        """Compare a period with another one, by two requests at once for each query.

        Args:
            query: The query for the period of interest, or many of them, which are
                compared one by one.
            against: ``"previous-period"``, as many days just before;
                ``"previous-week"``, the same weekdays one week before, or more weeks if
                the period is longer; ``"previous-month"``, as many whole months just
                before; ``"previous-quarter"``, as many whole quarters;
                ``"previous-year"``, the same days a year before; what
                ``StatsQuery.during`` takes, such as ``"2025-03"``; a pair of days; or a
                query. With ``during("this-month")``, the earlier period is as many days
                from the beginning of the month before, and with ``during("this-year")``
                it has the same dates. Placeholders stay placeholders, so both periods
                are in the same zone.
            concurrency: How many requests are in progress at once; see ``get_many``.
            progress: As for ``get_many``. It counts requests, two for each query.
            deadline: Seconds for all requests, or None for no limit. A query without
                both responses by then fails with a ``RequestTimeoutError``.
            fresh: As for ``get``.

        Returns:
            Totals and lists of both periods, with their changes, absolute and in
            percent. Many queries become a table, frames and a plot; a query that failed
            has its error there. Periods that share days, or whose lengths differ by
            more than months do, get a ``SiteStatsWarning``.

        Raises:
            InvalidInputError: The query breaks a rule, or its period is not known. No
                request is sent.
            ConfigurationError: *concurrency*, *progress* or *deadline* is wrong.
            StatusError: The service returned an error response; see its subclasses.
            TransportError: No complete response arrived, even after all retries.
            InvalidResponseError: The response does not match the service's document.

        Example:
            >>> query = StatsQuery("semicomplete.com").fields("visitors").last(days=2)
            >>> client.stats.compare(query).totals["visitors"].before
            414
            >>> both = [query, query.website("blog.semicomplete.com")]
            >>> [one.totals["visitors"].before for one in client.stats.compare(both)]
            [414, 123]
        """
        pairs = operations.pairs_to_compare(self._session, query, against)
        stream = self.get_many(
            [*chain.from_iterable(pairs)],
            concurrency=concurrency,
            progress=progress,
            deadline=deadline,
            fresh=fresh,
        )
        # Few programs compare.
        from sitestats._comparison.comparisons import compare_pairs

        return compare_pairs(stream.collect(), query)

    def get_many(
        self,
        queries: Iterable[StatsQuery[FieldsT]],
        *,
        concurrency: int = 20,
        progress: Progress = None,
        deadline: float | None = None,
        fresh: bool = False,
        in_order: bool = False,
    ) -> late.OutcomeStream[FieldsT]:
        """Request the statistics of many queries at once (section 4.3).

        The outcomes come in the order of completion, each with its ``query``,
        its ``index`` among the queries, and either ``stats`` or ``error``;
        ``result()`` returns the one or raises the other. A query that fails does not
        affect the others: its outcome has the error that ``get`` would raise, or an
        ``UnexpectedError`` because of a hook or a warning.

        Without a block, ``get_many(…).collect()`` returns all outcomes, in the order of
        the queries, for frames, tables and comparisons.

        Leaving the block stops the requests in progress. After a 429 with a
        ``Retry-After``, all requests of the client wait; if a contains search got it,
        only contains searches wait. The time of a query begins when the pause is over.

        Args:
            queries: Any iterable. It is read as the outcomes are
                taken, so it may be endless.
            concurrency: How many requests are in progress at once, at most the
                client's ``max_connections``. The default hides the service's latency
                without much load on it.
            progress: True shows a bar in a terminal or a notebook, and a line every
                ten seconds in a log; a function is called with ``(done, total)``
                after each outcome. The total is None if *queries* has no length.
            deadline: Seconds for the whole block, or None for no limit. A query that
                has no response by then is a ``Failed`` with a
                ``RequestTimeoutError``, like all that follow.
            fresh: As for ``get``.
            in_order: Whether the outcomes come in the order of the queries. At most
                five times *concurrency* queries are taken before an outcome is
                returned.

        Raises:
            TypeError: *queries* is not an iterable.
            InvalidInputError: One of them is not a query.
            ConfigurationError: *concurrency*, *progress* or *deadline* is wrong, or
                the outcomes are used outside of the block.

        Example:
            >>> query = StatsQuery("semicomplete.com").fields("pageviews").last(days=4)
            >>> queries = [query, query.path("/nowhere")]
            >>> with client.stats.get_many(queries) as stream:
            ...     sum(outcome.result().pageviews for outcome in stream)
            1586
        """
        # A program that only asks one query at a time needs no threads and tasks.
        from .get_many import OutcomeStream, StreamOptions

        return OutcomeStream(
            self._runner,
            queries,
            StreamOptions(concurrency, progress, deadline, fresh, in_order),
        )

    def get_jsonp(self, query: StatsQuery, *, callback: str) -> str:
        """Request statistics wrapped for JSONP (section 4.3, ``callback``).

        Args:
            query: The query.
            callback: The function's name: dotted JavaScript identifiers.

        Returns:
            The text as the service sent it: a script, not data.

        Raises:
            InvalidInputError: The query breaks a rule. No request is sent.
            InvalidInputError: The callback's name is not valid. No request is sent.
            StatusError: The service returned an error response; see its subclasses.
            TransportError: No complete response arrived, even after all retries.
            InvalidResponseError: The response is not a call of *callback*.

        Example:
            >>> query = StatsQuery("semicomplete.com").fields("pageviews")
            >>> client.stats.get_jsonp(query, callback="show").startswith("show(")
            True
        """
        return self._runner.run(operations.get_jsonp(self._session, query, callback))


@explained("check", "request")
class Client(BaseClient["httpx.Client", Runner]):
    """A blocking client of the service.

    Threads may share one. It opens up to ``max_connections`` connections, and a call
    waits for a free one.

    Args:
        base_url: The service's address; by default ``SITESTATS_BASE_URL``.
        api_key: The key, sent only to the origin of *base_url*. By default
            ``SITESTATS_API_KEY``, or the content of ``SITESTATS_API_KEY_FILE``, if
            *base_url* is from the environment, too. None sends no key.
        user_id: The user ID, which the Admin API needs; by default
            ``SITESTATS_USER_ID``, as for the key. None sends none.
        timeout: Seconds for connecting and for each read.
        total_timeout: Seconds for a call with its retries, its pauses and the wait for
            a connection.
        retries: How often a request that reads is retried, or a ``RetryPolicy``.
        max_connections: How many requests can be in progress at once.
        read_only: Whether to refuse every write before it is sent.
            ``SITESTATS_READ_ONLY=1`` does so for every client, and False does not
            overrule it.
        proxy: The address of a proxy; by default, ``HTTPS_PROXY``, ``NO_PROXY`` …
            in the environment decide. None uses no proxy.
        verify: True to check certificates, a path to a bundle of CA
            certificates, or an ``ssl.SSLContext``. With False, anyone on the network
            path can read the key.
        headers: Headers to add to every request, for a gateway. They can't replace
            the client's headers; a ``User-Agent`` is put before its own.
        store: A path, a ``Store`` or a ``KeyValueStore`` of your own, for responses
            about past days, which are then requested once.
        http_client: Your own ``httpx.Client``, which sends the requests with its hooks,
            mounts and authentication. You close it yourself.

    Raises:
        ConfigurationError: The base address is missing, or a value is wrong.

    Example:
        >>> Client("https://analytics.example", api_key="…a key…")
        Traceback (most recent call last):
        sitestats.ConfigurationError: api_key is not usable: ...
    """

    _is_awaited = False

    @cached_property
    def websites(self) -> WebsitesAPI:
        """The Admin API (sections 4.1 and 4.2)."""
        return WebsitesAPI(self._runner)

    @cached_property
    def stats(self) -> StatsAPI:
        """The Stats API (section 4.3)."""
        return StatsAPI(self._runner)

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | bool | float | None] | None = None,
        json: JsonValue = None,
    ) -> JsonValue:
        """Call a custom endpoint (section 1), with both credentials.

        Args:
            method: Such as ``"GET"``, the only one that is retried.
            path: Below the base address, with a leading slash.
            params: Query parameters, not yet encoded; one that is None is left out.
            json: The body; None sends none.

        Returns:
            The decoded JSON of a successful response. It is None for 204, for HEAD, and
            for an empty response to another method than GET.

        Raises:
            InvalidInputError: The path is not below the base address, or a value
                can't be sent.
            ConfigurationError: Credentials are missing, or the client is
                read-only and the method is not GET.
            StatusError: The service returned an error response; see its subclasses.
            TransportError: No complete response arrived, even after all retries.
            InvalidResponseError: The response is not JSON.

        Example:
            >>> client.request("GET", "/api/websites")["success"]
            True
        """
        return self._runner.run(
            operations.request_json(
                self._session, method, path, params=params, json=json
            )
        )

    def check(self, hostname: str | None = None) -> late.SetupReport:
        """Check whether the set-up works, by a few requests that read.

        Args:
            hostname: A website that the key has to read; without a user ID, a private
                one checks the key.

        Returns:
            Rows for the base address and the credentials, each with its source, for the
            connection, and for whether the service accepts the credentials. A failure
            is a row, too.

        Raises:
            InvalidInputError: *hostname* is not a valid host name. No request is sent.

        Example:
            >>> client.check().ok
            True
        """
        from sitestats._protocol.check_setup import check_setup

        return self._runner.run(check_setup(self._session, hostname))

    def close(self) -> None:
        """Close the connections: idle ones now, others after their request.

        A request in progress is not interrupted. New calls, calls that wait for a
        connection, and retries raise a ``ClientClosedError``. If the client has copies
        that are open, see ``with_options``, the connections stay open for them.
        """
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc_info: object) -> None:
        self.close()
