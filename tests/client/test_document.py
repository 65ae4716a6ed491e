"""What the service's document states, of a client and the emulator together.

Each test expects what the document says: of the request that the client sent, and of
what it made of the response, and names its sections. ``tests/query/test_rules.py`` has
the rules of parameters.
"""

from __future__ import annotations

from typing import Any

import pytest

from bare_client import NOW, bare_client
from both_clients import opened
from sitestats import (
    AuthenticationError,
    InvalidResponseError,
    PermissionDeniedError,
    StatsQuery,
    StatusError,
    WebsiteLockedError,
)
from sitestats.emulator import Emulator

HOST = "example.com"
Q = StatsQuery(HOST).fields("pageviews")
VISITS = [
    # path, country, device, seconds, plan, bytes, paying, since
    ("/", "NL", "mobile", 10, "pro", 5, True, "2026-03-01T00:00:00Z"),
    ("/", "NL", "desktop", 20, "pro", 5, False, "2026-03-02T00:00:00Z"),
    ("/blog/a", "DE", "tablet", 60, "free", 7, True, "2026-03-01T00:00:00Z"),
]
ROWS = [
    {
        "hostname": HOST,
        "path": path,
        "is_unique": True,
        "country_code": country,
        "device_type": device,
        "duration_seconds": seconds,
        "metadata.plan_text": plan,
        "metadata.bytes_int": count,
        "metadata.paying_bool": paying,
        "metadata.since_date": since,
        **more,
    }
    for path, country, device, seconds, plan, count, paying, since in VISITS
    for more in ({}, {"datapoint": "signup"})
]
"""Three page views of as many visitors, and an event at each of them."""


@pytest.fixture
def emulator() -> Emulator:
    """A private website with three page views, yesterday."""
    emulator = Emulator(now=NOW)
    emulator.load(ROWS)
    return emulator


@pytest.fixture
def client(emulator: Emulator) -> Any:
    """A client with the key."""
    with opened("blocking", emulator, retries=0) as client:
        yield client


def sent(emulator: Emulator) -> Any:
    """The last request that the emulator received."""
    return emulator.requests[-1]


# -- websites (sections 2.1, 2.2, 4.1, 4.2)


def test_the_list_of_websites(emulator: Emulator, client: Any) -> None:
    """The list has each website with its settings and estimates (1, 2.1, 4.1)."""
    settings: dict[str, Any] = {"timezone": "Asia/Tokyo", "label": "Sales"}
    own = {"public": True, "own_hostname": "stats.shop.example", "has_ssl": False}
    emulator.add_website("shop.example", **settings, **own)
    first, second = client.websites.list()
    assert (sent(emulator).method, sent(emulator).path) == ("GET", "/api/websites")
    assert sent(emulator).body == b""
    assert (first.hostname, first.timezone, first.label) == (HOST, "UTC", "")
    assert (first.is_public, first.has_ssl, first.has_script) == (False, True, True)
    assert (first.own_hostname, first.pageviews, first.events) == (None, 3, 3)
    assert (second.timezone, second.label) == ("Asia/Tokyo", "Sales")
    assert (second.is_public, second.has_ssl, second.has_script) == (True, False, False)
    assert second.own_hostname == "stats.shop.example"
    assert client.stats.get(Q.website(second)).hostname == "shop.example"
    with bare_client(emulator) as http:
        data = http.get("/api/websites").json()
    assert data["success"] is True
    assert [one["hostname"] for one in data["websites"]] == [HOST, "shop.example"]


def test_the_admin_api_needs_both_credentials(emulator: Emulator) -> None:
    """They are sent as headers; with a wrong one the service refuses (4.1, 5)."""
    with opened("blocking", emulator) as client:
        client.websites.list()
    headers = sent(emulator).headers
    assert {"api-key", "user-id", "content-type"} <= {name.lower() for name in headers}
    for wrong in ({"api_key": "sa_api_key_wrong"}, {"user_id": "sa_user_id_wrong"}):
        with (
            opened("blocking", emulator, **wrong) as client,
            pytest.raises(AuthenticationError),
        ):
            client.websites.list()


