"""Takes credentials out of what came back.

A service may well repeat a key: in the error for a wrong one, or in a page that
shows the whole request. Whoever logs the error would log the key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ._settings import Secret

_SHORTEST: Final = 12
"""Characters: what is shorter is no secret, and may stand in data by chance."""

_MARK: Final = "…"


def without_secrets(text: str, secrets: Iterable[Secret | None]) -> str:
    """*text* with a mark in place of each secret.

    >>> without_secrets("the key is 0123456789ab", [Secret("0123456789ab")])
    'the key is …'
    """
    for spelling in _spellings(secrets):
        text = text.replace(spelling, _MARK)
    return text


def headers_without_secrets(
    headers: Mapping[str, str], secrets: Iterable[Secret | None]
) -> dict[str, str]:
    """The same for the values of headers."""
    clean = dict(headers)
    for spelling in _spellings(_long(secrets)):
        for name, value in clean.items():
            if spelling in value:
                clean[name] = value.replace(spelling, _MARK)
    return clean


def body_without_secrets(body: bytes, secrets: Iterable[Secret | None]) -> bytes:
    """The same for a body; the mark is in UTF-8."""
    for spelling in _spellings(_long(secrets)):
        body = body.replace(spelling.encode("ascii"), _MARK.encode())
    return body


def _long(secrets: Iterable[Secret | None]) -> list[Secret]:
    return [one for one in secrets if one and len(one.reveal()) >= _SHORTEST]


def _spellings(secrets: Iterable[Secret | None]) -> Iterator[str]:
    """How each secret is spelt: as it is, in JSON, and in Python's own strings."""
    for secret in secrets:
        if secret is None:
            continue
        yield secret.reveal()
        # The others differ from it by a backslash before one of these.
        if not {"\\", '"', "'"}.isdisjoint(secret.reveal()):
            yield json.dumps(secret.reveal())[1:-1]
            yield repr(secret.reveal())[1:-1]
            yield secret.reveal().replace("\\", "\\\\")
