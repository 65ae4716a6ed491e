"""Where a client gets its key from: variables, files, commands, profiles."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from client_keys import CLIENTS, KEY, POSIX, key_of, refused
from same_text import SameText
from sitestats import Client, ConfigurationError, profile_names
from sitestats._common.profiles import run_key_command

BASE = "https://stats.example"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment with a base address alone, and a configuration folder."""
    for name in [name for name in os.environ if name.startswith("SITESTATS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SITESTATS_BASE_URL", BASE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return monkeypatch


# --- profiles ---------------------------------------------------------------------


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write the file of the profiles."""

    def write(text: str) -> Path:
        folder = tmp_path / "config" / "sitestats"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text, "utf-8")
        return folder

    return write


TWO = f"""
[profiles.work]
base_url = "https://work.example"
key_file = "work.key"
user_id = "sa_user_id_work"

[profiles.home]
base_url = "https://home.example"
key_command = [{sys.executable!r}, "-c", "print('home_key\\\\nmore of the entry')"]
read_only = true
"""


@CLIENTS
def test_two_accounts(
    cls: Any, write: Callable[[str], Path], environment: pytest.MonkeyPatch
) -> None:
    """Each profile has its own address and credentials, none of the environment's."""
    (write(TWO) / "work.key").write_text(f"{KEY}\n", "utf-8")
    environment.setenv("SITESTATS_API_KEY", "env_key")
    environment.setenv("SITESTATS_USER_ID", "env_user")
    work, home = cls.from_profile("work", retries=7), cls.from_profile("home")
    assert (str(work._settings.base), key_of(work)) == ("https://work.example", KEY)
    assert work._settings.user_id.reveal() == "sa_user_id_work"
    assert work._settings.retry.retries == 7
    assert (str(home._settings.base), key_of(home)) == (
        "https://home.example",
        "home_key",
    )
    assert home._settings.user_id is None
    assert (work._settings.read_only, home._settings.read_only) == (False, True)
    assert cls.from_profile("home", read_only=False)._settings.read_only
    environment.setenv("SITESTATS_PROFILE", "work")
    assert key_of(cls.from_profile()) == KEY
    assert key_of(cls()) == "env_key"


@CLIENTS
def test_arguments_in_place_of_a_profile_s(
    cls: Any, write: Callable[[str], Path], tmp_path: Path
) -> None:
    """An address, a key or a file of the caller's takes the place of the profile's, and
    its command is not run then.
    """
    write(
        '[profiles.work]\nbase_url = "https://work.example"\nuser_id = "the_user"\n'
        'key_command = ["no-such-program"]\n[profiles.home]\n'
    )
    assert profile_names() == ["work", "home"]
    there = cls.from_profile("work", base_url=BASE, api_key=KEY)
    assert (there.base_url, key_of(there)) == (BASE, KEY)
    assert there._settings.user_id.reveal() == "the_user"
    assert key_of(cls.from_profile("work", api_key="mine")) == "mine"
    assert key_of(cls.from_profile("work", api_key=None)) is None


def test_a_profile_without_a_key_reads_what_is_public(
    write: Callable[[str], Path],
) -> None:
    """A profile may have an address alone."""
    write(f"[profiles.public]\nbase_url = '{BASE}'")
    assert key_of(Client.from_profile("public")) is None


WRONG = {
    "empty": "",
    "no profile": "[profiles]",
    "another table": "[profile.work]",
    "no table": "profiles = 3",
    "a text": "[profiles]\nwork = 'a_key_of_mine'",
    "no address": "[profiles.work]",
    "a number as address": "[profiles.work]\nbase_url = 3",
    "an address without a scheme": "[profiles.work]\nbase_url = 'work.example'",
    "a password in the address": (
        f"[profiles.work]\nbase_url = 'https://u:{KEY}@x.example'"
    ),
    **{
        setting: f"[profiles.work]\nbase_url = '{BASE}'\n{setting}"
        for setting in (
            f"api_key = '{KEY}'",
            f"keyfile = '{KEY}'",
            f"user_id = 'a {KEY}'",
            f"key_file = '{KEY}'",
            "key_file = ''",
            f"key_command = 'echo {KEY}'",
            "key_command = []",
            "read_only = 'yes'",
            "key_file = 'x'\nkey_command = ['x']",
        )
    },
}


@pytest.mark.parametrize(
    "text", WRONG.values(), ids=[name.replace(KEY, "KEY") for name in WRONG]
)
def test_a_profile_that_is_wrong(
    text: str, write: Callable[[str], Path], same_text: SameText
) -> None:
    """Each mistake is an error that names the file and the setting, and no value."""
    folder = str(write(text))
    message = refused(lambda: Client.from_profile("work"))
    same_text(message.replace(folder, "…"))


def test_a_file_that_is_no_toml(write: Callable[[str], Path]) -> None:
    """A mistake of TOML is an error with the file's name and the parser's words."""
    file = write("[profiles.work") / "config.toml"
    message = f"the file of profiles, {file}, is not valid TOML: "
    assert refused(lambda: Client.from_profile("work")).startswith(message)
    file.write_bytes(b"\xff")
    assert refused(lambda: Client.from_profile("work")).endswith("is not in UTF-8")


def test_a_profile_that_is_not_there(
    write: Callable[[str], Path],
    same_text: SameText,
    environment: pytest.MonkeyPatch,
) -> None:
    """A name that is wrong gets the known ones; without a file its path is shown."""
    same_text(refused(Client.from_profile))
    same_text(refused(lambda: Client.from_profile("work")))
    folder = str(write(TWO))
    environment.setenv("SITESTATS_PROFILE", "werk")
    same_text(refused(Client.from_profile).replace(folder, "…"))


def test_the_file_is_in_the_home_folder(
    write: Callable[[str], Path], environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without XDG_CONFIG_HOME, or with a relative one, it is in ~/.config."""
    write("[profiles.a]\nbase_url = 'https://a.example'")
    (tmp_path / "config").rename(tmp_path / ".config")
    environment.setenv("HOME", str(tmp_path))
    environment.setenv("USERPROFILE", str(tmp_path))
    environment.delenv("APPDATA", raising=False)
    for folder in ("", "relative"):
        environment.setenv("XDG_CONFIG_HOME", folder)
        assert repr(Client.from_profile("a")) == "Client('https://a.example')"


# --- commands ---------------------------------------------------------------------


def python(code: str) -> tuple[str, ...]:
    """A command that runs *code*."""
    return (sys.executable, "-c", code)


def test_no_shell_reads_the_command() -> None:
    """An argument is passed as it is, whatever characters it has."""
    command = (*python("import sys; print(sys.argv[1])"), "$HOME;`id`|*")
    assert run_key_command(command, "x").reveal() == "$HOME;`id`|*"


def test_a_command_that_fails(
    same_text: SameText, capfd: pytest.CaptureFixture[str]
) -> None:
    """What it says on standard error is shown, and what it prints is not."""
    code = f"import sys; print('{KEY}'); sys.exit('no such entry')"
    same_text(
        refused(lambda: run_key_command(python(code), "key_command")).replace(
            repr(sys.executable), "…"
        )
    )
    assert capfd.readouterr() == ("", "no such entry\n")
    same_text(refused(lambda: run_key_command(("/nowhere/pass", KEY), "key_command")))


@POSIX
def test_a_command_has_a_limit_of_time() -> None:
    """A command that hangs is ended, also where a child keeps its output open."""
    for command in (
        python("import time; time.sleep(3600)"),
        ("sh", "-c", "sleep 20 & echo too_late; exit 0"),
    ):
        message = refused(lambda c=command: run_key_command(c, "x", seconds=0.3))
        assert message.endswith("was ended, since it took longer than 0.3 seconds")


@POSIX
def test_a_program_has_one_limit_for_its_output_and_its_end() -> None:
    """A program that closes its output late, and then goes on, is ended at the limit
    that it has: what was waited for the output is part of it.
    """
    code = "import os, time; time.sleep(0.6); os.close(1); time.sleep(0.6)"
    with pytest.raises(ConfigurationError, match="took longer than 1 seconds"):
        run_key_command(python(code), "x", seconds=1.0)


def test_a_command_that_prints_without_an_end() -> None:
    """A command that prints more than any key is ended."""
    assert "'yes' failed" in refused(lambda: run_key_command(("yes", "x" * 99), "x"))
