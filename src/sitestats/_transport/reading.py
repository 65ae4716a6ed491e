"""Read one response, by llhttp, within limits."""

from __future__ import annotations

import sys
from typing import Final

import httptools

from .bodies import MOST_BYTES, SUCCESS, ProtocolError, TooLargeError

_LONGEST_HEAD: Final = 100 * 1024
"""The most bytes of the status line and the headers."""
_TLS_ALERT: Final = b"\x15\x03"
"""How a server that speaks TLS refuses a plain request."""
_FINAL: Final = 200
"""Statuses below are of interim responses."""


class Reading:
    r"""A response that is being read. Each has a parser of its own.

    >>> reading = Reading("GET")
    >>> reading.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    >>> reading.is_over, reading.is_reusable, reading.finish()
    (True, True, b'{}')
    """

    def __init__(self, method: str) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._is_bodiless = method == "HEAD"
        self._pieces: list[bytes] = []
        self._size = 0
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.is_over = False
        self.is_reusable = False
        """Whether the connection can carry another request: nothing else came."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes; none at the end of the connection.

        Raises:
            ProtocolError: They are not a response, or not a whole one.
            TooLargeError: There are too many; the status of an error says enough.
        """
        self._size += len(data)
        if not data:
            self._end()
            return
        if self._size == len(data) and data.startswith(_TLS_ALERT):
            raise ProtocolError(
                "the server speaks TLS at this port: begin the base address with https://"
            )
        handled = sys.exception()
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            # Bytes after the response do not belong to it.
            self.is_reusable = False
            if isinstance(error, httptools.HttpParserCallbackError):
                # Our callbacks raise nothing themselves, so this is an interrupt.
                cause = error.__context__
                raise (
                    KeyboardInterrupt if cause is None or cause is handled else cause
                ) from None
            if not self.is_over:
                raise ProtocolError(
                    "the server switches to another protocol"
                    if isinstance(error, httptools.HttpParserUpgrade)
                    else str(error)
                ) from None
        if not self.status and self._size > _LONGEST_HEAD:
            raise ProtocolError("its headers are too long")
        if not self.is_over and self._size > MOST_BYTES:
            # Otherwise they would wait for a garbage collection.
            self._pieces.clear()
            if self.status in SUCCESS:
                raise TooLargeError
            self.is_over = True

    def _end(self) -> None:
        names = {name.lower() for name, _ in self.headers}
        if not self.status or names & {b"content-length", b"transfer-encoding"}:
            what = "within its response" if self._size else "without a response"
            raise ProtocolError(f"the server closed the connection {what}")
        self.is_over = True

    def finish(self) -> bytes:
        """The whole body, as it came."""
        # The parser refers to this reading: dropping it breaks a reference cycle.
        del self._parser
        return b"".join(self._pieces)

    # The parser calls these methods.

    def on_message_begin(self) -> None:
        """Refuse a second response."""
        if self.is_over:
            self.is_reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; a header after the body is of no use."""
        if not self.status:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Take the status, unless the response is an interim one."""
        status = self._parser.get_status_code()
        if not self.is_over and status >= _FINAL:
            self.status = status
            self.is_over = self._is_bodiless

    def on_body(self, piece: bytes) -> None:
        """Take a piece of the body."""
        if not self.is_over:
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        """End the response, or the interim one."""
        if not self.status:
            self.headers.clear()
        elif not self.is_over:
            self.is_over = True
            self.is_reusable = self._parser.should_keep_alive()
