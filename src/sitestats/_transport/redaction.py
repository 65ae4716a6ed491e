"""Redact credentials in what is shown: errors, error responses, the logs of httpx.

A service may well repeat a key: in the error for a wrong one, or in a page that shows
the whole request. Whoever logs the error would log the key. So a mark takes the place
of credentials, as they are and as JSON, addresses and HTML write them; where one still
shows once escapes are undone, the whole text is withheld.
"""

from __future__ import annotations

import html
import json
import logging
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, unquote_to_bytes
from weakref import WeakSet

import attrs

from sitestats._common.secret import SHORTEST, Secret
from sitestats._common.wire import HttpResponse

_LONG: Final = 12
"""What has fewer characters may stand in a response by chance."""
_MOST_DECODED: Final = 1024 * 1024
"""A longer error with an escape is withheld: to undo all of them takes seconds."""
_SUCCESS: Final = range(200, 300)
_MARK: Final = "…".encode()
_UNICODE: Final = re.compile(rb"\\u([0-9a-fA-F]{4})")
WITHHELD: Final = b"(withheld: it repeats a credential, which could not be redacted)"


class Redactor:
    r"""Puts a mark in the place of each of a sender's credentials.

    >>> redactor = Redactor([Secret("0123456789ab/")])
    >>> redactor.text(r'as it is 0123456789ab/, and in JSON "0123456789ab\/"')
    'as it is …, and in JSON "…"'
    >>> redactor.text("all of it: %30%31%32%33%34%35%36%37%38%39%61%62%2f")
    '(withheld: it repeats a credential, which could not be redacted)'
    """

    # Slots keep the credentials from whatever shows the attributes of objects.
    __slots__ = ("__weakref__", "_all", "_long")

    def __init__(self, secrets: Iterable[Secret | None]) -> None:
        # The password of a proxy may be of any bytes.
        texts = {one.reveal() for one in secrets if one is not None}
        self._all = [
            (text.encode("utf-8", "surrogateescape"), _pattern(text))
            for text in texts
            if len(text) >= SHORTEST
        ]
        self._long = [one for one in self._all if len(one[0]) >= _LONG]

    def text(self, text: str) -> str:
        """*text* without credentials."""
        data = _redacted(self._all, text.encode("utf-8", "surrogatepass"))
        return data.decode("utf-8", "surrogatepass")

    def response(
        self, status: int, headers: Mapping[str, str], body: bytes
    ) -> HttpResponse:
        """A response that was just received, without credentials if it is an error.

        What stands in the data of a successful one is right, whatever it looks like.
        """
        now = datetime.now(UTC)
        received = HttpResponse(status, headers, body, now, redact=self._response)
        return received if status in _SUCCESS else received.redacted()

    def _response(self, response: HttpResponse) -> HttpResponse:
        headers = {
            name: _redacted(self._long, value.encode()).decode()
            for name, value in response.headers.items()
        }
        body = _redacted(self._long, response.body)
        return attrs.evolve(response, headers=headers, body=body, redact=None)


def _redacted(secrets: list[tuple[bytes, re.Pattern[bytes]]], data: bytes) -> bytes:
    for _, pattern in secrets:
        data = pattern.sub(_MARK, data)
    if not secrets or not (b"\\u" in data or b"%" in data or b"&" in data):
        return data
    shown = _decoded(data) if len(data) <= _MOST_DECODED else None
    is_shown = shown is None or any(secret in shown for secret, _ in secrets)
    return WITHHELD if is_shown else data


def _pattern(secret: str) -> re.Pattern[bytes]:
    """Finds a secret as it is, and as JSON, HTML, Python and addresses write it."""
    codes = {ord(char): f"\\u{ord(char):04x}" for char in secret}
    in_json = json.dumps(secret)[1:-1]
    # Some write these characters by their codes, so that HTML can hold the JSON.
    in_page = in_json.translate({it: codes[it] for it in codes if chr(it) in "<>&='"})
    forms = {secret, in_json, in_json.replace("/", r"\/"), in_page}
    address = quote(secret, safe="", errors="replace")
    forms |= {secret.translate(codes), html.escape(secret), repr(secret)[1:-1], address}
    # Some write hexadecimal digits in the other case.
    forms.add("".join(f"\\u{ord(char):04X}" for char in secret))
    forms.add(re.sub("%..", lambda it: it[0].lower(), address))
    encoded = (form.encode("utf-8", "surrogateescape") for form in forms)
    # Longer ones first; those that begin others are the shorter ones.
    return re.compile(b"|".join(sorted(map(re.escape, encoded), reverse=True)))


def _decoded(data: bytes) -> bytes:
    """*data* with the escapes of JSON, of addresses and of HTML undone, each once."""
    data = _UNICODE.sub(lambda it: chr(int(it[1], 16)).encode("utf-8", "replace"), data)
    text = unquote_to_bytes(data).decode("utf-8", "surrogateescape")
    return html.unescape(text).encode("utf-8", "surrogateescape")


# --- logs -------------------------------------------------------------------------

_PARTS: Final = ("connection", "http11", "http2", "proxy", "socks")
_LOGGERS: Final = (
    *("httpx", "httpx2", "hpack.hpack", "hpack.table"),
    *(f"{one}.{part}" for one in ("httpcore", "httpcore2") for part in _PARTS),
)
"""httpx logs an address and a status line at INFO, and httpcore, where it connects, the
headers of a response at DEBUG: a service that repeats a key would have it logged."""
_REDACTORS: Final = WeakSet[Redactor]()
"""Those of all clients: a record does not tell whose request it is about."""


class _Redaction(logging.Filter):
    """Lets every record through, without credentials."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = clean = record.getMessage()
        for redactor in [*_REDACTORS]:
            clean = redactor.text(clean)
        if clean != text:
            record.msg, record.args = clean, None
        return True


_FILTER: Final = _Redaction()


def redact_logs(redactor: Redactor) -> None:
    """Have the libraries' records redacted for as long as *redactor* is in use."""
    _REDACTORS.add(redactor)
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)
