"""Where a response ends: exactly where h11 says so, and never behind leftover bytes."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats._transport.framing import Framing

OK = b"HTTP/1.1 200 OK\r\n"


def fed(*pieces: bytes) -> Framing:
    """What follows these bytes."""
    framing = Framing()
    for piece in pieces:
        framing.feed(piece)
    return framing


def chunked(chunks: list[bytes], extension: bytes = b"") -> bytes:
    """A response in chunks."""
    lines = [b"%x%b\r\n%b\r\n" % (len(one), extension, one) for one in chunks if one]
    head = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(lines) + b"0\r\n\r\n"


def with_length(body: bytes) -> bytes:
    """A response with a Content-Length."""
    return OK + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


bodies = st.binary(max_size=40)
responses = st.one_of(
    bodies.map(with_length),
    st.lists(bodies, max_size=4).map(chunked),
    st.lists(bodies, max_size=4).map(lambda body: chunked(body, b";a=b")),
    bodies.map(lambda body: b"HTTP/1.1 103 Early\r\n\r\n" + with_length(body)),
)


def pieces_of(data: bytes, cuts: list[int]) -> list[bytes]:
    """*data*, cut at some places."""
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in pairwise(places)]


@given(responses, st.lists(st.integers(0, 10_000), max_size=6))
def test_a_response_is_over_with_its_last_byte(data: bytes, cuts: list[int]) -> None:
    """However a response is cut, it is over behind its last byte, and not before."""
    assert fed(*pieces_of(data, cuts)).is_over
    assert not fed(*pieces_of(data[:-1], cuts)).is_over


@given(responses, st.binary(min_size=1, max_size=5), st.lists(st.integers(0, 10_000)))
def test_what_follows_a_response_is_left_over(
    data: bytes, more: bytes, cuts: list[int]
) -> None:
    """With a single byte behind it a response does not count as over."""
    assert not fed(*pieces_of(data + more, cuts)).is_over


@given(responses)
def test_the_next_response_is_followed_anew(data: bytes) -> None:
    """After each request a response is expected again."""
    framing = fed(data)
    framing.begin()
    assert not framing.is_over
    framing.feed(data)
    assert framing.is_over


@pytest.mark.parametrize(
    "data",
    [
        OK + b"\r\n{}",
        OK + b"Content-Length: x\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 99999999999999999999\r\n\r\n",
        OK + b"A: b\nContent-Length: 0\r\n\r\n",
        OK + b"Content-Length:\r\n 0\r\n\r\n",
        OK + b"Transfer-Encoding: gzip, chunked\r\nContent-Length: 0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nx\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: a\r\n\r\n",
        b"SSH-2.0\r\n\r\n",
        b"\r\n\r\n",
    ],
)
def test_what_can_not_be_followed_is_never_over(data: bytes) -> None:
    """Where the length is not certain, the connection is not used again."""
    assert not fed(data).is_over
    assert not fed(data, b"0\r\n\r\n").is_over


@given(
    st.lists(
        st.sampled_from(
            [
                *map(bytes.fromhex, ["0d0a", "0a", "0d"]),
                b"HTTP/1.1 200 OK",
                b"HTTP/1.1 100 Go",
                b"Content-Length: 1",
                b"Content-Length: 2",
                b"Transfer-Encoding: chunked",
                b"transfer-encoding : chunked",
                b" ",
                b"1",
                b"0",
                b";a",
                b"x",
                b"xy",
                b"A: b",
            ]
        ),
        max_size=14,
    ).map(b"".join)
)
def test_it_ends_where_h11_says(data: bytes) -> None:
    """What counts as exactly one response is exactly one for h11, with nothing left."""
    if not fed(data).is_over:
        return
    connection = h11.Connection(h11.CLIENT)
    request = h11.Request(method="GET", target="/", headers=[("Host", "a")])
    connection.send(request)
    connection.send(h11.EndOfMessage())
    connection.receive_data(data)
    try:
        while connection.next_event() not in (h11.NEED_DATA, h11.PAUSED):
            if connection.their_state is h11.DONE:
                break
    except h11.RemoteProtocolError:
        # No response at all: the connection is closed anyway.
        return
    if connection.their_state is h11.DONE:
        assert connection.trailing_data[0] == b""
