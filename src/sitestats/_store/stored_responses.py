"""The stored responses of one client, in any key-value store."""

from __future__ import annotations

import hashlib
import secrets
import sys
import time
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Final

from sitestats._common.errors import warn
from sitestats._common.zones import same_zone

from .bounded import call_within
from .rules import (
    MAX_AGE,
    StoreEntry,
    has_words,
    response_key,
    seal,
    to_store,
    unseal,
)
from .sqlite import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitestats._common.keyvalue import KeyValueStore
    from sitestats._common.settings import Settings
    from sitestats._common.wire import HttpResponse
    from sitestats._query.requested import Requested
    from sitestats._results.stats import Stats

    from .rules import ResponseKey

_SALT: Final = ":salt"
_REST: Final = 10.0
"""Seconds without the store after it failed."""
_SALT_BYTES: Final = 32


class StoredResponses:
    """The responses in a store that are those of one client.

    The keys of the store are ``HOSTNAME:response:DIGEST``. The digest is over the query
    and all that decides what the response is: the address, the API key, the headers and
    whom the client trusts. It is keyed with a random salt of the store, so nobody can
    read them from it. Each value has a digest of itself and of its key.
    """

    __slots__ = (
        "_advised",
        "_damage",
        "_max_age",
        "_most_bytes",
        "_resting_until",
        "_salt",
        "_settings",
        "_store",
        "_warned",
    )

    def __init__(self, store: KeyValueStore, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._max_age: timedelta | None = getattr(store, "max_age", MAX_AGE)
        self._salt = b""
        self._damage = ""
        self._resting_until = 0.0
        self._warned = False
        self._advised = False

    def look_up(
        self, requested: Requested, now: datetime, seconds: float
    ) -> HttpResponse | None:
        """The stored response to *requested* at the time *now*; None where none can be
        used, or found within *seconds*.
        """
        found = response_key(requested, now)
        if found is None:
            self._advise(requested)
            return None
        return self._trying(lambda: self._read(found, requested, now), seconds)

    def _read(
        self, found: ResponseKey, requested: Requested, now: datetime
    ) -> HttpResponse | None:
        key = self._key(found.hostname, "response", found.text)
        data = self._get(key)
        most_bytes = self._settings.max_response_bytes
        entry = data and StoreEntry.from_bytes(data, most_bytes=most_bytes)
        if not entry or not entry.is_usable(now, self._max_age):
            return None
        if requested.timezone is None:
            zone = self._zone(found.hostname)
            if zone is not None and not same_zone(zone, entry.timezone):
                return None
        used: Callable[[str], None] | None = getattr(self._store, "used", None)
        if used is not None:
            used(key)
        return entry.response

    def store(
        self,
        requested: Requested,
        response: HttpResponse,
        stats: Stats,
        now: datetime,
        seconds: float,
    ) -> None:
        """Store *response*, which was read as *stats* at the time *now*, where that is
        right; wait for *seconds* at most.
        """
        self._trying(lambda: self._write(requested, response, stats, now), seconds)

    def _write(
        self, requested: Requested, response: HttpResponse, stats: Stats, now: datetime
    ) -> None:
        hostname = requested.hostname
        if requested.timezone is None and stats.timezone is not None:
            # The zone is stored for an open period too: a website whose zone was
            # changed has other days.
            zone = self._zone(hostname)
            if zone is None or not same_zone(zone, stats.timezone):
                self._set(self._zone_key(hostname), stats.timezone.encode())
        found = to_store(requested, response, stats, now)
        if found is not None:
            key = self._key(hostname, "response", found[0].text)
            self._set(key, found[1].to_bytes())

    def _zone(self, hostname: str) -> str | None:
        """The zone of a website in the newest response without a zone of its own."""
        data = self._get(self._zone_key(hostname))
        return None if data is None else data.decode()

    def _zone_key(self, hostname: str) -> str:
        return self._key(hostname, "zone", "")

    def _key(self, hostname: str, kind: str, text: str) -> str:
        settings = self._settings
        digest = hashlib.blake2b(key=self._found_salt(), digest_size=16)
        for part in (
            str(settings.base),
            settings.api_key.reveal() if settings.api_key else "",
            getattr(self._store, "partition", ""),
            settings.user_agent or "",
            # One whose trust can't be seen has a partition.
            repr(settings.verify) if isinstance(settings.verify, (bool, str)) else "",
            # Where nothing is encrypted, a proxy makes the responses.
            (settings.base.scheme == "http" and settings.proxy) or "",
            *chain.from_iterable(
                sorted((name.lower(), text.reveal()) for name, text in settings.headers)
            ),
            hostname,
            text,
        ):
            # With its length, so that no two lists of parts are one text.
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:%s" % (len(data), data))
        return f"{hostname}:{kind}:{digest.hexdigest()}"

    def _found_salt(self) -> bytes:
        # Without a lock, which a fork could leave taken for ever. So threads that begin
        # at once may each set one; the one that the store has then is used.
        if self._salt:
            return self._salt
        salt = self._get(_SALT)
        if salt is None:
            self._set(_SALT, secrets.token_bytes(_SALT_BYTES))
            # Not remembered: another one may take its place at this moment.
            salt = self._get(_SALT)
        else:
            self._salt = salt
        if salt is None or len(salt) != _SALT_BYTES:
            raise ValueError("it does not return what was stored")
        return salt

    def _get(self, key: str) -> bytes | None:
        data = self._store.get(key)
        value = None if data is None else unseal(key, bytes(data))
        if data is not None and value is None:
            self._damage = f"returned a damaged value for {key}, so requests are sent"
        return value

    def _set(self, key: str, value: bytes) -> None:
        self._store.set(key, seal(key, value))

    def _trying(
        self, action: Callable[[], HttpResponse | None], seconds: float
    ) -> HttpResponse | None:
        response = None
        problem = ""
        if seconds <= 0 or time.monotonic() < self._resting_until:
            return None
        try:
            # A file bounds its uses itself.
            is_file = type(self._store) is Store
            response = action() if is_file else call_within(seconds, action)
            problem = self._damage
        except Exception as error:  # noqa: BLE001 - a store of the user's may raise any
            self._resting_until = time.monotonic() + _REST
            problem = self._damage or (
                "is not used, and requests are sent instead: "
                f"{type(error).__name__}: {error}"
            )
        if problem and not self._warned:
            self._warned = True
            # Not its repr, which may hold the password of a server.
            name = getattr(self._store, "path", type(self._store).__name__)
            warn(f"the store {name} {problem}")
        return response

    def _advise(self, requested: Requested) -> None:
        logging = sys.modules.get("logging")
        if self._advised or logging is None or requested.timezone is not None:
            return
        if has_words(requested):
            self._advised = True
            logging.getLogger("sitestats").info(
                "the query for %s is not read from the store, since words such as "
                "'yesterday' are other days in other time zones: give the query a "
                "timezone",
                requested.hostname,
            )
