"""Where a response ends, so that leftover bytes behind it are noticed.

What arrives behind a response belongs to no request of ours, and h11 would take it for
the next response. Every response is parsed by h11; here only its length is followed.
What can't be followed counts as leftover: the connection is not used again.
"""

from __future__ import annotations

import re
from typing import Final

_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,18})[ \t]*(?:\r|$)")
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*(?:\r|$)")
_SIZE: Final = re.compile(rb"([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]*)?\r\n")
_LINE_END: Final = 2
"""Bytes behind each chunk, and behind the last one."""


# What the next byte belongs to. Members of an enum would take half of the time.
_HEAD: Final = 0
_CHUNK_SIZE: Final = 1
_CHUNK: Final = 2
_BODY: Final = 3
_NOTHING: Final = 4
_UNKNOWN: Final = 5


class Framing:
    r"""Follows the bytes of one response after another.

    >>> framing = Framing()
    >>> framing.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    >>> framing.is_over
    True
    >>> framing.feed(b"H")
    >>> framing.is_over
    False
    """

    __slots__ = ("_left", "_part", "_rest", "is_over")

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Expect a response."""
        self._part = _HEAD
        self._left = 0
        self._rest: bytes = b""
        self.is_over = False
        """Whether exactly one response was fed."""

    def feed(self, data: bytes) -> None:
        """Follow the next bytes."""
        data = self._rest + data
        at = 0
        self._rest = b""
        while at < len(data) and self._part != _UNKNOWN:
            if self._part == _HEAD:
                end = data.find(_HEAD_END, at)
                if end < 0:
                    break
                self._read_head(data[at:end])
                at = end + len(_HEAD_END)
            elif self._part == _CHUNK_SIZE:
                size = _SIZE.match(data, at)
                if size is None:
                    if b"\n" in data[at:]:
                        self._part = _UNKNOWN
                    break
                at = size.end()
                self._expect(int(size[1], 16))
            elif self._part == _NOTHING:
                self._part = _UNKNOWN
            else:
                step = min(self._left, len(data) - at)
                at += step
                self._left -= step
                if not self._left:
                    is_chunk = self._part == _CHUNK
                    self._part = _CHUNK_SIZE if is_chunk else _NOTHING
        if self._part <= _CHUNK_SIZE:
            # h11 gives up on a line, or on a head, of more than 100 KiB.
            self._rest = data[at:]
        self.is_over = self._part == _NOTHING

    def _read_head(self, head: bytes) -> None:
        head = head.lower()
        if head.startswith(b"1", len(b"http/1.1 ")):
            # An interim response, before the one that is meant.
            return
        length = _LENGTH.search(head)
        if head.count(b"\n") != head.count(b"\r\n"):
            self._part = _UNKNOWN
        elif b"\r\ntransfer-encoding:" in head:
            chunked = _CHUNKED.search(head) is not None
            self._part = _CHUNK_SIZE if chunked else _UNKNOWN
        elif length is None:
            self._part = _UNKNOWN
        else:
            self._left = int(length[1])
            self._part = _BODY if self._left else _NOTHING

    def _expect(self, size: int) -> None:
        """Expect a chunk; the last one has no bytes, and in most cases no trailers."""
        self._left = size + _LINE_END
        self._part = _CHUNK if size else _BODY
