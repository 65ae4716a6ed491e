"""Access and roles: the tables of sections 4.2, 5 and 7."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from bare_client import NOW, OPEN, add, bare_client, status, with_website
from emulator.inside import respond, set_websites
from sitestats.emulator import Emulator, RecordedRequest

PAGES: list[tuple[str, dict[str, str]]] = [
    ("", {"version": "6", "fields": "pages"}),
    ("", {"version": "6", "fields": "pageviews", "page": "/a"}),
    ("", {"version": "6", "fields": "pageviews", "pages": "/a*"}),
    ("/a", {"version": "6", "fields": "pageviews"}),
    ("", {"version": "2"}),
    ("", {"version": "2", "fields": "pageviews"}),
]
"""Requests that need to see pages, as the suffix of the address and parameters."""


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("hide_pages", [False, True])
def test_the_table_of_section_5(*, public: bool, hide_pages: bool) -> None:
    """Private websites need a key with access; hidden pages need one for pages."""
    emulator, keys = with_website(public=public, hide_pages=hide_pages)
    for suffix, params in (("", OPEN), *PAGES):
        is_open = public and (params == OPEN or not hide_pages)
        expected = {"wrong": 401, "empty": 401}
        expected |= {} if is_open else {"without access": 403, "none": 401}
        for kind, key in keys.items():
            code = status(emulator, key, params, suffix)
            assert code == expected.get(kind, 200), (kind, suffix, params)


@pytest.mark.parametrize("key", ["none", "undefined", "sa_api_key_wrong", ""])
def test_an_unknown_key_can_be_ignored(key: str) -> None:
    """With the option an unknown key is as good as none, and no better."""
    emulator = Emulator(now=NOW, ignore_unknown_keys=True)
    emulator.add_website("example.com", public=True)
    assert status(emulator, key, OPEN) == 200
    emulator.change_website("example.com", hide_pages=True)
    assert status(emulator, key, OPEN) == 200
    for suffix, params in PAGES:
        assert status(emulator, key, params, suffix) == 401
    contains = {"version": "6", "fields": "visitors", "page": "*twelve-or-more*"}
    assert status(emulator, key, contains) == 401
    emulator.change_website("example.com", hide_pages=False)
    assert status(emulator, key, contains) == 400
    emulator.change_website("example.com", public=False)
    assert status(emulator, key, OPEN) == 401
    with bare_client(emulator, key=key) as client:
        assert client.get("/api/websites").status_code in {400, 401}


def test_a_locked_website() -> None:
    """A locked website responds 423 and BADGE_REQUIRED to those with access."""
    emulator, keys = with_website(locked=True)
    for kind, expected in (("own", 423), ("none", 401), ("without access", 403)):
        assert status(emulator, keys[kind], OPEN) == expected
    with bare_client(emulator) as client:
        data = client.get("/example.com.json", params={**OPEN, "info": "false"})
    assert data.json()["code"] == "BADGE_REQUIRED"
    emulator.change_website("example.com", locked=False, public=True)
    assert status(emulator, None, OPEN) == 200


def test_access_is_checked_before_parameters() -> None:
    """Without access a request does not learn which parameters are wrong."""
    private, hidden = {}, {"public": True, "hide_pages": True}
    for settings, broken in (
        *((private, {"fields": "x"}), (hidden, {"fields": "pages,x"})),
        (hidden, {"fields": "visitors", "page": "/*/a"}),
    ):
        emulator, keys = with_website(**settings)
        for kind, expected in (("none", 401), ("without access", 403), ("own", 400)):
            assert status(emulator, keys[kind], {"version": "6", **broken}) == expected


# -- the Admin API

OTHER = "sa_user_id_6f1cdb3b-6ea0-4fd0-8f0f-a5f2f0b4b9b1"


@pytest.mark.parametrize(
    ("key", "user", "code", "error"),
    [
        (None, None, 400, "No Api-Key found, specify via header"),
        (None, "own", 400, "No Api-Key found, specify via header"),
        ("own", None, 400, "No User-Id defined"),
        ("own", "me", 400, "Invalid user id format, it should be a UUIDv4"),
        ("own", OTHER, 401, "The Api-Key or the User-Id is not valid"),
        ("wrong", "own", 401, "The Api-Key or the User-Id is not valid"),
    ],
)
def test_admin_credentials(
    key: str | None, user: str | None, code: int, error: str
) -> None:
    """Both endpoints need the key and the user, and add nothing without."""
    emulator = Emulator()
    sent = {
        "Api-Key": emulator.api_key if key == "own" else key,
        "User-Id": emulator.user_id if user == "own" else user,
        "Content-Type": "application/json",
    }
    headers = [(name, value) for name, value in sent.items() if value]
    for method, path in (("GET", "/api/websites"), ("POST", "/api/websites/add")):
        body = b'{"hostname": "example.com"}'
        request = RecordedRequest.of(method, path, headers, body)
        response = respond(emulator, request)
        assert response.status == code
        expected = {"ok": False, "success": False, "error": error}
        assert json.loads(response.body) == expected
    assert emulator.websites == ()


def test_roles() -> None:
    """Three roles may add; others may list."""
    for role in ("owner", "admin", "developer", "viewer"):
        emulator = Emulator(role=role)
        response = add(emulator, {"hostname": "example.com"})
        assert response.status_code == (400 if role == "viewer" else 200)
        assert ("role" in response.json().get("error", "")) == (role == "viewer")
        with bare_client(emulator) as client:
            assert client.get("/api/websites").status_code == 200


def test_the_plans_limit() -> None:
    """At the plan's limit no website is added; those of the set-up count."""
    emulator = Emulator(website_limit=2)
    emulator.add_website("one.example")
    assert add(emulator, {"hostname": "two.example"}).status_code == 200
    response = add(emulator, {"hostname": "three.example"})
    assert response.status_code == 400
    assert "limit of 2 websites" in response.json()["error"]
    assert emulator.websites == ("one.example", "two.example")


def test_a_website_is_added_once() -> None:
    """Of two requests at once for one website, one is refused."""

    class Slow(dict[str, Any]):
        def __contains__(self, name: object) -> bool:
            found = super().__contains__(name)
            time.sleep(0.05)
            return found

    emulator = Emulator()
    set_websites(emulator, Slow())
    with ThreadPoolExecutor(2) as pool:
        found = [*pool.map(partial(add, emulator), [{"hostname": "a.example"}] * 2)]
    assert sorted(one.status_code for one in found) == [200, 400]


def test_a_limited_key_sees_what_it_added() -> None:
    """A key has access to the websites that were added with it."""
    emulator = Emulator()
    key = emulator.add_key()
    assert add(emulator, {"hostname": "example.com"}, **{"Api-Key": key}).is_success
    assert status(emulator, key, OPEN) == 200
    assert status(emulator, emulator.api_key, OPEN) == 200
