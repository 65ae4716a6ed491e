"""Every rule that the service checks of a Stats request."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime

import httpx
import pytest

from bare_client import NOW, GetStats, bare_client
from same_text import SameText
from sitestats.emulator import Emulator, RecordedRequest

SEARCH = "*twelve chars/*"
"""A contains search with exactly the twelve characters that are needed."""


@pytest.mark.parametrize(
    "params",
    [
        *({"version": version} for version in ("0", "7", "6.0", "x", "", "06")),
        {"fields": "pageview"},
        {"fields": "pageviews,"},
        {"fields": "pageviews, visitors"},
        {"fields": "Pages"},
        {"fields": "*"},
        *(
            {name: day}
            for name in ("start", "end")
            for day in (
                "",
                "2026-02-30",
                "2026-2-3",
                "20260203",
                "2026-02-03T00:00:00Z",
                "Today",
                "tomorrow",
                "today+1d",
                "today-1w",
                "today-d",
                "today-007d",
                "today--1d",
                "yesterday-1d",
                "today-99999999d",
                "today-99999999999999999999d",
                "\u0662026-02-03",
                " today",
                "0000-01-01",
            )
        ),
        {"start": "2026-03-16"},
        {"end": "2026-01-01"},
        {"start": "today", "end": "yesterday"},
        *(
            {"limit": limit}
            for limit in (
                "0",
                "1001",
                "-1",
                "1.5",
                "",
                "ten",
                "050",
                "+5",
                "\u0665",
                "1e2",
            )
        ),
        *(
            {"timezone": zone}
            for zone in (
                "",
                "europe/amsterdam",
                "EUROPE/AMSTERDAM",
                "Europe/Nowhere",
                "+02:00",
                "EST5EDT4",
                "utc",
                "../UTC",
                "localtime",
            )
        ),
        *({"info": info} for info in ("", "True", "0", "no")),
        *(
            {"callback": name}
            for name in ("", "1a", "a-b", "a b", "alert(1)", "a..b", ".a", "a.", "é")
        ),
        *({"events": names} for names in ("", "a,", ",a", "*,a", "a*", "**")),
        *({"interval": interval} for interval in ("", "minute", "Day", "days")),
        *(
            {name: value}
            for name in (
                "page",
                "country",
                "referrer",
                "utm_source",
                "utm_medium",
                "utm_campaign",
                "utm_content",
                "utm_term",
                "browser_name",
                "os_name",
                "device_type",
            )
            for value in ("", "a*b", "*a", "**", "a**")
        ),
        {"pages": "/a,,/b"},
        {"pages": "/a,/b*c"},
        {"pages": ","},
        {"device_type": "phone"},
        {"device_type": "Mobile"},
        {"device_type": "phone*"},
        {"country": "*twelve-chars-or-more*"},
        {"metadata.": "x"},
        {"metadata.a-b": "x"},
        {"metadata.é": "x"},
        {"metadata.a.b": "x"},
        {"start": "today-1dx"},
        {"version": "2", "start": "0001-01-01", "end": "9999-12-31"},
        {"version": "3", "fields": ""},
        {"events": "a", "fields": ""},
    ],
    ids=str,
)
def test_what_is_refused(
    get_stats: GetStats, params: dict[str, str], same_text: SameText
) -> None:
    """A broken rule gets 400, and the section of the rule."""
    response = get_stats(**({"fields": "pageviews"} | params))
    assert response.status_code == 400
    data = response.json()
    assert data["ok"] is False
    assert "(section " in data["error"]
    same_text(data["error"])


@pytest.mark.parametrize(
    "params",
    [
        *({"version": str(version)} for version in range(1, 7)),
        {"version": "1", "fields": ""},
        {"version": "1", "fields": "x"},
        {"version": "2", "fields": "x,"},
        {"fields": "visitors,pageviews,visitors"},
        {"start": "2024-02-29"},
        {"start": "today-0d"},
        {"start": "yesterday", "end": "yesterday"},
        {"end": "2999-12-31"},
        {"limit": "1"},
        {"limit": "1000"},
        {"timezone": "America/Argentina/Buenos_Aires"},
        {"timezone": "Etc/GMT+5"},
        {"timezone": "EST5EDT"},
        {"info": "true"},
        {"callback": "$.a_1.b"},
        {"events": "a,b c,d"},
        {"events": "*"},
        *({"interval": interval} for interval in ("hour", "day", "week", "month")),
        {"page": "*"},
        {"pages": "*,/a"},
        {"pages": "/a", "page": "/b"},
        {"device_type": "*"},
        {"device_type": "d*"},
        {"metadata.a_B_1": "x*"},
        {"metadata.a_text": "x"},
        {"metadata.a": ""},
        {"unknown": "is ignored", "Limit": "0", "limits": "0"},
        {"country": "'; DROP TABLE rows; --"},
        {"fields": "pageviews", "page": SEARCH},
        {"fields": "pageviews,visitors,histogram", "pages": SEARCH},
    ],
    ids=str,
)
def test_what_is_accepted(get_stats: GetStats, params: dict[str, str]) -> None:
    """A query that breaks no rule gets 200."""
    response = get_stats(**({"fields": "pageviews"} | params))
    assert response.status_code == 200, response.text


def test_all_broken_rules_are_reported(
    get_stats: GetStats, same_text: SameText
) -> None:
    """One response names every broken rule."""
    error = get_stats(fields="x", limit="0", timezone="utc", start="?").json()["error"]
    for name in ("fields", "limit", "timezone", "start"):
        assert name in error
    same_text(error)


def test_a_parameter_given_twice(emulator: Emulator) -> None:
    """A repeated parameter, which the document does not know, is refused."""
    with bare_client(emulator) as client:
        for twice in ("limit=1&limit=1", "metadata.a=1&metadata.a=2"):
            response = client.get(f"/example.com.json?version=6&fields=pages&{twice}")
            assert response.status_code == 400
            assert "twice" in response.json()["error"]
        response = client.get("/example.com.json?version=6&fields=pages&x=1&x=2")
        assert response.status_code == 200


# -- fields, events and versions (sections 4.3 and 9)


@pytest.mark.parametrize("version", ["3", "4", "5", "6"])
def test_fields_or_events_are_needed(get_stats: GetStats, version: str) -> None:
    """From version 3 on fields or events are required."""
    response = get_stats(version=version)
    assert response.status_code == 400
    assert response.json()["error"].startswith("Fields param is required")
    assert get_stats(version=version, fields="").status_code == 400
    data = get_stats(version=version, events="a").json()
    assert data["events"] == [{"name": "a", "total": 0}]
    assert "pageviews" not in data


@pytest.mark.parametrize("version", ["1", "2", "3", "4", "5"])
def test_hours_and_metadata_need_version_6(get_stats: GetStats, version: str) -> None:
    """The interval hour and metadata filters exist from version 6."""
    query = {"version": version, "fields": "histogram"}
    assert get_stats(**query, interval="hour").status_code == 400
    assert get_stats(**query, **{"metadata.a": "b"}).status_code == 400
    assert get_stats(**query, interval="week").status_code == 200


def test_without_a_version_it_is_version_1(emulator: Emulator) -> None:
    """A request without a version gets the oldest format."""
    emulator.load([{"hostname": "example.com", "browser_name": "Firefox"}])
    with bare_client(emulator) as client:
        bare = client.get("/example.com.json").json()
        named = client.get("/example.com.json?version=1&fields=visitors").json()
    assert bare == named
    assert set(bare) == {"timezone", "pageviews", "visits", "agents"}
    assert bare["agents"] == [{"count": 1, "browser_name": "Firefox"}]
    assert bare["visits"][-1] == {"date": "2026-03-15", "pageviews": 1}


def test_version_2_has_everything_in_old_names(
    get_stats: GetStats, emulator: Emulator
) -> None:
    """Version 2 has every list, pages too, with the old names."""
    emulator.load([{"hostname": "example.com", "path": "/a", "is_unique": True}])
    data = get_stats(version="2", fields="visitors", events="*").json()
    assert data["ok"] is True
    assert data["error"] is None
    assert data["pages"] == [{"value": "/a", "visits": 1, "uniqueVisits": 1}]
    assert data["visits"][-1] == {"date": "2026-03-15", "pageviews": 1, "uniques": 1}
    assert {"countries", "utm_terms", "device_types", "agents", "events"} <= set(data)


def test_version_2_has_its_envelope(get_stats: GetStats, emulator: Emulator) -> None:
    """Version 2 tells the website, the period and the page, as was observed."""
    emulator.load([{"hostname": "example.com", "path": "/a"}])
    data = get_stats(version="2", start="2026-03-14", end="today", page="/a").json()
    envelope = {
        "docs": "https://docs.example.com/api",
        "hostname": "example.com",
        "url": "https://example.com",
        "path": "/a",
        "start": "2026-03-14T00:00:00.000Z",
        "end": "2026-03-15T23:59:59.999Z",
        "version": 2,
        "pageviews": 1,
    }
    assert envelope.items() <= data.items()


@pytest.mark.parametrize("version", ["1", "2"])
def test_agents_have_versions(
    get_stats: GetStats, emulator: Emulator, version: str
) -> None:
    """Agents are counted by the versions of browser and system that rows have."""
    agent = {
        "browser_name": "Firefox",
        "browser_version": "121.0",
        "os_name": "macOS",
        "os_version": "14.2",
    }
    older = agent | {"browser_version": "9", "os_version": None}
    device = {"hostname": "example.com", "device_type": "tv"}
    emulator.load([device | agent, device | agent, device | older, device])
    assert get_stats(version=version).json()["agents"] == [
        {"count": 2, **agent, "type": "tv"},
        {
            "count": 1,
            "browser_name": "Firefox",
            "browser_version": "9",
            "os_name": "macOS",
            "type": "tv",
        },
        {"count": 1, "type": "tv"},
    ]


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("3", {"value", "visits", "uniqueVisits"}),
        ("4", {"value", "visits", "uniqueVisits"}),
        ("5", {"value", "pageviews", "visitors"}),
        ("6", {"value", "pageviews", "visitors"}),
    ],
)
def test_the_names_in_lists(
    get_stats: GetStats, emulator: Emulator, version: str, names: set[str]
) -> None:
    """Lists have the old names in versions 3 and 4, and the new in 5 and 6."""
    emulator.load([{"hostname": "example.com", "path": "/a"}])
    data = get_stats(version=version, fields="pages,pageviews").json()
    assert set(data["pages"][0]) == names
    assert data["pageviews"] == 1
    assert data["version"] == int(version)


# -- the envelope


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


@pytest.mark.parametrize(
    ("params", "path"),
    [({"page": "/a"}, "/a"), ({"pages": "/a,/b*"}, "/a,/b*"), ({"country": "NL"}, "*")],
)
def test_the_path_of_a_response(
    get_stats: GetStats, params: dict[str, str], path: str
) -> None:
    """The response names the page that it is about."""
    assert get_stats(fields="pageviews", **params).json()["path"] == path


@pytest.mark.parametrize("params", [{"fields": "pageviews"}, {"fields": "x"}], ids=str)
def test_prose_unless_info_is_false(emulator: Emulator, params: dict[str, str]) -> None:
    """Keys with explanations are there by default, in error responses too."""
    with bare_client(emulator) as client:
        for info, there in ((None, True), ("true", True), ("false", False)):
            query = params | {"version": "6"} | ({"info": info} if info else {})
            data = client.get("/example.com.json", params=query).json()
            assert any(key.startswith("__") for key in data) is there
            if data["ok"]:
                assert data["info"] == (info or True)


def test_fields_come_in_the_documents_order(get_stats: GetStats) -> None:
    """The order of requested fields changes nothing."""
    data = get_stats(fields="seconds_on_page,os_names,pages,visitors,pageviews").json()
    assert list(data)[-6:-1] == [
        "pageviews",
        "visitors",
        "pages",
        "os_names",
        "seconds_on_page",
    ]


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


# -- JSONP


def test_jsonp_wraps_every_response(get_stats: GetStats, emulator: Emulator) -> None:
    """A callback gets the same JSON, whatever the status is."""
    emulator.load([{"hostname": "example.com", "path": "/\u2028"}])
    for fields, status in (("pages", 200), ("x", 400)):
        response = get_stats(fields=fields, callback="app.show")
        assert response.status_code == status
        assert response.headers["content-type"].startswith("text/javascript")
        text = response.text
        assert text.startswith("app.show(")
        assert text.endswith(");")
        assert "\u2028" not in text
        assert json.loads(text[9:-2])["ok"] is (status == 200)


def test_a_bad_callback_is_not_called(get_stats: GetStats) -> None:
    """An invalid callback gets its error as plain JSON."""
    response = get_stats(fields="pageviews", callback="alert(1)//")
    assert response.status_code == 400
    assert response.json()["ok"] is False


def test_numbers_are_written_as_javascript_does(
    get_stats: GetStats, emulator: Emulator
) -> None:
    """A whole median has no decimals, and another has all of them."""
    for seconds, text in ((12, "12"), (13, "12.5"), (13.25, "13")):
        emulator.load([{"hostname": "example.com", "duration_seconds": seconds}])
        assert f'"seconds_on_page":{text},' in get_stats(fields="seconds_on_page").text


# -- the period (sections 4.3 and 8)


@pytest.mark.parametrize(
    ("now", "zone", "start", "end"),
    [
        (NOW, "UTC", "2026-02-15T00:00:00.000Z", "2026-03-15T23:59:59.999Z"),
        (
            datetime(2026, 3, 31, 23, 30, tzinfo=UTC),
            "Europe/Amsterdam",
            "2026-02-28T23:00:00.000Z",
            "2026-04-01T21:59:59.999Z",
        ),
        (
            datetime(2024, 3, 31, 12, tzinfo=UTC),
            "UTC",
            "2024-02-29T00:00:00.000Z",
            "2024-03-31T23:59:59.999Z",
        ),
        (
            datetime(2026, 1, 5, 3, tzinfo=UTC),
            "America/New_York",
            "2025-12-04T05:00:00.000Z",
            "2026-01-05T04:59:59.999Z",
        ),
    ],
)
def test_the_default_period(now: datetime, zone: str, start: str, end: str) -> None:
    """It begins a month ago, clamped, and ends today, in the website's zone."""
    emulator = Emulator(now=now)
    emulator.add_website("example.com", timezone=zone)
    with bare_client(emulator) as client:
        data = client.get("/example.com.json?version=6&fields=pageviews").json()
    assert (data["start"], data["end"]) == (start, end)
    assert data["timezone"] == zone


