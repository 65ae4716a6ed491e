"""Base class of both clients: constructor, options, copies."""

from __future__ import annotations

import os
import sys
import warnings
from abc import ABC, abstractmethod
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    NoReturn,
    Self,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
)

import attrs

from sitestats._common.errors import ConfigurationError
from sitestats._common.secret import as_secret, wrapped_headers
from sitestats._common.settings import (
    NOT_GIVEN,
    NotGiven,
    Settings,
    credential_of_environment,
    resolve,
)

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from sitestats._common.keyvalue import KeyValueStore
    from sitestats._common.settings import RetryPolicy
    from sitestats._store.sqlite import Store
    from sitestats._store.stored_responses import StoredResponses
    from sitestats._transport.sender import AsyncSender, Sender

HttpClientT = TypeVar("HttpClientT")
SenderT = TypeVar("SenderT", bound="Sender | AsyncSender")


class Options(TypedDict, Generic[HttpClientT], total=False):
    """The constructor's keyword arguments, the credentials left out."""

    timeout: float
    total_timeout: float
    retries: int | RetryPolicy
    max_connections: int
    read_only: bool
    proxy: str | NotGiven | None
    verify: bool | str | os.PathLike[str] | ssl.SSLContext
    headers: Mapping[str, str] | None
    store: str | os.PathLike[str] | KeyValueStore | None
    http_client: HttpClientT | None


