"""HTTP requests of each endpoint, as they are sent."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside import parameters_of
from protocol.inside import add_request, custom_request
from sitestats import InvalidInputError, StatsQuery
from sitestats.types import Credentials


@pytest.mark.filterwarnings("ignore:path. no page matches")
@pytest.mark.parametrize(
    ("page", "address"),
    {
        "plain": ("/contact", "/example.com/contact.json"),
        "slash at the end": ("/blog/", "/example.com/blog/.json"),
        "two dots inside": ("/a..b", "/example.com/a..b.json"),
        "space": ("/over ons", "/example.com/over%20ons.json"),
        "not ASCII": ("/über", "/example.com/%C3%BCber.json"),
        "question mark, hash": ("/a?b#c", "/example.com/a%3Fb%23c.json"),
        "percent": ("/%2e%2e/x", "/example.com/%252e%252e/x.json"),
        "json": ("/data.json", "/example.com/data.json.json"),
        "backslash": ("/..\\x", "/example.com/..%5Cx.json"),
    }.values(),
)
def test_a_page_is_encoded_per_segment(page: str, address: str) -> None:
    """Every character of a page's path but the slash is percent-encoded as data."""
    query = StatsQuery("example.com").path(page)
    assert parameters_of(query).request.path == address
    assert StatsQuery.from_url(query.url("https://x.example")) == query


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({}, b""),
        ({"timezone": "Europe/Amsterdam"}, b',"timezone":"Europe/Amsterdam"'),
        ({"label": ""}, b',"label":""'),
        # UTF-8 as it is, which is what the document shows.
        ({"label": "\u0391"}, b',"label":"\xce\x91"'),
    ],
)
@pytest.mark.parametrize("public", [True, False])
def test_adding_sends_what_was_given(
    arguments: dict[str, str], sent: bytes, *, public: bool
) -> None:
    """The payload has the document's names, and nothing that was left out."""
    request = add_request("EXAMPLE.com.", public=public, **arguments)
    assert (request.method, request.path) == ("POST", "/api/websites/add")
    flag = b"true" if public else b"false"
    fields = {b'"hostname":"example.com"', b'"isPublic":' + flag, *sent.split(b",")}
    assert {*request.body.strip(b"{}").split(b",")} == fields - {b""}
    assert request.new_connection
    assert request.credentials is Credentials.KEY_AND_USER
    assert request.content_type == "application/json"


def test_a_custom_endpoint_takes_parameters_and_a_body() -> None:
    """Values are sent as text, falsy ones too, and None is left out."""
    request = custom_request(
        "post",
        "/api/custom/ü %20",
        {"a": 0, "b": "", "c": None, "d": False, "e": 1.5},
        {"x": [1, None]},
    )
    assert request.method == "POST"
    assert request.path == "/api/custom/%C3%BC%20%20"
    assert request.params == (("a", "0"), ("b", ""), ("d", "false"), ("e", "1.5"))
    assert json.loads(request.body) == {"x": [1, None]}
    assert request.credentials is Credentials.KEY_AND_USER
    assert request.content_type == "application/json"
    assert request.new_connection
    assert not custom_request("GET", "/api/custom").new_connection
    assert custom_request("GET", "/api/custom").body == b""


NOT_RELATIVE = {
    "empty": "",
    "no slash": "api/custom",
    "scheme": "https://evil.example/api",
    "scheme in capitals": "HTTPS://evil.example",
    "another host": "//evil.example/api",
    "backslash": "/\\evil.example",
    "encoded backslash": "/a%5C..",
    "dots": "/a/../b",
    "dot": "/./a",
    "dots at the end": "/a/..",
    "encoded dots": "/a/%2e%2E/b",
    "half encoded dots": "/a/.%2e/b",
    "dots after an encoded slash": "/a/x%2f../b",
    "query": "/a?b=c",
    "fragment": "/a#b",
    "line break": "/a\r\nHost: evil.example",
    "encoded line break": "/a%0d%0a",
    "percent": "/100%",
    "lone surrogate": "/\ud800",
    "None": None,
    "bytes": b"/a",
}


@pytest.mark.parametrize("path", NOT_RELATIVE.values(), ids=NOT_RELATIVE)
def test_a_custom_endpoint_is_below_the_base_address(path: object) -> None:
    """No path sends the credentials to another place."""
    with pytest.raises(InvalidInputError):
        custom_request("GET", path)  # type: ignore[arg-type]  # wrong on purpose


@given(st.text() | st.builds("/{}".format, st.text()))
def test_any_path_is_below_the_base_address_or_refused(path: str) -> None:
    """An accepted path is plain ASCII below the base address."""
    try:
        request = custom_request("GET", path)
    except InvalidInputError:
        return
    assert re.fullmatch(r"/([^/\\?#\x00-\x20].*)?", request.path)
    assert request.path.isascii()
    assert {".", ".."}.isdisjoint(request.path.split("/"))
