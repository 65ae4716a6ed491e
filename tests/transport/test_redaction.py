"""Credentials that a service repeats are redacted, however it writes them."""

from __future__ import annotations

import html
import json
import logging
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside import HttpResponse, Secret
from sitestats import Client
from transport.inside import Redactor

KEY = "sa_api_key/0123+abc=<def>&'ghi\"%j\\k"
"""It has every character that JSON, HTML or an address escapes."""
FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": lambda char: json.dumps(char)[1:-1],
    "PHP": lambda char: json.dumps(char)[1:-1].replace("/", r"\/"),
    "all of it in JSON": lambda char: f"\\u{ord(char):04x}",
    "in capitals": lambda char: f"\\u{ord(char):04X}",
    "HTML": html.escape,
    "decimal in HTML": lambda char: f"&#{ord(char):03};",
    "hexadecimal in HTML": lambda char: f"&#X{ord(char):x};",
    "an address": lambda char: quote(char, safe=""),
    "all of it in an address": lambda char: f"%{ord(char):02x}",
    "Python": lambda char: {"'": r"\'", "\\": r"\\"}.get(char, char),
}


def redacted(key: str, body: str) -> str:
    """The body of a response that repeats *key* somehow."""
    return Redactor([Secret(key)]).body(body.encode()).decode()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", ['{"error": "no %s."}', "<title>%s</title>", "%s"])
def test_a_mark_takes_the_place_of_a_key(form: str, place: str) -> None:
    """It is redacted in each form, and the rest of the text stays."""
    text = place % "".join(map(FORMS[form], KEY))
    assert redacted(KEY, text) == Redactor([Secret(KEY)]).text(text) == place % "…"


@given(st.lists(st.sampled_from([*FORMS]), min_size=len(KEY), max_size=len(KEY)))
def test_forms_may_be_mixed(forms: list[str]) -> None:
    """Each character may be written in another way."""
    written = (FORMS[form](char) for form, char in zip(forms, KEY, strict=True))
    assert redacted(KEY, f"<{''.join(written)}>") == "<…>"


@given(st.text(st.sampled_from("abc\\u0067%25&lt;amp#x=/ \"'"), max_size=200))
def test_other_escapes_stay_as_they_are(text: str) -> None:
    """What has no key is not changed."""
    assert redacted("sa_api_key_0123456789abcdef", text) == text


def test_headers_and_messages_are_redacted() -> None:
    """A key is in no header of an error response and in no message."""
    redactor = Redactor([Secret(KEY), None])
    headers = {"location": f"/login?{quote(KEY, safe='')}#é", "via": "é%41"}
    response = HttpResponse(302, headers, redactor=redactor)
    assert response.redacted().headers == response.shown_headers
    assert response.shown_headers == {"location": "/login?…#é", "via": "é%41"}
    assert redactor.text(f"illegal {KEY!r} \ud800") == "illegal '…' \ud800"


def test_short_secrets() -> None:
    """A secret of three characters is in many words, and stays. A secret of four is
    redacted everywhere.
    """
    redactor = Redactor([Secret("u"), Secret("con"), Secret("12/4")])
    assert redactor.text(r"Connection u 12/4 and 12\/4") == "Connection u … and …"
    assert redactor.body(b"u 12/4") == "u …".encode()
    begins = [Secret(f"sa_{'x' * length}") for length in range(1, 9)]
    assert Redactor(begins).text(f"no sa_{'x' * 8}.") == "no …."


@pytest.mark.parametrize("piece", ["&lt;", "&#", r"\u0073", "%73", "\\", "&#0", "s"])
def test_a_large_error_is_redacted_in_time(piece: str) -> None:
    """A body of what may begin a key is searched once."""
    began = time.thread_time()
    redacted("sa_api_key_0123456789/abcdef", piece * (3_000_000 // len(piece)))
    assert time.thread_time() - began < 5


def test_what_matches_in_part_is_searched_in_time() -> None:
    """A body that nearly has a key again and again is searched in time, too."""
    began = time.thread_time()
    redacted("&" * 30 + "x", "&amp;" * 100_000)
    assert time.thread_time() - began < 5


def test_a_wrong_record_of_the_application_is_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A record on a logger of httpx whose text can't be made raises nothing."""
    seen = list[logging.LogRecord]()
    handler = logging.Handler()
    handler.emit = seen.append  # type: ignore[method-assign]
    logger = logging.getLogger("httpx")
    # pytest's own handler fails the test of such a record.
    monkeypatch.setattr(logger, "propagate", False)
    logger.addHandler(handler)
    try:
        with Client("https://x.example", api_key="sa_key_of_a_test"):
            logger.warning("%d calls", "many")
    finally:
        logger.removeHandler(handler)
    assert len(seen) == 1
