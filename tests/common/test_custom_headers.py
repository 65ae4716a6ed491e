"""``headers=``: what every request gets, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secret_search
from client_variants import VARIANTS
from sitestats import AsyncClient, Client, ConfigurationError, ServerError, StatsQuery
from sitestats.emulator import Emulator

BASE = "https://analytics.example"
QUERY = StatsQuery("semicomplete.com").fields("pageviews")
TOKEN = "gw_token_8fJ2kLq0ZxWm"
OWN = f"sitestats/{version('sitestats')}"


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Emulator, str]]:
    """An emulator and the address at which it is served."""
    emulator = Emulator.demo()
    with emulator.serve() as address:
        yield emulator, address


def get(variant: str, base_url: str, **options: Any) -> None:
    """Get ``QUERY`` with one client variant."""

    async def get_async() -> None:
        async with AsyncClient(base_url, proxy=None, **options) as client:
            await client.stats.get(QUERY)

    if variant == "blocking":
        with Client(base_url, proxy=None, **options) as client:
            client.stats.get(QUERY)
    else:
        anyio.run(get_async, backend=variant)


@pytest.mark.parametrize("variant", VARIANTS)
def test_headers_are_on_every_request(
    served: tuple[Emulator, str], variant: str
) -> None:
    """A request has the caller's headers as they are, the program before the package's
    name, and the credentials too.
    """
    emulator, address = served
    emulator.forget_requests()
    get(
        variant,
        address,
        api_key=emulator.api_key,
        headers={
            "Authorization": f"Bearer {TOKEN}",
            "X-Team": "web and shop",
            "User-Agent": "dash/1.0",
        },
    )
    (request,) = emulator.requests
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["x-team"] == "web and shop"
    assert request.headers["user-agent"] == f"dash/1.0 {OWN}"
    assert request.headers["api-key"] == emulator.api_key


def test_headers_pass_a_transport() -> None:
    """A transport of the caller's gets the same headers."""
    emulator = Emulator.demo()
    with emulator.client(headers={"X-Team": "web", "User-Agent": "dash/1.0"}) as client:
        client.stats.get(QUERY)
    (request,) = emulator.requests
    assert request.headers["x-team"] == "web"
    assert request.headers["user-agent"] == f"dash/1.0 {OWN}"


clients = st.sampled_from([Client, AsyncClient])
own_names = st.sampled_from(
    [
        "Api-Key",
        "User-Id",
        "Host",
        "Accept",
        "Accept-Encoding",
        "Connection",
        "Content-Length",
        "Content-Type",
        "Content-Encoding",
        "Transfer-Encoding",
        "TE",
        "Trailer",
        "Upgrade",
        "Expect",
        "Keep-Alive",
        "Proxy-Authorization",
        "Proxy-Connection",
        "HTTP2-Settings",
        "Range",
        "If-None-Match",
        "If-Range",
    ]
).flatmap(lambda name: st.sampled_from([name, name.lower(), name.upper()]))


@given(clients, own_names)
def test_what_the_client_sends_itself_is_refused(cls: Any, name: str) -> None:
    """No header replaces a credential, the host, a length or an encoding."""
    with pytest.raises(ConfigurationError, match=f"{name} can't be replaced: .*"):
        cls(BASE, proxy=None, headers={name: "x"})


tokens = st.text("abcXYZ019!#$%&'*+-.^_`|~", min_size=1).map("X-{}".format)
values = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)).map(str.strip)


@given(clients, st.dictionaries(tokens, values, max_size=3))
def test_others_are_taken(cls: Any, headers: dict[str, str]) -> None:
    """Every other header of HTTP is taken, and no object shows its value."""
    if len({name.lower() for name in headers}) == len(headers):
        client = cls(BASE, proxy=None, headers=headers)
        kept = {name: value.reveal() for name, value in client._settings.headers}
        assert kept == headers
        for value in headers.values():
            assert len(value) < 5 or value not in repr(client._settings.headers)


@given(
    clients,
    st.one_of(
        st.sampled_from("\n\r\0\x7fé☃").map(lambda bad: f"{TOKEN}{bad}{TOKEN}"),
        st.sampled_from([f"{TOKEN}\r\nX-Injected: 1", f" {TOKEN}", f"{TOKEN}\t"]),
        st.just(TOKEN.encode()),
    ),
)
def test_a_value_that_is_refused_is_not_repeated(cls: Any, value: Any) -> None:
    """A value that no header carries is refused, and the error shows no part of it,
    not even in the variables of the package's frames.
    """
    with pytest.raises(ConfigurationError, match="value of X-Token") as caught:
        cls(BASE, proxy=None, headers={"X-Token": value})
    assert TOKEN not in secret_search.shown_by(caught.value)


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"": "x"}, "a name is made of"),
        ({"X Team": "x"}, "a name is made of"),
        ({"X-Téam": "x"}, "a name is made of"),
        ({"X-Team\n": "x"}, "a name is made of"),
        ({7: "x"}, "a name is made of"),
        ({"X-Team": "a", "x-team": "b"}, "'x-team' is given twice"),
        ([("X-Team", "a")], "headers is a mapping .* got list"),
    ],
)
def test_what_is_no_header_is_refused(headers: Any, message: str) -> None:
    """What is no mapping of header names is refused, and the error says why."""
    with pytest.raises(ConfigurationError, match=message):
        Client(BASE, proxy=None, headers=headers)


@pytest.mark.parametrize(
    ("headers", "reflected"),
    [
        ({"Authorization": f"Bearer {TOKEN}"}, f"bad token {TOKEN}"),
        ({"X-Gateway-Token": TOKEN}, f"bad token {TOKEN}"),
        ({"Cookie": f"session={TOKEN}"}, f"bad cookie session={TOKEN}"),
    ],
)
def test_a_credential_in_a_header_is_redacted(
    headers: Mapping[str, str], reflected: str
) -> None:
    """A credential that the service repeats is in no error."""
    emulator = Emulator.demo()
    emulator.fail_next(status=500, body={"error": reflected})
    with (
        emulator.client(headers=headers, retries=0) as client,
        pytest.raises(ServerError) as caught,
    ):
        client.stats.get(QUERY)
    assert "bad " in str(caught.value)
    assert TOKEN not in secret_search.shown_by(caught.value)
