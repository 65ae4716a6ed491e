"""Limits of a response, what is wrong with one, and the decompression of its body."""

from __future__ import annotations

import zlib
from typing import Final

MOST_BYTES: Final = 64 * 1024 * 1024
"""The most bytes of a response, on the wire and decompressed."""
SUCCESS: Final = range(200, 300)
"""The statuses whose bodies count."""


class ProtocolError(Exception):
    """The bytes are not HTTP, or not a whole response; the message tells why."""


class TooLargeError(Exception):
    """The response is larger than the limit."""


class CorruptError(Exception):
    """The body does not have its content encoding; the message tells why."""


def decompressed(body: bytes, encoding: str) -> bytes:
    """A body with this ``Content-Encoding``, in no more memory than the limit.

    Raises:
        CorruptError: It is not gzip, the only encoding that is requested.
        TooLargeError: It is larger than the limit.
    """
    codings = [name.strip().lower() for name in encoding.split(",")]
    codings = [name for name in codings if not _is_no_coding(name)]
    if not codings or not body:
        return body
    if codings not in (["gzip"], ["x-gzip"]):
        raise CorruptError(f"it is encoded as {encoding!r}, but gzip was requested")
    # The window bits of the largest window, with a gzip header.
    inflater = zlib.decompressobj(31)
    try:
        data = inflater.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise CorruptError(f"it is not valid gzip ({error})") from None
    if len(data) > MOST_BYTES:
        raise TooLargeError
    if not inflater.eof or inflater.unused_data.strip(b"\0"):
        raise CorruptError("its gzip ends early, or more follows it")
    return data


def _is_no_coding(name: str) -> bool:
    """Whether it is a charset, which servers write there by mistake, and no coding."""
    try:
        "".encode(name or "utf-8")
    except LookupError:
        return name in {"identity", "none", "binary", "8bit"}
    return True
