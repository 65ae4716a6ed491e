"""Settings of a client: arguments, the environment, profiles, headers."""

from __future__ import annotations

import copy
import os
import pickle
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import respx

import secret_search
from both_clients import QUERY, VARIANTS, opened
from inside import settings_of
from sitestats import (
    AsyncClient,
    Client,
    ConfigurationError,
    ReadOnlyError,
    SiteStatsWarning,
    StatusError,
    profile_names,
)
from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow
BASE = "https://stats.example"
KEY = "sa_api_key_0123456789abcdefghijklmn"
CLIENTS = pytest.mark.parametrize("cls", [Client, AsyncClient])
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")
NAMES = ("SITESTATS_BASE_URL", "SITESTATS_API_KEY", "SITESTATS_USER_ID")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment with all three variables, and a configuration folder."""
    for name in [name for name in os.environ if name.startswith("SITESTATS_")]:
        monkeypatch.delenv(name)
    values = ("https://env.example", "env_key", "env_user")
    for name, value in zip(NAMES, values, strict=True):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return monkeypatch


def held(client: Any) -> tuple[str, str | None, str | None]:
    """The base address and the credentials that *client* has."""
    settings = settings_of(client)
    return (
        str(settings.base),
        settings.api_key and settings.api_key.reveal(),
        settings.user_id and settings.user_id.reveal(),
    )


def refused(call: Callable[[], object], match: str = "") -> None:
    """Check that *call* is refused, by an error that shows no key."""
    with pytest.raises(ConfigurationError, match=match) as caught:
        call()
    assert KEY not in "".join(traceback.format_exception(caught.value))


# --- the environment ----------------------------------------------------------------


@CLIENTS
def test_what_is_left_out_comes_from_the_environment(
    cls: Any, environment: pytest.MonkeyPatch
) -> None:
    """None means without; a key goes to its own address alone, or by from_env."""
    assert held(cls()) == ("https://env.example", "env_key", "env_user")
    assert held(cls(api_key=None))[1] is None
    assert held(cls("https://ENV.example/"))[1] == "env_key"
    assert held(cls("https://other.example"))[1:] == (None, None)
    client = cls.from_env("https://other.example", retries=7)
    assert held(client) == ("https://other.example", "env_key", "env_user")
    assert settings_of(client).retry.retries == 7
    environment.delenv("SITESTATS_BASE_URL")
    with pytest.raises(ConfigurationError, match="SITESTATS_BASE_URL"):
        cls()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_was_withheld_is_named(variant: str, status: int) -> None:
    """Who gave an address in the program sees why the key was not sent."""
    withheld = r"SITESTATS_API_KEY .* is for another address: Client.from_env\(base_url"
    with respx.mock() as routes:
        routes.get(path="/example.com.json").respond(status, json={"error": "No"})
        with (
            opened(variant, api_key=KEY) as client,
            pytest.raises(StatusError, match=r"its API key is from api_key$"),
        ):
            client.stats.get(QUERY)
        for made, words in (
            (Client("https://other.example"), withheld),
            (Client(), r"is from SITESTATS_API_KEY$"),
        ):
            with made, pytest.raises(StatusError, match=words):
                made.stats.get(QUERY)
    with pytest.raises(ConfigurationError, match=r"Client\.from_env\(base_url\)"):
        Client("https://other.example").websites.list()


def test_a_variable_makes_every_client_read_only(
    environment: pytest.MonkeyPatch,
) -> None:
    """With SITESTATS_READ_ONLY no client writes, whatever its arguments are."""
    for value in ("0", "False", "no", "OFF", "", "true", "YES", "on", "maybe", "1"):
        environment.setenv("SITESTATS_READ_ONLY", value)
        is_no = value.lower() in {"0", "false", "no", "off", ""}
        assert Client().read_only is not is_no
    emulator = Emulator()
    clients = [emulator.client(), emulator.client(read_only=False)]
    clients.append(clients[0].with_options(retries=1))
    for client in clients:
        for write in (
            lambda c=client: c.websites.add("example.com"),
            lambda c=client: c.websites.ensure([]),
        ):
            with pytest.raises(ReadOnlyError, match="SITESTATS_READ_ONLY allows only"):
                write()
    assert emulator.requests == ()


# --- keys in files ------------------------------------------------------------------


@CLIENTS
@pytest.mark.parametrize("text", [KEY, f"{KEY}\n", f"\ufeff{KEY} \r\n\n"])
def test_the_key_is_in_a_file(
    cls: Any, text: str, tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    """A file's key is used without its line end, and without a byte order mark."""
    (tmp_path / "key").write_text(text, "utf-8", newline="")
    environment.setenv("SITESTATS_API_KEY_FILE", str(tmp_path / "key"))
    refused(cls, "setting both SITESTATS_API_KEY and SITESTATS_API_KEY_FILE")
    environment.setenv("SITESTATS_API_KEY", "")
    assert held(cls())[1] == held(cls.from_env("https://other.example"))[1] == KEY
    assert held(cls("https://other.example"))[1] is None
    assert held(cls(api_key="mine"))[1] == "mine"


