"""Accounts of commands: options, profiles, the environment, and which one is used."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sitestats import Client

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

HOST = "semicomplete.com"
KEY = "sa_api_key_0123456789abcdefghijklmn"


@pytest.fixture(autouse=True)
def config(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """Write a profile; its configuration folder is the test's."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "sitestats").mkdir()

    def write(**settings: object) -> Path:
        settings = {"base_url": os.environ["SITESTATS_BASE_URL"]} | settings
        # Texts, lists and flags of JSON are those of TOML.
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        path = tmp_path / "sitestats" / "config.toml"
        path.write_text("\n".join(["[profiles.work]", *lines]), "utf-8")
        return path

    return write


def test_an_option_is_used_before_a_profile_and_the_environment(
    emulator: Emulator,
    run: Run,
    config: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The option for the address comes before a profile and the environment, and a
    named profile before the environment.
    """
    config(base_url="http://profile.example")
    monkeypatch.setenv("SITESTATS_BASE_URL", "http://environment.example")
    option = ("--base-url", "http://option.example")
    profile = ("--profile", "work")
    for options, used in (
        ((), "environment"),
        (profile, "profile"),
        (option, "option"),
        ((*option, *profile), "option"),
    ):
        assert run("url", HOST, *options).out.startswith(f"http://{used}.example/")


def test_a_profile_is_a_whole_account(
    emulator: Emulator,
    run: Run,
    config: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its key is used, whatever the environment has; what it lacks is not taken from
    there, and the error says so.
    """
    profile = config(key_file="work.key", user_id=emulator.user_id)
    profile.with_name("work.key").write_text(f"{emulator.api_key}\n")
    monkeypatch.setenv("SITESTATS_API_KEY", KEY)
    assert run("websites", "list", "--profile", "work").code == 0
    assert run("websites", "list").code == 3
    config()
    run("stats", HOST, "-f", "visitors", "--profile", "work")
    assert "api-key" not in emulator.requests[-1].headers
    done = run("websites", "list", "--profile", "work")
    assert done.code == 2
    assert "the profile 'work' has no API key and no user ID" in done.err


def test_a_key_file_that_can_not_be_read_is_named(
    emulator: Emulator, run: Run, config: Callable[..., Path]
) -> None:
    """The error has the path of a file that exists. Of another path it has the folder
    alone, since the rest may be a key.
    """
    folder = config(key_file=".").parent
    check = ("check", "--profile", "work")
    assert f"Is a directory: '{folder}" in "".join(run(*check).out.splitlines())
    for name in ("none.key", KEY):
        config(key_file=name)
        done = run(*check)
        assert (done.code, name in done.out + done.err) == (2, False)
        assert f"No such file or directory, in '{folder}'" in done.out


def test_profiles_are_listed(
    emulator: Emulator,
    run: Run,
    config: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each profile has a line, the one in use with a ``*``. A broken file is an error,
    and a missing one a note.
    """
    assert run("profiles").err == "sitestats: no profiles are set up\n"
    path = config()
    path.write_text("[profiles.own]\n" + path.read_text())
    monkeypatch.setenv("SITESTATS_PROFILE", "work")
    assert run("profiles").out == "  own\n* work\n"
    path.write_text("[profiles.work")
    done = run("profiles")
    assert (done.code, done.out) == (2, "")
    assert str(path) in done.err


def test_a_profile_of_a_variable(
    emulator: Emulator,
    run: Run,
    config: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SITESTATS_PROFILE chooses one; with an account in the environment beside it, it
    is not clear which one is meant.
    """
    config(base_url="https://work.example")
    monkeypatch.setenv("SITESTATS_PROFILE", "work")
    done = run("url", HOST)
    assert (done.code, "--profile" in done.err) == (2, True)
    assert "SITESTATS_PROFILE is set together with SITESTATS_BASE_URL, " in done.err
    for name in ("BASE_URL", "API_KEY", "USER_ID"):
        monkeypatch.delenv(f"SITESTATS_{name}")
    assert run("url", HOST).out.startswith("https://work.example/")


def test_commands_that_read_can_not_add(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only commands that add websites get a client that may add some."""
    allowed = list[bool]()

    def from_env(*args: str, read_only: bool, **options: Any) -> Client:
        allowed.append(not read_only)
        return client(*args, read_only=read_only, **options)

    client = Client.from_env
    monkeypatch.setattr(Client, "from_env", from_env)
    for command in (
        "websites list",
        "check",
        f"stats {HOST} -f visitors",
        f"url {HOST}",
    ):
        run(*command.split())
    run("websites", "add", HOST, "--yes")
    assert allowed == [False] * (len(allowed) - 1) + [True]
    assert len(allowed) > 3


@pytest.mark.parametrize("by_profile", [False, True])
@pytest.mark.parametrize(
    "command", [["add", "new.example", "--yes"], ["ensure", "list.toml", "--yes"]]
)
def test_read_only_adds_nothing(
    *,
    emulator: Emulator,
    run: Run,
    config: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    by_profile: bool,
) -> None:
    """What adds websites is refused before any request; what reads goes on."""
    monkeypatch.chdir(tmp_path)
    Path("list.toml").write_text("[[websites]]\nhostname = 'new.example'", "utf-8")
    options: list[str] = []
    if by_profile:
        profile = config(read_only=True, user_id=emulator.user_id, key_file="key")
        profile.with_name("key").write_text(KEY)
        options = ["--profile", "work"]
    else:
        monkeypatch.setenv("SITESTATS_READ_ONLY", "1")
    done = run("websites", *command, *options)
    assert (done.code, done.out) == (2, "")
    words = "the client of 'work'" if by_profile else "SITESTATS_READ_ONLY"
    assert f"{words} allows only reads, so no website is added" in done.err
    assert emulator.requests == ()
    if not by_profile:
        assert run("websites", "list").code == 0
        assert run("websites", "plan", "list.toml").out
