"""Credentials: ``Secret``, where one is from, and the headers that may hold some."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any, Final, NoReturn

from sitestats._base.errors import ConfigurationError, warn
from sitestats._base.text import plain, shown

SHORTEST: Final = 4
"""A credential of fewer characters is in many words, so it is not redacted."""
_LONGEST: Final = 500
"""A credential has fewer characters; what has more is a file at the wrong path. To
redact a megabyte would take minutes."""
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""A name of RFC 9110, section 5.1."""
_HEADER_VALUE: Final = r"[!-~]([ -~\t]*[!-~])?|"
_OWN: Final = re.compile(
    "api-key|user-id|host|accept|accept-encoding|connection|content-.*|expect"
    "|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|range"
    "|if-.*"
)
"""The client's own headers, and headers that would send a request elsewhere, or change
the coding or the status of the response."""
_SECRET: Final = re.compile("auth|cookie|token|key|secret|passw|session")


_STRAY: Final = {
    r"\s*": "it is empty",
    r"\s*[\"'].*|.*[\"']\s*": "it has a quote at an end: write it without quotes, "
    "which 'docker run --env-file' keeps",
    r".*[\r\n]\s*": "it ends with a line end",
    r".*\s#.*": "it has a '#' and a comment, which only a shell takes away",
    r"\s.*|.*\s": "it has a space at an end",
    r"(export )?[A-Z_]+=.*": "it begins with the name of its variable",
    r"\$[\w{(].*|%\w+%": "it is the name of a variable, which only a shell replaces",
    r"\{\{.*\}\}|<.*>": "it stands for the value, which nothing put in its place",
    r".*\\[nr]": "it ends with a backslash and a letter, where a line end was meant",
    r".*\s.*": "it has a space or a line end within",
    r".*\*{3}": "it is masked: copy the value itself",
}
"""What a shell or a template would have changed, or what was copied as well."""


class Secret:
    """A credential that is in no repr and no pickle."""

    __slots__ = ("_value", "source")

    def __init__(self, value: Any, source: str = "") -> None:
        self._value: Any = value
        self.source: str = source
        """The variable, the argument or the setting of a profile that it is from."""

    def reveal(self) -> str:
        """The credential itself, for the header alone."""
        return str(self._value)

    def fits(self, pattern: str) -> bool:
        """Whether it is text that *pattern* matches."""
        return isinstance(self._value, str) and bool(re.fullmatch(pattern, self._value))

    def stray(self) -> str:
        """What does not belong to it at its ends, for a message; empty if nothing."""
        for pattern, what in _STRAY.items():
            if self.fits(f"(?s:{pattern})"):
                return what
        return ""

    def each(self) -> dict[Any, Secret] | None:
        """The values of a mapping, wrapped one by one; None if it is something else."""
        is_mapping = isinstance(self._value, Mapping)
        if not is_mapping:
            return None
        return {name: Secret(self._value[name], name) for name in self._value}

    def __repr__(self) -> str:
        return "Secret('…')"

    def __reduce__(self) -> NoReturn:
        raise ConfigurationError(
            "a credential is never pickled: make the client in the worker"
        )


def wrapped(**options: Any) -> dict[str, Any]:
    """A client's *options* with a ``Secret`` for each that may hold a credential.

    They are wrapped where they are given, before anything can fail with them: a
    traceback may show the variables of its frames.
    """
    for name in options.keys() & {"base_url", "api_key", "user_id", "proxy", "headers"}:
        options[name] = as_secret(options[name], name)
    return options


def as_secret(value: Any, source: str) -> Any:
    """*value*, wrapped unless it is None or a default."""
    is_kept = value is None or isinstance(value, (Secret, Enum))
    return value if is_kept else Secret(value, source)


_OTHERS: Final = {"api_key": "sa_user_id_.*", "user_id": "sa_api_key_.*"}
"""What credentials look like that were given in place of each other."""


def checked_secret(name: str, secret: Secret) -> Secret:
    """*secret*, the ``api_key`` or the ``user_id``, if a header can carry it.

    Raises:
        ConfigurationError: It can't; the message does not show it.
    """
    stray = secret.stray()
    if secret.fits(_OTHERS[name]):
        stray = "the API key and the user ID are in each other's place"
    if stray or not secret.fits(f"[!-~]{{1,{_LONGEST}}}"):
        what = stray or "look where it was copied"
        raise ConfigurationError(
            f"{secret.source} is not usable: {what}. A credential is a string of 1 to "
            f"{_LONGEST} printable ASCII characters without spaces or line breaks, "
            "such as sa_api_key_0123 or sa_user_id_0123 (it is not shown here)"
        )
    if len(secret.reveal()) < SHORTEST:
        warn(
            f"{secret.source} has fewer than {SHORTEST} characters, so it is not "
            "redacted in errors and logs: look whether all of it was copied"
        )
    return secret


