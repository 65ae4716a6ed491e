"""The list of websites, adding one, and which address gives what."""

from __future__ import annotations

import json

from bare_client import NOW, OPEN, add, bare_client, with_website
from emulator.inside import respond
from sitestats.emulator import Emulator, RecordedRequest


def test_an_unknown_website_is_404_for_everyone() -> None:
    """Credentials make no difference. A script of another website can read the status,
    too.
    """
    emulator, keys = with_website()
    path = "/nowhere.example/a.json"
    error = {"ok": False, "status": 404, "message": path}
    for key in keys.values():
        with bare_client(emulator, key=key) as client:
            response = client.get(path, params=OPEN)
            called = client.get(path, params={"callback": "app.f"})
            bad = client.get(path, params={"callback": "alert(1)"})
        assert response.status_code == called.status_code == bad.status_code == 404
        assert response.json() == bad.json() == error
        assert called.headers["content-type"].startswith("text/javascript")
        assert json.loads(called.text.removeprefix("app.f(")[:-2]) == error


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
    moments = ("03-15T12:30:00Z", "02-13T12:30:00.001Z")
    outside = ("02-13T12:30:00Z", "03-15T12:30:00.001Z")
    rows: list[dict[str, object]] = [
        {"datapoint": kind, "added_iso": f"2026-{moment}", "is_robot": is_robot}
        for kind in ("pageview", "pageview", "signup")
        for moment in (*moments, *outside)
        for is_robot in (False, True)
    ]
    emulator.load(rows, hostname="example.com")
    # All websites are the user's, whichever of them the key has access to.
    limited = emulator.add_key(access=["plain.example"])
    found: list[object] = []
    for key in (emulator.api_key, limited):
        with bare_client(emulator, key=key) as client:
            found.append(client.get("/api/websites").json())
    usual = {"is_public": False, "timezone": "UTC", "has_ssl": True, "label": ""}
    usual |= {"has_script": True, "own_hostname": None, "pageviews": 0, "events": 0}
    shop = {"is_public": True, "timezone": "Asia/Tokyo", "label": "shop"}
    assert found == 2 * [
        {
            "success": True,
            "websites": [
                {
                    "hostname": "example.com",
                    **usual,
                    **shop,
                    "pageviews": 4,
                    "events": 2,
                },
                {"hostname": "plain.example", **usual, "has_ssl": False}
                | {"own_hostname": "x.plain.example"},
                {"hostname": "third.example", **usual, "has_script": False},
            ],
        }
    ]


ADDED: list[tuple[dict[str, object], dict[str, object]]] = [
    ({"timezone": "Europe/Amsterdam"}, {"timezone": "Europe/Amsterdam"}),
    *(({"timezone": zone}, {}) for zone in ("europe/amsterdam", None, 1, ["UTC"])),
    ({"isPublic": True}, {"public": True}),
    ({"isPublic": False, "label": ""}, {}),
    ({"label": "a b"}, {}),
    ({"public": True, "anything": "else"}, {}),
    ({"hostname": "EXAMPLE.com."}, {}),
    ({"hostname": "xn--bcher-kva.example"}, {"hostname": "xn--bcher-kva.example"}),
]


def test_adding() -> None:
    """A website is added with its defaults, and is in the list at once."""
    defaults = {"ok": True, "success": True, "hostname": "example.com"}
    defaults |= {"customDomain": None, "public": False, "timezone": "UTC"}
    defaults |= {"validDNS": True}
    for payload, applied in ADDED:
        emulator = Emulator()
        response = add(emulator, {"hostname": "example.com"} | payload)
        assert response.status_code == 200
        data = defaults | applied
        assert response.json() == data, payload
        with bare_client(emulator) as client:
            [website] = client.get("/api/websites").json()["websites"]
        found = website["hostname"], website["is_public"], website["timezone"]
        assert found == (data["hostname"], data["public"], data["timezone"])
        assert website["label"] == payload.get("label", "")


NO_NAMES = [
    *("", "localhost", "https://example.com", "example.com/a", "example.com:80"),
    *("a b.example", "a..example", "-a.example", "a-.example", "127.0.0.1", "[::1]"),
    *("example.0x7f", f"{'a' * 64}.example", ".".join(["abc"] * 70)),
    *("user@example.com", "example.com?x", "exa\u0000mple.com"),
]


def test_what_is_not_added() -> None:
    """A website that breaks a rule of section 4.2 gets 400 and a message."""
    emulator = Emulator()
    for payload in (
        *({}, {"hostname": None}, {"hostname": 1}, [], "example.com", b"", b"{"),
        *(b"\xff\xfe\x00", b'{"hostname":' + b"[" * 100_000),
        *(b'{"hostname":' + b"1" * 5_000 + b"}", b'{"hostname":"\\ud800.example"}'),
        *({"hostname": name} for name in NO_NAMES),
        *({"hostname": "a.example", "isPublic": flag} for flag in ("true", None)),
        *({"hostname": "a.example", "label": label} for label in (1, None)),
    ):
        response = add(emulator, payload)
        data = response.json()
        refused = (response.status_code, data["ok"], data["success"])
        assert refused == (400, False, False), payload
        assert data["error"]
    assert emulator.websites == ()


