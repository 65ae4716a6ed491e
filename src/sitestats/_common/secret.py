"""Credentials: ``Secret``, where one is from, and the headers that may hold some."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NoReturn, cast

from .errors import ConfigurationError, warn

SHORTEST: Final = 4
"""A credential of fewer characters is in many words, so it is not redacted."""
_LONGEST_FILE: Final = 65_536
"""The most bytes of a key's file: a longer one might be a device without an end."""
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""A name of RFC 9110, section 5.1."""
_HEADER_VALUE: Final = r"[!-~]([ -~\t]*[!-~])?|"
_OWN: Final = re.compile(
    "api-key|user-id|host|accept|accept-encoding|connection|content-.*|expect"
    "|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|range"
    "|if-.*"
)
"""With these a request would end elsewhere, or a response would be coded otherwise or
have another status and no body."""
_SECRET: Final = re.compile("auth|cookie|token|key|secret|passw|session")


class Secret:
    """A credential that is in no repr and no pickle."""

    __slots__ = ("_value", "source")

    def __init__(self, value: Any, source: str = "") -> None:
        self._value: Any = value
        self.source: str = source
        """The variable or the setting that it is from; empty for an argument."""

    def reveal(self) -> str:
        """The credential itself, for the header alone."""
        return str(self._value)

    def fits(self, pattern: str) -> bool:
        """Whether it is text that *pattern* matches."""
        return isinstance(self._value, str) and bool(re.fullmatch(pattern, self._value))

    def __repr__(self) -> str:
        return "Secret('…')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> NoReturn:
        raise ConfigurationError(
            "a credential is never pickled: make the client in the worker"
        )


def as_secret(value: Any) -> Any:
    """*value*, wrapped where it is given, before anything can fail with it."""
    is_none = value is None or isinstance(value, (Secret, Enum))
    return value if is_none else Secret(value)


def checked_secret(secret: object, source: str) -> Secret:
    """*secret*, if a header can carry it.

    Raises:
        ConfigurationError: It can't; the message does not show it.
    """
    # In one expression, so that no frame that fails has it in a variable.
    if not isinstance(secret, Secret) or not secret.fits("[!-~]+"):
        raise ConfigurationError(
            f"{source} is not usable: a credential is a string of printable ASCII "
            "characters without spaces or line breaks, and not empty; look for a stray "
            "quote or line end where it was copied (it is not shown here)"
        )
    if len(secret.reveal()) < SHORTEST:
        warn(
            f"{source} has fewer than {SHORTEST} characters, so it is not redacted in "
            "errors and logs: look whether all of it was copied"
        )
    return secret


def read_key_file(path: str | os.PathLike[str], source: str) -> Secret:
    """The credential in a file, as Docker and Kubernetes mount secrets.

    Raises:
        ConfigurationError: The file can't be read, or holds no credential.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - Path changes "/dev/fd/…/"
            secret = Secret(
                file.read(_LONGEST_FILE).decode("utf-8-sig", "replace").rstrip(),
                source,
            )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no path"
        # Its name is not shown: it may be the key itself, in the wrong place.
        message = f"{source} names a file that can't be read: {why}"
        raise ConfigurationError(message) from None
    # As a shell would set it, or a file of variables.
    if secret.fits("[\"'].*|[A-Z_]+=.*"):
        raise ConfigurationError(
            f"{source} names a file with more than the credential: leave quotes and "
            "'NAME=' out (it is not shown here)"
        )
    return checked_secret(secret, source)


def wrapped_headers(given: object) -> object:
    """*given* with its values wrapped, before anything can fail with them."""
    if not isinstance(given, Mapping):
        return given
    headers = cast("Mapping[object, Any]", given)
    return {name: as_secret(value) for name, value in headers.items()}


def checked_headers(given: object) -> tuple[tuple[str, Secret], ...]:
    """The headers to add to every request, of those that are wrapped.

    Raises:
        ConfigurationError: *given* is no mapping of texts, or names a header that is
            the client's own.
    """
    if not isinstance(given, Mapping | None):
        raise ConfigurationError("headers is a mapping such as {'X-Team': 'web'}")
    headers = cast("Mapping[str, Secret]", given or {})
    for name, value in headers.items():
        if not isinstance(cast("Any", name), str) or not _HEADER.fullmatch(name):
            raise ConfigurationError(f"headers: {name!r} is not a name of a header")
        if _OWN.fullmatch(name.lower()):
            raise ConfigurationError(
                f"headers: {name} can't be replaced: the client sets it, or an argument"
            )
        wrapped = cast("Any", value)
        if not isinstance(wrapped, Secret) or not value.fits(_HEADER_VALUE):
            raise ConfigurationError(
                f"headers: the value of {name} is not printable ASCII text without a "
                "space at either end (it is not shown here)"
            )
    if len({name.lower() for name in headers}) < len(headers):
        raise ConfigurationError("headers: a name is given twice")
    return tuple(headers.items())


def secrets_in(headers: tuple[tuple[str, Secret], ...]) -> list[Secret]:
    """The values of *headers* that are credentials, going by their names.

    A service may repeat one without what stands before it, such as ``Bearer``.
    """
    values = [value for name, value in headers if _SECRET.search(name.lower())]
    return [*values, *(Secret(value.reveal().rpartition(" ")[2]) for value in values)]
