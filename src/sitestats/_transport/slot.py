"""A slot: the place of one connection of httpcore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .attempt import Attempt
    from .stream import Stream

IDLE_SECONDS: Final = 30.0
"""How long an unused connection is kept. Servers keep theirs for 5 to 75 seconds,
and close what is older: that is seen before a connection is used again."""


class Slot:
    """The place of one connection, which one attempt at a time uses.

    httpcore has locks that an interrupt can leave taken. One that did not come to its
    end leaves its slot to be closed, and nothing waits for those locks.
    """

    __slots__ = ("attempt", "connection", "stream")

    def __init__(self) -> None:
        self.attempt: Attempt | None = None
        """The attempt under way, whose limits hold."""
        self.connection: Any = None
        """A connection of httpcore, blocking or asynchronous."""
        self.stream: Stream | None = None
        """What that connection reads and writes, once it is open."""

    def is_open(self) -> bool:
        """Whether there is a connection to close."""
        return self.stream is not None

    def close(self) -> None:
        """Close the connection at once; a further request opens another."""
        self.connection = None
        stream, self.stream = self.stream, None
        if stream is not None:
            stream.close()
