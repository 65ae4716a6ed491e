"""Response bodies: collected whole, inflated, and never beyond their limit."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitestats._transport.body import Body, CorruptError, TooLargeError

MIB = 1024 * 1024
EMPTY_MEMBER = gzip.compress(b"", mtime=0)


def collect(wire: bytes, encoding: str, limit: int, step: int) -> bytes:
    """Feed *wire* in pieces of *step* bytes."""
    body = Body(encoding, limit=limit)
    for start in range(0, len(wire), step):
        body.feed(wire[start : start + step])
    return body.finish()


def bomb(size: int) -> bytes:
    """Gzip that stands for *size* zeros."""
    return gzip.compress(bytes(size), mtime=0)


@given(st.binary(max_size=2000), st.integers(1, 300))
def test_plain_bodies_come_out_as_they_went_in(content: bytes, step: int) -> None:
    """A body without an encoding is its pieces joined."""
    assert collect(content, "", 2000, step) == content


@given(
    st.lists(st.binary(max_size=500), min_size=1, max_size=4),
    st.integers(0, 9),
    st.integers(0, 20),
    st.integers(1, 100),
)
def test_gzip_comes_out_as_it_went_in(
    members: list[bytes], level: int, padding: int, step: int
) -> None:
    """Any members in any pieces, padded with zeros, inflate to what was compressed."""
    wire = b"".join(gzip.compress(member, level) for member in members)
    content = b"".join(members)
    assert collect(wire + bytes(padding), "gzip", 2000, step) == content


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip", " gzip ", "gzip,"])
def test_gzip_has_several_names(encoding: str) -> None:
    """Case, spaces and the old name x-gzip make no difference."""
    assert collect(gzip.compress(b"text"), encoding, 10, 100) == b"text"


@pytest.mark.parametrize("encoding", ["", "identity", "Identity", " , "])
def test_identity_is_no_encoding(encoding: str) -> None:
    """The encoding identity is accepted, and changes nothing."""
    assert collect(b"text", encoding, 10, 100) == b"text"


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "gzip,br"])
def test_other_encodings_are_refused(encoding: str) -> None:
    """An encoding that was not requested is an error that names it."""
    with pytest.raises(CorruptError, match=r"encoded as .* but gzip was requested"):
        Body(encoding, limit=10)


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_an_empty_body_is_empty(encoding: str) -> None:
    """A 204 may name an encoding without a body to decode."""
    assert Body(encoding, limit=10).finish() == b""


@pytest.mark.parametrize("wrap", [bytes, gzip.compress])
def test_the_limit_itself_is_allowed(wrap: type[bytes]) -> None:
    """A body of exactly the limit is accepted, and one byte more is refused."""
    encoding = "" if wrap is bytes else "gzip"
    assert len(collect(wrap(bytes(1000)), encoding, 1000, 7)) == 1000
    with pytest.raises(TooLargeError):
        collect(wrap(bytes(1001)), encoding, 1000, 7)


def test_a_bomb_takes_no_more_memory_than_the_limit() -> None:
    """Of 256 MiB in 256 KiB of gzip, no more than the limit is inflated."""
    wire = bomb(256 * MIB)
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError):
            collect(wire, "gzip", MIB, len(wire))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * MIB


def test_a_bomb_that_fits_is_inflated() -> None:
    """A body that inflates a lot, within the limit, is accepted."""
    assert collect(bomb(2 * MIB), "gzip", 2 * MIB, 100) == bytes(2 * MIB)


def test_empty_members_end_at_the_limit() -> None:
    """Endless empty gzip members are refused at the limit of compressed bytes."""
    with pytest.raises(TooLargeError):
        collect(EMPTY_MEMBER * 102, "gzip", 1000, len(EMPTY_MEMBER))


def test_what_does_not_compress_fits() -> None:
    """Gzip of random bytes may be a little longer than the limit."""
    content = bytes(zlib.crc32(bytes([n % 256])) % 256 for n in range(100_000))
    wire = gzip.compress(content, compresslevel=0)
    assert len(wire) > len(content)
    assert collect(wire, "gzip", len(content), 4096) == content


@pytest.mark.parametrize(
    "wire",
    [
        b"plain text",
        gzip.compress(b"some text", mtime=0)[:-1],
        gzip.compress(b"some text", mtime=0)[:5],
        gzip.compress(b"some text", mtime=0)[:-8] + bytes(8),
        gzip.compress(b"some text", mtime=0) + b"garbage behind it",
        zlib.compress(b"some text"),
    ],
    ids=["no gzip", "cut", "cut early", "wrong sum", "garbage", "zlib"],
)
def test_broken_gzip_is_refused(wire: bytes) -> None:
    """Gzip that does not inflate to its end is an error, not a shorter body."""
    with pytest.raises(CorruptError):
        collect(wire, "gzip", 1000, 4)


@given(st.binary(max_size=300), st.integers(1, 50))
@example(b"", 1)
@example(EMPTY_MEMBER[:4], 4)
def test_any_bytes_give_a_body_or_one_of_two_errors(wire: bytes, step: int) -> None:
    """No bytes that claim to be gzip raise anything else."""
    prefix = EMPTY_MEMBER[:10]
    for content in (wire, prefix + wire):
        try:
            inflated = collect(content, "gzip", 100, step)
        except (CorruptError, TooLargeError):
            continue
        assert len(inflated) <= 100


@pytest.mark.parametrize("length", ["1001", "9" * 21, "9" * 5000])
def test_a_length_over_the_limit_is_refused_at_once(length: str) -> None:
    """A Content-Length over the limit is refused before the body is read."""
    with pytest.raises(TooLargeError):
        Body(limit=1000, length=length)


@pytest.mark.parametrize("length", [None, "0", "1000", "", "-5", "1e9", "a", "²"])
def test_other_lengths_say_nothing(length: str | None) -> None:
    """A missing or nonsensical Content-Length is ignored."""
    Body(limit=1000, length=length)


def test_a_length_counts_what_is_on_the_wire() -> None:
    """A compressed body may be a little longer than the limit of its content."""
    Body("gzip", limit=1000, length="1050")
