"""``client.check()``: the rows about a set-up, and what fails in which step."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
import httpx
import pytest

from sitestats import (
    AuthenticationError,
    Client,
    InvalidInputError,
    SetupReport,
    StatsQuery,
)
from sitestats.emulator import Emulator

KEY: Final = "sa_api_key_0123456789abcdef"


def texts(report: SetupReport) -> dict[str, tuple[bool | None, str]]:
    """Each row by its name."""
    return {row.name: (row.ok, str(row.text)) for row in report.rows}


def checked(emulator: Emulator, **options: Any) -> dict[str, tuple[bool | None, str]]:
    """The rows of both clients, which have to be the same."""
    with emulator.client(**options) as client:
        report = client.check()

    async def main() -> SetupReport:
        async with emulator.async_client(**options) as client:
            return await client.check()

    assert anyio.run(main).rows == report.rows
    return texts(report)


def test_a_set_up_that_works() -> None:
    """Each row says what was found, by a request that reads."""
    emulator = Emulator.demo()
    assert checked(emulator) == {
        "base address": (True, "https://emulator.test, from base_url"),
        "API key": (True, "from api_key"),
        "user ID": (True, "from user_id"),
        "connection": (True, "the service responds"),
        "credentials": (True, "the service accepts them, and lists 3 websites"),
    }
    assert [str(one) for one in emulator.requests] == ["GET /api/websites"] * 2


def test_a_401_of_any_call_names_the_place_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the profile, the variable or the file, or that there was no key."""
    emulator = Emulator.demo()
    folder = tmp_path / "sitestats"
    folder.mkdir()
    (folder / "work.key").write_text(KEY)
    (folder / "config.toml").write_text(
        "[profiles.work]\nbase_url = 'https://emulator.test'\nkey_file = 'work.key'\n"
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("SITESTATS_BASE_URL", "https://emulator.test")
    monkeypatch.setenv("SITESTATS_API_KEY", KEY)
    http = httpx.Client(transport=emulator.transport())
    made = {
        "'key_file' of the profile 'work'": partial(Client.from_profile, "work"),
        "SITESTATS_API_KEY": Client.from_env,
        "SITESTATS_API_KEY, ": partial(Client.from_env, "https://emulator.test"),
        "api_key": partial(Client, api_key=KEY),
    }
    for source, make in made.items():
        with (
            make(http_client=http) as client,
            pytest.raises(AuthenticationError) as caught,
        ):
            client.stats.get(StatsQuery("blog.semicomplete.com").fields("pageviews"))
        where = source.removesuffix(", ")
        assert caught.value.credentials_from == f"its API key is from {where}"
        assert str(caught.value).endswith(f"; {caught.value.credentials_from}")


def test_a_key_without_a_user_id_needs_a_private_website() -> None:
    """A public website opens for any key, so it shows nothing, and is not taken for
    proof.
    """
    emulator = Emulator.demo(ignore_unknown_keys=True)
    with emulator.client(user_id=None) as client:
        assert client.check().to_dict()["ok"]
        assert "\n- user ID          none\n" in str(client.check())
        rows = {
            host: texts(client.check(host))
            for host in (None, "semicomplete.com", "blog.semicomplete.com", "x.example")
        }
    credentials = [row.get("credentials", (None, "")) for row in rows.values()]
    assert [ok for ok, _ in credentials] == [None, None, True, None]
    assert ["not checked" in text for _, text in credentials] == [
        True,
        True,
        False,
        False,
    ]
    assert rows["x.example"]["website"][0] is False
    assert rows["semicomplete.com"]["website"] == (True, "the service has it")
    with emulator.client(user_id=None, api_key=KEY) as client:
        assert texts(client.check("blog.semicomplete.com"))["credentials"][0] is False
    # A key is not sent where it shows nothing.
    assert not any(
        "api-key" in request.headers
        for request in emulator.requests
        if request.path == "/api/websites"
    )


@pytest.mark.parametrize("status", [429, 503])
def test_a_service_that_wants_a_pause_or_fails_accuses_nobody(status: int) -> None:
    """The connection works, and nothing is said of the credentials."""
    emulator = Emulator.demo()
    emulator.fail_next(None, status=status)
    rows = checked(emulator)
    assert rows["connection"] == (True, "the service responds")
    assert rows["service"][0] is False
    assert "credentials" not in rows


def test_a_wrong_host_name_is_refused_before_a_request() -> None:
    """It is a mistake of the caller, and no row."""
    emulator = Emulator.demo()
    with emulator.client(user_id=None) as client, pytest.raises(InvalidInputError):
        client.check("no host name")
    assert not emulator.requests
