"""Check the headers that a caller adds to every request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeAlias, cast

from .errors import ConfigurationError
from .secret import Secret
from .text import shown

_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""A name of RFC 9110, section 5.1."""

_BY_ARGUMENT: Final = {
    "api-key": "give api_key= to the client",
    "user-id": "give user_id= to the client",
    "host": "it follows from base_url=",
    "proxy-authorization": "give proxy='http://user:password@…' to the client",
}
_OWN: Final = re.compile(
    "accept|accept-encoding|connection|content-.*|expect|http2-settings|keep-alive"
    "|proxy-.*|te|trailer|transfer-encoding|upgrade|range|if-.*"
)
"""With these a request would end elsewhere, or a response would be coded otherwise or
have another status and no body."""

_SECRET: Final = re.compile(r"auth|cookie|token|key|secret|passw|session")

GivenHeaders: TypeAlias = tuple[tuple[object, Secret | None], ...] | type
"""Names and values, not checked yet; or the type of what is no mapping."""


def wrap_headers(given: object) -> GivenHeaders:
    """Wrap the values before anything can fail with them in a traceback."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        return type(given)
    headers = cast("Mapping[object, object]", given)
    return tuple(
        (name, Secret(value) if isinstance(value, str) else None)
        for name, value in headers.items()
    )


def check_headers(given: GivenHeaders) -> tuple[tuple[str, Secret], ...]:
    """The headers to add to every request; the values may be credentials.

    Raises:
        ConfigurationError: *given* is no mapping of texts, or names a header that is
            the client's own.
    """
    if isinstance(given, type):
        raise ConfigurationError(
            f"headers is a mapping such as {{'X-Team': 'web'}}; got {given.__name__}"
        )
    checked = tuple((_name(name), _value(name, value)) for name, value in given)
    names = [name.lower() for name, _ in checked]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"headers: {name!r} is given twice")
    return checked


def secrets_in(headers: tuple[tuple[str, Secret], ...]) -> list[Secret]:
    """The values of *headers* that are credentials, going by their names.

    A service may repeat one without what stands before it, such as ``Bearer``.
    """
    values = [value for name, value in headers if _SECRET.search(name.lower())]
    return [
        secret
        for value in values
        for secret in (value, Secret(value.reveal().rpartition(" ")[2]))
    ]


def _name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationError(
            "headers: a name is made of ASCII letters, digits and hyphens, such as "
            f"'X-Team'; got {shown(name)}"
        )
    own = name.lower()
    advice = _BY_ARGUMENT.get(own)
    if advice is None and _OWN.fullmatch(own):
        advice = "the client sets those that decide how a message is read"
    if advice is not None:
        raise ConfigurationError(f"headers: {name} can't be replaced: {advice}")
    return name


def _value(name: object, value: Secret | None) -> Secret:
    if value is None or not _fits(value):
        raise ConfigurationError(
            f"headers: the value of {name} is not usable: it is a text of printable "
            "ASCII characters, without a space at either end; look for a stray line "
            "end where it was copied (it is not shown here)"
        )
    return value


def _fits(value: Secret) -> bool:
    return value.reveal() == value.reveal().strip() and all(
        " " <= c <= "~" or c == "\t" for c in value.reveal()
    )
