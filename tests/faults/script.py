"""What the server does on a connection, as data: a script is a row of actions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from .peer import Peer


class Action(Protocol):
    """One thing that is done on a connection."""

    async def __call__(self, peer: Peer) -> None: ...


Script: TypeAlias = tuple[Action, ...]


@dataclass(frozen=True)
class Hear:
    """Read one whole request and remember it."""

    async def __call__(self, peer: Peer) -> None:
        await peer.hear()


@dataclass(frozen=True)
class Say:
    """Send bytes, in which ``%ORIGIN%`` and the like stand for addresses."""

    data: bytes

    async def __call__(self, peer: Peer) -> None:
        await peer.say(self.data)


@dataclass(frozen=True)
class Reflect:
    """Send back the head of the request between two pieces of one's own."""

    before: bytes = b""
    after: bytes = b""
    within_a_line: bool = False

    async def __call__(self, peer: Peer) -> None:
        head = peer.heard
        if self.within_a_line:
            head = head.replace(b"\r\n", b" ").replace(b'"', b"")
        await peer.say(self.before + head + self.after)


@dataclass(frozen=True)
class Drip:
    """Send bytes one by one, with a pause before each."""

    data: bytes
    every: float = 0.1

    async def __call__(self, peer: Peer) -> None:
        for byte in self.data:
            await asyncio.sleep(self.every)
            await peer.say(bytes([byte]))


@dataclass(frozen=True)
class Flood:
    """Send a piece again and again, as fast as it is taken."""

    piece: bytes
    times: int
    pause: float = 0.0

    async def __call__(self, peer: Peer) -> None:
        for _ in range(self.times):
            await peer.say(self.piece)
            await asyncio.sleep(self.pause)


@dataclass(frozen=True)
class Pause:
    """Do nothing for some seconds."""

    seconds: float

    async def __call__(self, peer: Peer) -> None:
        await asyncio.sleep(self.seconds)


@dataclass(frozen=True)
class Silence:
    """Say nothing until the other side gives up; what it says is read."""

    async def __call__(self, peer: Peer) -> None:
        await peer.wait_until_gone()


@dataclass(frozen=True)
class Deafness:
    """Neither read nor say anything, for longer than anybody waits."""

    async def __call__(self, peer: Peer) -> None:
        await asyncio.sleep(60)


@dataclass(frozen=True)
class Finish:
    """Say that nothing more will come, and wait for the other side to leave."""

    async def __call__(self, peer: Peer) -> None:
        peer.finish()
        await peer.wait_until_gone()


@dataclass(frozen=True)
class Reset:
    """Break the connection with RST, so that the other side can't miss it."""

    async def __call__(self, peer: Peer) -> None:
        peer.reset()


@dataclass(frozen=True)
class Secure:
    """Do a TLS handshake with one of the certificates."""

    certificate: str = "good"

    async def __call__(self, peer: Peer) -> None:
        await peer.secure(self.certificate)


@dataclass(frozen=True)
class Case:
    """One way to be broken, and what a client has to make of it."""

    name: str
    does: str
    """What the server does, as half a sentence for the documentation."""
    scripts: tuple[Script, ...]
    """One for each time that the client comes; the last one for all others. A
    connection that a script leaves open waits for the next request."""
    gives: str
    """The name of the one error class, or ``"value"``."""
    tries: int = 1
    """How often the client comes, retries included."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the client is made with, beside ``SWIFT``."""
    call: str = "get"
    """What is called, by its name in the table of calls."""
    has: Mapping[str, Any] = field(default_factory=dict)
    """Attributes of the error, or of the value."""
    listens: str = "yes"
    """``no`` when nobody listens, ``full`` when the queue is full."""
    cycles: bool = False
    """Whether the scripts begin again after the last one."""

    @property
    def secure(self) -> bool:
        """Whether the address begins with https."""
        return self.options.get("scheme") == "https"

    @property
    def is_about_time(self) -> bool:
        """Whether a time-out is short, so that a slow machine could meet it too."""
        return bool({"timeout", "total_timeout"} & self.options.keys())

    @property
    def limit(self) -> float:
        """Seconds within which a call has to end."""
        return float({**SWIFT, **self.options}["total_timeout"])


SWIFT: Mapping[str, Any] = {
    "timeout": 15.0,
    "total_timeout": 30.0,
    "max_response_bytes": 1024 * 1024,
}
"""The options of each case: time enough for a busy machine, as only the cases
about time let it pass."""

HASTY: Mapping[str, Any] = {"timeout": 0.8}
"""For cases in which nothing comes: each read gives up soon."""

BRIEF: Mapping[str, Any] = {"total_timeout": 1.5}
"""For cases in which something always comes: only the total can end them."""
