"""The class ``Emulator``: websites, data, clients, simulated failures.

Apart from the pytest plugin, only this module of the emulator imports the clients.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any, Final, Self, TypeVar, cast
from uuid import uuid4
from weakref import WeakSet

import attrs

import sitestats
from sitestats._wire.messages import HttpResponse

from . import _control, _traffic
from ._access import Website, host_name
from ._delivery import EmulatorTransport, client_of
from ._faults import NO_FAULT, Fault, sent_body, sent_headers
from ._http import HOST, RecordedRequest
from ._loading import Loaded, read
from ._periods import DAY
from ._rows import Rows
from ._service import Service
from ._settings import check_credential, check_host, check_names, check_whole

ClientT = TypeVar("ClientT", sitestats.Client, sitestats.AsyncClient)

BASE_URL: Final = "https://emulator.test"
"""The base address of clients without a socket."""
_LOG: Final = logging.getLogger("sitestats_emulator")
"""Its name is not below ``sitestats``, the logger of clients."""
_MOST_RECORDED: Final = 10_000
"""The most recorded requests; the oldest are dropped."""
_MOST_BESIDE: Final = 200
"""The most emulators that a program can start beside one, each with a thread."""
_MOST_WEBSITES: Final = 10_000
_MOST_DAYS: Final = 36_500
_SETTINGS: Final = [field.name for field in attrs.fields(Website)][1:]
"""The settings of a website, without its host name."""


class Emulator:
    """A local service, for experiments and tests.

    It responds as the service's document says, from the page views and events
    that you load. It shares no code with the client that computes or checks.

    Where the document is silent, it does what the hosted service was observed to do.
    Otherwise, it follows these rules:

    - The status is 401 for a wrong key, and for a private website without a key. It is
      403 for a key without access, 400 for a website that can't be added, and 405 for
      a method that an address does not have.
    - An unknown key gets a 401 for a public website too, so that a test finds it. The
      hosted service probably ignores it, since real programs send ``Api-Key: none``.
    - Lists leave out page views without a value.
    - Every key gets the complete list of the user's websites.
    - Versions 1 and 2 ignore ``fields``. Version 2 has ``docs``, ``hostname``, ``url``,
      ``path``, ``start``, ``end``, ``version`` and ``pageviews``, and every list.
    - Lists are ordered by page views, then visitors, then the value.
    - Event names match in any case, and are returned in lower case, as they are stored.
      Country filters ignore case; other filters don't.
    - A visitor counts on each day of a visit, unless you choose ``visitors_return``.
    - An address with a dot segment names no page, so it is 404.
    - The last entry of a histogram is the last day of the period, even in the future.
      More than 200,000 hours or days are refused.
    - An ``end`` more than a month ago needs a ``start``, since the default ``start``
      would be after it.

    Args:
        now: The emulator's present: an aware datetime, or a text of one. By default,
            it uses the clock.
        role: The user's role in the team. ``"owner"``, ``"admin"`` and
            ``"developer"`` can add websites (section 4.2).
        website_limit: The plan's limit of websites (section 4.2), or None for
            no limit.
        contains_per_minute: The number of contains searches per minute and key
            (section 7), or None for no limit. Refused searches do not count.
        visitors_return: Whether visitors return on other days. If they do, a period has
            as many visitors as its busiest day, and so has each entry of a list and of
            a histogram. Otherwise, each day has other visitors, so the days add up to
            the period. The truth is between the two, and the document does not say
            where. Use both to test code that adds up visitors, or compares periods.
        api_key: The user's API key; by default a new one.
        user_id: The user's ID; by default a new one.
        null_entries: Whether page views without a referrer or a country have an
            entry in the lists, with null as its value. The document does not say.
        ignore_unknown_keys: Whether a Stats request with an unknown key counts as a
            request without a key. Otherwise it gets a 401, even for a public website.
            The document does not say.
        bare_list: Whether the list of websites is a bare array, which some clients
            expect, instead of the object of section 4.1.
        exposes_headers: Whether pages of other websites can read ``Date`` and
            ``Retry-After``, which browsers hide otherwise. The document does not say.

    Raises:
        ValueError: An argument is invalid.
        TypeError: An argument has another type.

    >>> from sitestats.emulator import Emulator
    >>> mine = Emulator()
    >>> mine.add_website("example.com", public=True)
    >>> mine.load([{"hostname": "example.com", "path": "/", "is_unique": True}])
    Loaded(rows=1, robots=0, left_out=())
    >>> mine.client().stats.get(StatsQuery("example.com").fields("visitors")).visitors
    1
    """

    def __init__(
        self,
        *,
        now: datetime | str | None = None,
        role: str = "owner",
        website_limit: int | None = None,
        contains_per_minute: int | None = 60,
        visitors_return: bool = False,
        api_key: str | None = None,
        user_id: str | None = None,
        null_entries: bool = False,
        ignore_unknown_keys: bool = False,
        bare_list: bool = False,
        exposes_headers: bool = False,
    ) -> None:
        for name, text in (("api_key", api_key), ("user_id", user_id)):
            if text is not None:
                check_credential(name, text)
        self._api_key = f"sa_api_key_{uuid4().hex}" if api_key is None else api_key
        self._user_id = f"sa_user_id_{uuid4()}" if user_id is None else user_id
        self._service = Service(
            Rows(),
            self._user_id,
            {self._api_key: None},
            fixed=now,
            role=role,
            website_limit=website_limit,
            contains_per_minute=contains_per_minute,
            visitors_return=visitors_return,
            null_entries=null_entries,
            ignore_unknown_keys=ignore_unknown_keys,
            bare_list=bare_list,
            exposes_headers=exposes_headers,
        )
        self._requests: deque[RecordedRequest] = deque(maxlen=_MOST_RECORDED)
        self._faults: list[Fault] = []
        # Reentrant, because a fault's function may add another fault.
        self._lock = threading.RLock()
        self._clients = WeakSet[sitestats.Client | sitestats.AsyncClient]()
        self._host: str | None = None
        """The address that it is served on."""
        self._beside: dict[str, AbstractContextManager[str]] = {}
        """The emulators that a program has started beside this one, by their ports."""

    @classmethod
    def demo(cls, **options: Any) -> Self:
        """An emulator with three websites and real traffic.

        It is the traffic of semicomplete.com on four days of May 2015,
        moved so that its last day is yesterday (in UTC). ``semicomplete.com``
        is public and has all of the traffic. ``blog.semicomplete.com`` and
        ``projects.semicomplete.com`` have parts of the traffic.
        *options* are options of the constructor.

        >>> demo = Emulator.demo()
        >>> demo.websites
        ('semicomplete.com', 'blog.semicomplete.com', 'projects.semicomplete.com')
        """
        emulator = cls(**options)
        emulator.add_website(_traffic.DEMO, public=True, label="all of it")
        for hostname, prefix in _traffic.PARTS.items():
            emulator.add_website(hostname, label=f"the part below {prefix}")
        _traffic.load_demo(emulator._service.rows, emulator._service.now())
        return emulator

    @classmethod
    def made_up(cls, websites: int = 1, *, days: int = 365, **options: Any) -> Self:
        """An emulator with a year of made-up traffic, for one website or many.

        The traffic has seasons, weekends, times of the day in the website's zone,
        growth or decline, a campaign of four weeks, a launch, and events. It ends
        yesterday in each website's zone, and is the same in every run on the same day.
        The label of each website says that it is made up.

        Args:
            websites: The number of websites: ``shop.example``, ``blog.example``,
                ``docs.example``, ``travel.example``, ``news.example``,
                ``shop2.example`` and so on.
            days: The number of days with traffic.
            options: Options of the constructor.

        Raises:
            ValueError: A number is below 1, or too large.
            TypeError: A number is not a whole number.

        >>> made_up = Emulator.made_up(2, days=30)
        >>> made_up.websites
        ('shop.example', 'blog.example')
        """
        check_whole("websites", websites, 1, _MOST_WEBSITES)
        check_whole("days", days, 1, _MOST_DAYS)
        emulator = cls(**options)
        sites = [*_traffic.make_sites(websites)]
        for site in sites:
            emulator.add_website(
                site.hostname,
                timezone=site.timezone,
                label=f"made up: {site.kind.name}",
            )
        service = emulator._service
        _traffic.load_made_up(service.rows, sites, service.now(), days)
        return emulator

    # -- websites, keys and rows

    @property
    def api_key(self) -> str:
        """The key with access to every website."""
        return self._api_key

    @property
    def user_id(self) -> str:
        """The ID of the user, for the Admin API."""
        return self._user_id

    @property
    def now(self) -> datetime | None:
        """The emulator's present; None for the clock."""
        return self._service.fixed

    @now.setter
    def now(self, now: datetime | str | None) -> None:
        # attrs converts it.
        self._service.fixed = cast("datetime | None", now)

    @property
    def websites(self) -> tuple[str, ...]:
        """The host names of the websites, in the order in which they were added."""
        return tuple(self._service.websites)

    def add_website(
        self,
        hostname: str,
        *,
        timezone: str = "UTC",
        public: bool = False,
        label: str = "",
        hide_pages: bool = False,
        locked: bool = False,
        own_hostname: str | None = None,
        has_ssl: bool = True,
    ) -> None:
        """Add a website, without the rules and limits of the Admin API.

        Args:
            hostname: Its host name.
            timezone: Its own time zone, the default of queries.
            public: Whether its statistics are public (section 5).
            label: Its label.
            hide_pages: Whether it hides its top pages (section 5).
            locked: Whether it is locked, because its badge is missing (section 3).
            own_hostname: Its custom domain (section 2.1).
            has_ssl: Whether it has SSL (section 2.1).

        Raises:
            ValueError: The host name, the zone or the custom domain is not valid, or
                the website already exists.
            TypeError: A setting has another type.
        """
        name = host_name(hostname)
        if name in self._service.websites:
            raise ValueError(f"{name} already exists: change it with change_website()")
        self._put(
            Website(
                name,
                timezone=timezone,
                public=public,
                label=label,
                hide_pages=hide_pages,
                locked=locked,
                own_hostname=own_hostname,
                has_ssl=has_ssl,
            )
        )

    def change_website(self, hostname: str, **changes: Any) -> None:
        """Change settings of ``add_website``: lock a website, make it public and so on.

        >>> emulator.change_website("semicomplete.com", hide_pages=False)

        Raises:
            ValueError: The website does not exist, or the zone or the custom domain is
                not valid.
            TypeError: The setting does not exist, or has another type.
        """
        check_names(changes, _SETTINGS, "a setting of a website")
        self._put(attrs.evolve(self._get(hostname), **changes))

    def remove_website(self, hostname: str) -> None:
        """Remove a website. If it is added again, it has its page views and events.

        Raises:
            ValueError: The website does not exist.
        """
        self._service.websites.pop(self._get(hostname).hostname)

    def _get(self, hostname: str) -> Website:
        website = self._service.websites.get(host_name(hostname))
        if website is None:
            raise ValueError(f"{hostname!r} is not a website: use add_website()")
        return website

    def _put(self, website: Website) -> None:
        self._service.websites[website.hostname] = website

    def add_key(self, *, access: Iterable[str] = ()) -> str:
        """Add another API key of the same user.

        Args:
            access: The host names of the websites whose statistics it can read; by
                default none. Every key can read the list of websites (section 4.1).

        Returns:
            The key, for ``client(api_key=…)``.

        Raises:
            ValueError: A website does not exist.
        """
        hostnames = [access] if isinstance(access, str) else access
        key = f"sa_api_key_{uuid4().hex}"
        self._service.keys[key] = {self._get(name).hostname for name in hostnames}
        return key

    def load(
        self,
        rows: str | Path | bytes | Iterable[Mapping[str, object]],
        *,
        hostname: str | None = None,
    ) -> Loaded:
        """Load page views and events, with the columns of the raw export.

        New websites are added, private and in UTC. If a row is invalid, no row is
        loaded. All columns but ``hostname`` may be missing or empty:

        - ``hostname``: the website.
        - ``added_iso``: ISO 8601 with a zone; by default 24 hours ago, so that
          ``last(days=7)`` includes it.
        - ``datapoint``: the name of an event. Without it, the row is a page view.
        - ``path``: without it, the page view counts in the totals, but not in
          ``pages``.
        - ``is_unique``: true for a visitor's first page view.
        - ``is_robot``: rows of robots are left out.
        - ``duration_seconds``: the time on the page. Less than 5 does not count.
        - ``document_referrer``: an address, which is normalized to ``google`` or
          ``news.example``.
        - ``device_type``: ``mobile``, ``tablet``, ``desktop`` or ``tv``.
        - ``country_code``, ``browser_name``, ``browser_version``, ``os_name``,
          ``os_version``, ``utm_source``, ``utm_medium``, ``utm_campaign``,
          ``utm_content``, ``utm_term``. Only responses of versions 1 and 2 have the
          versions of browsers and systems.
        - ``metadata.<key>_text``, ``_int``, ``_bool``, ``_date``.
        - ``query`` and ``session_id``: no number depends on them.

        Mappings have no other column. A file may have more columns, which
        ``Loaded.left_out`` names. A column whose name resembles a column that the file
        lacks is an error.

        Args:
            rows: The path of a ``.csv`` or ``.csv.gz`` file, the content of one, or
                mappings with some of the columns.
            hostname: The website of rows that have no host name.

        Returns:
            The number of rows, and the columns that were left out.

        Raises:
            ValueError: A value or a column name is invalid; the message names it.
            TypeError: A row is not a mapping.
            OSError: The file can't be read.

        >>> emulator.load(
        ...     [{"path": "/", "country_code": "NL", "metadata.plan_text": "pro"}],
        ...     hostname="example.com",
        ... )
        Loaded(rows=1, robots=0, left_out=())
        """
        service = self._service
        columns, loaded = read(rows, hostname=hostname, undated=service.now() - DAY)
        service.rows.add(columns)
        for name in sorted({*columns["hostname"]}):
            service.websites.setdefault(name, Website(name))
        return loaded

    # -- clients and the server

    def transport(self) -> EmulatorTransport:
        """A transport for httpx that needs no socket, sync and async."""
        return EmulatorTransport(self._handle)

    def client(self, **options: Any) -> sitestats.Client:
        """A sync client without a socket.

        It reads nothing from the environment. Its store has the emulator's clock: a day
        is over if it is over for the emulator, and a response ages with ``now``.

        Args:
            options: Options of ``Client``. The credentials are the emulator's by
                default; ``api_key=None`` means no key.

        >>> with Emulator.demo().client(retries=0) as client:
        ...     len(client.websites.list())
        3
        """
        return self._client(sitestats.Client, options, is_awaited=False)

    def async_client(self, **options: Any) -> sitestats.AsyncClient:
        """An async client without a socket; see ``client``."""
        return self._client(sitestats.AsyncClient, options, is_awaited=True)

    def _client(
        self, kind: Callable[..., ClientT], options: dict[str, Any], *, is_awaited: bool
    ) -> ClientT:
        account = {"api_key": self.api_key, "user_id": self.user_id}
        options = {"base_url": BASE_URL, **account, **options}
        sends = client_of(self._handle, self._clock, is_awaited=is_awaited)
        client = kind(**options, http_client=sends)
        with self._lock:
            self._clients.add(client)
        return client

    def _clock(self) -> float:
        return self._service.now().timestamp()

    def serve(self, port: int = 0, *, host: str = HOST) -> AbstractContextManager[str]:
        """Serve HTTP on a local socket within a ``with`` block.

        Web pages of any origin can read the responses, as with the service (section 5).

        Args:
            port: The port, or 0 for any free port.
            host: The address to listen on: a name, or numbers of IPv4.

        Returns:
            A context manager that gives the base address.

        Raises:
            ValueError: The port or the host can't be one.
            OSError: The block begins, and the port is in use, or no thread can start.

        >>> with emulator.serve() as address:
        ...     address.startswith("http://127.0.0.1:")
        True
        """
        if sys.platform == "emscripten":
            raise OSError(
                "Pyodide has no sockets to listen on: use emulator.client() or "
                "emulator.async_client(), or serve the emulator elsewhere"
            )
        from ._server import Serving

        check_whole("port", port, 0, 65535)
        check_host(host)
        self._host = host
        return Serving(self._handle, host, port, at_end=self._stop_all_beside)

    def _become(self, other: Emulator) -> None:
        """Be as *other*, which is new, for a program in another language."""
        self._api_key, self._user_id = other.api_key, other.user_id
        self._service = other._service
        self.clear_faults()
        self.forget_requests()

    def _start_beside(self, other: Emulator) -> str:
        """Serve *other* until this emulator ends, and return its port."""
        if self._host is None:
            raise ValueError("only an emulator on a socket can start another one")
        if len(self._beside) >= _MOST_BESIDE:
            raise ValueError(
                f"{_MOST_BESIDE} emulators are running: POST /-/stop ends one of them"
            )
        serving = other.serve(host=self._host)
        port = serving.__enter__().rpartition(":")[2]
        self._beside[port] = serving
        return port

    def _stop_beside(self, base_url: object) -> None:
        port = str(base_url).rstrip("/").rpartition(":")[2]
        serving = self._beside.pop(port, None)
        if serving is None:
            raise ValueError(f"no emulator was started on port {port}")
        serving.__exit__(None, None, None)

    def _stop_all_beside(self) -> None:
        while self._beside:
            _, serving = self._beside.popitem()
            serving.__exit__(None, None, None)

    # -- recorded requests and simulated failures

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """The last 10,000 requests that the emulator received, oldest first."""
        return tuple(self._requests)

    def forget_requests(self) -> None:
        """Empty ``requests``."""
        self._requests.clear()

    def fail_next(
        self,
        times: int | None = 1,
        *,
        status: int | None = None,
        retry_after: float | str | datetime | None = None,
        headers: Mapping[str, str] | None = None,
        body: object = None,
        garbage: bool = False,
        redirect: str | None = None,
        latency: float = 0.0,
        drip: float = 0.0,
        cut_off: int | None = None,
        reset: bool = False,
        processed: bool = False,
        method: str | None = None,
        path: str | None = None,
        when: Callable[[RecordedRequest], bool] | None = None,
    ) -> None:
        """Make the responses to the next requests fail, or to the next matching ones.

        A request uses the first failure that matches it, in the order of your calls.
        Failures of all responses come last.

        Args:
            times: The number of responses that fail, or None for all of them until
                ``clear_faults``.
            status: The status of the failed response, 200 to 599.
            retry_after: The ``Retry-After`` header: seconds, an aware datetime,
                or a text that is sent unchanged.
            headers: Headers that are added or replaced.
            body: The body: bytes, text, or data that becomes JSON.
            garbage: Whether the body is neither JSON nor text nor gzip.
            redirect: The address to redirect to; the status is 302 by default.
            latency: Seconds before the response begins.
            drip: Seconds before each byte of the response; without a socket, before
                each byte of its body.
            cut_off: The connection closes after this many bytes of the body.
            reset: Whether the connection is reset, without a response.
            processed: Whether the service processes the request before it fails:
                a website is added although the response is lost.
            method: The method of matching requests.
            path: The path of matching requests, percent-encoded. A ``*`` matches any
                text.
            when: A function that is called with a request, and returns whether it
                matches.

        Raises:
            ValueError: Nothing would fail, or a number is out of range.
            TypeError: An argument is of another type.

        >>> emulator.fail_next(status=429, retry_after=7)
        >>> emulator.clear_faults()
        """
        if redirect is not None and status is None:
            status = 302
        fault = Fault(
            times=times,
            status=status,
            headers=sent_headers(headers, redirect=redirect, retry_after=retry_after),
            body=sent_body(body, garbage=garbage),
            latency=latency,
            drip=drip,
            cut_off=cut_off,
            reset=reset,
            processed=processed,
            method=method,
            path=path,
            when=when,
        )
        fault.check()
        with self._lock:
            self._faults.append(fault)
            self._faults.sort(key=lambda fault: fault.times is None)

    def clear_faults(self) -> None:
        """Remove the simulated failures that no request has met yet, and end the pauses
        of clients that this emulator made, after a 429.
        """
        self._faults.clear()
        with self._lock:
            for client in self._clients:
                client.end_pause()

    def _handle(self, request: RecordedRequest) -> tuple[HttpResponse, Fault]:
        """The response to a request, and the fault that its delivery has."""
        if request.path.startswith(_control.PREFIX):
            return _control.respond(self, request), NO_FAULT
        self._requests.append(request)
        fault = self._take_fault(request)
        response = fault.respond(request, self._service.respond)
        # The emulator's clock, by which clients decide which hours are over.
        date = format_datetime(self._service.now().astimezone(UTC), usegmt=True)
        status = "reset" if fault.reset else response.status
        _LOG.info("%s %s %s", request, request.params, status)
        headers = {"date": date, **response.headers}
        if self._service.exposes_headers:
            headers["access-control-expose-headers"] = "Date, Retry-After"
        return attrs.evolve(response, headers=headers), fault

    def _take_fault(self, request: RecordedRequest) -> Fault:
        """The first fault that matches *request*, used once; or one without effect."""
        with self._lock:
            fault = next(
                (one for one in self._faults if one.matches(request)), NO_FAULT
            )
            if fault.times is not None:
                fault.times -= 1
        return fault

    def __repr__(self) -> str:
        return f"<Emulator with {len(self.websites)} websites>"
