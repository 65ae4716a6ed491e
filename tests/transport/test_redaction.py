"""Credentials that a service repeats are redacted, or the text is withheld."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Callable
from random import Random
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from costs import calls_of
from secret_search import decodings
from sitestats._common.secret import Secret
from sitestats._transport.redaction import WITHHELD, Redactor

pytestmark = pytest.mark.once


KEY = "sa_api_key/0123+abc=<def>&'ghi\"%j\\k"
"""It has every character that JSON, HTML or an address escapes."""

letters = st.sampled_from(
    [
        st.characters(min_codepoint=0x21, max_codepoint=0x7E),
        st.sampled_from("0123456789abcdef"),
        st.sampled_from("ABCDEFGHIJxyz0123456789+/="),
    ]
)
keys = letters.flatmap(lambda one: st.text(one, min_size=16, max_size=50))


def redacted(key: str, body: str) -> str:
    """The body of a response that repeats *key* somehow."""
    response = Redactor([Secret(key)]).response(400, {}, body.encode())
    return response.body.decode()


WHOLE: dict[str, Callable[[str], str]] = {
    "PHP": lambda key: json.dumps(key)[1:-1].replace("/", r"\/"),
    "Gson": lambda key: re.sub(
        "[=<>&']", lambda m: f"\\u{ord(m[0]):04x}", json.dumps(key)[1:-1]
    ),
    "Go": lambda key: re.sub(
        "[<>&]", lambda m: f"\\u{ord(m[0]):04x}", json.dumps(key)[1:-1]
    ),
    "all of it in JSON": lambda key: "".join(f"\\u{ord(c):04x}" for c in key),
    "in capitals": lambda key: "".join(f"\\u{ord(c):04X}" for c in key),
    "HTML": html.escape,
    "decimal in HTML": lambda key: "".join(f"&#{ord(c)};" for c in key),
    "hexadecimal in HTML": lambda key: "".join(f"&#x{ord(c):X};" for c in key),
    "with zeros in HTML": lambda key: "".join(f"&#{ord(c):04d};" for c in key),
    "twice in HTML": lambda key: html.escape(html.escape(key)),
    "an address": lambda key: quote(key, safe=""),
    "an address in small letters": lambda key: quote(key, safe="").lower(),
    "all of it in an address": lambda key: "".join(f"%{ord(c):02x}" for c in key),
    "twice in an address": lambda key: quote(quote(key, safe=""), safe=""),
    "HTML in JSON of Go": lambda key: json.dumps(html.escape(key))[1:-1].replace(
        "&", r"\u0026"
    ),
    "JSON in JSON": lambda key: json.dumps(json.dumps(key))[1:-1],
    "JSON in HTML": lambda key: html.escape(json.dumps(key)),
    "an address in HTML": lambda key: html.escape(quote(key)),
    "HTML in an address": lambda key: quote(html.escape(key), safe=""),
    "JSON in an address": lambda key: quote(json.dumps(key)[1:-1], safe=""),
    "Python": lambda key: repr(key)[1:-1],
}
LITERAL = (
    *("PHP", "Gson", "all of it in JSON", "HTML", "an address"),
    *("an address in small letters", "Python"),
)
"""Of these a mark takes the place; a text with another one is withheld."""


@pytest.mark.parametrize("way", WHOLE)
@pytest.mark.parametrize("place", ['{"error": "no %s."}', "<title>%s</title>", "%s"])
def test_a_key_is_redacted_however_it_is_escaped(way: str, place: str) -> None:
    """No way to escape a whole key gets it through; the usual ones leave the rest."""
    key = KEY.lower() if "small" in way else KEY
    body = place % WHOLE[way](key)
    assert any(key in one for one in decodings(body))
    clean = place % "…" if way in LITERAL else WITHHELD.decode()
    assert redacted(key, body) == clean


def _forms_of(char: str) -> list[str]:
    code = ord(char)
    forms = [char, f"\\u{code:04x}", f"\\u{code:04X}", f"%{code:02X}", f"%{code:02x}"]
    forms += [f"&#{code};", f"&#x{code:x};", f"\\x{code:02x}", html.escape(char)]
    if not char.isalnum():
        forms += [f"\\{char}", f"\\\\{char}", f"%25{code:02X}", f"&amp;#{code};"]
    return forms


beside = st.sampled_from(["", "x", "%", "&", "\\", "4", "0x", "%3D", "%253D", "&amp;"])


def is_shown(key: str, text: str) -> bool:
    """Whether anybody can read *key* in *text*; one of signs alone is none."""
    has_enough = len(key) - sum(map(key.count, "\\%&;")) >= 11
    return has_enough and any(key in one for one in decodings(text))


@given(keys, st.randoms(use_true_random=False), beside, beside)
@example("sa_" + "\\" * 20, Random(1), "", "")
def test_a_key_is_redacted_in_any_mixture(
    key: str, random: Random, before: str, after: str
) -> None:
    """Each character may be escaped in another way; what is left decodes to no key."""
    written = "".join(random.choice(_forms_of(char)) for char in key)
    clean = redacted(key, f'{{"error": "{before}{written}{after} is wrong"}}')
    assert key not in clean
    assert not is_shown(key, clean)


@given(keys, st.lists(st.sampled_from(sorted(WHOLE)), max_size=3), beside, beside)
def test_a_key_that_is_escaped_thrice_is_redacted(
    key: str, ways: list[str], before: str, after: str
) -> None:
    """Any escape of any others gets no key through."""
    written = key
    for way in ways:
        written = WHOLE[way](written)
    clean = redacted(key, f"no key {before}{written}{after} here")
    assert not is_shown(key, clean)


def test_a_short_secret_garbles_no_message() -> None:
    """A secret of three characters is in many words, and is not redacted; one of four
    is redacted in messages.
    """
    redactor = Redactor([Secret("u"), Secret("con"), Secret("used")])
    assert redactor.text("Connection refused") == "Connection ref…"


@pytest.mark.parametrize("one", sorted(WHOLE))
def test_a_key_with_one_special_character_is_redacted(one: str) -> None:
    """One escape is enough to look for a key, whichever two escapes it is of."""
    for two, char in itertools.product(WHOLE, "/+=<&'\"%\\_"):
        key = f"x41sa{char}0123456789ab"
        text = WHOLE[two](WHOLE[one](key))
        assert not is_shown(key, redacted(key, text)), (two, char)


@pytest.mark.parametrize("escape", [WHOLE["an address"], WHOLE["HTML"], WHOLE["PHP"]])
def test_a_key_is_found_below_five_escapes(escape: Callable[[str], str]) -> None:
    """Escapes are undone five times."""
    text = KEY
    for _ in range(5):
        text = escape(text)
        assert KEY not in text
        assert redacted(KEY, text) in {"…", WITHHELD.decode()}


@given(st.text(st.sampled_from("abc\\u0067%25&lt;amp#x=/ \"'"), max_size=200))
def test_other_escapes_stay_as_they_are(text: str) -> None:
    """What has no key is not changed."""
    key = "sa_api_key_0123456789abcdef"
    assert redacted(key, text) == text


def test_a_large_body_is_redacted() -> None:
    """A body of any size has a mark in the place of a key, or is withheld."""
    rest = "x" * 500_000
    for form in (KEY, WHOLE["HTML"](KEY)):
        assert redacted(KEY, f"{form} {rest}") == f"… {rest}"
    assert redacted(KEY, WHOLE["decimal in HTML"](KEY) + rest) == WITHHELD.decode()


def test_a_short_credential_is_redacted_in_messages_alone() -> None:
    """A short user ID may be a number of the statistics, which stays."""
    redactor = Redactor([Secret("12/4")])
    assert redactor.text(r"12/4 and 12\/4") == "… and …"
    assert redactor.response(200, {}, b"12/4 %31").body == b"12/4 %31"


def test_headers_and_messages_are_redacted() -> None:
    """An escaped key is in no header of a response and in no message."""
    redactor = Redactor([Secret(KEY), None])
    location = f"/login?{WHOLE['an address'](KEY)}#é"
    response = redactor.response(302, {"location": location, "via": "é%41"}, b"")
    assert response.headers == {"location": "/login?…#é", "via": "é%41"}
    assert redactor.text(f"illegal {WHOLE['Python'](KEY)} \ud800") == "illegal … \ud800"
    assert redactor.text(f"illegal {WHOLE['PHP'](KEY)} \ud800") == "illegal … \ud800"


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "&lt;",
            "&#65;",
            "&#x5f;",
            r"\u0041",
            r"\u005f",
            "%41",
            "%5f",
            "\\",
            "&",
            "%",
        ),
        *("%25", "amp;", "&amp;", "sa_api_key%5f", "&#0", "s", r"\\\/"),
    ],
)
def test_the_search_is_no_loop(piece: str) -> None:
    """A body of escapes makes no call for each of them."""
    redactor = Redactor([Secret("sa_api_key_0123456789/abcdef")])
    bodies = [piece.encode() * (size // len(piece)) for size in (20_000, 200_000)]
    redactor.response(400, {}, bodies[0])
    small, large = (
        calls_of(lambda body=body: redactor.response(400, {}, body)) for body in bodies
    )
    assert large <= small + 10
    assert large < 1_000
