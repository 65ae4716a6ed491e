"""Profiles: several accounts in one TOML file, each with its key in a file."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import attrs

from .errors import ConfigurationError
from .hostnames import BaseAddress
from .secret import Secret, checked_secret, read_key_file
from .settings import PROFILE_VARIABLE
from .text import did_you_mean, shown

_SETTINGS: Final = {
    "base_url": str,
    "user_id": str,
    "key_file": str,
    "read_only": bool,
}


@attrs.frozen
class Profile:
    """One account: where the service is, and how to get the credentials."""

    name: str
    base_url: str
    user_id: Secret | None = None
    key_file: Path | None = None
    read_only: bool = False

    def api_key(self) -> Secret | None:
        """The key, read from its file; None without one."""
        if self.key_file is None:
            return None
        return read_key_file(self.key_file, f"key_file of {self}")

    def __str__(self) -> str:
        return f"the profile {shown(self.name)}"


def load_profile(name: str | None = None) -> Profile:
    """The profile of that name; without one, of ``SITESTATS_PROFILE``.

    Raises:
        ConfigurationError: There is no such profile, or it is wrong.
    """
    if not (name := name or os.environ.get(PROFILE_VARIABLE)):
        raise ConfigurationError(
            f"no profile is named: give its name, or set {PROFILE_VARIABLE}"
        )
    path = profiles_path()
    profiles = _read_profiles(path)
    if name not in profiles:
        raise ConfigurationError(
            f"there is no profile {shown(name)} in {path}"
            f"{did_you_mean(name, profiles)}: it has {', '.join(map(shown, profiles))}"
        )
    return _checked(name, profiles[name], path)


def profile_names() -> list[str]:
    """The names of the accounts that ``Client.from_profile`` takes, in the order of
    the file; none without one.

    Raises:
        ConfigurationError: The file can't be read.

    >>> from sitestats import profile_names
    >>> for name in profile_names():  # doctest: +SKIP
    ...     with Client.from_profile(name) as account:
    ...         print(name, len(account.websites.list()))
    """
    path = profiles_path()
    return [*_read_profiles(path)] if path.exists() else []


def profiles_path() -> Path:
    """The file of the profiles, in the user's configuration folder."""
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    # The XDG specification ignores relative paths.
    if given.is_absolute():
        return given / "sitestats" / "config.toml"
    roaming = os.environ.get("APPDATA")
    if sys.platform == "win32" and roaming:
        return Path(roaming, "sitestats", "config.toml")
    return Path(os.path.expanduser("~/.config/sitestats/config.toml"))  # noqa: PTH111 - raises nothing


def _read_profiles(path: Path) -> Mapping[str, Any]:
    tree: Any = {}
    problem = ""
    try:
        # Notepad begins with a byte order mark.
        tree = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        problem = f"can't be read: {error.strerror or error}"
    except ValueError as error:
        problem = f"is not valid TOML in UTF-8: {error}"
    # Not as a cause of the error, whose frames have the text.
    if problem:
        raise ConfigurationError(f"the file of profiles, {path}, {problem}")
    profiles = tree.get("profiles")
    if len(tree) != 1 or not isinstance(profiles, dict):
        raise ConfigurationError(f"{path}: each profile is a table [profiles.NAME]")
    return cast("dict[str, Any]", profiles)


def _checked(name: str, table: Any, path: Path) -> Profile:
    where = f"{path}: profiles.{name}"
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where} is not a table")
    given = cast("dict[str, Any]", table)
    for setting, value in given.items():
        if setting not in _SETTINGS:
            raise ConfigurationError(
                f"{where}: {shown(setting)} is not a setting of a profile"
                f"{did_you_mean(setting, _SETTINGS)}; use "
                f"{', '.join(map(repr, _SETTINGS))}. A "
                "key is in a file of its own, which 'key_file' names"
            )
        # Without the value, which may be a key in a wrong place.
        if not isinstance(value, _SETTINGS[setting]) or value == "":
            kind = "true or false" if setting == "read_only" else "text in quotes"
            raise ConfigurationError(f"{where}.{setting} has to be {kind}")
    if "base_url" not in given:
        raise ConfigurationError(f"{where} has no 'base_url'")
    try:
        BaseAddress.parse(given["base_url"])
    except ValueError as error:
        raise ConfigurationError(f"{where}.base_url: {error}") from None
    user, file = given.get("user_id"), given.get("key_file")
    source = f"user_id of the profile {shown(name)}"
    return Profile(
        name,
        given["base_url"],
        user and checked_secret(Secret(user, source), f"{where}.user_id"),
        file and path.parent / os.path.expanduser(file),  # noqa: PTH111 - as above
        given.get("read_only", False),
    )