def test_adding_a_website(emulator: Emulator, client: Any) -> None:
    """An added website exists, private and in UTC by default (2.2, 3, 4.2)."""
    added = client.websites.add("new.example")
    request = sent(emulator)
    assert (request.method, request.path) == ("POST", "/api/websites/add")
    assert request.headers["content-type"].startswith("application/json")
    assert request.json()["hostname"] == "new.example"
    assert (added.hostname, added.timezone, added.public) == (
        *("new.example", "UTC"),
        False,
    )
    assert (added.custom_domain, added.valid_dns) == (None, True)
    more = client.websites.add("b.example", timezone="Asia/Tokyo", public=True)
    assert (more.timezone, more.public) == ("Asia/Tokyo", True)
    assert "new.example" in emulator.websites
    with bare_client(emulator) as http:
        unknown = {"hostname": "c.example", "timezone": "Nowhere/City"}
        data = http.post("/api/websites/add", json=unknown).json()
    assert (data["ok"], data["success"], data["timezone"]) == (True, True, "UTC")


@pytest.mark.parametrize(
    ("options", "words"),
    [({"role": "viewer"}, "role"), ({"website_limit": 0}, "limit")],
)
def test_a_website_that_can_not_be_added(options: Any, words: str) -> None:
    """The service refuses with 400 and a message, which the error has (4.2, 7)."""
    refusing = Emulator(**options)
    with (
        opened("blocking", refusing) as client,
        pytest.raises(StatusError, match=words) as caught,
    ):
        client.websites.add("new.example")
    assert caught.value.status_code == 400
    assert refusing.websites == ()


# -- statistics (sections 2.3, 4.3)


def test_statistics(emulator: Emulator, client: Any) -> None:
    """A result has what was requested, and nothing else (1, 2.3, 4.3)."""
    names = ("pageviews", "visitors", "histogram", "pages", "countries", "device_types")
    stats = client.stats.get(Q.fields(*names).last(days=2))
    assert (sent(emulator).method, sent(emulator).path) == ("GET", "/example.com.json")
    assert (stats.pageviews, stats.visitors) == (3, 3)
    assert [(day.date.day, day.pageviews) for day in stats.histogram] == [
        *((13, 0), (14, 3)),
    ]
    entries = [(page.value, page.pageviews, page.visitors) for page in stats.pages]
    assert entries == [("/", 2, 2), ("/blog/a", 1, 1)]
    countries = [(one.value, one.pageviews, one.visitors) for one in stats.countries]
    assert countries == [("NL", 2, 2), ("DE", 1, 1)]
    devices = {one.value for one in stats.device_types}
    assert devices == {"mobile", "desktop", "tablet"}
    assert not {"referrers", "events", "seconds_on_page"} & stats.raw().keys()


def test_the_time_on_page(client: Any) -> None:
    """It is a median, overall and of each entry (2.3)."""
    stats = client.stats.get(Q.fields("pages", "seconds_on_page"))
    assert stats.seconds_on_page == 20
    assert [page.seconds_on_page for page in stats.pages] == [15, 60]


def test_more_information(emulator: Emulator, client: Any) -> None:
    """What the service explains is in the raw response, and changes no number (2.3)."""
    plain, more = (client.stats.get(Q.info(wanted=wanted)) for wanted in (False, True))
    assert plain.pageviews == more.pageviews == 3
    assert len(str(more.raw())) > len(str(plain.raw()))


def test_one_page(emulator: Emulator, client: Any) -> None:
    """A path in the address gives the data of that page alone (4.3)."""
    assert client.stats.get(Q.path("/blog/a")).pageviews == 1
    assert sent(emulator).path == "/example.com/blog/a.json"


def test_jsonp(client: Any) -> None:
    """The response is a call of the function (4.3)."""
    text = client.stats.get_jsonp(Q, callback="show")
    assert text.startswith("show({")
    assert '"pageviews":3' in text.replace(" ", "")


def test_events(emulator: Emulator, client: Any) -> None:
    """The events of the filtered visits, by name; at most 1000 (2.3, 4.3, 6, 8)."""
    stats = client.stats.get(Q.events("signup", "purchase").where(country="NL"))
    assert [(event.name, event.total) for event in stats.events] == [
        *(("signup", 2), ("purchase", 0)),
    ]
    emulator.load({"hostname": HOST, "datapoint": f"event {n}"} for n in range(1005))
    assert len(client.stats.get(Q.all_events()).events) == 1000


