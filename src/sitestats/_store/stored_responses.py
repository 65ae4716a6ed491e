"""The stored responses of one client, in any key-value store."""

from __future__ import annotations

import hashlib
import secrets
import sys
import threading
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from sitestats._common.errors import warn
from sitestats._common.zones import same_zone

from .rules import StoreEntry, has_words, response_key, to_store

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
MAX_AGE: Final = timedelta(days=30)


class StoredResponses:
    """The responses in a store that are those of one client.

    The keys of the store are ``HOSTNAME:response:DIGEST``. The digest is over the base
    address, the API key and the query, and keyed with a random salt of the store. So
    each API key has responses of its own, and nobody can read it from the store.
    """

    __slots__ = (
        "_advised",
        "_base",
        "_max_age",
        "_most_bytes",
        "_resting_until",
        "_salt",
        "_salt_lock",
        "_secret",
        "_store",
        "_warned",
    )

    def __init__(self, store: KeyValueStore, settings: Settings) -> None:
        self._store = store
        self._base = str(settings.base)
        self._secret = settings.api_key
        self._most_bytes = settings.max_response_bytes
        self._max_age: timedelta | None = getattr(store, "max_age", MAX_AGE)
        self._salt = b""
        self._salt_lock = threading.Lock()
        self._resting_until = 0.0
        self._warned = False
        self._advised = False

    def look_up(self, requested: Requested, now: datetime) -> HttpResponse | None:
        """The stored response to *requested* at the time *now*; None where none can be
        used.
        """
        found = response_key(requested, now)
        if found is None:
            self._advise(requested)
            return None
        return self._trying(lambda: self._read(found, requested, now))

    def _read(
        self, found: ResponseKey, requested: Requested, now: datetime
    ) -> HttpResponse | None:
        key = self._key(found.hostname, "response", found.text)
        data = self._store.get(key)
        entry = data and StoreEntry.from_bytes(data, most_bytes=self._most_bytes)
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

    def store(self, requested: Requested, response: HttpResponse, stats: Stats) -> None:
        """Store *response*, which was read as *stats*, where that is right."""
        self._trying(lambda: self._write(requested, response, stats))

    def _write(
        self, requested: Requested, response: HttpResponse, stats: Stats
    ) -> None:
        hostname = requested.hostname
        if requested.timezone is None and stats.timezone is not None:
            # Of an open period, too: a website whose zone was changed has other days.
            zone = self._zone(hostname)
            if zone is None or not same_zone(zone, stats.timezone):
                self._store.set(self._zone_key(hostname), stats.timezone.encode())
        found = to_store(requested, response, stats)
        if found is not None:
            key = self._key(hostname, "response", found[0].text)
            self._store.set(key, found[1].to_bytes())

    def _zone(self, hostname: str) -> str | None:
        """The zone of a website in the newest response without a zone of its own."""
        data = self._store.get(self._zone_key(hostname))
        return None if data is None else data.decode("utf-8", "replace")

    def _zone_key(self, hostname: str) -> str:
        return self._key(hostname, "zone", "")

    def _key(self, hostname: str, kind: str, text: str) -> str:
        # Threads that each made one would store responses that nobody finds again.
        with self._salt_lock:
            if not self._salt:
                self._salt = self._read_salt()
        digest = hashlib.blake2b(key=self._salt, digest_size=16)
        secret = "" if self._secret is None else self._secret.reveal()
        for part in (self._base, secret, hostname, text):
            # With its length, so that no two lists of parts are one text.
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:%s" % (len(data), data))
        return f"{hostname}:{kind}:{digest.hexdigest()}"

    def _read_salt(self) -> bytes:
        salt = self._store.get(_SALT)
        if salt is None:
            self._store.set(_SALT, secrets.token_bytes(32))
            # Another process may have been quicker.
            salt = self._store.get(_SALT)
        if salt is None or len(salt) != 32:  # noqa: PLR2004  bytes, as made above
            raise ValueError("it does not return what was stored")
        return salt

    def _trying(self, action: Callable[[], HttpResponse | None]) -> HttpResponse | None:
        if time.monotonic() < self._resting_until:
            return None
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - a store of the user's may raise any
            self._resting_until = time.monotonic() + _REST
            if not self._warned:
                self._warned = True
                # Not its repr, which may hold the password of a server.
                name = getattr(self._store, "path", type(self._store).__name__)
                warn(
                    f"the store {name} is not used, and requests are sent instead: "
                    f"{type(error).__name__}: {error}"
                )
        return None

    def _advise(self, requested: Requested) -> None:
        logging = sys.modules.get("logging")
        if self._advised or logging is None or requested.timezone is not None:
            return
        if has_words(requested):
            self._advised = True
            logging.getLogger("sitestats").info(
                "the query for %s is not read from the store, since words such as "
                "'yesterday' are other days in other time zones: use "
                "query.pinned(website.timezone), or give the query a timezone",
                requested.hostname,
            )