def test_the_querys_zone_goes_before_the_websites(
    emulator: Emulator, get_stats: GetStats
) -> None:
    """Days are those of the requested zone."""
    emulator.change_website("example.com", timezone="Asia/Tokyo")
    day = {"fields": "pageviews", "start": "2026-01-01", "end": "2026-01-01"}
    assert get_stats(**day).json()["start"] == "2025-12-31T15:00:00.000Z"
    data = get_stats(**day, timezone="America/New_York").json()
    assert data["start"] == "2026-01-01T05:00:00.000Z"
    assert data["end"] == "2026-01-02T04:59:59.999Z"


def test_placeholders(get_stats: GetStats) -> None:
    """Placeholders count from today, in the query's zone."""
    for text, day in (
        ("today", "2026-03-15"),
        ("yesterday", "2026-03-14"),
        ("today-1d", "2026-03-14"),
        ("today-30d", "2026-02-13"),
    ):
        data = get_stats(fields="pageviews", start=text, end=text).json()
        assert data["start"][:10] == data["end"][:10] == day


def test_days_are_whole(emulator: Emulator, get_stats: GetStats) -> None:
    """A day has its first and its last microsecond, and no more."""
    emulator.load(
        {"hostname": "example.com", "added_iso": f"2026-03-{moment}Z"}
        for moment in (
            "10T00:00:00",
            "10T23:59:59.999999",
            "11T00:00:00",
            "09T23:59:59.999999",
        )
    )
    day = {"fields": "pageviews", "start": "2026-03-10", "end": "2026-03-10"}
    assert get_stats(**day).json()["pageviews"] == 2