@POSIX
def test_the_file_is_a_pipe(environment: pytest.MonkeyPatch) -> None:
    """What a shell makes of <(pass show x) is read too."""
    reading, writing = os.pipe()
    os.write(writing, f"{KEY}\n".encode())
    os.close(writing)
    environment.setenv("SITESTATS_API_KEY", "")
    environment.setenv("SITESTATS_API_KEY_FILE", f"/dev/fd/{reading}")
    assert held(Client())[1] == KEY
    os.close(reading)


@POSIX
@pytest.mark.parametrize("content", [b"", b"\n", f"{KEY}\n{KEY}".encode(), b"\xff"])
def test_a_file_without_a_key_is_refused(
    content: bytes, tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    """What is not a key is not shown, and neither is a key in place of a path."""
    (tmp_path / "key").write_bytes(content)
    environment.setenv("SITESTATS_API_KEY", "")
    for path in (tmp_path / "key", tmp_path, tmp_path / "none", KEY):
        environment.setenv("SITESTATS_API_KEY_FILE", str(path))
        refused(Client, "^SITESTATS_API_KEY_FILE (is not usable|names a file that)")


def test_a_key_in_place_of_its_file_is_in_no_traceback(
    write: Callable[[str], Path], environment: pytest.MonkeyPatch
) -> None:
    """The key is not even the name of a file in a variable of a frame or an error."""
    environment.setenv("SITESTATS_API_KEY", "")
    environment.setenv("SITESTATS_API_KEY_FILE", KEY)
    write(f"[profiles.work]\nbase_url = '{BASE}'\nkey_file = '{KEY}'")
    for make in (Client, lambda: Client.from_profile("work")):
        with pytest.raises(ConfigurationError, match="can't be read") as caught:
            make()
        assert KEY not in secret_search.shown_by(caught.value)


@pytest.mark.parametrize(
    "text", [f'"{KEY}"', f"'{KEY}'", f"SITESTATS_API_KEY={KEY}", "log\n" * 250_000]
)
def test_a_file_with_more_than_the_key_is_refused(
    tmp_path: Path, environment: pytest.MonkeyPatch, text: str
) -> None:
    """What a shell would take away is not part of a key, and a log is none; the error
    names the file, and does not show it.
    """
    (tmp_path / "key").write_text(text)
    environment.setenv("SITESTATS_API_KEY", "")
    environment.setenv("SITESTATS_API_KEY_FILE", str(tmp_path / "key"))
    refused(Client, f"leave quotes and 'NAME=' out of '{str(tmp_path)[:40]}")


# --- profiles -----------------------------------------------------------------------


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write the file of the profiles."""

    def write(text: str) -> Path:
        folder = tmp_path / "config" / "sitestats"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text, "utf-8")
        return folder

    return write


TWO = """\ufeff
[profiles.work]
base_url = "https://work.example"
key_file = "work.key"
user_id = "sa_user_id_work"

[profiles.home]
base_url = "https://home.example"
read_only = true
"""


@CLIENTS
def test_two_accounts(
    cls: Any, write: Callable[[str], Path], environment: pytest.MonkeyPatch
) -> None:
    """Each profile has its own address and credentials, none of the environment's."""
    (write(TWO) / "work.key").write_text(f"{KEY}\n", "utf-8")
    assert profile_names() == ["work", "home"]
    work, home = cls.from_profile("work", retries=7), cls.from_profile("home")
    assert held(work) == ("https://work.example", KEY, "sa_user_id_work")
    assert settings_of(work).retry.retries == 7
    assert settings_of(work).sources["api_key"] == "'key_file' of the profile 'work'"
    assert settings_of(work).sources["base_url"] == "'base_url' of the profile 'work'"
    assert held(home) == ("https://home.example", None, None)
    assert (work.read_only, home.read_only) == (False, True)
    assert cls.from_profile("home", read_only=False).read_only
    there = cls.from_profile("work", base_url=BASE, api_key="mine")
    assert held(there) == (BASE, "mine", "sa_user_id_work")
    assert held(cls.from_profile("work", api_key=None))[1] is None
    environment.setenv("SITESTATS_PROFILE", "work")
    assert held(cls.from_profile())[1] == KEY


WRONG = {
    "": "Each profile is [profiles.NAME]",
    "[profile.work]": "Each profile is [profiles.NAME]",
    "profiles = 3": "Each profile is [profiles.NAME]",
    "[profiles]\nwork = 'a_key_of_mine'": "Each profile is [profiles.NAME]",
    "[profiles.work]\nkey_file = 'x'": "missing required field `base_url`",
    "[profiles.work": "can't be read",
    "[profiles.work]\nbase_url = 3": "Expected `str`, got `int` - at `$.base_url`",
    "[profiles.work]\nbase_url = 'work.example'": "'base_url' of the profile 'work'",
    f"[profiles.work]\nbase_url = 'https://u:{KEY}@x.example'": "user name",
    **{
        f"[profiles.work]\nbase_url = '{BASE}'\n{setting}": words
        for setting, words in {
            f"api_key = '{KEY}'": "a key is in a file of its own",
            f"keyfile = '{KEY}'": "unknown field `keyfile`",
            f"user_id = 'a {KEY}'": "'user_id' of the profile 'work' is not usable",
            f"key_file = '{KEY}'": "names a file that can't be read",
            "read_only = 'yes'": "Expected `bool`, got `str` - at `$.read_only`",
        }.items()
    },
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_a_profile_that_is_wrong(text: str, write: Callable[[str], Path]) -> None:
    """The error names the file and the setting, and shows no value."""
    write(text)
    refused(lambda: Client.from_profile("work"), re.escape(WRONG[text]))


def test_a_profile_that_is_not_there(
    write: Callable[[str], Path], environment: pytest.MonkeyPatch
) -> None:
    """The error names the profiles that there are; a wrong one spoils no other."""
    refused(Client.from_profile, "no profile is named: give its name, or set SITESTATS")
    refused(lambda: Client.from_profile("work"), r"config\.toml can't be read")
    assert profile_names() == []
    write(f"{TWO}[profiles.wrong]\nurl = 3")
    environment.setenv("SITESTATS_PROFILE", "'home'")
    refused(Client.from_profile, r"home.*, from SITESTATS_PROFILE \(did you mean 'home")
    refused(lambda: Client.from_profile("wrok"), r"did you mean 'work'\?.*'home'")
    assert held(Client.from_profile("home"))[0] == "https://home.example"


# --- arguments ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((n, KEY) for n in ("timeout", "total_timeout", "retries", "max_connections")),
        *(("timeout", value) for value in (0, -1, None, True, "30", float("inf"))),
        *(("total_timeout", value) for value in (0, -1, None, float("nan"))),
        *(("retries", value) for value in (-1, True, "2", 1.5, None)),
        *(("max_connections", value) for value in (0, True, 1.5, None)),
        ("proxy", 8080),
        *(("read_only", value) for value in ("no", 1, None)),
        *(("verify", value) for value in (None, "", 1, b"x")),
        *(("base_url", v) for v in ("", "example.com", "https://a@b.example", None)),
        *(("headers", v) for v in ("X: y", [("X", "y")], {"X": 5}, {5: "x"})),
        *(("headers", v) for v in ({"X Y": "a"}, {"X": "a\n"}, {"X": "é"}, {"": "a"})),
    ],
)
def test_a_setting_that_is_wrong(name: str, value: Any) -> None:
    """It is refused by its name, also by with_options, and a key is not shown."""
    refused(lambda: Client(**{"base_url": BASE, name: value}), name)
    if name in {"timeout", "total_timeout", "retries"}:
        with pytest.raises(ConfigurationError, match=name), Client(BASE) as client:
            client.with_options(**{name: value})


