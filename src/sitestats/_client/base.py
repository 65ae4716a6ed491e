"""Base class of both clients: constructor, options, copies."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Generic,
    Never,
    NoReturn,
    Self,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
)

import attrs

from sitestats._base.errors import ConfigurationError
from sitestats._configuration.secrets import wrapped
from sitestats._configuration.settings import (
    NOT_GIVEN,
    KeyValueStore,
    NotGiven,
    RetryPolicy,
    Settings,
    credential_of_environment,
    resolve,
)
from sitestats._protocol.session import Session
from sitestats._public import Public, explained, names_of
from sitestats._words import argument_advice, name_advice

from . import late
from .family import Family, Part
from .runner import AsyncRunner, Runner

HttpClientT = TypeVar("HttpClientT")
RunnerT = TypeVar("RunnerT", bound=Runner | AsyncRunner)


class Options(TypedDict, Generic[HttpClientT], total=False):
    """The constructor's keyword arguments without the key."""

    user_id: str | NotGiven | None
    timeout: float
    total_timeout: float
    retries: int | RetryPolicy
    max_connections: int
    read_only: bool
    proxy: str | NotGiven | None
    verify: bool | str | os.PathLike[str] | late.SSLContext
    headers: Mapping[str, str] | None
    store: str | os.PathLike[str] | KeyValueStore | None
    http_client: HttpClientT | None


class _Called(Public):
    """What many take for a function, or for a mapping of websites."""

    if not TYPE_CHECKING:

        def __getitem__(self, *_given: object, **_options: object) -> NoReturn:
            advice = name_advice(type(self), "call")
            raise TypeError(f"call a method of {self!r}: {advice}")

        __call__ = __getitem__


class API(_Called, Generic[RunnerT]):
    """One of the service's APIs."""

    def __init__(self, runner: RunnerT) -> None:
        self._runner = runner
        self._session = runner.session

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {names_of(cast('Any', type(self)))}>"


