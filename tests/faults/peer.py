"""One connection of the fault server: read, send, reset, TLS."""

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
    """The client has closed the connection, so the script ends."""


class Record(Protocol):
    """Records the requests, and the number of bytes sent."""

    def add_request(self, request: bytes) -> None: ...

    def add_sent(self, size: int) -> None: ...


class Peer:
    """The client's end of a connection, for the actions of a script."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        addresses: Mapping[bytes, bytes],
        record: Record,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._addresses = addresses
        self._record = record
        self._ahead = b""
        self.request = b""
        """The last request, head and body."""

    @property
    def is_open(self) -> bool:
        """Whether the connection could carry another request."""
        return not self._writer.is_closing()

    async def wait_for_request(self) -> bool:
        """Wait for the first byte of a request; False if the client closed."""
        if not self._ahead:
            self._ahead = await self._reader.read(1)
        return bool(self._ahead)

    async def read_request(self) -> None:
        """Read one complete request."""
        try:
            head = self._ahead + await self._reader.readuntil(b"\r\n\r\n")
            self._ahead = b""
            length = _LENGTH.search(head)
            body = await self._reader.readexactly(int(length[1]) if length else 0)
        except asyncio.IncompleteReadError as error:
            raise GoneError from error
        self.request = head + body
        self._record.add_request(self.request)

    async def send(self, data: bytes) -> None:
        """Send *data*; GoneError if the client has closed the connection."""
        if b"%" in data:
            for mark, address in self._addresses.items():
                data = data.replace(mark, address)
        if self._writer.is_closing():
            raise GoneError
        self._writer.write(data)
        await self._writer.drain()
        self._record.add_sent(len(data))

    async def wait_until_gone(self) -> None:
        """Read and discard, until the client closes the connection."""
        while await self._reader.read(65536):
            pass

    def finish(self) -> None:
        """Send FIN; with TLS, which can't end in one direction, close."""
        if self._writer.can_write_eof():
            self._writer.write_eof()
        else:
            self._writer.close()

    def reset(self) -> None:
        """Send RST."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def start_tls(self, certificate: str) -> None:
        """Do a TLS handshake."""
        await self._writer.start_tls(tls_context(certificate))

    async def close(self) -> None:
        """Close the connection; abort it if this is cancelled."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            self.abort()
        except asyncio.CancelledError:
            self.abort()
            raise

    def abort(self) -> None:
        """Close the connection immediately."""
        self._writer.transport.abort()