@pytest.mark.parametrize("name", ["api_key", "user_id"])
@pytest.mark.parametrize("value", ["", "a b", "a\r\nX: y", "é", "\x00", "ключ", 5])
def test_a_credential_that_no_header_carries(name: str, value: Any) -> None:
    """A credential that no header can hold is refused."""
    with pytest.raises(ConfigurationError, match=f"^{name} is not usable"):
        Client(**{"base_url": BASE, name: value})


def test_a_short_credential_is_a_warning() -> None:
    """It can't be redacted, since many words have it in them."""
    with pytest.warns(SiteStatsWarning, match="api_key has fewer than 4 characters"):
        Client(BASE, api_key="abc")


@CLIENTS
def test_a_key_that_others_can_read_is_a_warning(
    cls: Any, write: Callable[[str], Path], environment: pytest.MonkeyPatch
) -> None:
    """A client with a key warns once if its address is another machine's, without TLS.
    ``check`` says it, too.
    """
    (write(TWO.replace("https", "http")) / "work.key").write_text(KEY)
    environment.setenv("SITESTATS_BASE_URL", "http://stats:8000")
    plain = "http://stats.example"
    for make in (cls, lambda: cls.from_profile("work"), lambda: cls.from_env(plain)):
        with pytest.warns(SiteStatsWarning, match="without TLS") as caught:
            make().with_options(timeout=5)
        assert len(caught) == 1
    for host in ("127.0.0.1", "127.9.9.9:81", "[::1]:81", "LOCALHOST.", "a.localhost"):
        cls(f"http://{host}", api_key=KEY)
    assert held(cls(plain)) == (plain, None, None)
    assert held(cls.from_profile("home"))[1] is None
    with pytest.warns(SiteStatsWarning), Emulator().client(base_url=plain) as client:
        assert "without TLS" in client.check().rows[0].text