@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_metadata_filters(emulator: Emulator, client: Any) -> None:
    """A value matches what was stored, whatever its type, exactly (4.3)."""
    texts = {"bytes": "5", "paying": "true", "since": "2026-03-01T00:00:00Z"}
    emulator.load(
        [{"hostname": HOST, **{f"metadata.{k}_text": v for k, v in texts.items()}}]
    )
    for filters, count in (
        ({"plan": "pro"}, 2),
        ({"plan": "pr"}, 0),
        ({"plan": "pr*"}, 0),
        ({"plan_text": "pro"}, 0),
        ({"bytes": "5"}, 3),
        ({"paying": "true"}, 3),
        ({"since": "2026-03-01T00:00:00Z"}, 3),
        ({"plan": "pro", "paying": "true"}, 1),
    ):
        assert client.stats.get(Q.where_metadata(filters)).pageviews == count, filters


def test_wildcards(client: Any) -> None:
    """A * at the end matches everything that starts with the value (4.3)."""
    assert client.stats.get(Q.where(pages=["/blog*"])).pageviews == 1
    assert client.stats.get(Q.where(country="N*")).pageviews == 2


def test_what_is_not_given(emulator: Emulator, client: Any) -> None:
    """Without a limit lists have fifty entries; without a period it is a month (8)."""
    emulator.load({"hostname": HOST, "path": f"/{number}"} for number in range(60))
    stats = client.stats.get(Q.fields("pages"))
    assert {"limit", "start", "end"}.isdisjoint(sent(emulator).params)
    assert len(stats.pages) == 50
    assert stats.pages.truncated
    assert (str(stats.first_day), str(stats.last_day)) == ("2026-02-15", "2026-03-15")


def test_old_versions(emulator: Emulator, client: Any) -> None:
    """Version 2 has the pages in any case; the client always sends a version (9)."""
    raw = client.stats.get(Q.version(2)).raw()
    assert raw["pages"]
    client.stats.get(Q)
    assert sent(emulator).params["version"] == Q.params()["version"]
    with bare_client(emulator) as http:
        bare = http.get("/example.com.json").json()
        assert bare == http.get("/example.com.json?version=1").json()
    assert "visits" in bare


# -- who may read what, and errors (sections 3, 5, 7)


def test_who_may_read_what(emulator: Emulator) -> None:
    """Without a key one reads what is public, but no hidden top pages (3, 5)."""
    pages = [Q.fields("pages"), Q.where(page="/"), Q.path("/a"), Q.version(2)]
    key = emulator.add_key()
    refusals = (AuthenticationError, PermissionDeniedError)
    with (
        opened("blocking", emulator, api_key=None) as stranger,
        opened("blocking", emulator, api_key=key) as other,
        opened("blocking", emulator) as owner,
    ):
        for client in (stranger, other):
            with pytest.raises(refusals):
                client.stats.get(Q)
        emulator.change_website(HOST, public=True)
        for query in [Q, *pages]:
            assert stranger.stats.get(query) is not None
        emulator.change_website(HOST, hide_pages=True)
        assert stranger.stats.get(Q).pageviews == 3
        for query in pages:
            with pytest.raises(refusals):
                stranger.stats.get(query)
            assert owner.stats.get(query) is not None


def test_a_locked_website(emulator: Emulator, client: Any) -> None:
    """Its requests fail with 423, a code and a message (3, 7)."""
    emulator.change_website(HOST, locked=True)
    with pytest.raises(WebsiteLockedError) as caught:
        client.stats.get(Q)
    assert (caught.value.status_code, caught.value.code) == (423, "BADGE_REQUIRED")
    with bare_client(emulator) as http:
        data = http.get("/example.com.json?version=6&fields=pageviews").json()
    assert data["ok"] is False
    assert data["error"] in str(caught.value)


def test_too_many_contains_searches() -> None:
    """A refused search says in how many seconds the next one may be sent (7)."""
    emulator = Emulator(now=NOW, contains_per_minute=0)
    emulator.add_website(HOST)
    with (
        opened("blocking", emulator, retries=0) as client,
        pytest.raises(StatusError) as caught,
    ):
        client.stats.get(Q.where(page="*abcdefghijkl*"))
    assert (caught.value.status_code, getattr(caught.value, "retry_after", 0)) == (
        429,
        60,
    )


def test_a_custom_endpoint(emulator: Emulator, client: Any) -> None:
    """Any address of the service can be called, with both credentials (1)."""
    assert client.request("GET", "/api/websites")["success"] is True
    with pytest.raises(InvalidResponseError):
        client.request("GET", "/api/none-of-yours")
    assert "user-id" in {name.lower() for name in sent(emulator).headers}
