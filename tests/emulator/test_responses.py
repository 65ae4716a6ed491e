"""The form of a response in each version, with its envelope, and in JSONP."""

from __future__ import annotations

import json

from bare_client import GetStats, bare_client
from sitestats.emulator import Emulator

OFF = {"info": "false"}


def test_version_2(get_stats: GetStats, emulator: Emulator) -> None:
    """It has every list with the old names, and tells what it is about."""
    emulator.load([{"hostname": "example.com", "path": "/a", "is_unique": True}])
    data = get_stats(version="2", fields="visitors", events="*", page="/a").json()
    assert {"countries", "utm_terms", "device_types", "agents", "events"} <= set(data)
    envelope = {
        "ok": True,
        "error": None,
        "docs": "https://docs.example.com/api",
        "hostname": "example.com",
        "url": "https://example.com",
        "path": "/a",
        "start": "2026-02-15T00:00:00.000Z",
        "end": "2026-03-15T23:59:59.999Z",
        "version": 2,
        "pageviews": 1,
        "pages": [{"value": "/a", "visits": 1, "uniqueVisits": 1}],
    }
    assert envelope.items() <= data.items()
    assert data["visits"][-2] == {"date": "2026-03-14", "pageviews": 1, "uniques": 1}


def test_agents_have_versions(get_stats: GetStats, emulator: Emulator) -> None:
    """Agents are counted by the versions of browser and system that rows have."""
    browser = {"browser_name": "Firefox", "browser_version": "121.0"}
    system = {"os_name": "macOS", "os_version": "14.2"}
    older = {"browser_name": "Firefox", "browser_version": "9", "os_name": "macOS"}
    device = {"hostname": "example.com", "device_type": "tv"}
    emulator.load([device | browser | system] * 2 + [device | older, device])
    for version in (1, 2):
        assert get_stats(version=version).json()["agents"] == [
            {"count": 2, **browser, **system, "type": "tv"},
            {"count": 1, **older, "type": "tv"},
            {"count": 1, "type": "tv"},
        ]


def test_the_names_in_lists(get_stats: GetStats, emulator: Emulator) -> None:
    """Lists have the old names in versions 3 and 4, and the new in 5 and 6."""
    emulator.load([{"hostname": "example.com", "path": "/a"}])
    for version in (3, 4, 5, 6):
        data = get_stats(version=version, fields="pages,pageviews").json()
        old, new = {"visits", "uniqueVisits"}, {"pageviews", "visitors"}
        assert set(data["pages"][0]) - {"value"} == (old if version < 5 else new)
        assert data["pageviews"] == 1
        assert data["version"] == version


def test_the_envelope(get_stats: GetStats) -> None:
    """Every response says what it is about; info is returned as a string."""
    data = get_stats(fields="pageviews", timezone="Europe/Amsterdam").json()
    assert isinstance(data.pop("generated_in_ms"), int)
    assert data.pop("docs").startswith("https://")
    assert data == {
        "ok": True,
        "info": "false",
        "hostname": "example.com",
        "url": "https://example.com",
        "path": "*",
        "start": "2026-02-14T23:00:00.000Z",
        "end": "2026-03-15T22:59:59.999Z",
        "version": 6,
        "timezone": "Europe/Amsterdam",
        "pageviews": 0,
    }


def test_prose_unless_info_is_false(emulator: Emulator) -> None:
    """Keys with explanations are there by default, in error responses too."""
    for fields in ("pageviews", "x"):
        for info, there in (({}, True), ({"info": "true"}, True), (OFF, False)):
            params = {"version": "6", "fields": fields, **info}
            with bare_client(emulator) as client:
                data = client.get("/example.com.json", params=params).json()
            assert any(key.startswith("__") for key in data) is there
            assert not data["ok"] or data["info"] == info.get("info", True)


def test_jsonp_wraps_every_response(get_stats: GetStats, emulator: Emulator) -> None:
    """A callback gets the same JSON with any status; a bad one is not called."""
    emulator.load([{"hostname": "example.com", "path": "/é"}])
    for fields, status in (("pages", 200), ("x", 400)):
        response = get_stats(fields=fields, callback="app.show")
        assert response.status_code == status
        assert response.headers["content-type"].startswith("text/javascript")
        text = response.text
        assert text.startswith("app.show(")
        assert text.endswith(");")
        assert json.loads(text[9:-2])["ok"] is (status == 200)
    response = get_stats(fields="pageviews", callback="alert(1)//")
    assert (response.status_code, response.json()["ok"]) == (400, False)


def test_numbers_are_written_as_javascript_does(
    get_stats: GetStats, emulator: Emulator
) -> None:
    """A whole median has no decimals, and another has all of them."""
    for seconds, text in ((12, "12"), (13, "12.5"), (13.25, "13")):
        emulator.load([{"hostname": "example.com", "duration_seconds": seconds}])
        assert f'"seconds_on_page":{text},' in get_stats(fields="seconds_on_page").text