def test_a_long_address(emulator: Emulator) -> None:
    """An address of 64,000 characters is answered over a socket."""
    target = "/example.com.json?version=6&fields=pageviews&utm_term="
    target += "x" * (64_000 - len(target))
    with emulator.serve() as address:
        response = httpx.get(
            f"{address}{target}", headers={"Api-Key": emulator.api_key}, trust_env=False
        )
    assert response.status_code == 200


# -- contains searches (section 4.3)

BROKEN: dict[str, dict[str, str | None]] = {
    "two patterns": {"pages": f"{SEARCH},/b"},
    "page and pages": {"page": SEARCH, "pages": "/b"},
    "a star inside": {"page": "*twelve*chars/and more*"},
    "eleven characters": {"page": "*eleven char*"},
    "slashes do not count": {"page": "*///eleven//char////*"},
    "nothing between": {"page": "**"},
    "other fields": {"fields": "pageviews,pages"},
    "no fields": {"fields": None, "events": "a"},
    "events": {"events": "a"},
    "all events": {"events": "*"},
}


def contains_search(*broken: dict[str, str | None]) -> dict[str, str]:
    """The parameters of a valid contains search, with some points broken."""
    params: dict[str, str | None] = {"page": SEARCH, "fields": "pageviews,visitors"}
    for change in broken:
        if "pages" in change and "page" not in change:
            params.pop("page", None)
        params |= change
    return {name: value for name, value in params.items() if value is not None}


