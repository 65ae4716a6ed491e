"""One HTTP/1.1 connection, by h11: connect, send a request, collect its response.

It is written once for all clients, as a generator that yields what it waits for.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import h11

from .body import body_of
from .headers import response_headers

if TYPE_CHECKING:
    from .attempt import Attempt
    from .headers import RequestHeaders
    from .route import Route
    from .stream import Stream
    from .waiting import Waiting

_MOST_HEADER_BYTES: Final = 100 * 1024
"""Bytes of a status line with its headers, or of one line between chunks."""


class DisconnectedError(Exception):
    """The other side closed the connection where a response was due."""

    def __init__(self) -> None:
        super().__init__("the server disconnected without sending a response")


class Connection:
    """A connection along a route, opened by its first request.

    It serves one request at a time. A request that did not come to its end leaves it
    closed.
    """

    def __init__(self, route: Route, headers: RequestHeaders) -> None:
        self._route = route
        self._headers = headers
        self._stream: Stream | None = None
        self._http = h11.Connection(h11.CLIENT)

    def exchange(self, attempt: Attempt) -> Waiting[tuple[int, dict[str, str], bytes]]:
        """Send the request of *attempt*: the status, headers and body that come back.

        *attempt* is marked as begun when something may leave the machine.
        """
        request = attempt.request
        clean = False
        try:
            if self._stream is not None and self._stream.has_unread_bytes():
                # The server has closed it, or has sent what nobody requested.
                self.close()
            if self._stream is None:
                self._stream = yield from self._route.connect(attempt.timeout)
                self._http = h11.Connection(
                    h11.CLIENT, max_incomplete_event_size=_MOST_HEADER_BYTES
                )
            stream, http = self._stream, self._http
            head = h11.Request(
                method=request.method,
                target=f"{self._route.prefix}{request.target}",
                headers=[*self._headers.of(request), *self._route.headers],
            )
            data = http.send(head) or b""
            if request.body:
                data += http.send(h11.Data(data=request.body)) or b""
            data += http.send(h11.EndOfMessage()) or b""
            attempt.began = True
            # A server may refuse a request before it has read all of it.
            with suppress(OSError):
                yield from stream.send(data)
            response = yield from receive_head(http, stream)
            status = response.status_code
            received = response_headers(response.headers)
            body = body_of(attempt, status, received)
            while True:
                event = http.next_event()
                if event is h11.NEED_DATA:
                    http.receive_data((yield from stream.receive()))
                elif isinstance(event, h11.Data):
                    body.feed(bytes(event.data))
                else:
                    break
            result = body.finish()
            clean = self._is_reusable()
            if clean:
                http.start_next_cycle()
            return status, received, result
        finally:
            if not clean:
                self.close()

    def _is_reusable(self) -> bool:
        return (
            self._stream is not None
            and self._http.our_state is h11.DONE
            and self._http.their_state is h11.DONE
            # What came behind the response belongs to no request of ours.
            and not self._http.trailing_data[0]
            and not self._stream.has_unread_bytes()
        )

    def close(self) -> None:
        """Close it at once; a further request opens another."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


def receive_head(http: h11.Connection, stream: Stream) -> Waiting[h11.Response]:
    """The status and headers of a response, without interim ones."""
    while True:
        event = http.next_event()
        if isinstance(event, h11.Response):
            return event
        if event is h11.NEED_DATA:
            data = yield from stream.receive()
            if not data and http.their_state is h11.SEND_RESPONSE:
                raise DisconnectedError
            http.receive_data(data)
        elif not isinstance(event, h11.InformationalResponse):
            raise DisconnectedError
