"""Profiles: several accounts in one TOML file, each with its key in a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from sitestats._base.errors import ConfigurationError
from sitestats._base.text import did_you_mean, shown
from sitestats._configuration.secrets import Secret, as_secret, read_key_file
from sitestats._configuration.settings import PROFILE_VARIABLE


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    base_url: str
    user_id: str | None = None
    key_file: str | None = None
    read_only: bool = False


class _File(msgspec.Struct, forbid_unknown_fields=True):
    profiles: dict[str, dict[str, Any]]


def load_profile(name: str | None, *, with_key: bool) -> tuple[str, dict[str, Any]]:
    """The name of a profile, and the arguments of a client that it stands for.

    Without a name, ``SITESTATS_PROFILE`` names the profile.

    Raises:
        ConfigurationError: The profile is missing or wrong, or its key can't be read.
    """
    source = ""
    if not name:
        name, source = os.environ.get(PROFILE_VARIABLE), f", from {PROFILE_VARIABLE}"
    if not name:
        raise ConfigurationError(
            f"no profile is named: give its name, or set {PROFILE_VARIABLE}"
        )
    path = profiles_path()
    table, end = _table(path, name, source), f" of the profile {shown(name)}"
    options: dict[str, Any] = {
        "base_url": Secret(table.base_url, f"'base_url'{end}"),
        "user_id": as_secret(table.user_id, f"'user_id'{end}"),
        "api_key": None,
        "read_only": table.read_only,
    }
    has_file = table.key_file is not None
    # A traceback may show the variables while the key is read.
    file = Secret(os.path.expanduser(table.key_file or ""))  # noqa: PTH111 - raises nothing
    del table
    if has_file and with_key:
        # The setting may have the key itself, in the wrong place.
        whole = Secret(path.parent / file.reveal())
        options["api_key"] = read_key_file(whole, f"'key_file'{end}")
    return name, options


def profile_names() -> list[str]:
    """The names of the accounts that ``Client.from_profile`` takes, in the order of
    the file. Without a file the list is empty.

    Raises:
        ConfigurationError: The file can't be read.

    >>> from sitestats import profile_names
    >>> for name in profile_names():  # doctest: +SKIP
    ...     with Client.from_profile(name) as account:
    ...         print(name, len(account.websites.list()))
    """
    path = profiles_path()
    return [*_tables(path)] if path.exists() else []


def profiles_path() -> Path:
    """The file of the profiles, in the user's configuration folder."""
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    # The XDG specification ignores relative paths.
    if given.is_absolute():
        return given / "sitestats" / "config.toml"
    roaming = os.environ.get("APPDATA")
    if sys.platform == "win32" and roaming:
        return Path(roaming, "sitestats", "config.toml")
    return Path(os.path.expanduser("~/.config/sitestats/config.toml"))  # noqa: PTH111 - as above


def _table(path: Path, name: str, source: str) -> _Table:
    try:
        return msgspec.convert(_tables(path)[name], _Table)
    except KeyError:
        known = profile_names()
        why = f"has no profile {shown(name)}{source}{did_you_mean(name, known)}"
        why += f": it has {', '.join(map(shown, known))}"
    except msgspec.ValidationError as error:
        why = (
            f"has a wrong profile {shown(name)}: {error}. A profile has 'base_url', "
            "and perhaps 'user_id', 'key_file' and 'read_only'; a key is in a file of "
            "its own, which 'key_file' names"
        )
    # The blocks above must not raise this error, since their frames have the table.
    raise ConfigurationError(f"{path} {why}")


def _tables(path: Path) -> dict[str, dict[str, Any]]:
    try:
        # Notepad begins a file with a byte order mark.
        return msgspec.toml.decode(path.read_text("utf-8-sig"), type=_File).profiles
    except (OSError, ValueError) as error:
        why = f"{path} can't be read: {error}. Each profile is [profiles.NAME]"
    raise ConfigurationError(why)