@CLIENTS
def test_a_client_is_never_pickled_or_copied(cls: Any) -> None:
    """A worker makes its own: a pickle would carry the key. The error of a copy speaks
    of copies, which need no worker.
    """
    for client in (cls(api_key=KEY), cls(BASE), cls(BASE, headers={"X-Token": KEY})):
        with pytest.raises(TypeError, match="make it in the worker"):
            pickle.dumps(client)
        for make in (copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"is not copied.*with_options"):
                make(client)
        if settings_of(client).api_key:
            refused(
                lambda c=client: pickle.dumps(settings_of(c).api_key), "in the worker"
            )


# --- headers ------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_headers_are_on_every_request(variant: str) -> None:
    """A request has the caller's headers, the program before the package's name."""
    emulator = Emulator.demo()
    headers = {
        "Authorization": f"Bearer {KEY}",
        "X-Team": "a b",
        "user-agent": "dash/1",
    }
    with opened(variant, emulator, headers=headers) as client:
        client.stats.get(QUERY.website("semicomplete.com"))
    (request,) = emulator.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["x-team"] == "a b"
    assert re.fullmatch(r"dash/1 sitestats/[0-9.]+", request.headers["user-agent"])


@pytest.mark.parametrize("name", ["Api-Key", "host", "TE", "Content-Type", "If-Match"])
def test_what_the_client_sends_itself_is_refused(name: str) -> None:
    """With these a request would end elsewhere, or a response would be another one."""
    refused(lambda: Client(BASE, headers={name: KEY}), f"{name} can't be replaced")