def read_key_file(path: Secret, source: str) -> Secret:
    """What stands in a file, as Docker and Kubernetes mount secrets.

    The path is wrapped, as it may be the key itself, in the wrong place.

    Raises:
        ConfigurationError: The file can't be read, or has more than a credential.
    """
    secret, why = _read(path, source)
    if secret is None:
        stray = path.stray()
        advice = f"; {stray}" if stray else ""
        place = _place(path)
        message = f"{source} names a file that can't be read: {why}{place}{advice}"
        raise ConfigurationError(message)
    if secret.fits(""):
        raise ConfigurationError(
            f"{source} names a file that is empty: it holds the credential alone, such "
            f"as sa_api_key_0123, and is '{plain(path.reveal())}'"
        )
    # Quotes and names come from a shell or from a file of variables.
    if secret.fits(f"[\"'].*|[A-Z_]+=.*|(?s:.){{{_LONGEST + 1}}}"):
        raise ConfigurationError(
            f"{source} names a file that has more than the credential: leave quotes "
            f"and 'NAME=' out of '{plain(path.reveal())}' (it is not shown here)"
        )
    return secret


def _place(path: Secret) -> str:
    """The path for a message, as far as it exists: the rest may be a key."""
    if os.path.lexists(path.reveal()):
        return f": '{plain(path.reveal())}'"
    folder = os.path.dirname(path.reveal())  # noqa: PTH120 - as in _read
    return f", in '{plain(folder)}'" if os.path.lexists(folder) else ""


def _read(path: Secret, source: str) -> tuple[Secret | None, str]:
    """The beginning of a file, or why it can't be read.

    It raises nothing, since the error of a file has its path.
    """
    try:
        # The path stays text, since a Path changes "/dev/fd/…/".
        with open(path.reveal(), encoding="utf-8-sig", errors="replace") as file:  # noqa: PTH123 - as above
            return Secret(file.read(_LONGEST + 1).rstrip(), source), ""
    except (OSError, ValueError) as error:
        return None, getattr(error, "strerror", None) or "it is not a path"


def checked_headers(given: Secret | None) -> tuple[tuple[str, Secret], ...]:
    """The headers to add to every request, of the mapping that is wrapped.

    Raises:
        ConfigurationError: It is not a mapping of texts, or names a header that the
            client sets itself.
    """
    headers = {} if given is None else given.each()
    if headers is None:
        raise ConfigurationError("headers is a mapping such as {'X-Team': 'web'}")
    for name, value in headers.items():
        if not isinstance(name, str) or not _HEADER.fullmatch(name):
            raise ConfigurationError(f"headers: {shown(name)} is not a header's name")
        if _OWN.fullmatch(name.lower()):
            raise ConfigurationError(
                f"headers: {name} can't be replaced: the client sets it, or an argument"
            )
        if not value.fits(_HEADER_VALUE):
            raise ConfigurationError(
                f"headers: the value of {name} is not printable ASCII text without a "
                "space at either end (it is not shown here)"
            )
    return tuple(headers.items())


def secrets_in(headers: tuple[tuple[str, Secret], ...]) -> list[Secret]:
    """The values of *headers* whose names say that they are credentials.

    A service may repeat a part of one: what follows ``Bearer``, the login that
    ``Basic`` encodes, or the value of a cookie.
    """
    values = [value for name, value in headers if _SECRET.search(name.lower())]
    return [*values, *(part for value in values for part in _parts(value))]


def _parts(value: Secret) -> Iterator[Secret]:
    """What may stand alone of the value of a header."""
    text = value.reveal()
    scheme, _, rest = text.rpartition(" ")
    yield Secret(rest)
    if scheme.lower() == "basic":
        # What is not base64 is not a login.
        with suppress(ValueError):
            login = base64.b64decode(rest, validate=True).decode()
            yield Secret(login)
            yield Secret(login.partition(":")[2])
    for part in text.split(";"):
        _, has_name, cookie = part.partition("=")
        if has_name:
            yield Secret(cookie.strip())
