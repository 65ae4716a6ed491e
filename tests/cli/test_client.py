"""Accounts of commands: options, profiles, the environment, and which one is used."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

HOST = "semicomplete.com"
KEY = "sa_api_key_0123456789abcdefghijklmn"
PAGE = Path(__file__).parents[2] / "docs" / "authentication.md"
PLACES: Final = ("option", "profile", "environment")
NAMES: Final = {"Base address": "base", "API key": "key", "User ID": "user"}


def table() -> dict[str, list[list[str]]]:
    """The names in each cell of the table of the page, by setting."""
    text = PAGE.read_text("utf-8").partition("## Which one is used")[2]
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line[:2] == "| "]
    return {
        NAMES[setting.strip()]: [re.findall("`(.+?)`", cell) for cell in cells]
        for setting, *cells in rows
        if setting.strip() in NAMES
    }


TABLE: Final = table()
CHOICES: Final = [
    (setting, names)
    for setting, cells in TABLE.items()
    for names in product(*([None, *cell] for cell in cells))
    if any(names)
]


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


def test_the_table_has_every_setting() -> None:
    """The table of the page is found, with all its settings."""
    assert TABLE.keys() == {"base", "key", "user"}
    assert len(CHOICES) > 20


@pytest.mark.parametrize(("setting", "names"), CHOICES, ids=str)
def test_the_first_of_the_table_is_used(
    *,
    setting: str,
    names: tuple[str | None, ...],
    emulator: Emulator,
    run: Run,
    config: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of an option, a profile and the environment the first that is given is used."""
    address = os.environ["SITESTATS_BASE_URL"]
    for name in ("SITESTATS_API_KEY", "SITESTATS_USER_ID"):
        monkeypatch.delenv(name)
    given = [(place, name) for place, name in zip(PLACES, names, strict=True) if name]
    arguments: list[str] = []
    for place, name in given:
        value = f"http://{place}.example" if setting == "base" else f"the_{place}"
        if name.lower().endswith("file"):
            (tmp_path / place).write_text(f"{value}\n", "utf-8")
            value = str(tmp_path / place)
        if place == "option":
            arguments += [name, value]
        elif place == "profile":
            config(**{name: value})
            arguments += ["--profile", "work"]
        else:
            monkeypatch.setenv(name, value)
    winner, _ = given[0]
    if setting == "base":
        done = run("url", HOST, *arguments)
        assert done.out.startswith(f"http://{winner}.example/")
        return
    arguments += ["--base-url", address]
    if setting == "key":
        run("stats", HOST, "-f", "visitors", *arguments)
        assert emulator.requests[-1].headers["api-key"] == f"the_{winner}"
    else:
        (tmp_path / "any").write_text(KEY, "utf-8")
        run("websites", "list", "--key-file", tmp_path / "any", *arguments)
        assert emulator.requests[-1].headers["user-id"] == f"the_{winner}"


def test_a_profile_is_a_whole_account(
    emulator: Emulator, run: Run, config: Callable[..., Path]
) -> None:
    """What a profile lacks is not taken from the environment, and the error says so."""
    config()
    run("stats", HOST, "-f", "visitors", "--profile", "work")
    assert "api-key" not in emulator.requests[-1].headers
    done = run("websites", "list", "--profile", "work")
    assert done.code == 2
    assert done.err == (
        "sitestats: the Admin API needs an API key and a user ID: the "
        "profile 'work' has no 'key_file' and no 'user_id'\n"
    )


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
    assert done.code == 2
    assert done.err.startswith(
        "sitestats: SITESTATS_PROFILE is set, and so is SITESTATS_BASE_URL and "
    )
    assert "--profile" in done.err
    monkeypatch.setenv("SITESTATS_PROFILE", "other")
    assert run("url", HOST, "--profile", "work").code == 0
    monkeypatch.setenv("SITESTATS_PROFILE", "work")
    for name in [name for name in os.environ if name.startswith("SITESTATS_")]:
        if name != "SITESTATS_PROFILE":
            monkeypatch.delenv(name)
    assert run("url", HOST).out.startswith("https://work.example/")


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
        config(read_only=True, user_id=emulator.user_id, key_file="not read")
        options = ["--profile", "work"]
    else:
        monkeypatch.setenv("SITESTATS_READ_ONLY", "1")
    done = run("websites", *command, *options)
    assert (done.code, done.out) == (2, "")
    profile = "the profile 'work', or SITESTATS_READ_ONLY,"
    source = profile if by_profile else "SITESTATS_READ_ONLY"
    assert done.err == (
        f"sitestats: {source} allows to read only: nothing was requested\n"
    )
    assert emulator.requests == ()
    if not by_profile:
        assert run("websites", "list").code == 0
        assert run("websites", "plan", "list.toml").out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "work has no 'base_url'"),
        ("base_url = 'work'", "work.base_url: The base address"),
        ("basurl = 1", "(did you mean 'base_url'?)"),
        ("xyz = 1", "'base_url', 'user_id', 'key_file', 'read_only'"),
    ],
)
def test_errors_of_a_profile_name_its_settings(
    emulator: Emulator, run: Run, config: Callable[..., Path], text: str, words: str
) -> None:
    """An error of a profile names what is written there, and no option in its place."""
    config().write_text(f"[profiles.work]\n{text}", "utf-8")
    done = run("stats", HOST, "--profile", "work")
    assert done.code == 2
    assert words in done.err


def test_no_error_shows_a_key(
    emulator: Emulator, run: Run, config: Callable[..., Path]
) -> None:
    """An account that is set up wrong is one line, without the key."""
    config(key_file="work.key").with_name("work.key").write_text(f"a {KEY}")
    done = run("stats", HOST, "--profile", "work")
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert "key_file of the profile 'work' is not usable" in line
    assert KEY not in line