@explained("with_options")
class BaseClient(_Called, Generic[HttpClientT, RunnerT]):
    """The settings, the sender and the runner of a client."""

    _is_awaited: ClassVar[bool]
    _session: Session
    _settings: Settings
    _sender: Any
    _runner: RunnerT
    _part: Part | None = None

    def __init__(
        self,
        base_url: str | NotGiven = NOT_GIVEN,
        *more: Never,
        api_key: str | NotGiven | None = NOT_GIVEN,
        user_id: str | NotGiven | None = NOT_GIVEN,
        timeout: float = 30.0,
        total_timeout: float = 120.0,
        retries: int | RetryPolicy = 2,
        max_connections: int = 50,
        read_only: bool = False,
        proxy: str | NotGiven | None = NOT_GIVEN,
        verify: bool | str | os.PathLike[str] | late.SSLContext = True,
        headers: Mapping[str, str] | None = None,
        store: str | os.PathLike[str] | KeyValueStore | None = None,
        http_client: HttpClientT | None = None,
        **others: Never,
    ) -> None:
        if more or others:
            names = [*others]
            # A key may be among them, at the wrong place.
            del more, others, base_url, api_key, user_id, proxy, headers
            raise _wrong_argument(type(self).__name__, names)
        given = wrapped(
            base_url=base_url,
            api_key=api_key,
            user_id=user_id,
            proxy=proxy,
            headers=headers,
        )
        # From here on no frame of this package has a credential in a variable.
        del base_url, api_key, user_id, proxy, headers
        if http_client is not None:
            if given["proxy"] is not NOT_GIVEN or verify is not True:
                raise ConfigurationError(
                    "http_client= has connections of its own, so proxy= and verify= "
                    "can't be given besides: give them to the client of httpx when you "
                    "make that"
                )
            given["proxy"] = None
        opened: Any = store
        own_store: late.Store | None = None
        if isinstance(store, (str, os.PathLike)):
            # A program that stores nothing needs no SQLite.
            from sitestats._store.sqlite import Store

            opened = own_store = Store(store)
        if opened is not None:
            _check_store(opened, is_awaited=self._is_awaited)
            _check_partition(opened, http_client, verify)
        settings = resolve(
            timeout=timeout,
            total_timeout=total_timeout,
            retry=retries,
            max_connections=max_connections,
            read_only=read_only,
            verify=verify,
            store=opened,
            **given,
        )
        # A program that only makes queries needs no httpx.
        from sitestats._transport.sender import Sender

        sender = Sender(settings, http_client, is_awaited=self._is_awaited)
        self._settings = settings
        family = Family(repr(self), sender, own_store)
        self._set_up(Session(settings), sender, Part(family))

    def _set_up(self, session: Session, sender: Any, part: Part) -> None:
        self._part = part
        self._session = session
        self._settings = session.settings
        self._sender = sender
        make: Any = AsyncRunner if self._is_awaited else Runner
        self._runner = make(session, sender, part)

    @classmethod
    def from_env(
        cls,
        base_url: str | NotGiven = NOT_GIVEN,
        **options: Unpack[Options[HttpClientT]],
    ) -> Self:
        """Make a client that sends the environment's credentials to *base_url*.

        ``Client(base_url)`` sends a key from the environment only to an address from
        the environment. Here you allow another address.

        Args:
            base_url: The service's address; by default ``SITESTATS_BASE_URL``.
            options: The constructor's other arguments.

        Raises:
            ConfigurationError: The base address is missing, or a value is wrong.

        Example:
            >>> Client.from_env("https://analytics.example", timeout=10.0)
            Client('https://analytics.example')
        """
        given = wrapped(base_url=base_url, **cast("Any", options))
        del base_url, options
        for name in ("api_key", "user_id"):
            given.setdefault(name, credential_of_environment(name))
        return cls(**given)

    @classmethod
    def from_profile(
        cls,
        name: str | None = None,
        *,
        base_url: str | NotGiven = NOT_GIVEN,
        api_key: str | NotGiven | None = NOT_GIVEN,
        **options: Unpack[Options[HttpClientT]],
    ) -> Self:
        """Make a client for one of several accounts, by the name of its profile.

        A profile is a table in ``sitestats/config.toml``, in the user's configuration
        folder (``XDG_CONFIG_HOME``, or ``~/.config``). It has the service's address and
        the path of the file with the key. The address and the credentials of the
        environment are not used.

        Args:
            name: The profile; by default, ``SITESTATS_PROFILE`` names it.
                ``sitestats.profile_names()`` lists them.
            base_url: An address in place of the profile's.
            api_key: A key in place of the profile's, whose file is then not read. None
                sends no key.
            options: The constructor's other arguments. The client is read-only if they
                or the profile say so.

        Raises:
            ConfigurationError: The profile is missing or wrong, or its key can't be
                read.

        Example:
            >>> with Client.from_profile("work") as client:  # doctest: +SKIP
            ...     client.websites.list()
        """
        # Few programs have several accounts.
        from sitestats._configuration.profiles import load_profile

        given = wrapped(base_url=base_url, api_key=api_key, **cast("Any", options))
        del base_url, api_key, options
        with_key = given["api_key"] is NOT_GIVEN
        name, own = load_profile(name, with_key=with_key)
        given = {key: value for key, value in given.items() if value is not NOT_GIVEN}
        is_read_only = own["read_only"] or given.get("read_only", False)
        client = cls(**(own | given | {"read_only": is_read_only}))
        settings = attrs.evolve(client._settings, profile=name)
        assert client._part is not None
        client._set_up(Session(settings), client._sender, client._part)
        return client

    @property
    def base_url(self) -> str:
        """The service's address.

        >>> Client("https://analytics.example/").base_url
        'https://analytics.example'
        """
        return str(self._settings.base)

    @property
    def read_only(self) -> bool:
        """Whether writes are refused before they are sent, because of an argument, the
        profile, or ``SITESTATS_READ_ONLY``.

        >>> Client("https://analytics.example", read_only=True).read_only
        True
        """
        return self._settings.read_only

    def pause_left(self, *, contains: bool = False) -> float:
        """Seconds until this client sends requests again, after a 429 with a
        ``Retry-After``; 0.0 without a pause.

        Its copies by ``with_options`` share the pause. The client keeps a pause of an
        hour at most, even if the service requested more.

        Args:
            contains: Whether to return the pause of contains searches, which have a
                rate limit of their own (section 7).

        Example:
            >>> emulator.fail_next(status=429, retry_after=600)
            >>> try:
            ...     client.websites.list()
            ... except RateLimitedError as error:
            ...     print(error.retry_after, 590 < client.pause_left() <= 600)
            600.0 True
            >>> client.end_pause()
            >>> client.pause_left()
            0.0
        """
        now, pauses = time.monotonic(), self._session.pauses
        pause = pauses.of(now=now, is_search=contains)
        return 0.0 if pause is None else pause.left(now)

    def end_pause(self) -> None:
        """Send requests again at once, for example when your rate limit was raised.

        Calls that wait for the pause go on within a second.

        Example:
            >>> client.end_pause()
        """
        self._session.pauses.end()

    def with_options(
        self,
        *,
        timeout: float | NotGiven = NOT_GIVEN,
        total_timeout: float | NotGiven = NOT_GIVEN,
        retries: int | RetryPolicy | NotGiven = NOT_GIVEN,
    ) -> Self:
        """Return a copy of the client with other limits, which shares the connections.

        Closing the copy, or leaving its block, ends only the copy. The connections stay
        open until the client and all its copies are closed or no longer used. So a copy
        needs no block, and can have one.

        Args:
            timeout: Seconds for connecting and for each read.
            total_timeout: Seconds for a call with its retries and pauses.
            retries: A number of retries, or a policy.

        Raises:
            ConfigurationError: A value is wrong.
            ClientClosedError: The client was closed.

        Example:
            >>> patient = client.with_options(timeout=60.0, retries=5)
        """
        given = {"timeout": timeout, "total_timeout": total_timeout, "retry": retries}
        changes: dict[str, Any] = {
            name: value for name, value in given.items() if value is not NOT_GIVEN
        }
        copy = type(self).__new__(type(self))
        session = attrs.evolve(
            self._session, settings=attrs.evolve(self._settings, **changes)
        )
        assert self._part is not None
        copy._set_up(session, self._sender, self._part.beside())  # noqa: SLF001 - one of this class
        return copy

    def _close(self) -> None:
        if self._part is not None:
            self._part.end()

    def __repr__(self) -> str:
        # A debugger may call this even after a constructor that raised.
        settings: Settings | None = getattr(self, "_settings", None)
        base = "" if settings is None else repr(self.base_url)
        return f"{type(self).__name__}({base})"

    def __copy__(self, *_memo: object) -> NoReturn:
        raise TypeError(
            "a client is not copied, since it has connections: use this one, or make "
            "another by with_options"
        )

    __deepcopy__ = __copy__

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a client is not pickled, since it has credentials and connections: make "
            "it in the worker"
        )


