"""Settings of a client: arguments, and the environment for those left out."""

from __future__ import annotations

from typing import Any

import pytest

from client_keys import refused
from sitestats import AsyncClient, Client, ConfigurationError, ReadOnlyError
from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow
NAMES = ("SITESTATS_BASE_URL", "SITESTATS_API_KEY", "SITESTATS_USER_ID")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment with all three variables."""
    for name, value in zip(
        NAMES, ("https://env.example", "env_key", "env_user"), strict=True
    ):
        monkeypatch.setenv(name, value)
    return monkeypatch


def held(client: Any) -> tuple[str, str | None, str | None]:
    """The base address and the credentials that *client* has."""
    settings = client._settings
    return (
        str(settings.base),
        settings.api_key and settings.api_key.reveal(),
        settings.user_id and settings.user_id.reveal(),
    )


@pytest.mark.parametrize("cls", [Client, AsyncClient])
class TestEnvironment:
    """Arguments that are left out come from the environment; None means without."""

    def test_everything_left_out(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A client without arguments takes everything from the environment."""
        assert held(cls()) == ("https://env.example", "env_key", "env_user")

    def test_none_is_without(self, cls: Any, environment: pytest.MonkeyPatch) -> None:
        """None leaves out a credential that the environment has."""
        assert held(cls(api_key=None))[1] is None

    def test_a_key_does_not_go_to_an_address_given(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A key of the environment is not used with another base address."""
        assert held(cls("https://other.example"))[1:] == (None, None)

    def test_the_same_address_given(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A key of the environment is used when its own address is an argument."""
        assert held(cls("https://ENV.example/"))[1] == "env_key"

    def test_from_env(self, cls: Any, environment: pytest.MonkeyPatch) -> None:
        """from_env sends the environment's credentials to the address given."""
        client = cls.from_env("https://other.example", retries=7)
        assert held(client) == ("https://other.example", "env_key", "env_user")
        assert client._settings.retry.retries == 7

    def test_no_base_address(self, cls: Any, environment: pytest.MonkeyPatch) -> None:
        """Without any base address the error says how to give one."""
        environment.delenv("SITESTATS_BASE_URL")
        with pytest.raises(ConfigurationError, match="SITESTATS_BASE_URL"):
            cls()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("timeout", value) for value in (0, -1, None, True, "30", float("inf"))),
        *(("total_timeout", value) for value in (0, -1, None, float("nan"))),
        *(("retries", value) for value in (-1, True, "2", 1.5, None)),
        *(("max_connections", value) for value in (0, True, 1.5, None)),
        ("read_only", "yes"),
        ("proxy", 8080),
    ],
)
def test_a_setting_that_is_wrong(name: str, value: Any) -> None:
    """A setting of the wrong type is refused by name."""
    with pytest.raises(ConfigurationError, match=name.removesuffix("s")):
        Client(**{"base_url": "https://analytics.example", name: value})


@pytest.mark.parametrize(
    "base_url", ["", "example.com", "ftp://example.com", "https://a@b.example", None]
)
def test_an_invalid_base_address(base_url: Any) -> None:
    """A base address that no request can be sent to is refused."""
    with pytest.raises(ConfigurationError, match="base_url"):
        Client(base_url)


BASE = "https://stats.example"


@pytest.mark.parametrize("value", ["1", "true", "YES", "on"])
def test_a_variable_makes_every_client_read_only(
    value: str, environment: pytest.MonkeyPatch
) -> None:
    """With SITESTATS_READ_ONLY no client writes, whatever its arguments are."""
    environment.setenv("SITESTATS_READ_ONLY", value)
    emulator = Emulator()
    clients = [emulator.client(), emulator.client(read_only=False)]
    clients.append(clients[0].with_options(retries=1))
    for client in clients:
        with pytest.raises(ReadOnlyError, match="SITESTATS_READ_ONLY allows to read"):
            client.websites.add("example.com")
        with pytest.raises(ReadOnlyError, match="SITESTATS_READ_ONLY allows to read"):
            client.websites.ensure([])
    assert emulator.requests == ()


def test_the_variable_is_yes_or_no(environment: pytest.MonkeyPatch) -> None:
    """A value that is neither is an error: a typo must not allow to write."""
    for value in ("0", "False", "no", "OFF", ""):
        environment.setenv("SITESTATS_READ_ONLY", value)
        assert not Client()._settings.read_only
    environment.setenv("SITESTATS_READ_ONLY", "maybe")
    assert "SITESTATS_READ_ONLY is 1 or 0" in refused(Client)
