"""Both clients: what is sent again, what is refused, what they tell of a response."""

from __future__ import annotations

import pytest

from both_clients import VARIANTS, opened
from sitestats import (
    ConfigurationError,
    InvalidInputError,
    ReadOnlyError,
    ServerError,
    StatsQuery,
)
from sitestats.emulator import Emulator

TOTALS = StatsQuery("semicomplete.com").fields("pageviews", "visitors").last(days=30)
BOTH = pytest.mark.parametrize("variant", VARIANTS)


@pytest.fixture
def emulator() -> Emulator:
    """Real traffic, for one test alone."""
    return Emulator.demo()


@BOTH
def test_the_longest_query_gets_a_response(variant: str, emulator: Emulator) -> None:
    """An address of nearly the limit goes through; a longer one is not sent."""
    names = [f"event-{number:05}" for number in range(6000)]
    key = emulator.api_key
    with emulator.serve() as url, opened(variant, url, api_key=key) as client:
        query = TOTALS.events(*names[:5300])
        assert len(client.stats.get(query).events) == 5300
        with pytest.raises(InvalidInputError, match="refuses an address of 72,"):
            client.stats.get(TOTALS.events(*names))
    assert len(emulator.requests) == 1


@BOTH
def test_a_view_has_limits_of_its_own(variant: str, emulator: Emulator) -> None:
    """with_options changes the limits of the view alone."""
    with opened(variant, emulator) as client:
        view = client.with_options(retries=0)
        emulator.fail_next(2, status=503)
        with pytest.raises(ServerError):
            view.stats.get(TOTALS)
        assert client.stats.get(TOTALS).pageviews == 1586


@BOTH
def test_a_read_only_client_writes_nothing(variant: str, emulator: Emulator) -> None:
    """A read-only client refuses each write, and nothing is sent."""
    with opened(variant, emulator, read_only=True) as client:
        with pytest.raises(ReadOnlyError):
            client.websites.add("example.com")
        with pytest.raises(ReadOnlyError):
            client.request("POST", "/api/custom")
        assert len(client.websites.list()) == 3
    assert len(emulator.requests) == 1


@BOTH
@pytest.mark.parametrize("missing", ["api_key", "user_id"])
def test_a_missing_credential_is_named(
    variant: str, missing: str, emulator: Emulator
) -> None:
    """A call of the Admin API without it is refused before it is sent."""
    with opened(variant, emulator, **{missing: None}) as client:
        for call in (client.websites.list, lambda: client.websites.add("a.example")):
            with pytest.raises(ConfigurationError, match=missing.upper()):
                call()
    assert emulator.requests == ()


@BOTH
def test_an_invalid_query_is_not_sent(variant: str, emulator: Emulator) -> None:
    """Its error has every broken rule."""
    query = TOTALS.fields("pages").where(page="*dynamic-dns-with*").all_events()
    with (
        opened(variant, emulator, api_key=None) as client,
        pytest.raises(InvalidInputError) as caught,
    ):
        client.stats.get(query)
    assert len(caught.value.problems) >= 3
    assert emulator.requests == ()
