"""Every rule that the service checks of a Stats request."""

from __future__ import annotations

import pytest

from bare_client import NOW, GetStats, bare_client
from same_text import SameText
from sitestats.emulator import Emulator

pytestmark = pytest.mark.standard_library

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


def contains_search(broken: dict[str, str | None] | None = None) -> dict[str, str]:
    """The parameters of a valid contains search, with some point broken."""
    change = broken or {}
    params: dict[str, str | None] = {"page": SEARCH, "fields": "pageviews,visitors"}
    if "pages" in change and "page" not in change:
        del params["page"]
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


def test_a_page_in_the_address_excludes_page_filters(emulator: Emulator) -> None:
    """A page in the address and a page filter are refused together."""
    with bare_client(emulator) as client:
        for name in ("page", "pages"):
            response = client.get(
                f"/example.com/a.json?version=6&fields=pageviews&{name}=/a"
            )
            assert response.status_code == 400