class BaseClient(ABC, Generic[HttpClientT, SenderT]):
    """The settings and the sender of a client; a subclass runs the flows."""

    _settings: Settings
    _sender: SenderT
    _owns_sender: bool = False
    _own_store: Store | None = None

    def __init__(
        self,
        base_url: str | NotGiven = NOT_GIVEN,
        *,
        api_key: str | NotGiven | None = NOT_GIVEN,
        user_id: str | NotGiven | None = NOT_GIVEN,
        timeout: float = 30.0,
        total_timeout: float = 120.0,
        retries: int | RetryPolicy = 2,
        max_connections: int = 50,
        read_only: bool = False,
        proxy: str | NotGiven | None = NOT_GIVEN,
        verify: bool | str | os.PathLike[str] | ssl.SSLContext = True,
        headers: Mapping[str, str] | None = None,
        store: str | os.PathLike[str] | KeyValueStore | None = None,
        http_client: HttpClientT | None = None,
    ) -> None:
        key, user = as_secret(api_key), as_secret(user_id)
        given_proxy, given_headers = as_secret(proxy), wrapped_headers(headers)
        # From here on no frame of this package has a credential in a variable.
        del api_key, user_id, proxy, headers
        if http_client is not None:
            _refuse_beside_http_client(given_proxy, verify)
            given_proxy = None
        opened, own = _as_store(store)
        if opened is not None:
            _check_partition(opened, http_client, verify)
        settings = resolve(
            base_url=base_url,
            api_key=key,
            user_id=user,
            timeout=timeout,
            total_timeout=total_timeout,
            retry=retries,
            max_connections=max_connections,
            read_only=read_only,
            proxy=given_proxy,
            verify=verify,
            headers=given_headers,
            store=opened,
        )
        self._set_up(settings, self._make_sender(settings, http_client))
        self._owns_sender = True
        self._own_store = own

    @classmethod
    def from_env(
        cls,
        base_url: str | NotGiven = NOT_GIVEN,
        **options: Unpack[Options[HttpClientT]],
    ) -> Self:
        """Make a client that sends the environment's credentials to *base_url*.

        ``Client(base_url)`` does not send a key from the environment to an address
        that is not from there too; this does, since you choose both.

        Args:
            base_url: Where to send them; ``SITESTATS_BASE_URL`` when left out.
            options: The constructor's other arguments.

        Raises:
            ConfigurationError: There is no base address, or a value is wrong.

        Example:
            >>> Client.from_env("https://analytics.example", timeout=10.0)
            Client('https://analytics.example')
        """
        # A Secret each, which the constructor takes as well.
        held = {
            name: credential_of_environment(name)
            for name in ("api_key", "user_id")
            if name not in options
        }
        return cls(base_url, **cast("Any", held), **options)

    @classmethod
    def from_profile(
        cls,
        name: str | None = None,
        *,
        base_url: str | NotGiven = NOT_GIVEN,
        api_key: str | NotGiven | None = NOT_GIVEN,
        **options: Unpack[Options[HttpClientT]],
    ) -> Self:
        """Make a client for one of several accounts, by its name.

        A profile is a table in ``sitestats/config.toml``, in the user's configuration
        folder (``XDG_CONFIG_HOME``, or ``~/.config``). It says where the service is,
        and which file holds the key. The address and the credentials of the environment
        are not used.

        Args:
            name: The profile; that of ``SITESTATS_PROFILE`` when None.
                ``sitestats.profile_names()`` lists them.
            base_url: Where to send its credentials, in place of the profile's.
            api_key: The key in place of the profile's, which is not read then; None
                is without.
            options: The constructor's other arguments. The client is read-only if
                either they or the profile say so.

        Raises:
            ConfigurationError: There is no such profile, it is wrong, or its key can't
                be read.

        Example:
            >>> with Client.from_profile("work") as client:  # doctest: +SKIP
            ...     client.websites.list()
        """
        # Few programs have several accounts.
        from sitestats._common.profiles import load_profile

        key = as_secret(api_key)
        del api_key
        profile = load_profile(name)
        options["read_only"] = profile.read_only or options.get("read_only", False)
        client = cls(
            profile.base_url if base_url is NOT_GIVEN else base_url,
            api_key=cast("Any", profile.api_key() if key is NOT_GIVEN else key),
            user_id=cast("Any", profile.user_id),
            **options,
        )
        settings = attrs.evolve(client._settings, profile=profile.name)
        if base_url is NOT_GIVEN:
            sources = {**settings.sources, "base_url": f"base_url of {profile}"}
            settings = attrs.evolve(settings, sources=sources)
        client._set_up(settings, client._sender)
        return client

    @property
    def base_url(self) -> str:
        """The service's address, where requests are sent.

        >>> Client("https://analytics.example/").base_url
        'https://analytics.example'
        """
        return str(self._settings.base)

    @property
    def read_only(self) -> bool:
        """Whether every request that writes is refused before it is sent, by an
        argument, by the profile, or by ``SITESTATS_READ_ONLY``.

        >>> Client("https://analytics.example", read_only=True).read_only
        True
        """
        return self._settings.read_only

    def with_options(
        self,
        *,
        timeout: float | NotGiven = NOT_GIVEN,
        total_timeout: float | NotGiven = NOT_GIVEN,
        retries: int | RetryPolicy | NotGiven = NOT_GIVEN,
    ) -> Self:
        """Return a client with other limits that shares the connections.

        Closing it leaves the connections to the client that opened them.

        Args:
            timeout: Seconds for connecting and for each read.
            total_timeout: Seconds for one request with its retries and pauses.
            retries: A number of retries, or a policy.

        Raises:
            ConfigurationError: A value is wrong.

        Example:
            >>> patient = client.with_options(timeout=60.0, retries=5)
        """
        given = {"timeout": timeout, "total_timeout": total_timeout, "retry": retries}
        changes: dict[str, Any] = {
            name: one for name, one in given.items() if one is not NOT_GIVEN
        }
        view = type(self).__new__(type(self))
        settings = attrs.evolve(self._settings, **changes)
        view._set_up(settings, self._sender)  # noqa: SLF001 - one of this class
        return view

    def __repr__(self) -> str:
        # In a debugger even after a constructor that raised.
        settings: Settings | None = getattr(self, "_settings", None)
        base = "" if settings is None else repr(self.base_url)
        return f"{type(self).__name__}({base})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a client is not pickled, since it has credentials and connections: make "
            "it in the worker"
        )

    def __del__(self, _is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At the interpreter's end the names of modules are gone, but no default is.
        if _is_finalizing():
            return
        if self._owns_sender and self._sender.is_open:
            warnings.warn(
                f"{self!r} was never closed: use it in a with block",
                ResourceWarning,
                stacklevel=2,
                source=self,
            )

    @abstractmethod
    def _make_sender(
        self, settings: Settings, http_client: HttpClientT | None
    ) -> SenderT:
        """Make the sender, which sends by the client of httpx that is given."""

    @abstractmethod
    def _set_up(self, settings: Settings, sender: SenderT) -> None:
        """Store *settings* and *sender*, and make the parts that use them."""


def _refuse_beside_http_client(proxy: object, verify: object) -> None:
    given = {"proxy=": proxy is not NOT_GIVEN, "verify=": verify is not True}
    if names := [name for name, is_given in given.items() if is_given]:
        raise ConfigurationError(
            f"http_client= has connections of its own, so {' and '.join(names)} can't "
            "be given besides: give it to the client of httpx when you make that"
        )


def _as_store(given: object) -> tuple[KeyValueStore | None, Store | None]:
    """The store that was given, and the one that the client makes and closes."""
    if given is None:
        return None, None
    if callable(getattr(given, "get", None)) and callable(getattr(given, "set", None)):
        return cast("KeyValueStore", given), None
    # A program that stores nothing needs no SQLite.
    from sitestats._store.sqlite import Store

    own = Store(cast("str", given))
    return own, own


def _check_partition(store: KeyValueStore, http_client: object, verify: object) -> None:
    """Refuse a store where nobody sees whose responses it would have."""
    unseen: list[str] = []
    # An emulator makes the responses itself.
    if http_client is not None and not getattr(http_client, "is_emulator", False):
        unseen.append("http_client=")
    if hasattr(verify, "wrap_bio"):
        # It may trust everybody, or have a certificate of the client's.
        unseen.append("an SSLContext as verify=")
    if unseen and not getattr(store, "partition", ""):
        raise ConfigurationError(
            f"store= beside {' and '.join(unseen)}: what that sends and trusts can't "
            "be seen, so this client could get what was stored for another one. Name "
            "whose responses these are, as in Store('stats.sqlite', "
            "partition='team-a'); a store of your own has an attribute partition"
        )


def stored_responses(settings: Settings) -> StoredResponses | None:
    """What reads and writes the store, if there is one."""
    if settings.store is None:
        return None
    from sitestats._store.stored_responses import StoredResponses

    return StoredResponses(settings.store, settings)
