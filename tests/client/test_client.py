"""Both clients against the emulator, with and without a socket."""

from __future__ import annotations

import pickle
from typing import Any

import anyio
import httpx
import pytest

from client_calls import HOST, TOTALS, ClientVariant
from sitestats import (
    AsyncClient,
    AuthenticationError,
    Client,
    PermissionDeniedError,
    QueryError,
    ResponseError,
    ServerError,
    ServiceError,
    StatsQuery,
)

pytestmark = pytest.mark.slow


def test_statistics(run: ClientVariant) -> None:
    """The statistics of the demo have the expected values and types."""
    query = TOTALS.fields("pageviews", "visitors", "pages", "histogram").limit(3)
    stats = run(lambda client: client.stats.get(query))
    assert stats.pageviews == 1586
    assert [(page.value, page.pageviews) for page in stats.pages] == [
        ("/projects/xdotool/", 203),
        ("/projects/xdotool/xdotool.xhtml", 143),
        ("/articles/dynamic-dns-with-dhcp/", 122),
    ]
    assert sum(day.pageviews for day in stats.histogram) == 1586


def test_statistics_of_one_page(run: ClientVariant) -> None:
    """A path in the address restricts the statistics to that page."""
    query = TOTALS.path("/projects/xdotool/")
    assert run(lambda client: client.stats.get(query)).pageviews == 203


def test_event_counts(run: ClientVariant) -> None:
    """Events are counted by name."""
    query = StatsQuery(HOST).events("download", "feed_read").last(days=30)
    stats = run(lambda client: client.stats.get(query))
    assert {event.name for event in stats.events} == {"download", "feed_read"}
    assert all(event.total > 0 for event in stats.events)


def test_listing_and_adding(run: ClientVariant) -> None:
    """A website that was added is in the list."""
    added = run(
        lambda client: client.websites.add(
            "Bücher.example", timezone="Europe/Berlin", public=True, label=""
        )
    )
    assert (added.hostname, added.timezone) == (
        "xn--bcher-kva.example",
        "Europe/Berlin",
    )
    assert added.public
    listed = run(lambda client: client.websites.list())
    assert added.hostname in {website.hostname for website in listed}


def test_statistics_need_a_key_where_section_5_says_so(run: ClientVariant) -> None:
    """A public website needs none, but for its pages where they are hidden; a private
    one needs one with access.
    """
    own, other = run.emulator.api_key, run.emulator.add_key()

    def outcome(query: StatsQuery, key: str | None) -> type[Exception] | None:
        try:
            run(lambda client: client.stats.get(query), api_key=key)
        except ServiceError as error:
            return type(error)
        return None

    refused = [None, PermissionDeniedError, AuthenticationError]
    for settings, query, expected in (
        ({"public": True}, TOTALS.fields("pages"), [None] * 3),
        ({"public": True, "hide_pages": True}, TOTALS, [None] * 3),
        ({"public": True, "hide_pages": True}, TOTALS.fields("pages"), refused),
        ({"public": True, "hide_pages": True}, TOTALS.where(page="/"), refused),
        ({"public": True, "hide_pages": True}, TOTALS.path("/a"), refused),
        ({"public": True, "hide_pages": True}, TOTALS.version(2), refused),
        ({"public": False, "hide_pages": False}, TOTALS, refused),
    ):
        run.emulator.change_website(HOST, **settings)
        assert [outcome(query, key) for key in (own, other, None)] == expected, query


def test_an_unknown_key_is_an_authentication_error(run: ClientVariant) -> None:
    """A key that the service does not know raises an error that names the cause."""
    with pytest.raises(AuthenticationError):
        run(lambda client: client.websites.list(), api_key="sa_api_key_of_nobody")


def test_the_longest_query_gets_a_response(run: ClientVariant) -> None:
    """An address of nearly the limit goes through, over a socket and a transport."""
    names = [f"event-{number:05}" for number in range(5300)]
    query = TOTALS.events(*names)
    assert 63_000 < len(query.url("https://a.example")) < 64_000
    assert len(run(lambda client: client.stats.get(query)).events) == len(names)


def test_a_query_that_is_too_long_is_not_sent(run: ClientVariant) -> None:
    """It is an error of the query, which is not retried as one of the connection."""
    query = TOTALS.events(*(f"event-{number:05}" for number in range(6000)))
    before = len(run.emulator.requests)
    with pytest.raises(QueryError, match=r"72,\d\d\d characters.*64,000.*events"):
        run(lambda client: client.stats.get(query))
    assert len(run.emulator.requests) == before


@pytest.mark.parametrize("cls", [Client, AsyncClient])
def test_an_address_that_a_transport_refuses_is_not_retried(cls: Any) -> None:
    """Any other address that a user's transport can't hold is named as what it is."""
    calls: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        return httpx.Response(200, json={})

    sends: Any = httpx.Client if cls is Client else httpx.AsyncClient
    client = cls(
        "https://analytics.example",
        api_key="sa_api_key_0123456789abcdefghijklmn",
        user_id="sa_user_id_00000000-0000-4000-8000-000000000000",
        http_client=sends(transport=httpx.MockTransport(respond)),
    )
    refused = pytest.raises(QueryError, match=r"70,\d\d\d characters.*URL too long")

    def call() -> Any:
        return client.request("GET", "/custom", params={"a": "x" * 70_000})

    with refused:
        _ = call() if cls is Client else anyio.run(call)
    assert not calls


def test_headers_trace_a_response(run: ClientVariant) -> None:
    """An error and a result have the headers of their response, in any case, without
    the key that one repeats, and without cookies.
    """
    key = run.emulator.api_key
    headers = {"Via": "1.1 gateway", "X-Echo": f"key={key}", "Set-Cookie": "session=1"}
    run.emulator.fail_next(status=502, headers=headers)
    with pytest.raises(ServerError) as caught:
        run(lambda client: client.stats.get(TOTALS), retries=0)
    found = caught.value.headers
    assert (found["via"], found["X-Echo"]) == ("1.1 gateway", "key=…")
    assert "Set-Cookie" not in found
    run.emulator.fail_next(garbage=True, headers={"Via": "1.1 gateway"})
    with pytest.raises(ResponseError) as odd:
        run(lambda client: client.stats.get(TOTALS))
    assert odd.value.headers["VIA"] == "1.1 gateway"
    stats = run(lambda client: client.stats.get(TOTALS))
    assert stats.headers["Content-Type"].startswith("application/json")
    assert pickle.loads(pickle.dumps(stats)).headers == stats.headers
