"""Host names of websites, and base addresses."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from base.inside import normalise_hostname
from inside import BaseAddress

ACCEPTED = {
    "plain": ("example.com", "example.com"),
    "capitals and a dot at the end": ("EXAMPLE.com.", "example.com"),
    "sub-domains": ("a.b-c.example.co.uk", "a.b-c.example.co.uk"),
    "internationalised": ("bücher.example", "xn--bcher-kva.example"),
    "internationalised capitals": ("BÜCHER.Example", "xn--bcher-kva.example"),
    "decomposed characters": ("bu\u0308cher.example", "xn--bcher-kva.example"),
    "sharp s is kept": ("straße.example", "xn--strae-oqa.example"),
    "ideographic dot": ("例え。jp", "xn--r8jz45g.jp"),
    "internationalised top level": ("пример.рф", "xn--e1afmkfd.xn--p1ai"),
    "punycode": ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    "an emoji's punycode": ("xn--i-7iq.ws", "xn--i-7iq.ws"),
    "underscore": ("_my_shop.example.com", "_my_shop.example.com"),
    "a name of digits": ("123.com", "123.com"),
    "label of 63": ("a" * 63 + ".example", "a" * 63 + ".example"),
}

REFUSED = {
    "empty": "",
    "scheme": "https://example.com",
    "path": "example.com/blog",
    "port": "example.com:8080",
    "question mark": "example.com?a=b",
    "hash": "example.com#top",
    "at sign": "me@example.com",
    "space inside": "exam ple.com",
    "space in front": " example.com",
    "no-break space": "example\u00a0.com",
    "line break at the end": "example.com\n",
    "null": "exam\x00ple.com",
    "two dots": "example..com",
    "dot in front": ".example.com",
    "a number at the end": "example.1",
    "single label": "localhost",
    "IPv4": "192.0.2.1",
    "IPv6": "[2001:db8::1]",
    "hyphen in front": "-a.example.com",
    "hyphen at the end": "a-.example.com",
    "label of 64": "a" * 64 + ".example",
    "254 characters": "a." * 126 + "aa",
    "a long internationalised name": "ü" * 5000 + ".example",
    "percent-encoded": "b%C3%BCcher.example",
    "star": "*.example.com",
    "backslash": "example.com\\blog",
    "full-width slash": "example.com\uff0fblog",
    "other punctuation": "exam!ple.com",
    "emoji": "i❤.ws",
    "lone surrogate": "exam\ud800ple.com",
    "None": None,
    "bytes": b"example.com",
    "number": 5,
}


@pytest.mark.parametrize(("given_name", "sent"), ACCEPTED.values(), ids=ACCEPTED)
def test_a_host_name_is_sent_in_its_one_form(given_name: str, sent: str) -> None:
    """Every accepted form of a host name is sent in its normal form."""
    assert normalise_hostname(given_name) == sent
    assert normalise_hostname(sent) == sent


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
def test_what_is_no_host_name_is_refused(value: object) -> None:
    """Every refused value gets one sentence that says what to do."""
    with pytest.raises(ValueError, match="give the whole name alone") as caught:
        normalise_hostname(value)
    assert str(caught.value).isprintable()


@given(
    st.one_of(
        st.text(),
        st.text(alphabet="aBü.-_:/ß。\uff11\u200d\u0627xn"),
        st.builds("{}.example".format, st.text(max_size=10)),
    )
)
@example("xn--.example")
@example("xn--ü.example")
def test_any_text_is_a_host_name_or_is_refused(text: str) -> None:
    """No text raises another error, and an accepted name is normal and stable."""
    try:
        name = normalise_hostname(text)
    except ValueError as error:
        assert "give the whole name alone" in str(error)  # noqa: PT017 - or none
        return
    assert re.fullmatch(r"[a-z0-9_.-]{3,253}", name)
    assert normalise_hostname(name) == name


BASES = {
    "plain": ("https://example.com", "https", "example.com", None, ""),
    "capitals, a slash": ("HTTPS://Example.COM/", "https", "example.com", None, ""),
    "http": ("http://example.com", "http", "example.com", None, ""),
    "port": ("http://127.0.0.1:8080", "http", "127.0.0.1", 8080, ""),
    "the highest port": ("http://a.example:65535", "http", "a.example", 65535, ""),
    "the usual port": ("https://example.com:443", "https", "example.com", 443, ""),
    "localhost": ("http://localhost:80/", "http", "localhost", 80, ""),
    "IPv6": ("http://[::1]:8080", "http", "::1", 8080, ""),
    "long IPv6": ("http://[0:0::0:1]", "http", "::1", None, ""),
    "prefix": ("https://example.com/a/b/", "https", "example.com", None, "/a/b"),
    "encoded prefix": ("https://x.yz/a%20b", "https", "x.yz", None, "/a%20b"),
    "prefix to encode": ("https://x.yz/ü", "https", "x.yz", None, "/%C3%BC"),
    "internationalised": (
        "https://bücher.example",
        "https",
        "xn--bcher-kva.example",
        None,
        "",
    ),
}

NO_BASES = {
    "empty": "",
    "no scheme": "example.com",
    "another scheme": "ftp://example.com",
    "one slash": "https:/example.com",
    "password": "https://me:secret@example.com",
    "query": "https://example.com?a=b",
    "empty query": "https://example.com?",
    "fragment": "https://example.com/#top",
    "no host": "https://",
    "port without host": "https://:80",
    "port 0": "https://example.com:0",
    "port 65536": "https://example.com:65536",
    "port in words": "https://example.com:http",
    "empty port": "https://example.com:",
    "space": "https://example.com ",
    "line break": "https://example.com\n",
    "dot segment": "https://example.com/a/../b",
    "encoded dot segment": "https://example.com/%2E%2e/b",
    "two slashes": "https://example.com/a//b",
    "backslash": "https://example.com/a\\b",
    "percent alone": "https://example.com/%zz",
    "IPv4 out of range": "https://1.2.3.999",
    "IPv6 without end": "https://[::1",
    "no IPv6": "https://[::zz]",
    "IPv6 with a zone": "https://[fe80::1%25eth0]",
    "lone surrogate in the path": "https://example.com/\ud800",
    "None": None,
}


@pytest.mark.parametrize(
    ("text", "scheme", "host", "port", "prefix"), BASES.values(), ids=BASES
)
def test_a_base_address_is_parsed(
    text: str, scheme: str, host: str, port: int | None, prefix: str
) -> None:
    """A base address is parsed into its parts, and its text parses the same."""
    base = BaseAddress.parse(text)
    assert base == BaseAddress(scheme, host, port, prefix)
    assert BaseAddress.parse(str(base)) == base
    assert pickle.loads(pickle.dumps(base)) == base


@pytest.mark.parametrize("value", NO_BASES.values(), ids=NO_BASES)
def test_what_is_no_base_address_is_refused(value: object) -> None:
    """Every refused value gets one sentence that says what to do."""
    with pytest.raises(ValueError, match=r"^The base address ") as caught:
        BaseAddress.parse(value)
    assert type(caught.value) is ValueError


def test_an_origin_has_the_port_in_use() -> None:
    """An origin is equal with its default port written or left out."""
    written = BaseAddress.parse("https://example.com:443/a")
    assert written.origin == BaseAddress.parse("https://example.com").origin
    assert BaseAddress.parse("http://example.com").origin[2] == 80
    assert BaseAddress.parse("http://example.com:81").origin[2] == 81


HOSTS = st.from_regex(
    r"[a-zé][a-z0-9-]{0,4}(\.[a-zß]{2,4}){1,2}(:[0-9]{1,5})?", fullmatch=True
)
ADDRESSES = st.builds("https://{}/{}".format, HOSTS | st.text(), st.text())


@given(st.text() | ADDRESSES)
def test_any_text_is_a_base_address_or_is_refused(text: str) -> None:
    """No text raises another error, and an accepted address parses back."""
    try:
        base = BaseAddress.parse(text)
    except ValueError as error:
        assert type(error) is ValueError  # noqa: PT017 - not a UnicodeError
        return
    assert str(base).isascii()
    assert BaseAddress.parse(str(base)) == base
