"""One connection, from the server's side."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from collections.abc import Mapping
from typing import Protocol

from .certificates import tls_context

_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)\r\n", re.IGNORECASE)


class GoneError(Exception):
    """The client has left, so that the rest of the script has no meaning."""


class Record(Protocol):
    """Where it is written down what happens on connections."""

    def remember(self, request: bytes) -> None: ...

    def count(self, said: int) -> None: ...


class Peer:
    """What the actions of a script act on."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        places: Mapping[bytes, bytes],
        record: Record,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._places = places
        self._record = record
        self._ahead = b""
        self.heard = b""
        """The last request, head and body."""

    @property
    def is_open(self) -> bool:
        """Whether the connection could carry another request."""
        return not self._writer.is_closing()

    async def comes(self) -> bool:
        """Wait for the first byte of a request; False when the client left."""
        if not self._ahead:
            self._ahead = await self._reader.read(1)
        return bool(self._ahead)

    async def hear(self) -> None:
        """Read one whole request."""
        try:
            head = self._ahead + await self._reader.readuntil(b"\r\n\r\n")
            self._ahead = b""
            length = _LENGTH.search(head)
            body = await self._reader.readexactly(int(length[1]) if length else 0)
        except asyncio.IncompleteReadError as error:
            raise GoneError from error
        self.heard = head + body
        self._record.remember(self.heard)

    async def say(self, data: bytes) -> None:
        """Send *data*; GoneError when nobody is there to take it."""
        if b"%" in data:
            for mark, place in self._places.items():
                data = data.replace(mark, place)
        if self._writer.is_closing():
            raise GoneError
        self._writer.write(data)
        await self._writer.drain()
        self._record.count(len(data))

    async def wait_until_gone(self) -> None:
        """Read and forget, until the client leaves."""
        while await self._reader.read(65536):
            pass

    def finish(self) -> None:
        """Send FIN; TLS can't be ended in one direction, so there it is the end."""
        if self._writer.can_write_eof():
            self._writer.write_eof()
        else:
            self._writer.close()

    def reset(self) -> None:
        """Send RST."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def secure(self, certificate: str) -> None:
        """Do a TLS handshake."""
        await self._writer.start_tls(tls_context(certificate))

    async def close(self) -> None:
        """End the connection, at the latest when this is cancelled."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            self.abort()
        except asyncio.CancelledError:
            self.abort()
            raise

    def abort(self) -> None:
        """End the connection at once."""
        self._writer.transport.abort()
