"""Redact credentials in responses and messages, or withhold what still shows one.

A service may well repeat a key: in the error for a wrong one, or in a page that
shows the whole request. Whoever logs the error would log the key, so a mark takes the
place of credentials in whatever comes back, as they are and as JSON, HTML and
addresses write them. Escapes can also be mixed and nested: where a credential shows
once they are all undone, the whole text is withheld.
"""

from __future__ import annotations

import binascii
import html
import json
import re
from datetime import UTC, datetime
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import attrs

from sitestats._common.secret import SHORTEST
from sitestats._common.wire import HttpResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sitestats._common.secret import Secret

_SHORTEST: Final = 12
"""What has fewer characters is no secret, and may stand in data by chance."""

_SUCCESS: Final = range(200, 300)
_MARK: Final = "…".encode()
WITHHELD: Final = b"(withheld: it repeats a credential, which could not be redacted)"
"""What stands in the place of a text that shows a credential once it is decoded."""


class Redactor:
    r"""Puts a mark in the place of each of a sender's credentials.

    >>> from sitestats._common.secret import Secret
    >>> redactor = Redactor([Secret("0123456789ab/")])
    >>> redactor.text(r'as it is 0123456789ab/, and in JSON "0123456789ab\/"')
    'as it is …, and in JSON "…"'
    >>> redactor.text("mixed: %30&#x31;23456789ab/")
    '(withheld: it repeats a credential, which could not be redacted)'
    """

    # Slots keep the credentials from whatever shows the attributes of objects.
    __slots__ = ("__weakref__", "_all", "_decoded", "_escapes", "_forms", "_long")

    def __init__(self, secrets: Iterable[Secret | None]) -> None:
        # The password of a proxy may be of any bytes.
        given = [one.reveal() for one in secrets if one is not None]
        texts = [text for text in given if len(text) >= SHORTEST]
        self._all = [text.encode("utf-8", "surrogateescape") for text in texts]
        self._long = [secret for secret in self._all if len(secret) >= _SHORTEST]
        # Made for the first text that has the sign of an escape.
        self._forms: dict[bytes, set[bytes]] = {}
        self._escapes: list[re.Pattern[bytes]] = []
        self._decoded: list[bytes] = []

    def text(self, text: str) -> str:
        """*text* without credentials."""
        data = self._redact(self._all, text.encode("utf-8", "surrogatepass"))
        return data.decode("utf-8", "surrogatepass")

    def response(
        self, status: int, headers: Mapping[str, str], body: bytes
    ) -> HttpResponse:
        """A response that was just received, without credentials if it is an error.

        What stands in the data of a successful one is right, whatever it looks like.
        """
        now = datetime.now(UTC)
        received = HttpResponse(status, headers, body, now, redact=self._redacted)
        return received if status in _SUCCESS else received.redacted()

    def _redacted(self, response: HttpResponse) -> HttpResponse:
        clean = partial(self._redact, self._long)
        headers, body = response.headers, clean(response.body)
        # In one search, as most responses repeat nothing.
        together = "\n".join(headers.values()).encode()
        if clean(together) != together:
            headers = {
                name: clean(text.encode()).decode() for name, text in headers.items()
            }
        return attrs.evolve(response, headers=headers, body=body, redact=None)

    def _redact(self, secrets: list[bytes], data: bytes) -> bytes:
        for secret in secrets:
            data = data.replace(secret, _MARK)
        if not secrets or not (b"\\" in data or b"%" in data or b"&" in data):
            return data
        if not self._forms:
            self._escapes = _escapes_of({*map(chr, b"".join(self._long)), "\\", "%"})
            decoded = [_decoded(secret) for secret in self._long]
            # What stands beside a secret may form an escape with its ends.
            self._decoded = [one[3:-2] for one in decoded if len(one) >= _FEWEST]
            # As the last one, since another thread may come by.
            self._forms = {
                secret: _forms(secret.decode(errors="replace")) for secret in self._all
            }
        for secret in secrets:
            for form in self._forms[secret]:
                data = data.replace(form, _MARK)
        found = (one.pattern[:1] in data and one.search(data) for one in self._escapes)
        shown = _decoded(data) if any(found) else b""
        return WITHHELD if any(secret in shown for secret in self._decoded) else data


