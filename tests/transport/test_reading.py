"""Reading a response, and decompressing its body: pure, within limits."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transport.inside import CorruptError, ProtocolError, Reading, decompressed

MIB = 1024 * 1024
HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
PACKED = gzip.compress(b"some text", mtime=0)
SHORT = HEAD + b"Content-Length: 2\r\n\r\n{}"


def read(*pieces: bytes, method: str = "GET") -> Reading:
    """What was read of *pieces*."""
    reading = Reading(method)
    for piece in pieces:
        reading.feed(piece)
    return reading


@given(st.binary(max_size=300), st.integers(1, 50), st.booleans())
def test_a_response_however_it_is_cut(body: bytes, step: int, chunked: bool) -> None:  # noqa: FBT001
    """Whatever the pieces on the wire are, the body is what was sent."""
    if chunked:
        parts = (body[at : at + 7] for at in range(0, len(body), 7))
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
        wire = CHUNKED + chunks + b"0\r\n\r\n"
    else:
        wire = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    reading = read(*(wire[at : at + step] for at in range(0, len(wire), step)))
    assert reading.is_over
    assert reading.is_reusable
    assert reading.finish() == body


@pytest.mark.parametrize(
    ("wire", "status", "body", "is_reusable"),
    [
        (b"HTTP/1.0 200 OK\r\n\r\n{}", 200, b"{}", False),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
        (b"HTTP/1.1 304 No\r\nContent-Length: 99999999\r\n\r\n", 304, b"", True),
        (b"HTTP/1.1 103 Early\r\nA: b\r\n\r\n" + SHORT, 200, b"{}", True),
        (CHUNKED + b"1\r\n{\r\n1;x=y\r\n}\r\n0\r\nT: x\r\n\r\n", 200, b"{}", True),
        (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, b"", True),
        (HEAD + b"Connection: close\r\nContent-Length: 0\r\n\r\n", 200, b"", False),
        (
            SHORT + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL",
            200,
            b"{}",
            False,
        ),
        (SHORT + b"HTTP/1.1 2", 200, b"{}", False),
        (SHORT + b"x", 200, b"{}", False),
    ],
)
def test_what_a_response_is(
    wire: bytes,
    status: int,
    body: bytes,
    is_reusable: bool,  # noqa: FBT001
) -> None:
    """Whatever HTTP allows is read; what comes after it is nobody's response."""
    # Without a length the end of the connection is that of the body.
    reading = read(wire, *[b""][: b"1.0" in wire])
    assert reading.is_over
    assert (reading.status, reading.finish()) == (status, body)
    assert reading.is_reusable is is_reusable
    assert (b"T", b"x") not in reading.headers
    assert (b"A", b"b") not in reading.headers


def test_bytes_that_come_later_end_a_connection() -> None:
    """A connection is not used again for which bytes came after a response."""
    assert not read(SHORT, SHORT).is_reusable


def test_a_response_to_head_has_no_body() -> None:
    """It may have the length of a body, of any size, that another method would get."""
    reading = read(HEAD + b"Content-Length: 99999999999\r\n\r\n", method="HEAD")
    assert (reading.is_over, reading.is_reusable) == (True, False)


@pytest.mark.parametrize(
    "pieces",
    [
        (b"",),
        (HEAD, b""),
        (SHORT[:-1], b""),
        (CHUNKED + b"2\r\n{}\r\n", b""),
        (HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",),
        (HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n",),
        (HEAD + b"X: " + b"x" * 110_000,),
        (HEAD, *[b"X: y\r\n" * 10_000] * 2),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 5000,),
        (b"HTTP/1.1 101 Other\r\n\r\n",),
    ],
    ids=lambda pieces: repr(pieces[-1][-30:]),
)
def test_what_is_no_whole_response(pieces: tuple[bytes, ...]) -> None:
    """A response that is cut, ambiguous or endless is refused, in words."""
    with pytest.raises(ProtocolError, match=r"[a-z]{3}"):
        read(*pieces)


class Interrupted(Reading):
    """A response within whose body a signal comes."""

    raises: type[BaseException] = KeyboardInterrupt

    def on_body(self, piece: bytes) -> None:
        raise self.raises


def test_an_interrupt_while_a_response_is_read() -> None:
    """Ctrl-C stays what it is, also where the caller handles an error."""
    reading = Interrupted("GET")
    reading.raises = SystemExit
    with pytest.raises(SystemExit):
        reading.feed(SHORT)
    try:
        int("x")
    except ValueError:
        with pytest.raises(KeyboardInterrupt):
            Interrupted("GET").feed(SHORT)


@given(st.binary(max_size=200), st.sampled_from([b"", HEAD, CHUNKED, SHORT]))
@example(b"\r\n\r\n", HEAD)
def test_any_bytes_are_a_response_or_one_error(wire: bytes, start: bytes) -> None:
    """No bytes raise anything else."""
    reading = Reading("GET")
    try:
        reading.feed(start + wire)
        reading.feed(b"")
    except ProtocolError:
        return
    assert reading.is_over


# --- compressed bodies ------------------------------------------------------------


@given(st.binary(max_size=2000), st.integers(0, 9), st.integers(0, 20))
def test_gzip_comes_out_as_it_went_in(content: bytes, level: int, padding: int) -> None:
    """Gzip of any level, padded with zeros, inflates to what was compressed."""
    assert (
        decompressed(gzip.compress(content, level) + bytes(padding), "GZip") == content
    )


def test_what_is_not_compressed() -> None:
    """The encoding "identity" changes nothing, and an empty body has any encoding."""
    assert decompressed(b"text", " Identity ") == b"text"
    assert decompressed(b"", "br") == b""


@pytest.mark.parametrize(
    ("wire", "encoding", "reason"),
    [
        (b"text", "br", "encoded as 'br', but gzip was requested"),
        (b"text", "gzip, gzip", "but gzip was requested"),
        (b"plain text", "gzip", "not valid gzip"),
        (zlib.compress(b"text"), "gzip", "not valid gzip"),
        (
            gzip.compress(b"some text", mtime=0)[:-8] + bytes(8),
            "gzip",
            "not valid gzip",
        ),
        (PACKED[:-1], "gzip", "ends early"),
        (PACKED + b"more", "gzip", "more follows"),
    ],
)
def test_what_can_not_be_decompressed(wire: bytes, encoding: str, reason: str) -> None:
    """It is an error that tells why, and never a shorter body."""
    with pytest.raises(CorruptError, match=reason):
        decompressed(wire, encoding)
