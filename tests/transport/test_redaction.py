"""Credentials that a service repeats are redacted, or the text is withheld."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats._common.secret import Secret
from sitestats._transport.redaction import WITHHELD, Redactor

KEY = "sa_api_key/0123+abc=<def>&'ghi\"%j\\k"
"""It has every character that JSON, HTML or an address escapes."""


def redacted(key: str, body: str, status: int = 400) -> str:
    """The body of a response that repeats *key* somehow."""
    response = Redactor([Secret(key)]).response(status, {}, body.encode())
    return response.body.decode()


def all_of(key: str, form: str) -> str:
    """*key* with each character in this form."""
    return "".join(form.format(ord(char)) for char in key)


LITERAL: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: key,
    "JSON": lambda key: json.dumps(key)[1:-1],
    "PHP": lambda key: json.dumps(key)[1:-1].replace("/", r"\/"),
    "Gson": lambda key: re.sub(
        "[=<>&']", lambda it: f"\\u{ord(it[0]):04x}", json.dumps(key)[1:-1]
    ),
    "all of it in JSON": lambda key: all_of(key, "\\u{:04x}"),
    "in capitals": lambda key: all_of(key, "\\u{:04X}"),
    "HTML": html.escape,
    "an address": lambda key: quote(key, safe=""),
    "an address in small letters": lambda key: re.sub(
        "%..", lambda it: it[0].lower(), quote(key, safe="")
    ),
    "Python": lambda key: repr(key)[1:-1],
}
"""Of these a mark takes the place."""
DECODED: dict[str, Callable[[str], str]] = {
    "decimal in HTML": lambda key: all_of(key, "&#{};"),
    "hexadecimal in HTML": lambda key: all_of(key, "&#x{:X};"),
    "all of it in an address": lambda key: all_of(key, "%{:02x}"),
    "HTML in an address": lambda key: quote(html.escape(key), safe=""),
    "an address in JSON": lambda key: all_of(quote(key), "\\u{:04x}"),
}
"""A text that shows the key once these are undone is withheld."""


@pytest.mark.parametrize("way", LITERAL)
@pytest.mark.parametrize("place", ['{"error": "no %s."}', "<title>%s</title>", "%s"])
def test_a_mark_takes_the_place_of_a_key(way: str, place: str) -> None:
    """In the usual forms it is redacted, and the rest of the text stays."""
    assert redacted(KEY, place % LITERAL[way](KEY)) == place % "…"
    assert Redactor([Secret(KEY)]).text(place % LITERAL[way](KEY)) == place % "…"


@pytest.mark.parametrize("way", DECODED)
def test_what_shows_a_key_once_decoded_is_withheld(way: str) -> None:
    """In other escapes of the whole key nothing of the text is shown."""
    assert redacted(KEY, f"<p>{DECODED[way](KEY)}</p>") == WITHHELD.decode()


def test_a_successful_response_is_never_rewritten() -> None:
    """What stands in data is right; an error that is made of it is redacted."""
    response = Redactor([Secret(KEY)]).response(200, {"a": KEY}, KEY.encode())
    assert (response.body.decode(), response.headers["a"]) == (KEY, KEY)
    shown = response.redacted()
    assert (shown.body.decode(), shown.headers["a"]) == ("…", "…")
    assert KEY not in repr(response)


@given(st.text(st.sampled_from("abc\\u0067%25&lt;amp#x=/ \"'"), max_size=200))
def test_other_escapes_stay_as_they_are(text: str) -> None:
    """What has no key is not changed."""
    assert redacted("sa_api_key_0123456789abcdef", text) == text


def test_headers_and_messages_are_redacted() -> None:
    """A key is in no header of an error response and in no message."""
    redactor = Redactor([Secret(KEY), None])
    location = f"/login?{quote(KEY, safe='')}#é"
    response = redactor.response(302, {"location": location, "via": "é%41"}, b"")
    assert response.headers == {"location": "/login?…#é", "via": "é%41"}
    assert redactor.text(f"illegal {KEY!r} \ud800") == "illegal '…' \ud800"


def test_short_secrets() -> None:
    """Of three characters it is in many words; of four it is redacted in messages, and
    not in responses, where it may be a number.
    """
    redactor = Redactor([Secret("u"), Secret("con"), Secret("12/4")])
    assert redactor.text(r"Connection u 12/4 and 12\/4") == "Connection u … and …"
    assert redactor.response(400, {}, b"12/4").body == b"12/4"


@pytest.mark.parametrize("piece", ["&lt;", "&#65;", r"\u0041", "%41", "\\", "&", "%"])
def test_a_large_error_is_redacted_in_time(piece: str) -> None:
    """A body of escapes is searched once; a very large one is withheld."""
    began = time.monotonic()
    for size in (200_000, 30_000_000):
        redacted("sa_api_key_0123456789/abcdef", piece * (size // len(piece)))
    assert time.monotonic() - began < 5
