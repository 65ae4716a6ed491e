"""The stored responses of one client, in any key-value store."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from sitestats._base.errors import warn
from sitestats._base.zones import same_zone

from .keys import MAX_AGE, StoreEntry, response_key, to_store

if TYPE_CHECKING:
    from sitestats._configuration.settings import KeyValueStore, Settings
    from sitestats._query.requested import Parameters
    from sitestats._results.stats import Stats
    from sitestats._wire.messages import HttpResponse

_REST: Final = 10.0
"""How many seconds a store is not used after it failed."""


def is_asynchronous(store: object) -> bool:
    """Whether the methods of *store* are awaited."""
    # Those of redis.asyncio return what is awaited, but are not coroutine functions.
    is_async_client = hasattr(store, "__aenter__") and not hasattr(store, "__enter__")
    return is_async_client or iscoroutinefunction(getattr(store, "get", None))


@attrs.define(eq=False)
class StoredResponses:
    """The responses in a store that belong to one client.

    The keys of the store are ``HOSTNAME:response:DIGEST``. The digest covers the query
    and all that the response depends on: the address, the API key, the headers and the
    trusted authorities.
    """

    _store: KeyValueStore
    _settings: Settings
    _resting_until: float = 0.0
    _has_warned: bool = False
    _has_told_of_clock: bool = False

    @property
    def is_awaited(self) -> bool:
        """Whether the store is asynchronous; another one blocks, and awaits nothing."""
        return is_asynchronous(self._store)

    async def look_up(
        self, parameters: Parameters, now: datetime
    ) -> HttpResponse | None:
        """The stored response to *parameters* at the time *now*, if one can be used."""
        return await self._try(self._read(parameters, now))

    async def store(
        self,
        parameters: Parameters,
        response: HttpResponse,
        stats: Stats,
        now: datetime,
    ) -> None:
        """Store *response*, which was read as *stats* at the time *now*, if the rules
        allow it.
        """
        await self._try(self._write(parameters, response, stats, now))

    async def _read(self, parameters: Parameters, now: datetime) -> HttpResponse | None:
        if (text := response_key(parameters, now)) is None:
            return None
        key = self._key(parameters.hostname, "response", text)
        data = await self._result(self._store.get(key))
        entry = None if data is None else StoreEntry.from_bytes(bytes(data))
        max_age: timedelta | None = getattr(self._store, "max_age", MAX_AGE)
        if entry is None or not entry.is_usable(now, max_age):
            return None
        if seconds := entry.seconds_ahead(parameters, now):
            self._tell_of_clock(seconds)
            return None
        if parameters.timezone is None:
            zone = await self._zone(parameters.hostname)
            if not same_zone(zone, entry.timezone):
                return None
        used: Callable[[str], object] | None = getattr(self._store, "used", None)
        if used is not None:
            await self._result(used(key))
        return entry.response

    async def _write(
        self,
        parameters: Parameters,
        response: HttpResponse,
        stats: Stats,
        now: datetime,
    ) -> None:
        hostname, zone = parameters.hostname, stats.timezone
        # An open period counts, too: a website whose zone was changed has other days.
        if parameters.timezone is None and zone and zone != await self._zone(hostname):
            key = self._key(hostname, "zone", "")
            await self._result(self._store.set(key, zone.encode()))
        if pair := to_store(parameters, response, stats, now):
            key = self._key(hostname, "response", pair[0])
            await self._result(self._store.set(key, pair[1].to_bytes()))

    def _tell_of_clock(self, seconds: float) -> None:
        if not self._has_told_of_clock:
            self._has_told_of_clock = True
            warn(
                "what is stored is not used for words such as 'yesterday', since this "
                f"machine's clock is {seconds:,.0f} s behind the service's: set the "
                "clock, or use dates"
            )

    async def _zone(self, hostname: str) -> str | None:
        """The zone of a website in the newest response to a query without a zone."""
        data = await self._result(self._store.get(self._key(hostname, "zone", "")))
        return None if data is None else bytes(data).decode()

    async def _result(self, returned: Any) -> Any:
        """What a method of the store *returned*, awaited if that is asynchronous."""
        if not isawaitable(returned):
            return returned
        if self.is_awaited:
            return await returned
        # A coroutine that nobody awaits would warn of that.
        with suppress(AttributeError):
            cast("Any", returned).close()
        raise TypeError("it returns what is awaited: define get with “async def”")

    def _key(self, hostname: str, kind: str, text: str) -> str:
        settings = self._settings
        parts = [
            str(settings.base),
            settings.api_key.reveal() if settings.api_key else "",
            getattr(self._store, "partition", ""),
            settings.user_agent or "",
            # A client whose trusted authorities can't be read has a partition.
            repr(settings.verify) if isinstance(settings.verify, (bool, str)) else "",
            # If nothing is encrypted, a proxy can change the responses.
            (settings.base.scheme == "http" and settings.proxy) or "",
            sorted((name.lower(), text.reveal()) for name, text in settings.headers),
            hostname,
            text,
        ]
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        return f"{hostname}:{kind}:{digest}"

    async def _try(self, action: Awaitable[HttpResponse | None]) -> HttpResponse | None:
        if time.monotonic() < self._resting_until:
            cast("Any", action).close()
            return None
        try:
            return await action
        except Exception as error:  # noqa: BLE001 - a store of the user's may raise any
            self.rest(f"{type(error).__name__}: {error}")
            return None

    def rest(self, why: str) -> None:
        """Use the store no more for some seconds, and tell *why*, the first time."""
        self._resting_until = time.monotonic() + _REST
        if not self._has_warned:
            self._has_warned = True
            # Its repr may hold the password of a server, so only its type is shown.
            name = getattr(self._store, "path", type(self._store).__name__)
            what = f"the store {name} is not used, and requests are sent instead"
            warn(f"{what}: {why}")
