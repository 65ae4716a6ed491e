"""Profiles: several accounts in one TOML file, each with its key in a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import attrs
import msgspec

from .errors import ConfigurationError
from .secret import Secret, as_secret, read_key_file
from .settings import PROFILE_VARIABLE
from .text import did_you_mean, shown

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    base_url: _Text
    user_id: _Text | None = None
    key_file: _Text | None = None
    read_only: bool = False


class _File(msgspec.Struct, forbid_unknown_fields=True):
    profiles: dict[str, dict[str, Any]]


@attrs.frozen
class Profile:
    """One account: where the service is, and how to get the credentials."""

    name: str
    base_url: Secret
    user_id: Secret | None
    key_file: Path | None
    read_only: bool

    def api_key(self) -> Secret | None:
        """The key, read from its file; None without one."""
        if self.key_file is None:
            return None
        return read_key_file(self.key_file, f"'key_file' of the profile {self.name!r}")


def load_profile(name: str | None = None) -> Profile:
    """The profile of that name; without one, of ``SITESTATS_PROFILE``.

    Raises:
        ConfigurationError: There is no such profile, or the file is wrong.
    """
    if not (name := name or os.environ.get(PROFILE_VARIABLE)):
        raise ConfigurationError(
            f"no profile is named: give its name, or set {PROFILE_VARIABLE}"
        )
    path = profiles_path()
    table, end = _table(path, name), f" of the profile {shown(name)}"
    file = table.key_file and os.path.expanduser(table.key_file)  # noqa: PTH111 - raises nothing
    return Profile(
        name,
        base_url=Secret(table.base_url, f"'base_url'{end}"),
        user_id=as_secret(table.user_id, f"'user_id'{end}"),
        key_file=path.parent / file if file else None,
        read_only=table.read_only,
    )


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


def _table(path: Path, name: str) -> _Table:
    try:
        return msgspec.convert(_tables(path)[name], _Table)
    except KeyError:
        known = profile_names()
        problem = f"has no profile {shown(name)}{did_you_mean(name, known)}"
        problem += f": it has {', '.join(map(shown, known))}"
    except msgspec.ValidationError as error:
        problem = (
            f"has a wrong profile {shown(name)}: {error}. A profile has 'base_url', "
            "and perhaps 'user_id', 'key_file' and 'read_only'; a key is in a file of "
            "its own, which 'key_file' names"
        )
    # Not within the blocks above: frames of the errors there have the table.
    raise ConfigurationError(f"{path} {problem}")


def _tables(path: Path) -> dict[str, dict[str, Any]]:
    try:
        # Notepad begins with a byte order mark.
        return msgspec.toml.decode(path.read_text("utf-8-sig"), type=_File).profiles
    except OSError as error:
        problem = f"can't be read: {error.strerror or error}"
    except ValueError as error:
        problem = f"is not valid: {error}. Each profile is a table [profiles.NAME]"
    raise ConfigurationError(f"the file of profiles, {path}, {problem}")