def _wrong_argument(client: str, names: list[str]) -> TypeError:
    """The error about arguments that a client does not have."""
    if not names:
        return TypeError(
            f"{client}() takes the address alone without a name: "
            f"{client}('https://…', api_key=…, user_id=…)"
        )
    advice = argument_advice("Client", "__init__", names[0])
    advice = advice or f"it has {', '.join(_OPTION_NAMES)}"
    return TypeError(f"{client}() has no {names[0]!r}: {advice}")


_OPTION_NAMES: Final = ("base_url", "api_key", *Options.__annotations__)


def _check_store(store: object, *, is_awaited: bool) -> None:
    """Refuse what is not a store, and what only the other client can use."""
    from sitestats._store.stored_responses import is_asynchronous

    methods = [getattr(store, name, None) for name in ("get", "set")]
    if not all(map(callable, methods)):
        raise ConfigurationError(
            "store= is a path, a Store, or an object with the methods get and set, not "
            f"a value of type {type(store).__name__}"
        )
    if is_asynchronous(store) and not is_awaited:
        raise ConfigurationError(
            f"a store of type {type(store).__name__} is asynchronous: use it with an "
            "AsyncClient, or give a store whose methods block"
        )


def _check_partition(store: object, http_client: object, verify: object) -> None:
    """Refuse a store if nothing tells whose responses it would hold."""
    # An emulator, which has a clock, makes the responses itself. A context may trust
    # everybody, or have a certificate of the client's.
    is_other = http_client is not None and not hasattr(http_client, "emulator_clock")
    is_unseen = is_other or hasattr(verify, "wrap_bio")
    if is_unseen and not getattr(store, "partition", ""):
        raise ConfigurationError(
            "store= beside http_client= or an SSLContext needs a partition, since this "
            "client could get what was stored for another one. Name whose responses "
            "these are, as in Store('stats.sqlite', partition='team-a'); a store of "
            "your own has an attribute partition"
        )