@pytest.mark.parametrize("point", BROKEN)
def test_a_broken_point_of_a_contains_search(
    get_stats: GetStats, point: str, same_text: SameText
) -> None:
    """Each broken point of a contains search is refused."""
    assert get_stats(**contains_search()).status_code == 200
    response = get_stats(**contains_search(BROKEN[point]))
    assert response.status_code == 400
    assert "contains search" in response.json()["error"]
    same_text(response.json()["error"])


@pytest.mark.parametrize(
    "pair", list(itertools.combinations(BROKEN, 2)), ids=" + ".join
)
def test_two_broken_points_do_not_mend_each_other(
    get_stats: GetStats, pair: tuple[str, str]
) -> None:
    """A contains search with two broken points is refused too."""
    response = get_stats(**contains_search(BROKEN[pair[0]], BROKEN[pair[1]]))
    assert response.status_code == 400


@pytest.mark.parametrize("fields", [None, "visitors", "pages", "pageviews,pages"])
def test_the_fields_of_a_contains_search_by_version(
    get_stats: GetStats, fields: str | None, same_text: SameText
) -> None:
    """Version 1 ignores fields, and version 2 always gives the pages."""
    params = contains_search({"fields": fields})
    assert get_stats(**params, version="1").status_code == 200
    response = get_stats(**params, version="2")
    assert response.status_code == 400
    assert "version 2 always has the pages" in response.json()["error"]
    same_text(response.json()["error"])
    for version in "3456":
        status = 200 if fields == "visitors" else 400
        assert get_stats(**params, version=version).status_code == status


