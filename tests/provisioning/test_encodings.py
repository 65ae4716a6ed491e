"""Encodings of a list: which are recognised, which are guessed, and which refused."""

from __future__ import annotations

import pytest

from same_text import SameText
from sitestats import SpecError, WebsiteSpec
from website_lists import load

pytestmark = pytest.mark.standard_library


@pytest.mark.parametrize(
    ("data", "where", "words"),
    [
        # An é of cp1252 beside one of UTF-8: either reading is wrong somewhere.
        (b"hostname,label\na.example,\xc3\xa9\xe9\n", "2:12", "0xe9"),
        # Not even cp1252 has this.
        (b"hostname,label\na.example,\x81\n", "2:11", "0x81"),
        ("hostname\na.example".encode("utf-16-le"), "1:2", "NUL"),
        (b"hostname\na.example\n\0", "3:1", "NUL"),
        ("hostname\nä.example".encode("utf-16") + b"\x00", "2:10", "as UTF-16"),
        # The byte order mark is no character of the line.
        (b"\xef\xbb\xbfhostname,label\n\xc3\xa9\xe9,b", "2:2", "0xe9"),
    ],
    ids=["two encodings", "no encoding", "no mark", "a NUL", "cut off", "a mark"],
)
def test_what_is_no_text_is_refused(
    data: bytes, where: str, words: str, same_text: SameText
) -> None:
    """Bytes of an unknown encoding are refused at the first one that is wrong."""
    with pytest.raises(SpecError, match=words) as caught:
        load(data)
    assert caught.value.problems[0].where == f"list:{where}"
    same_text(caught.value)


def test_only_a_spreadsheet_s_encoding_is_guessed() -> None:
    """TOML and JSON are in UTF-8 by definition, so another encoding is an error."""
    text = '[{"hostname": "a.example", "label": "é"}]'
    with pytest.raises(SpecError, match="0xe9"):
        load(text.encode("cp1252"), "json")
    assert load(text.encode("utf-16"), "json")[0] == (
        WebsiteSpec("a.example", label="é"),
    )
