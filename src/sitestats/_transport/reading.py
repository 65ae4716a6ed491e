"""Read one response, by llhttp, within limits; decompress its body."""

from __future__ import annotations

import zlib
from typing import Final

import httptools

from .limits import MOST_BYTES

_MOST_BETWEEN: Final = 100 * 1024
"""The most bytes of a head, or of what stands between two pieces of a body."""
_GZIP: Final = 31
"""zlib's window bits for the largest window and a gzip header."""
_FINAL: Final = 200
"""Statuses below are of interim responses."""
_MANY_DIGITS: Final = len(str(MOST_BYTES))


class ProtocolError(Exception):
    """What arrived is no HTTP, or no whole response; the message tells why."""


class TooLargeError(Exception):
    """The response is larger than the limit."""


class CorruptError(Exception):
    """The body is not what its content encoding says; the message tells why."""


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
        self._size = self._between = self._length = 0
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.is_over = False
        self.is_reusable = False
        """Whether the connection can carry another request: nothing else came."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes; none at the end of the connection.

        Raises:
            ProtocolError: They are no response, or not a whole one.
            TooLargeError: There are too many.
        """
        self._size += len(data)
        self._between += len(data)
        if not data:
            self._end()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            # Bytes behind the response do not belong to it.
            self.is_reusable = False
            if not self.is_over:
                raise ProtocolError(str(error)) from None
        if not self.is_over and max(self._size, self._length) > MOST_BYTES:
            raise TooLargeError
        if self._between > _MOST_BETWEEN:
            raise ProtocolError("a part of its head or between its chunks is too long")

    def _end(self) -> None:
        names = {name.lower() for name, _ in self.headers}
        if not self.status or names & {b"content-length", b"transfer-encoding"}:
            what = "within its response" if self._size else "without a response"
            raise ProtocolError(f"the server closed the connection {what}")
        self.is_over = True

    def finish(self) -> bytes:
        """The whole body, as it came."""
        # The two refer to each other.
        del self._parser
        return b"".join(self._pieces)

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Refuse a second response."""
        if self.is_over:
            self.is_reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those behind the body are of no use."""
        if not self.status:
            self.headers.append((name, value))
            if len(value) >= _MANY_DIGITS and name.lower() == b"content-length":
                self._length = int(value)

    def on_headers_complete(self) -> None:
        """Take the status, unless it is that of an interim response."""
        status = self._parser.get_status_code()
        if not self.is_over and status >= _FINAL:
            self.status = status
            self.is_over = self._is_bodiless

    def on_body(self, piece: bytes) -> None:
        """Take a piece of the body."""
        if not self.is_over:
            self._pieces.append(piece)
            self._between = 0

    def on_message_complete(self) -> None:
        """End the response, or the interim one."""
        self._between = 0
        if self.is_over:
            return
        if self.status:
            self.is_over = True
            self.is_reusable = self._parser.should_keep_alive()
        else:
            self.headers.clear()


def decompressed(body: bytes, encoding: str) -> bytes:
    """A body with this ``Content-Encoding``, in no more memory than the limit.

    Raises:
        CorruptError: It is no gzip, which alone is requested.
        TooLargeError: It is larger than the limit.
    """
    codings = encoding.lower().strip()
    if codings in {"", "identity"} or not body:
        return body
    if codings not in {"gzip", "x-gzip"}:
        raise CorruptError(f"it is encoded as {encoding!r}, but gzip was requested")
    inflater = zlib.decompressobj(_GZIP)
    try:
        data = inflater.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise CorruptError(f"it is no valid gzip ({error})") from None
    if len(data) > MOST_BYTES:
        raise TooLargeError
    if not inflater.eof:
        raise CorruptError("its gzip ends in the middle")
    if inflater.unused_data.strip(b"\0"):
        raise CorruptError("there is more behind its gzip")
    return data