def test_a_contains_search_needs_a_key(emulator: Emulator) -> None:
    """Without a key a contains search is refused, on a public website too."""
    emulator.change_website("example.com", public=True)
    with bare_client(emulator, key=None) as client:
        params = {"version": "6"} | contains_search()
        response = client.get("/example.com.json", params=params)
        assert response.status_code == 400
        assert "needs an API key" in response.json()["error"]
        params["page"] = "/twelve chars*"
        assert client.get("/example.com.json", params=params).status_code == 200


def test_a_contains_search_and_a_path_in_the_address(
    emulator: Emulator, same_text: SameText
) -> None:
    """A contains search is refused with a page in the address."""
    with bare_client(emulator) as client:
        params = {"version": "6"} | contains_search()
        response = client.get("/example.com/a.json", params=params)
    assert response.status_code == 400
    assert "exactly one path pattern" in response.json()["error"]
    same_text(response.json()["error"])


def test_twelve_characters_are_counted_as_people_do() -> None:
    """Characters are counted, not bytes."""
    emulator = Emulator()
    emulator.load([{"hostname": "example.com", "path": "/日本語日本語日本語日本語/x"}])
    with bare_client(emulator) as client:
        for text, status in (
            ("日本語日本語日本語日本語", 200),
            ("日本語日本語日本語日本", 400),
        ):
            params = {"version": "6", "fields": "pageviews", "page": f"*{text}*"}
            response = client.get("/example.com.json", params=params)
            assert response.status_code == status
            if status == 200:
                assert response.json()["pageviews"] == 1


# -- the rate of contains searches (section 7)


def test_contains_searches_are_rate_limited() -> None:
    """Above the rate: 429 with Retry-After; refused searches do not count."""
    emulator = Emulator(now=NOW, contains_per_minute=2)
    emulator.add_website("example.com")
    seconds = 1000.0
    emulator._core.service.clock = lambda: seconds
    good = {"version": "6"} | contains_search()
    with (
        bare_client(emulator) as client,
        bare_client(emulator, key=emulator.add_key(access=["example.com"])) as other,
    ):

        def search(**params: str) -> tuple[int, str | None]:
            response = client.get("/example.com.json", params=good | params)
            return response.status_code, response.headers.get("retry-after")

        assert search(fields="pages") == (400, None)
        assert search() == (200, None)
        seconds += 10.5
        assert search() == (200, None)
        for _ in range(5):
            assert search() == (429, "50")
        assert search(page="/a*") == (200, None)
        assert other.get("/example.com.json", params=good).status_code == 200
        seconds += 49.4
        assert search() == (429, "1")
        seconds += 0.1
        assert search() == (200, None)
        assert search() == (429, "11")


