"""Access and roles: the tables of sections 4.2, 5 and 7."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from bare_client import NOW, bare_client
from sitestats.emulator import Emulator

OPEN = {"version": "6", "fields": "pageviews,visitors,histogram,countries"}
PAGES: list[tuple[str, dict[str, str]]] = [
    ("", {"version": "6", "fields": "pages"}),
    ("", {"version": "6", "fields": "pageviews", "page": "/a"}),
    ("", {"version": "6", "fields": "pageviews", "pages": "/a*"}),
    ("/a", {"version": "6", "fields": "pageviews"}),
    ("", {"version": "2"}),
    ("", {"version": "2", "fields": "pageviews"}),
]
"""Requests that need to see pages, as the suffix of the address and parameters."""


def status(
    emulator: Emulator, key: str | None, params: dict[str, str], suffix: str = ""
) -> int:
    """The status of a response for example.com; an error has ``ok: false``."""
    with bare_client(emulator, key=key) as client:
        response = client.get(f"/example.com{suffix}.json", params=params)
    data = response.json()
    assert data.get("ok", True) is (response.status_code == 200)
    if response.status_code != 200:
        assert data["error"]
        assert "pageviews" not in data
    return response.status_code


def with_website(**settings: Any) -> tuple[Emulator, dict[str, str | None]]:
    """An emulator, and a key of each kind."""
    emulator = Emulator(now=NOW)
    emulator.add_website("example.com", **settings)
    emulator.add_website("other.example")
    return emulator, {
        "own": emulator.api_key,
        "with access": emulator.add_key(access=["EXAMPLE.com"]),
        "without access": emulator.add_key(access=["other.example"]),
        "wrong": "sa_api_key_wrong",
        "empty": "",
        "none": None,
    }


@pytest.mark.parametrize("request_", [("", OPEN), *PAGES], ids=str)
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"public": False}, {"without access": 403, "none": 401}),
        ({"public": True}, {}),
        ({"public": True, "hide_pages": True}, {}),
        ({"public": False, "hide_pages": True}, {"without access": 403, "none": 401}),
    ],
    ids=str,
)
def test_the_table_of_section_5(
    settings: dict[str, bool],
    expected: dict[str, int],
    request_: tuple[str, dict[str, str]],
) -> None:
    """Private websites need a key with access; hidden pages need one for pages."""
    emulator, keys = with_website(**settings)
    suffix, params = request_
    hidden = settings == {"public": True, "hide_pages": True} and request_ in PAGES
    if hidden:
        expected = {"without access": 403, "none": 401}
    expected = {"wrong": 401, "empty": 401} | expected
    for kind, key in keys.items():
        assert status(emulator, key, params, suffix) == expected.get(kind, 200), kind


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
    emulator, keys = with_website()
    broken = {"version": "6", "fields": "x"}
    for kind, expected in (("none", 401), ("without access", 403), ("own", 400)):
        assert status(emulator, keys[kind], broken) == expected


def test_an_unknown_website_is_404_for_everyone() -> None:
    """An unknown website is 404, whatever the credentials are."""
    emulator, keys = with_website()
    for key in keys.values():
        with bare_client(emulator, key=key) as client:
            response = client.get("/nowhere.example/a.json", params=OPEN)
        assert response.status_code == 404
        assert response.json() == {
            "ok": False,
            "status": 404,
            "message": "/nowhere.example/a.json",
        }


def test_a_callback_gets_the_error_for_an_unknown_website() -> None:
    """A script of another website learns that the website does not exist."""
    emulator = Emulator(now=NOW)
    with bare_client(emulator) as client:
        response = client.get("/nowhere.example.json", params={"callback": "app.f"})
        bad = client.get("/nowhere.example.json", params={"callback": "alert(1)"})
    assert response.status_code == bad.status_code == 404
    assert response.headers["content-type"].startswith("text/javascript")
    assert response.text == (
        'app.f({"ok":false,"status":404,"message":"/nowhere.example.json"});'
    )
    assert bad.json()["status"] == 404


# -- the Admin API


@pytest.mark.parametrize(
    ("headers", "code", "error"),
    [
        ({}, 400, "No Api-Key found, specify via header"),
        ({"User-Id": "own"}, 400, "No Api-Key found, specify via header"),
        ({"Api-Key": "own"}, 400, "No User-Id defined"),
        (
            {"Api-Key": "own", "User-Id": "me"},
            400,
            "Invalid user id format, it should be a UUIDv4",
        ),
        (
            {
                "Api-Key": "own",
                "User-Id": "sa_user_id_6f1cdb3b-6ea0-4fd0-8f0f-a5f2f0b4b9b1",
            },
            401,
            "The Api-Key or the User-Id is not valid",
        ),
        (
            {"Api-Key": "wrong", "User-Id": "own"},
            401,
            "The Api-Key or the User-Id is not valid",
        ),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_admin_credentials(
    method: str, headers: dict[str, str], code: int, error: str
) -> None:
    """Both endpoints need the key and the user, and add nothing without."""
    emulator = Emulator()
    own = {"Api-Key": emulator.api_key, "User-Id": emulator.user_id}
    sent = {
        name: own[name] if value == "own" else value for name, value in headers.items()
    }
    path = "/api/websites" if method == "GET" else "/api/websites/add"
    with httpx.Client(
        transport=emulator.transport(), base_url="http://emulator.test"
    ) as client:
        response = client.request(
            method,
            path,
            headers={**sent, "Content-Type": "application/json"},
            content=b'{"hostname": "example.com"}' if method == "POST" else None,
        )
    assert response.status_code == code
    assert response.json() == {"ok": False, "success": False, "error": error}
    assert emulator.websites == ()


def test_the_list() -> None:
    """It has every website with the nine fields of section 2.1."""
    emulator = Emulator(now=NOW)
    emulator.add_website(
        "example.com", timezone="Asia/Tokyo", label="shop", public=True
    )
    emulator.add_website("plain.example", own_hostname="x.plain.example", has_ssl=False)
    # No two flags are always equal.
    emulator.add_website("third.example")
    emulator.load([{"hostname": "plain.example", "added_iso": "2026-01-01T00:00:00Z"}])
    emulator.load(
        {"hostname": "example.com", "datapoint": kind, "added_iso": at, "is_robot": bot}
        for kind in ("pageview", "pageview", "signup")
        for at in (
            "2026-03-15T12:30:00Z",
            "2026-02-13T12:30:00.001Z",
            "2026-02-13T12:30:00Z",
            "2026-03-15T12:30:00.001Z",
        )
        for bot in (False, True)
    )
    with bare_client(emulator) as client:
        data = client.get("/api/websites").json()
        # All websites are the user's, whichever of them the key has access to.
        limited = client.get(
            "/api/websites",
            headers={"Api-Key": emulator.add_key(access=["plain.example"])},
        ).json()
    assert data == {
        "success": True,
        "websites": [
            {
                "hostname": "example.com",
                "is_public": True,
                "timezone": "Asia/Tokyo",
                "has_ssl": True,
                "has_script": True,
                "own_hostname": None,
                "label": "shop",
                "pageviews": 4,
                "events": 2,
            },
            {
                "hostname": "plain.example",
                "is_public": False,
                "timezone": "UTC",
                "has_ssl": False,
                "has_script": True,
                "own_hostname": "x.plain.example",
                "label": "",
                "pageviews": 0,
                "events": 0,
            },
            {
                "hostname": "third.example",
                "is_public": False,
                "timezone": "UTC",
                "has_ssl": True,
                "has_script": False,
                "own_hostname": None,
                "label": "",
                "pageviews": 0,
                "events": 0,
            },
        ],
    }
    assert limited == data


def add(emulator: Emulator, payload: object, **headers: str) -> httpx.Response:
    """Add a website by the API."""
    sent = {"Content-Type": "application/json", **headers}
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    with bare_client(emulator) as client:
        return client.post("/api/websites/add", content=body, headers=sent)


@pytest.mark.parametrize(
    ("payload", "applied"),
    [
        ({}, {}),
        ({"timezone": "Europe/Amsterdam"}, {"timezone": "Europe/Amsterdam"}),
        ({"timezone": "europe/amsterdam"}, {}),
        ({"timezone": None}, {}),
        ({"timezone": 1}, {}),
        ({"timezone": ["UTC"]}, {}),
        ({"isPublic": True}, {"public": True}),
        ({"isPublic": False, "label": ""}, {}),
        ({"label": "a b"}, {}),
        ({"public": True, "anything": "else"}, {}),
        ({"hostname": "EXAMPLE.com."}, {}),
        ({"hostname": "xn--bcher-kva.example"}, {"hostname": "xn--bcher-kva.example"}),
    ],
    ids=str,
)
def test_adding(payload: dict[str, object], applied: dict[str, object]) -> None:
    """A website is added with its defaults, and is in the list at once."""
    emulator = Emulator()
    response = add(emulator, {"hostname": "example.com"} | payload)
    assert response.status_code == 200
    data = {
        "ok": True,
        "success": True,
        "hostname": "example.com",
        "customDomain": None,
        "public": False,
        "timezone": "UTC",
        "validDNS": True,
    } | applied
    assert response.json() == data
    with bare_client(emulator) as client:
        [website] = client.get("/api/websites").json()["websites"]
    assert website["hostname"] == data["hostname"]
    assert website["is_public"] is data["public"]
    assert website["timezone"] == data["timezone"]
    assert website["label"] == payload.get("label", "")


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hostname": None},
        {"hostname": 1},
        *(
            {"hostname": name}
            for name in (
                "",
                "localhost",
                "https://example.com",
                "example.com/a",
                "example.com:80",
                "a b.example",
                "a..example",
                "-a.example",
                "a-.example",
                "127.0.0.1",
                "example.0x7f",
                "[::1]",
                f"{'a' * 64}.example",
                ".".join(["abc"] * 70),
                "user@example.com",
                "example.com?x",
                "exa\u0000mple.com",
            )
        ),
        {"hostname": "example.com", "isPublic": "true"},
        {"hostname": "example.com", "isPublic": None},
        {"hostname": "example.com", "label": 1},
        {"hostname": "example.com", "label": None},
        [],
        "example.com",
        b"",
        b"{",
        b"\xff",
    ],
    ids=str,
)
def test_what_is_not_added(payload: object) -> None:
    """A website that breaks a rule of section 4.2 gets 400 and a message."""
    emulator = Emulator()
    response = add(emulator, payload)
    assert response.status_code == 400
    data = response.json()
    assert (data["ok"], data["success"]) == (False, False)
    assert data["error"]
    assert emulator.websites == ()


def test_adding_needs_json() -> None:
    """The payload of another content type is not read."""
    emulator = Emulator()
    website = {"hostname": "example.com"}
    assert add(emulator, website, **{"Content-Type": "text/plain"}).status_code == 400
    kind = {"Content-Type": "application/json; charset=utf-8"}
    assert add(emulator, website, **kind).status_code == 200


def test_adding_twice() -> None:
    """A duplicate is refused in every form of its name, and changes nothing."""
    emulator = Emulator()
    assert add(emulator, {"hostname": "example.com"}).status_code == 200
    response = add(emulator, {"hostname": "Example.COM.", "isPublic": True})
    assert response.status_code == 400
    assert emulator.websites == ("example.com",)
    assert status(emulator, None, OPEN) == 401


@pytest.mark.parametrize(
    ("role", "code"),
    [("owner", 200), ("admin", 200), ("developer", 200), ("viewer", 400)],
)
def test_roles(role: str, code: int) -> None:
    """Three roles may add; others may list."""
    emulator = Emulator(role=role)
    response = add(emulator, {"hostname": "example.com"})
    assert response.status_code == code
    if code != 200:
        assert "role" in response.json()["error"]
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


def test_a_limited_key_sees_what_it_added() -> None:
    """A key has access to the websites that were added with it."""
    emulator = Emulator()
    key = emulator.add_key()
    assert add(emulator, {"hostname": "example.com"}, **{"Api-Key": key}).is_success
    assert status(emulator, key, OPEN) == 200
    assert status(emulator, emulator.api_key, OPEN) == 200


def test_the_list_can_be_a_bare_array() -> None:
    """With the option the list is the array alone, which clients must read too."""
    emulator = Emulator(now=NOW, bare_list=True)
    emulator.add_website("one.example", label="x")
    usual = Emulator(now=NOW, user_id=emulator.user_id, api_key=emulator.api_key)
    usual.add_website("one.example", label="x")
    with bare_client(emulator) as client, bare_client(usual) as other:
        bare = client.get("/api/websites").json()
        assert bare == other.get("/api/websites").json()["websites"]
    with emulator.client() as client:
        assert [site.label for site in client.websites.list()] == ["x"]


def test_a_team_has_no_effect() -> None:
    """The list has every website of the user, whatever team is named."""
    emulator = Emulator(now=NOW)
    emulator.add_website("one.example")
    emulator.add_website("two.example")
    with bare_client(emulator) as client:
        plain = client.get("/api/websites").json()
        named = client.get(
            "/api/websites",
            params={"team": "other", "team_id": "1"},
            headers={"Team-Id": "other"},
        ).json()
    assert named == plain
    assert len(plain["websites"]) == 2


def test_other_api_addresses() -> None:
    """An unknown API address is a page for people, with status 200."""
    emulator = Emulator()
    with bare_client(emulator) as client:
        response = client.get("/api/custom")
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/html")
        assert client.get("/api/websites/add").status_code == 405
        assert client.post("/api/websites").status_code == 405