def test_every_way_to_write_a_name_is_one_website() -> None:
    """A duplicate is refused in every form; a Unicode name is found by its punycode."""
    emulator = Emulator(now=NOW)
    emulator.add_website("BÜCHER.example", public=True)
    assert add(emulator, {"hostname": "xn--bcher-kva.example."}).status_code == 400
    assert emulator.websites == ("xn--bcher-kva.example",)
    with bare_client(emulator, key=None) as client:
        for name in ("xn--bcher-kva.example", "b%C3%BCcher.example"):
            response = client.get(f"/{name}.json?version=6&fields=pageviews")
            assert response.json()["hostname"] == "xn--bcher-kva.example"


def test_adding_needs_json() -> None:
    """The payload of another content type is not read."""
    emulator = Emulator()
    website = {"hostname": "example.com"}
    assert add(emulator, website, **{"Content-Type": "text/plain"}).status_code == 400
    kind = {"Content-Type": "application/json; charset=utf-8"}
    assert add(emulator, website, **kind).status_code == 200


def test_the_list_can_be_a_bare_array() -> None:
    """With the option the list is the array alone, which clients must read too."""
    emulator = Emulator(bare_list=True)
    emulator.add_website("one.example", label="x")
    with bare_client(emulator) as http, emulator.client() as client:
        assert [site["label"] for site in http.get("/api/websites").json()] == ["x"]
        assert [site.label for site in client.websites.list()] == ["x"]


def test_cross_origin_requests_are_allowed(emulator: Emulator) -> None:
    """Every response, errors included, may be read from any website (section 5)."""
    with bare_client(emulator) as client:
        for target in (
            "/example.com.json?version=6&fields=pageviews",
            "/example.com.json?version=6",
            "/nowhere.example.json",
            "/api/websites",
        ):
            response = client.get(target)
            assert response.headers["access-control-allow-origin"] == "*"
        response = client.options("/example.com.json")
        assert response.status_code == 204
        assert "Api-Key" in response.headers["access-control-allow-headers"]


UNKNOWN = [
    *("/", "/nowhere.example.json", "/example.com", "/example.com/a", "/.json"),
    *("/example.com\\a.json", "/example.coma.json", "/example.com/.json"),
    *("/example.com/%.json", "/example.com/a%4.json", "/example.com/%zz.json"),
    *("/example.com%00.json", "/%FF.json", "/exa mple.com.json"),
]


def test_unknown_addresses(emulator: Emulator) -> None:
    """An unknown address is 404, with the requested path."""
    for target in UNKNOWN:
        response = respond(emulator, RecordedRequest.of("GET", target))
        assert response.status == 404
        expected = {"ok": False, "status": 404, "message": target}
        assert json.loads(response.body) == expected


PATHS = {
    "/example.com/a.json": "/a",
    "/example.com/a/.json": "/a/",
    "/example.com/a.json.json": "/a.json",
    "/example.com/a%2Fb%3Fc.json": "/a/b?c",
    "/example.com/caf%C3%A9.json": "/café",
    "/example.com/a*.json": "/a*",
    "/example.com/a..b.json": "/a..b",
    "/EXAMPLE.com./a.json": "/a",
}


def test_the_address_of_a_page(emulator: Emulator) -> None:
    """The path in an address is taken literally, also with stars."""
    emulator.load(
        {"hostname": "example.com", "path": path}
        for path in {*PATHS.values(), "/abc", "/"}
    )
    with bare_client(emulator) as client:
        for address, page in PATHS.items():
            data = client.get(f"{address}?version=6&fields=pages").json()
            assert data["path"] == page
            assert [entry["value"] for entry in data["pages"]] == [page]


METHODS = {
    "/example.com.json": ("GET, HEAD, OPTIONS", "POST TRACE BREW"),
    "/api/websites": ("GET, HEAD, OPTIONS", "POST TRACE"),
    "/api/websites/add": ("POST, OPTIONS", "GET PUT TRACE"),
}


def test_another_method_learns_which_are_allowed(emulator: Emulator) -> None:
    """A 405 names the methods of its address, as HTTP demands, and so does OPTIONS,
    with what a browser asks for.
    """
    with bare_client(emulator) as client:
        for target, (allowed, refused) in METHODS.items():
            response = client.options(target)
            assert (response.status_code, response.content) == (204, b"")
            assert response.headers["allow"] == allowed
            assert response.headers["access-control-allow-methods"].count(",") == 3
            for method in refused.split():
                response = client.request(method, target)
                assert response.status_code == 405
                assert response.headers["allow"] == allowed