def test_no_search_and_no_limit() -> None:
    """A rate of 0 refuses every search, None refuses none."""
    # A time to which a minute is added, and taken from, with a rest of 1e-14.
    seconds = 107.44852632954438
    assert seconds + 60 - seconds > 60
    for rate, status, wait in ((0, 429, "60"), (None, 200, None)):
        emulator = Emulator(contains_per_minute=rate)
        emulator.add_website("example.com")
        emulator._core.service.clock = lambda: seconds
        with bare_client(emulator) as client:
            for _ in range(3):
                response = client.get(
                    "/example.com.json", params={"version": "6"} | contains_search()
                )
                assert response.status_code == status
                assert response.headers.get("retry-after") == wait


# -- events


def test_events_by_name(emulator: Emulator, get_stats: GetStats) -> None:
    """Each name has an entry in the requested order, whatever its case."""
    emulator.load(
        {"hostname": "example.com", "datapoint": name}
        for name in ("Signup", "signup", "buy it", "pageview")
    )
    data = get_stats(events="SIGNUP,none,buy it,signup,pageview").json()
    assert data["events"] == [
        {"name": "SIGNUP", "total": 2},
        {"name": "none", "total": 0},
        {"name": "buy it", "total": 1},
        {"name": "signup", "total": 2},
        {"name": "pageview", "total": 0},
    ]


def test_lists_have_fifty_entries_by_default(
    emulator: Emulator, get_stats: GetStats
) -> None:
    """Without a limit each list has the fifty most frequent values (section 8)."""
    emulator.load(
        {"hostname": "example.com", "path": f"/{number}", "country_code": country}
        for number in range(51)
        for country in ("NL", f"{number:02}")
    )
    data = get_stats(fields="pages,countries").json()
    assert [len(data[name]) for name in ("pages", "countries")] == [50, 50]
    assert data["countries"][0]["value"] == "NL"
    assert len(get_stats(fields="pages", limit="51").json()["pages"]) == 51


def test_all_events_are_at_most_a_thousand(
    emulator: Emulator, get_stats: GetStats
) -> None:
    """events=* gives the thousand most frequent ones, whatever the limit is."""
    emulator.load(
        {"hostname": "example.com", "datapoint": f"event {number}"}
        for number in [*range(1005), 1003]
    )
    data = get_stats(events="*", limit="1").json()
    assert len(data["events"]) == 1000
    assert data["events"][0] == {"name": "event 1003", "total": 2}


# -- metadata (section 4.3)

STORED: list[dict[str, object]] = [
    {"metadata.a_text": "7"},
    {"metadata.a_int": 7},
    {"metadata.a_int": "7.0"},
    {"metadata.a_text": "7.0"},
    {"metadata.a_bool": True},
    {"metadata.a_text": "true"},
    {"metadata.a_date": "2026-01-01T12:00:00Z"},
    {"metadata.a_date": "2026-01-01T14:00:00+02:00"},
    {"metadata.a_text": "2026-01-01T12:00:00Z"},
    {"metadata.a_text": "x*"},
    {"metadata.a_int": "-0.50"},
    {"metadata.a_int": "123456789012345678901234567890"},
    {"metadata.A_text": "7"},
    {"metadata.a_int": "-0"},
]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("7", {0, 1, 2}),
        ("7.0", {1, 2, 3}),
        ("07.00", {1, 2}),
        ("-0.5", {10}),
        ("0", {13}),
        ("-0.0", {13}),
        ("0.5", set[int]()),
        ("true", {4, 5}),
        ("True", set[int]()),
        ("false", set[int]()),
        ("2026-01-01T12:00:00Z", {6, 7, 8}),
        ("2026-01-01T12:00:00.000Z", {6, 7}),
        ("2026-01-01T12:00Z", {6, 7}),
        ("2026-01-01T14:00:00+02:00", set[int]()),
        ("2026-02-30T12:00:00Z", set[int]()),
        ("2026-01-01", set[int]()),
        ("x*", {9}),
        ("x", set[int]()),
        ("123456789012345678901234567890", {11}),
        ("123456789012345678901234567891", set[int]()),
        ("1e2", set[int]()),
    ],
)
def test_metadata_types_are_detected(
    emulator: Emulator, get_stats: GetStats, value: str, found: set[int]
) -> None:
    """A metadata value matches every type that it may stand for, and text."""
    emulator.load(
        {"hostname": "example.com", "path": f"/{number}", **stored}
        for number, stored in enumerate(STORED)
    )
    data = get_stats(fields="pages", **{"metadata.a": value}).json()
    assert {int(entry["value"][1:]) for entry in data["pages"]} == found


