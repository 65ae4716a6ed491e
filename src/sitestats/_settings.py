"""What a client was told: arguments, the environment, and the secret type."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias

import attrs

from ._errors import ConfigurationError
from ._hostnames import BaseAddress
from ._retry import RetryPolicy

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

MIB: Final = 1024 * 1024


class _LeftOut(Enum):
    LEFT_OUT = "left out"

    def __repr__(self) -> str:
        return "<from the environment>"


LEFT_OUT: Final = _LeftOut.LEFT_OUT
"""An argument that was left out comes from the environment; None means without."""

FromEnvironment: TypeAlias = Literal[_LeftOut.LEFT_OUT]


class Secret:
    """A credential that never shows: not in a repr, a pickle or a comparison's error."""

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
            "a credential is never pickled: leave it out, and it comes from the "
            "environment (SITESTATS_API_KEY, SITESTATS_USER_ID) of each process"
        )


@attrs.frozen
class Settings:
    """Everything that a client's constructor was told, checked."""

    base: BaseAddress
    api_key: Secret | None = None
    user_id: Secret | None = None
    timeout: float = 30.0
    total_timeout: float = 120.0
    retry: RetryPolicy = RetryPolicy()
    max_connections: int = 50
    max_response_bytes: int = 64 * MIB
    read_only: bool = False
    proxy: str | None = None
    verify: bool | str | ssl.SSLContext = True