def _forms(secret: str) -> set[bytes]:
    """How JSON, HTML, addresses and Python write a secret, where that differs."""
    in_json, address = json.dumps(secret)[1:-1], quote(secret, safe="")
    forms = (
        *(in_json, in_json.replace("/", r"\/"), repr(secret)[1:-1]),
        # Some write these characters by their codes, so that HTML can hold the JSON.
        in_json.translate({ord(char): f"\\u{ord(char):04x}" for char in "<>&='"}),
        "".join(f"\\u{ord(char):04x}" for char in secret),
        *(html.escape(secret), address),
        re.sub("%..", lambda match: match[0].lower(), address),
    )
    return {form.encode() for form in forms if form != secret}


# --- a whole decoding -------------------------------------------------------------

# Nothing here makes a call for each byte: a response may have millions of escapes.

_FEWEST: Final = 11
"""A secret with fewer characters, the signs of escapes aside, is not looked for."""
_ROUNDS: Final = 5
"""How often escapes may be nested."""
_BEGINNINGS: Final = (
    *((b"\\\\", b"\\"),) * 4,
    *((b"\\u00", b"%"), (b"\\x", b"%"), (b"&#X", b"&#x")),
    *((b"&#x0", b"&#x"), (b"&#0", b"&#")) * 4,
    # As quoted-printable, whose sign is "=": what is none becomes another one.
    *((b"%3D", b"\0"), (b"%3d", b"\0"), (b"=", b"\0")),
    *((b"%%", b"%25%"), (b"%%", b"%25%"), (b"%", b"=")),
)
"""What begins an escape, in the one form that is decoded."""


def _escapes_of(chars: set[str]) -> list[re.Pattern[bytes]]:
    """What finds an escape of one of *chars*. Most texts have escapes, and not these.

    One pattern for all signs of escapes would take four times as long.
    """
    lasts = dict.fromkeys(range(8), "")
    for code in (ord(char) for char in chars if char.isascii()):
        lasts[code // 16] += f"{code % 16:x}{code % 16:X}"
    codes = "|".join(f"{first}[{last}]" for first, last in lasts.items() if last)
    # Go writes each & of an address as \u0026, which alone begins no entity.
    begun = r"(?:#|%23|\\u0023|[A-Za-z]+(?:;|%3[Bb]|\\u003[Bb]))"
    codes = rf"(?:{codes}|26{begun})"
    signs = "".join(re.escape(char) for char in chars if not char.isalnum())
    patterns = (rf"\\(?:[{signs}]|(?:u00|x){codes})", rf"%{codes}", rf"&{begun}")
    return [re.compile(pattern.encode()) for pattern in patterns]


@cache
def _entities() -> list[tuple[bytes, list[tuple[bytes, bytes]]]]:
    """How HTML writes each character, by the beginnings of that."""
    from html.entities import html5

    found = {(f"&{name}", char) for name, char in html5.items() if name.endswith(";")}
    for code in range(ord(" "), ord("~") + 1):
        found |= {(form % code, chr(code)) for form in ("&#%d;", "&#x%x;", "&#x%X;")}
    pairs = sorted((one.encode(), char.encode()) for one, char in found if char <= "~")
    return [(start, [*same]) for start, same in groupby(pairs, lambda one: one[0][:3])]


def _decoded(data: bytes) -> bytes:
    """*data* with all escapes undone, and without the signs that they are made of."""
    for _ in range(_ROUNDS):
        before = data
        for written, sign in _BEGINNINGS:
            data = data.replace(written, sign)
        data = binascii.a2b_qp(data).replace(b"=", b"%")
        for start, entities in _entities() if b"&" in data else ():
            for entity, char in entities if start in data else ():
                data = data.replace(entity, char)
        if data == before:
            break
    return data.translate(None, b"\\%&;")
