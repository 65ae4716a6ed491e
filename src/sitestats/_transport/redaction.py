r"""Redact credentials in responses and messages, also where they are escaped.

A service may well repeat a key: in the error for a wrong one, or in a page that
shows the whole request. Whoever logs the error would log the key, so credentials
are taken out of whatever comes back. JSON, HTML and addresses have escapes: ``\/``
and ``\u003d``, ``&lt;`` and ``&#61;``, ``%3D``. A body that can't be cleaned is
withheld.
"""

from __future__ import annotations

import binascii
import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from sitestats._common.wire import HttpResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sitestats._common.secret import Secret

_SHORTEST: Final = 12
"""Characters: what is shorter is no secret, and may stand in data by chance."""

_MARK: Final = "…"

WITHHELD: Final = b"(withheld: it repeats a credential, which could not be redacted)"
"""What stands in the place of a body that can't be cleaned."""


class Redactor:
    r"""Puts a mark in the place of each of a sender's credentials.

    >>> from sitestats._common.secret import Secret
    >>> redactor = Redactor([Secret("0123456789ab/")])
    >>> redactor.text(r'as it is 0123456789ab/, and in JSON "0123456789ab\/"')
    'as it is …, and in JSON "…"'
    """

    # Slots keep the credentials from whatever shows the attributes of objects.
    __slots__ = ("__weakref__", "_escaped", "_forms", "_long_forms")

    def __init__(self, secrets: Iterable[Secret | None]) -> None:
        values = [secret.reveal() for secret in secrets if secret is not None]
        long = [value for value in values if len(value) >= _SHORTEST]
        self._forms = [form for value in values for form in _forms(value)]
        self._long_forms = [
            form.encode("ascii") for value in long for form in _forms(value)
        ]
        self._escaped = _Escaped(long)

    def text(self, text: str) -> str:
        """*text* without credentials."""
        for form in self._forms:
            text = text.replace(form, _MARK)
        data = text.encode("utf-8", "surrogatepass")
        return self._escaped.redact(data).decode("utf-8", "surrogatepass")

    def response(
        self, status: int, headers: Mapping[str, str], body: bytes
    ) -> HttpResponse:
        """A response that was just received, without credentials."""
        clean = {name: self._clean(value.encode()) for name, value in headers.items()}
        texts = {name: value.decode() for name, value in clean.items()}
        return HttpResponse(status, texts, self._clean(body), datetime.now(UTC))

    def _clean(self, data: bytes) -> bytes:
        for form in self._long_forms:
            data = data.replace(form, _MARK.encode())
        return self._escaped.redact(data)


def _forms(secret: str) -> list[str]:
    """How a secret may be written: as it is, in JSON, and in Python's own strings."""
    # The others differ from it by a backslash before one of these.
    if {"\\", '"', "'"}.isdisjoint(secret):
        return [secret]
    return [
        secret,
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        secret.replace("\\", "\\\\"),
    ]


# --- escapes ----------------------------------------------------------------------

_LARGEST: Final = 256 * 1024
"""Bytes: to clean more takes long, so it is withheld."""
_FEWEST: Final = 8
"""Characters of a secret that are no signs of escapes themselves: of fewer nothing
can be found."""
_SIGNS: Final = b"\\%&;="
_OF_ESCAPES: Final = b"\\%&#;ux0123456789abcdefABCDEF"
"""What an escape may be made of, which may be escaped itself."""
_ROUNDS: Final = 5
"""How often escapes may be on top of each other."""


