"""What the service checks of a Stats request, beside the rules that clients check."""

from __future__ import annotations

from bare_client import NOW, GetStats, bare_client
from emulator.inside import set_clock
from sitestats.emulator import Emulator

SEARCH = {"version": "6", "fields": "pageviews,visitors", "page": "*twelve chars/*"}
"""A contains search with exactly the twelve characters that are needed."""


def test_all_broken_rules_are_reported(get_stats: GetStats) -> None:
    """One response names every broken rule."""
    error = get_stats(fields="x", limit="0", timezone="utc", start="?").json()["error"]
    assert all(name in error for name in ("fields", "limit", "timezone", "start"))


def test_parameters_that_are_written_by_hand(emulator: Emulator) -> None:
    """Repeated parameters and leading zeros are refused. Unknown parameters are
    ignored.
    """
    with bare_client(emulator) as client:
        for params, status in {
            "limit=050": 400,
            "limit=1&limit=1": 400,
            "metadata.a=1&metadata.a=2": 400,
            "Limit=0&limits=0&x=1&x=2": 200,
        }.items():
            response = client.get(f"/example.com.json?version=6&fields=pages&{params}")
            assert response.status_code == status, params


# -- fields, events and versions (sections 4.3 and 9)


def test_events_need_no_fields(get_stats: GetStats) -> None:
    """With events alone there are no totals; with neither it is an error."""
    for version in (3, 4, 5, 6):
        error = get_stats(version=version).json()["error"]
        assert error.startswith("Fields param is required")
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


# -- the rate of contains searches (section 7)


def test_contains_searches_are_rate_limited() -> None:
    """Above the rate: 429 with Retry-After; refused searches do not count."""
    emulator = Emulator(now=NOW, contains_per_minute=2)
    emulator.add_website("example.com")
    seconds = 1000.0
    set_clock(emulator, lambda: seconds)
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


def test_events_by_name(emulator: Emulator, get_stats: GetStats) -> None:
    """Each name has one entry in the requested order, in lower case as it is stored."""
    emulator.load(
        {"hostname": "example.com", "datapoint": name}
        for name in ("Signup", "signup", "buy it", "pageview")
    )
    totals = {"signup": 2, "none": 0, "buy it": 1, "pageview": 0}
    names = ["SIGNUP", *totals]
    assert get_stats(events=",".join(names)).json()["events"] == [
        {"name": name, "total": total} for name, total in totals.items()
    ]
