"""A proxy on loopback that forwards, tunnels and records what it received."""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

REFUSAL = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"


class RecordingProxy:
    """Serves within its block; ``received`` is every request head that arrived.

    It refuses requests whose head is without *authorization*.
    """

    def __init__(self, *, authorization: bytes = b"") -> None:
        self.received: list[bytes] = []
        self.tunnelled = bytearray()
        self.port = 0
        self._authorization = authorization
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # What was aborted is closed by the loop's next iteration.
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def _connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await self._attend(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    async def _attend(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.received.append(head)
        if self._authorization not in head:
            writer.write(REFUSAL)
            writer.write_eof()
            await reader.read()
            return
        method, target, _ = head.split(b" ", 2)
        if method == b"CONNECT":
            host, _, port = target.decode().rpartition(":")
            service = await asyncio.open_connection(host, int(port))
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            address = urlsplit(target.decode())
            service = await asyncio.open_connection(address.hostname, address.port)
            # The origin's form in place of the proxy's.
            path = address._replace(scheme="", netloc="").geturl().encode()
            lines = head.replace(target, path, 1).split(b"\r\n")
            lines = [line for line in lines if not line.startswith(b"Proxy-")]
            service[1].write(b"\r\n".join(lines))
        try:
            await asyncio.gather(
                self._pump(reader, service[1], self.tunnelled),
                self._pump(service[0], writer, bytearray()),
            )
        finally:
            service[1].transport.abort()

    @staticmethod
    async def _pump(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: bytearray
    ) -> None:
        while data := await reader.read(65536):
            seen += data
            writer.write(data)
            await writer.drain()
        writer.close()
