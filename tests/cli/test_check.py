"""``sitestats check`` and ``sitestats profiles``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broken_servers import closed_port

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

KEY = "sa_api_key_0123456789abcdef"


def test_a_line_each(emulator: Emulator, run: Run) -> None:
    """It names the variables, and never a credential."""
    done = run("check")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line[:14] for line in lines[:3]] == [
        "✓ base address",
        "✓ API key     ",
        "✓ user ID     ",
    ]
    assert "from SITESTATS_API_KEY" in lines[1]
    assert emulator.api_key not in done.out
    assert emulator.user_id not in done.out


def test_json_has_the_same_rows(emulator: Emulator, run: Run) -> None:
    """A script reads what a person does."""
    found = json.loads(run("check", "--format", "json").out)
    assert found["ok"] is True
    assert found["rows"][1]["text"] == "from SITESTATS_API_KEY"


def test_a_wrong_key_is_code_3(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is that of any command which fails for it."""
    monkeypatch.setenv("SITESTATS_API_KEY", KEY)
    done = run("check")
    assert done.code == 3
    assert "✗ credentials" in done.out
    assert run("websites", "list").err.endswith(
        "; its API key is from SITESTATS_API_KEY, its user ID from SITESTATS_USER_ID\n"
    )


def test_nobody_at_the_address_is_code_4(emulator: Emulator, run: Run) -> None:
    """It says that --base-url named the address."""
    address = f"http://127.0.0.1:{closed_port()}"
    done = run("check", "--base-url", address)
    assert done.code == 4
    assert f"{address}, from --base-url" in done.out
    assert "✗ connection" in done.out


def test_profiles_are_listed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that the environment chooses has a mark."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert run("profiles").err == "sitestats: there are no profiles\n"
    (tmp_path / "sitestats").mkdir()
    (tmp_path / "sitestats" / "config.toml").write_text(
        "[profiles.work]\nbase_url = 'x'\n[profiles.own]\nbase_url = 'x'\n"
    )
    monkeypatch.setenv("SITESTATS_PROFILE", "own")
    assert run("profiles").out == "  work\n* own\n"
