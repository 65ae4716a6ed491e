"""``Secret``: a credential that no repr and no pickle shows."""

from __future__ import annotations

from typing import Final, NoReturn

from .errors import ConfigurationError, warn

SHORTEST: Final = 4
"""A credential of fewer characters is in many words, so it is not redacted."""


class Secret:
    """A credential that is in no repr and no pickle."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The credential itself, for the header alone."""
        return self._value

    def __repr__(self) -> str:
        return "Secret('…')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> NoReturn:
        raise ConfigurationError(
            "a credential is never pickled: leave it out of the arguments, and it "
            "comes from the environment (SITESTATS_API_KEY, SITESTATS_USER_ID) of each "
            "process"
        )


def checked_secret(secret: Secret, source: str) -> Secret:
    """*secret*, if a header can carry it.

    Raises:
        ConfigurationError: It can't; the message does not show it.
    """
    if not _fits_a_header(secret):
        raise ConfigurationError(
            source + " is not usable: a credential is a string of printable ASCII "
            "characters without spaces or line breaks, and not empty; look for a "
            "stray quote or line end where it was copied (it is not shown here)"
        )
    if len(secret.reveal()) < SHORTEST:
        warn(
            source + f" has fewer than {SHORTEST} characters, so it is not redacted in "
            "errors and logs: look whether all of it was copied"
        )
    return secret


def _fits_a_header(secret: Secret) -> bool:
    # A generator over characters, so that no frame of ours holds the text.
    return bool(secret.reveal()) and all("!" <= c <= "~" for c in secret.reveal())
