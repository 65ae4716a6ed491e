"""Frames of errors: none holds a value that was given in a wrong place."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

import secret_search
from sitestats import AsyncClient, Client, ConfigurationError

BASE = "https://analytics.example"


MISPLACED = "sa_key/0123456789:abcdefgh"
"""A key that is no address, no path and no command."""


@pytest.mark.parametrize("make", [Client, AsyncClient, Client.from_env])
@pytest.mark.parametrize(
    "given",
    [
        {"base_url": MISPLACED},
        {"base_url": f"https://me:{MISPLACED[7:]}@stats.example"},
        {"base_url": BASE, "proxy": MISPLACED},
        {"base_url": BASE, "proxy": f"ftp://user:{MISPLACED}@127.0.0.1"},
        {"base_url": BASE, "verify": [MISPLACED]},
        {"base_url": BASE, "store": MISPLACED, "retries": "no"},
    ],
    ids=" ".join,
)
def test_a_key_in_a_wrong_place_is_not_shown(make: Any, given: Any) -> None:
    """A key that is given as something else is in no variable of our frames."""
    with pytest.raises(ConfigurationError) as caught:
        make(**given)
    assert MISPLACED not in secret_search.shown_by(caught.value)


def test_a_key_as_a_command_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key in the place of a profile's command is in no variable of our frames."""
    folder = tmp_path / "sitestats"
    folder.mkdir()
    text = f'[profiles.work]\nbase_url = "{BASE}"\nkey_command = ["{MISPLACED}"]\n'
    (folder / "config.toml").write_text(text, "utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(ConfigurationError) as caught:
        Client.from_profile("work")
    report = traceback.TracebackException.from_exception(
        caught.value, capture_locals=True
    )
    ours = [f for f in report.stack if f.filename.startswith(secret_search.PACKAGE)]
    assert len(ours) >= 2
    assert MISPLACED not in str([f.locals for f in ours])
