"""What a run tells whoever watches it: the notes of its flow."""

from __future__ import annotations

import attrs

from ._report import State


@attrs.frozen
class Began:
    """A run begins, with this many websites."""

    websites: int
    unix: float


@attrs.frozen
class Sending:
    """An add is about to be sent; the flow goes on once this is on record."""

    hostname: str
    unix: float


@attrs.frozen
class Settled:
    """What became of an add that was announced."""

    hostname: str
    state: State
    message: str | None
    unix: float


@attrs.frozen
class Ended:
    """The run came to its end, and its report to its caller."""

    unix: float


@attrs.frozen
class Progress:
    """So many websites are dealt with, of so many."""

    done: int
    total: int


@attrs.frozen
class History:
    """What earlier runs left in a journal."""

    open: dict[str, float] = attrs.field(factory=dict[str, float])
    """Host names of which an add was announced and its fate is not known, with
    the time of that in Unix seconds."""
    added: frozenset[str] = frozenset()
    """Host names that a run added which never came to its end."""
