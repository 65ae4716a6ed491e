"""Arguments of a client by the names that other libraries give them."""

from __future__ import annotations

import inspect

import pytest

from sitestats import AsyncClient, Client
from sitestats._client.unknown_client_arguments import OURS

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("max_retries", "it is retries="),
        ("default_headers", "it is headers="),
        ("time_out", "it is timeout="),
        ("colour", "it has api_key, .*, verify"),
    ],
)
def test_an_argument_of_another_library_has_a_hint(name: str, hint: str) -> None:
    """Who comes from another SDK learns the name here, and the value, which may be a
    credential, is not shown.
    """
    for make in (Client, AsyncClient, Client.from_env):
        with pytest.raises(TypeError, match=hint) as caught:
            make("https://a.example", **{name: "a-secret"})
        assert "a-secret" not in str(caught.value)


def test_every_name_of_another_library_leads_to_ours() -> None:
    """A hint that named an argument which is not there would lead nowhere."""
    ours = inspect.signature(Client).parameters
    assert set(OURS.values()) <= set(ours)
    assert not set(OURS) & set(ours)
