"""Every rule that the service checks of a Stats request."""

from __future__ import annotations

import pytest

from bare_client import NOW, GetStats, bare_client
from sitestats.emulator import Emulator

SEARCH = {"version": "6", "fields": "pageviews,visitors", "page": "*twelve chars/*"}
"""A contains search with exactly the twelve characters that are needed."""


def test_numbers_have_no_leading_zeros(get_stats: GetStats) -> None:
    """A program that sends such a number has made it by hand."""
    for params in ({"version": "06"}, {"limit": "050"}):
        assert get_stats(**{"fields": "pageviews", **params}).status_code == 400


def test_names_in_another_case_are_ignored(get_stats: GetStats) -> None:
    """A parameter that the document does not name has no effect, as on the web."""
    assert get_stats(fields="pageviews", Limit="0", limits="0").status_code == 200


def test_all_broken_rules_are_reported(get_stats: GetStats) -> None:
    """One response names every broken rule."""
    error = get_stats(fields="x", limit="0", timezone="utc", start="?").json()["error"]
    assert all(name in error for name in ("fields", "limit", "timezone", "start"))


def test_a_parameter_given_twice(emulator: Emulator) -> None:
    """A repeated parameter of the document is refused."""
    for twice in ("limit=1&limit=1", "metadata.a=1&metadata.a=2", "x=1&x=2"):
        with bare_client(emulator) as client:
            response = client.get(f"/example.com.json?version=6&fields=pages&{twice}")
        assert response.status_code == (200 if "x" in twice else 400)
        assert ("twice" in response.text) is ("x" not in twice)


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


def test_without_a_version_it_is_version_1(emulator: Emulator) -> None:
    """A request without a version gets the oldest format."""
    emulator.load([{"hostname": "example.com", "browser_name": "Firefox"}])
    with bare_client(emulator) as client:
        bare = client.get("/example.com.json").json()
        named = client.get("/example.com.json?version=1&fields=visitors").json()
    assert bare == named
    assert set(bare) == {"timezone", "pageviews", "visits", "agents"}
    assert bare["agents"] == [{"count": 1, "browser_name": "Firefox"}]
    assert bare["visits"][-2] == {"date": "2026-03-14", "pageviews": 1}


def test_twelve_characters_are_counted_as_people_do(
    emulator: Emulator, get_stats: GetStats
) -> None:
    """Characters are counted, not bytes."""
    text = "日本語日本語日本語日本語"
    emulator.load([{"hostname": "example.com", "path": f"/{text}/x"}])
    data = get_stats(fields="pageviews", page=f"*{text}*").json()
    assert data["pageviews"] == 1
    response = get_stats(fields="pageviews", page=f"*{text[1:]}*")
    assert response.status_code == 400


# -- the rate of contains searches (section 7)


def test_contains_searches_are_rate_limited() -> None:
    """Above the rate: 429 with Retry-After; refused searches do not count."""
    emulator = Emulator(now=NOW, contains_per_minute=2)
    emulator.add_website("example.com")
    seconds = 1000.0
    emulator._service.clock = lambda: seconds
    other = emulator.add_key(access=["example.com"])

    def search(key: str = "own", **params: str) -> tuple[int, str | None]:
        with bare_client(emulator, key=key) as client:
            response = client.get("/example.com.json", params=SEARCH | params)
        return response.status_code, response.headers.get("retry-after")

    assert search(fields="pages") == (400, None)
    assert search() == (200, None)
    seconds += 10.5
    assert search() == (200, None)
    assert [search(), search()] == [(429, "50")] * 2
    assert search(page="/a*") == search(other) == (200, None)
    seconds += 49.4
    assert search() == (429, "1")
    seconds += 0.1
    assert [search(), search()] == [(200, None), (429, "11")]


def test_no_search_and_no_limit() -> None:
    """A rate of 0 refuses every search, None refuses none."""
    # A time to which a minute is added, and taken from, with a rest of 1e-14.
    seconds = 107.44852632954438
    for rate, expected in ((0, (429, "60")), (None, (200, None))):
        emulator = Emulator(contains_per_minute=rate)
        emulator.add_website("example.com")
        emulator._service.clock = lambda: seconds
        with bare_client(emulator) as client:
            for _ in range(3):
                response = client.get("/example.com.json", params=SEARCH)
                wait = response.headers.get("retry-after")
                assert (response.status_code, wait) == expected


# -- events and lists


def test_events_by_name(emulator: Emulator, get_stats: GetStats) -> None:
    """Each name has an entry in the requested order, whatever its case."""
    emulator.load(
        {"hostname": "example.com", "datapoint": name}
        for name in ("Signup", "signup", "buy it", "pageview")
    )
    totals = {"SIGNUP": 2, "none": 0, "buy it": 1, "signup": 2, "pageview": 0}
    assert get_stats(events=",".join(totals)).json()["events"] == [
        {"name": name, "total": total} for name, total in totals.items()
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
    wanted = {"metadata.plan": "pro", "metadata.paying": "true"}
    data = get_stats(fields="pageviews", events="buy", **wanted).json()
    assert (data["pageviews"], data["events"][0]["total"]) == (1, 1)
    data = get_stats(fields="pageviews", **{"metadata.none": "x"}).json()
    assert data["pageviews"] == 0