def test_metadata_filters_must_all_match(
    emulator: Emulator, get_stats: GetStats
) -> None:
    """Several metadata filters must all match; events are filtered too."""
    emulator.load(
        {
            "hostname": "example.com",
            "datapoint": kind,
            "metadata.plan_text": plan,
            "metadata.paying_bool": paying,
        }
        for kind in ("pageview", "buy")
        for plan in ("pro", "free")
        for paying in (True, False)
    )
    data = get_stats(
        fields="pageviews",
        events="buy",
        **{"metadata.plan": "pro", "metadata.paying": "true"},
    ).json()
    assert (data["pageviews"], data["events"][0]["total"]) == (1, 1)
    assert (
        get_stats(fields="pageviews", **{"metadata.none": "x"}).json()["pageviews"] == 0
    )


# -- addresses


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/nowhere.example.json",
        "/example.com",
        "/example.com/a",
        "/example.com\\a.json",
        "/example.coma.json",
        "/.json",
        "/example.com/.json",
        "/example.com/../example.com.json",
        "/example.com/./a.json",
        "/example.com%00.json",
        "/%FF.json",
        "/exa mple.com.json",
    ],
)
def test_unknown_addresses(emulator: Emulator, target: str) -> None:
    """An unknown address is 404, with the requested path."""
    # Past httpx, which would mend some of them.
    response = emulator._core.handle(RecordedRequest.of("GET", target)).response
    assert response.status == 404
    assert json.loads(response.body) == {"ok": False, "status": 404, "message": target}


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/example.com/a.json", "/a"),
        ("/example.com/a/.json", "/a/"),
        ("/example.com/a.json.json", "/a.json"),
        ("/example.com/a%2Fb%3Fc.json", "/a/b?c"),
        ("/example.com/caf%C3%A9.json", "/café"),
        ("/example.com/a*.json", "/a*"),
        ("/example.com/a..b.json", "/a..b"),
        ("/EXAMPLE.com./a.json", "/a"),
    ],
)
def test_the_address_of_a_page(emulator: Emulator, address: str, page: str) -> None:
    """The path in an address is taken literally, also with stars."""
    emulator.load(
        {"hostname": "example.com", "path": path} for path in (page, "/abc", "/")
    )
    with bare_client(emulator) as client:
        data = client.get(f"{address}?version=6&fields=pages").json()
    assert data["path"] == page
    assert [entry["value"] for entry in data["pages"]] == [page]


def test_a_page_in_the_address_excludes_page_filters(emulator: Emulator) -> None:
    """A page in the address and a page filter are refused together."""
    with bare_client(emulator) as client:
        for name in ("page", "pages"):
            response = client.get(
                f"/example.com/a.json?version=6&fields=pageviews&{name}=/a"
            )
            assert response.status_code == 400


def test_other_methods(emulator: Emulator) -> None:
    """Statistics allow GET and HEAD only; HEAD has no body."""
    with bare_client(emulator) as client:
        target = "/example.com.json?version=6&fields=pageviews"
        assert client.post(target).status_code == 405
        assert client.delete(target).json()["ok"] is False
        response = client.head(target)
        assert (response.status_code, response.content) == (200, b"")


@pytest.mark.parametrize(
    ("target", "allowed", "refused"),
    [
        ("/example.com.json", "GET, HEAD, OPTIONS", ("POST", "TRACE", "BREW")),
        ("/api/websites", "GET, OPTIONS", ("POST", "HEAD", "TRACE")),
        ("/api/websites/add", "POST, OPTIONS", ("GET", "PUT", "TRACE")),
    ],
)
def test_another_method_learns_which_are_allowed(
    emulator: Emulator, target: str, allowed: str, refused: tuple[str, ...]
) -> None:
    """A 405 names the methods of its address, as HTTP demands."""
    with bare_client(emulator) as client:
        for method in refused:
            response = client.request(method, target)
            assert response.status_code == 405
            assert response.headers["allow"] == allowed
