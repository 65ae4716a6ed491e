"""Collect a body, decompressed in bounded steps.

A thousand bytes of gzip can stand for a million. Nothing here grows beyond the
limit, whatever is fed: no more is decompressed than there is room for.
"""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import Final

_GZIP: Final = 31
"""zlib's window bits for the largest window and a gzip header."""

_STEP: Final = 256 * 1024
"""The most bytes that one step decompresses."""


class TooLargeError(ValueError):
    """The body is larger than the limit."""


class CorruptError(ValueError):
    """The body is not what its content encoding says; the message tells why."""


class Body:
    """A body that is fed in pieces and is at most *limit* bytes long.

    >>> body = Body(limit=1000)
    >>> body.feed(b"he")
    >>> body.feed(b"llo")
    >>> body.finish()
    b'hello'
    """

    def __init__(
        self,
        encoding: str = "",
        *,
        limit: int,
        length: str | None = None,
        is_needed: bool = True,
    ) -> None:
        """Collect a body with this ``Content-Encoding`` and ``Content-Length``.

        One that is not needed is empty where it can't be decompressed: the status of an
        error says enough.

        Raises:
            CorruptError: The encoding is not gzip, which alone is requested.
            TooLargeError: The length is over the limit already.
        """
        self._is_needed = is_needed
        self._is_refused = False
        codings = set(encoding.replace(",", " ").lower().split()) - {"identity"}
        if codings - {"gzip", "x-gzip"} or encoding.count("gzip") > 1:
            self._refuse(f"it is encoded as {encoding!r}, but gzip was requested")
        self._inflater = zlib.decompressobj(_GZIP) if codings else None
        self._limit = limit
        # What can't be compressed grows a little by gzip. Without a limit of
        # their own, members that hold nothing could follow each other for ever.
        self._wire_limit = limit + (limit // 100 + 1024 if codings else 0)
        self._wire_size = 0
        self._size = 0
        self._begun = False
        self._whole = BytesIO()
        # A length of more digits than any limit has need not be converted,
        # and int() refuses one of 5,000.
        if (
            length is not None
            and length.isdecimal()
            and (len(length) > 20 or int(length) > self._wire_limit)  # noqa: PLR2004  # digits
        ):
            raise TooLargeError

    def feed(self, piece: bytes) -> None:
        """Take the next piece as it came.

        Raises:
            TooLargeError: It is over the limit.
            CorruptError: It is no gzip.
        """
        self._wire_size += len(piece)
        if self._wire_size > self._wire_limit:
            raise TooLargeError
        if self._is_refused:
            return
        if self._inflater is None:
            self._whole.write(piece)
        else:
            self._inflate(piece)

    def _inflate(self, piece: bytes) -> None:
        while piece:
            inflater = self._inflater
            assert inflater is not None
            if inflater.eof:
                # Members follow each other, and zeros may pad the end.
                piece = piece.lstrip(b"\0")
                if not piece:
                    return
                inflater = self._inflater = zlib.decompressobj(_GZIP)
            self._begun = True
            room = self._limit + 1 - self._size
            try:
                inflated = inflater.decompress(piece, min(room, _STEP))
            except zlib.error as error:
                self._refuse(f"it is no valid gzip ({error})")
                return
            self._size += len(inflated)
            if self._size > self._limit:
                raise TooLargeError
            self._whole.write(inflated)
            piece = inflater.unused_data if inflater.eof else inflater.unconsumed_tail

    def finish(self) -> bytes:
        """The whole body.

        Raises:
            CorruptError: The gzip ended in its middle.
        """
        if self._begun and self._inflater is not None and not self._inflater.eof:
            self._refuse("its gzip ends in the middle")
        return b"" if self._is_refused else self._whole.getvalue()

    def _refuse(self, why: str) -> None:
        if self._is_needed:
            raise CorruptError(why)
        self._is_refused = True
