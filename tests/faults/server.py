"""The fault server: one listening socket for each case, one event loop for all."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from .peer import GoneError, Peer
from .script import Case, ReadRequest, Script, Send

ELSEWHERE = Case(
    "elsewhere",
    "another origin, which must get no request",
    ((ReadRequest(), Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")),),
    "value",
)


class ServedCase:
    """One case that is served: its address, and what was received and sent."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.attempts = 0
        """Attempts of clients: requests, and connections without one."""
        self.connections = 0
        self.requests: list[bytes] = []
        self.sent = 0
        """Bytes that were sent, over all connections."""
        self._queued: list[socket.socket] = []

    @property
    def origin(self) -> str:
        """The base address of the case."""
        scheme = "https" if self.case.secure else "http"
        return f"{scheme}://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        """The port of the listening socket."""
        port: int = self.socket.getsockname()[1]
        return port

    def add_request(self, request: bytes) -> None:
        """Record a request."""
        self.requests.append(request)

    def add_sent(self, size: int) -> None:
        """Record that *size* bytes were sent."""
        self.sent += size

    def next_script(self) -> Script:
        """The script of the next attempt."""
        scripts = self.case.scripts
        index = self.attempts % len(scripts) if self.case.cycles else self.attempts
        self.attempts += 1
        return scripts[min(index, len(scripts) - 1)]

    def bind(self, port: int) -> None:
        """Bind the port, and listen if the case does."""
        self.socket.bind(("127.0.0.1", port))
        if self.case.listens == "yes":
            self.socket.listen(512)
        elif self.case.listens == "full":
            self.socket.listen(0)
            self._fill()

    def _fill(self) -> None:
        # No accept: once the queue is full, the kernel drops new connections.
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)  # noqa: FBT003  the standard library's own
            client.connect_ex(self.socket.getsockname())
            self._queued.append(client)

    def close(self) -> None:
        """Close the listening socket."""
        for sock in (*self._queued, self.socket):
            sock.close()


class FaultServer:
    """Serves cases on loopback, in a thread, within a ``with`` block.

    >>> with FaultServer(CASES) as server:
    ...     server["responds correctly"].origin
    'http://127.0.0.1:…'
    """

    def __init__(self, cases: Iterable[Case], *, port: int = 0) -> None:
        self._places = {case.name: ServedCase(case) for case in (*cases, ELSEWHERE)}
        self._port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="faults", daemon=True)
        self._ready = threading.Event()

    def __getitem__(self, name: str) -> ServedCase:
        return self._places[name]

    def __iter__(self) -> Iterator[ServedCase]:
        return iter(self._places.values())

    @property
    def elsewhere(self) -> ServedCase:
        """Another origin, to check that no request is sent there."""
        return self._places[ELSEWHERE.name]

    def __enter__(self) -> Self:
        for place in self._places.values():
            place.bind(self._port)
            self._port = 0
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        for place in self._places.values():
            place.close()

    def wait(self) -> None:
        """Serve until the process is interrupted."""
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        # Broken handshakes and connections are expected here.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        self._stop = asyncio.Event()
        tasks = [
            asyncio.create_task(self._accept(place))
            for place in self._places.values()
            if place.case.listens == "yes"
        ]
        self._ready.set()
        await self._stop.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Aborted connections are closed in the loop's next iterations.
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def _accept(self, place: ServedCase) -> None:
        running: set[asyncio.Task[None]] = set()

        async def connected(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            task = asyncio.current_task()
            assert task is not None
            running.add(task)
            task.add_done_callback(running.discard)
            place.connections += 1
            peer = Peer(reader, writer, self._marks(place), place)
            await _run_scripts(place, peer)

        server = await asyncio.start_server(connected, sock=place.socket)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            server.close()
            for task in tuple(running):
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _marks(self, place: ServedCase) -> dict[bytes, bytes]:
        plain = place.origin.replace("https:", "http:", 1)
        return {
            b"%ORIGIN%": place.origin.encode(),
            b"%PLAIN%": plain.encode(),
            b"%ELSEWHERE%": self.elsewhere.origin.encode(),
        }


async def _run_scripts(place: ServedCase, peer: Peer) -> None:
    """Run a script, and the next one for each request that follows."""
    try:
        while True:
            for action in place.next_script():
                await action(peer)
            if not peer.is_open or not await peer.wait_for_request():
                break
    except asyncio.CancelledError:
        peer.abort()
        raise
    except (GoneError, OSError):
        pass
    await peer.close()