class _Escaped:
    """Secrets in text where any of their characters may be escaped.

    Nothing here makes a call for each byte: a response may have millions. Most have
    escapes, and none of a character of a secret: that is looked for first. Only
    where one is, all escapes are undone, and the secrets are searched for.
    """

    __slots__ = ("_any", "_codes", "_names", "_patterns", "_plain", "_secrets")

    def __init__(self, secrets: list[str]) -> None:
        self._secrets = secrets
        self._any: list[tuple[bytes, re.Pattern[bytes]]] = []
        self._patterns: list[re.Pattern[bytes]] = []

    def redact(self, data: bytes) -> bytes:
        """*data* without the secrets; ``WITHHELD`` where that can't be done."""
        if not (b"\\" in data or b"%" in data or b"&" in data) or not self._secrets:
            return data
        if not self._any:
            self._prepare()
        # One pattern for each sign: several in one would take four times as long.
        for sign, escape in self._any:
            if sign in data and escape.search(data):
                break
        else:
            return data
        if self._has_secret(data):
            if len(data) > _LARGEST:
                return WITHHELD
            for pattern in self._patterns or self._make_patterns():
                data = pattern.sub(_MARK.encode(), data)
            if self._has_secret(data):
                return WITHHELD
        return data

    def _prepare(self) -> None:
        # When it is needed, since most clients never do.
        from html.entities import html5

        every = "".join(self._secrets)
        # The longest ones first, as others may be their beginnings.
        self._codes = sorted({*every.encode(), *_OF_ESCAPES}, reverse=True)
        names = {name.rstrip(";"): char for name, char in html5.items()}
        self._names = [
            (name.encode("ascii"), names[name].encode("ascii"))
            for name in sorted(names, key=len, reverse=True)
            if names[name] in every
        ]
        plain = (self._undo(secret.encode()) for secret in self._secrets)
        self._plain = [one for one in plain if len(one) >= _FEWEST]
        # Go writes each & of an address as \\u0026, which alone is no escape's sign.
        begun = rf"(?:amp|#|%23|\\u0023|{_any_of(self._names)})"
        codes = "|".join([*map(_hex, {*every.encode(), *b"%\\"}), f"26{begun}"])
        signs = "".join(re.escape(c) for c in {*every, "\\"} if not c.isalnum())
        self._any = [
            (b"\\", re.compile(rf"\\(?:[{signs}]|(?:u00|x)(?:{codes}))".encode())),
            (b"%", re.compile(rf"%(?:{codes})".encode())),
            (b"&", re.compile(rf"&{begun}".encode())),
        ]

    def _make_patterns(self) -> list[re.Pattern[bytes]]:
        # Some ten milliseconds each, for the first response that has one of them.
        self._patterns = [
            re.compile("".join(map(self._forms_of, secret)).encode())
            for secret in self._secrets
        ]
        return self._patterns

    def _has_secret(self, data: bytes) -> bool:
        undone = self._undo(data)
        return any(plain in undone for plain in self._plain)

    def _undo(self, data: bytes) -> bytes:
        """*data* with the escapes of the secrets' characters undone, and without the
        signs that escapes are made of.
        """
        for _ in range(_ROUNDS if len(data) <= _LARGEST else 2):
            before = data
            data = data.replace(b";", b"")
            for sign, forms in _SIGNS_ESCAPED:
                for form in forms:
                    data = data.replace(form, sign)
            for name, char in self._names if b"&" in data else ():
                data = data.replace(b"&" + name, char)
            for code in self._codes if b"&#" in data else ():
                data = data.replace(b"&#%d" % code, b"%c" % code)
            # As quoted-printable, which Python decodes without a loop of its own. A
            # sign that stands for itself must not hide the escape behind it.
            data = data.replace(b"%%", b"%25%").replace(b"%%", b"%25%")
            data = data.replace(b"=", b"=3D").replace(b"%", b"=")
            data = binascii.a2b_qp(data)
            if data == before:
                break
        return data.translate(None, _SIGNS)

    def _forms_of(self, char: str) -> str:
        """A pattern of every way to write *char*, with its escapes before itself."""
        code = _hex(ord(char))
        names = _any_of([one for one in self._names if one[1] == char.encode()])
        number = rf"{_HASH}(?:0{{0,5}}{ord(char)}|[xX]0{{0,5}}{code})"
        # As few as do, since a backslash also begins escapes that follow it.
        few = "" if char == "\\" else "?"
        return (
            rf"(?>{_BACKSLASH}{{0,4}}{few}(?:{_AMPERSAND}(?:{number}|{names}){_SEMICOLON}?"
            rf"|{_PERCENT}{code}|u00{code}|x{code}|{re.escape(char)}))"
        )


_BACKSLASH: Final = r"(?:\\|%5[cC]|&#92;|&bsol;)"
_PERCENT: Final = r"(?:%|\\u0025|&#37;)(?:25){0,3}"
_HASH: Final = r"(?:#|%23|\\u0023)"
_SEMICOLON: Final = r"(?:;|%3[bB]|\\u003[bB])"
_AMPERSAND: Final = rf"(?:&|\\u0026|%26)(?:amp{_SEMICOLON}){{0,3}}"
_SIGNS_ESCAPED: Final = (
    (b"&", (b"\\u0026", b"%26", b"&amp")),
    (b"%", (b"\\u00", b"\\x", b"&#x00", b"&#x0", b"&#x", b"&#X")),
    (b"&#", (b"&#000", b"&#00", b"&#0")),
)


def _hex(code: int) -> str:
    """A pattern of the two digits of a code, in either case."""
    return "".join(
        f"[{digit}{digit.upper()}]" if digit.isalpha() else digit
        for digit in f"{code:02x}"
    )


def _any_of(names: Iterable[tuple[bytes, bytes]]) -> str:
    # One that matches nothing where there is none.
    return "|".join(name.decode() for name, _ in names) or r"(?!)"
