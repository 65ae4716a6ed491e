"""Credentials that a service repeats with escapes are redacted, or withheld."""

from __future__ import annotations

import html
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

KEY = "sa_api_key/0123+abc=<def>&'ghi\"%j\\k"
"""It has every character that JSON, HTML or an address escapes."""

keys = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=16, max_size=50
).map(lambda text: f"sa_{text}")


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
OF_TWO_KINDS = ("JSON in JSON", "JSON in an address")
"""A body with these may be withheld."""


@pytest.mark.parametrize("way", WHOLE)
@pytest.mark.parametrize("place", ['{"error": "no %s."}', "<title>%s</title>", "%s"])
def test_a_key_is_redacted_however_it_is_escaped(way: str, place: str) -> None:
    """No way to escape a whole key gets it through, and the text beside it stays."""
    key = KEY.lower() if "small" in way else KEY
    body = place % WHOLE[way](key)
    assert any(key in one for one in decodings(body))
    clean = redacted(key, body)
    assert not any(key in one for one in decodings(clean))
    if way not in OF_TWO_KINDS:
        assert clean == place % ("&quot;…&quot;" if way == "JSON in HTML" else "…")


def _forms_of(char: str) -> list[str]:
    code = ord(char)
    forms = [char, f"\\u{code:04x}", f"\\u{code:04X}", f"%{code:02X}", f"%{code:02x}"]
    forms += [f"&#{code};", f"&#x{code:x};", f"\\x{code:02x}", html.escape(char)]
    if not char.isalnum():
        forms += [f"\\{char}", f"\\\\{char}", f"%25{code:02X}", f"&amp;#{code};"]
    return forms


@given(
    keys, st.randoms(use_true_random=False), st.sampled_from(["", "x", "%", "&", "\\"])
)
@example("sa_" + "\\" * 20, Random(1), "")
def test_a_key_is_redacted_in_any_mixture(
    key: str, random: Random, before: str
) -> None:
    """Each character may be escaped in another way; what is left decodes to no key."""
    choice = random.choice
    body = (
        f'{{"error": "{before}{"".join(choice(_forms_of(c)) for c in key)} is wrong"}}'
    )
    clean = redacted(key, body)
    assert key not in clean
    if clean != body:
        assert not any(key in one for one in decodings(clean))
    elif len(key.strip("\\%&;=")) >= 16:
        assert not any(key in one for one in decodings(body))


@given(keys, st.sampled_from(sorted(WHOLE)), st.sampled_from(sorted(WHOLE)))
def test_a_key_that_is_escaped_twice_is_redacted(key: str, one: str, two: str) -> None:
    """Any escape of any other gets no key through."""
    body = f"no key {WHOLE[two](WHOLE[one](key))} here"
    clean = redacted(key, body)
    assert not any(key in text for text in decodings(clean))


@given(st.text(st.sampled_from("abc\\u0067%25&lt;amp#x=/ \"'"), max_size=200))
def test_other_escapes_stay_as_they_are(text: str) -> None:
    """What has no key is not changed."""
    key = "sa_api_key_0123456789abcdef"
    assert redacted(key, text) == text


def test_a_large_body_is_withheld() -> None:
    """A body is withheld where cleaning it would take long; a literal key is not."""
    body = f"{KEY} {'x' * 500_000}"
    assert redacted(KEY, body) == body.replace(KEY, "…")
    escaped = WHOLE["HTML"](KEY)
    assert redacted(KEY, escaped + "x" * 500_000) == WITHHELD.decode()


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
