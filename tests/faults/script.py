"""Cases of the fault server: scripts of actions on a connection, as data."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from .peer import Peer


class Action(Protocol):
    """One action on a connection."""

    async def __call__(self, peer: Peer) -> None: ...


Script: TypeAlias = tuple[Action, ...]


@dataclass(frozen=True)
class ReadRequest:
    """Read one complete request and record it."""

    async def __call__(self, peer: Peer) -> None:
        await peer.read_request()


@dataclass(frozen=True)
class Send:
    """Send bytes; ``%ORIGIN%`` and other marks in them become addresses."""

    data: bytes

    async def __call__(self, peer: Peer) -> None:
        await peer.send(self.data)


@dataclass(frozen=True)
class Reflect:
    """Send the head of the request back, between two other pieces."""

    before: bytes = b""
    after: bytes = b""
    within_a_line: bool = False
    escape: str = ""
    """How each byte is written: a format of its code."""

    async def __call__(self, peer: Peer) -> None:
        head = peer.request
        if self.within_a_line:
            head = head.replace(b"\r\n", b" ").replace(b'"', b"")
        if self.escape:
            head = "".join(self.escape.format(code) for code in head).encode()
        await peer.send(self.before + head + self.after)


@dataclass(frozen=True)
class Drip:
    """Send bytes one by one, with a pause before each."""

    data: bytes
    every: float = 0.1

    async def __call__(self, peer: Peer) -> None:
        for byte in self.data:
            await asyncio.sleep(self.every)
            await peer.send(bytes([byte]))


@dataclass(frozen=True)
class Flood:
    """Send a piece many times, as fast as the client reads."""

    piece: bytes
    times: int
    pause: float = 0.0

    async def __call__(self, peer: Peer) -> None:
        for _ in range(self.times):
            await peer.send(self.piece)
            await asyncio.sleep(self.pause)


@dataclass(frozen=True)
class Pause:
    """Do nothing for some seconds."""

    seconds: float

    async def __call__(self, peer: Peer) -> None:
        await asyncio.sleep(self.seconds)


@dataclass(frozen=True)
class Arrival:
    """Wait until the client has begun to send, and do not look at it."""

    async def __call__(self, peer: Peer) -> None:
        await peer.wait_for_request()


@dataclass(frozen=True)
class Silence:
    """Read, but send nothing, until the client gives up."""

    async def __call__(self, peer: Peer) -> None:
        await peer.wait_until_gone()


@dataclass(frozen=True)
class ReadNothing:
    """Neither read nor send anything, for longer than any client waits."""

    async def __call__(self, peer: Peer) -> None:
        await asyncio.sleep(60)


@dataclass(frozen=True)
class Finish:
    """Send FIN, and wait until the client closes the connection."""

    async def __call__(self, peer: Peer) -> None:
        peer.finish()
        await peer.wait_until_gone()


@dataclass(frozen=True)
class Reset:
    """Send RST."""

    async def __call__(self, peer: Peer) -> None:
        peer.reset()


@dataclass(frozen=True)
class StartTls:
    """Do a TLS handshake with one of the certificates."""

    certificate: str = "good"

    async def __call__(self, peer: Peer) -> None:
        await peer.start_tls(self.certificate)


@dataclass(frozen=True)
class Case:
    """What the server does wrong, and what the client's call must give."""

    name: str
    does: str
    """What the server does, for the table of the documentation."""
    scripts: tuple[Script, ...]
    """One for each attempt of the client; the last one also for all later attempts.
    After a script that leaves the connection open, the server waits for the next
    request."""
    gives: str
    """The name of the expected error class, or ``"value"``."""
    attempts: int = 1
    """The expected number of attempts, retries included."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the client, beside ``CASE_OPTIONS``."""
    call: str = "get"
    """The method that is called, by its name in ``CALLS``."""
    has: Mapping[str, Any] = field(default_factory=dict)
    """Expected attributes of the error, or of the value."""
    listens: str = "yes"
    """``no`` if no socket listens, ``full`` if the queue is full."""
    cycles: bool = False
    """Whether the first script follows the last one."""

    @property
    def secure(self) -> bool:
        """Whether the address starts with https."""
        return self.options.get("scheme") == "https"

    @property
    def limit(self) -> float:
        """The most seconds that a call may take."""
        return float({**CASE_OPTIONS, **self.options}["total_timeout"])


CASE_OPTIONS: Mapping[str, Any] = {
    "timeout": 15.0,
    "total_timeout": 30.0,
    "max_response_bytes": 1024 * 1024,
}
"""The client's options in each case. The timeouts are long enough for a busy machine:
only cases about timeouts reach theirs."""

SHORT_TIMEOUT: Mapping[str, Any] = {"timeout": 0.8}
"""For cases in which the server is silent: each read times out soon."""

SHORT_TOTAL_TIMEOUT: Mapping[str, Any] = {"total_timeout": 1.5}
"""For cases in which bytes keep arriving: only ``total_timeout`` ends them."""
