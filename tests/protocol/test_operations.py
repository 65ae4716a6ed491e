"""Operations: what is refused before it is sent, and what is returned as it is."""

from __future__ import annotations

import pytest

from client_calls import TOTALS, ClientVariant
from sitestats import ConfigurationError, QueryError, ReadOnlyError, SpecError

pytestmark = pytest.mark.slow


def test_jsonp(run: ClientVariant) -> None:
    """JSONP is returned as it was received, and an invalid callback is refused."""
    script = run(lambda client: client.stats.get_jsonp(TOTALS, callback="a.show"))
    assert "a.show(" in script
    assert "1586" in script
    with pytest.raises(SpecError):
        run(lambda client: client.stats.get_jsonp(TOTALS, callback="alert(1)//"))


def test_custom_endpoint(run: ClientVariant) -> None:
    """The response of a custom endpoint is returned as plain JSON."""
    response = run(lambda client: client.request("GET", "/api/websites"))
    assert response["success"] is True


def test_an_invalid_query_is_not_sent(run: ClientVariant) -> None:
    """A query that breaks rules raises one error with all of them, and is not sent."""
    query = TOTALS.fields("pages").where(page="*dynamic-dns-with*").all_events()
    with pytest.raises(QueryError) as caught:
        run(lambda client: client.stats.get(query), api_key=None)
    assert len(caught.value.problems) >= 3
    assert run.emulator.requests == ()


def test_a_read_only_client_writes_nothing(run: ClientVariant) -> None:
    """A read-only client refuses each write and nothing is sent."""
    with pytest.raises(ReadOnlyError):
        run(lambda client: client.websites.add("example.com"), read_only=True)
    with pytest.raises(ReadOnlyError):
        run(lambda client: client.request("POST", "/api/custom"), read_only=True)
    assert run.emulator.requests == ()


@pytest.mark.parametrize("missing", ["api_key", "user_id"])
def test_the_admin_api_needs_both_credentials(run: ClientVariant, missing: str) -> None:
    """Without a key or a user ID an Admin call is refused before it is sent."""
    for call in (
        lambda client: client.websites.list(),
        lambda client: client.websites.add("example.com"),
    ):
        with pytest.raises(ConfigurationError, match=missing.upper()):
            run(call, **{missing: None})
    assert run.emulator.requests == ()
