"""Profiles: several accounts in one TOML file, each key in a file or by a command."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, Final, cast

import attrs

from .errors import ConfigurationError
from .hostnames import BaseAddress
from .key_file import LONGEST_KEY, read_key_file, text_of
from .secret import Secret, checked_secret
from .settings import PROFILE_VARIABLE
from .text import did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Callable

COMMAND_SECONDS: Final = 60.0
"""For a command that gives a key: a person may have to type a password."""

_TABLE: Final = "profiles"


@attrs.frozen
class Profile:
    """One account: where the service is, and how to get the credentials."""

    name: str
    base_url: str
    user_id: Secret | None = None
    key_file: Path | None = None
    key_command: tuple[str, ...] = ()
    read_only: bool = False

    def api_key(self) -> Secret | None:
        """The key, read from its file or from the output of its command.

        Raises:
            ConfigurationError: There is none; the message shows no output.
        """
        if self.key_file is not None:
            return read_key_file(self.key_file, f"key_file of {self}")
        if self.key_command:
            source = f"key_command of {self}"
            return checked_secret(run_key_command(self.key_command, source), source)
        return None

    def __str__(self) -> str:
        return f"the profile {shown(self.name)}"


# --- the file ---------------------------------------------------------------------


def load_profile(name: str | None = None) -> Profile:
    """The profile of that name; without one, of ``SITESTATS_PROFILE``.

    Raises:
        ConfigurationError: There is no such profile, or it is wrong.
    """
    name = name or os.environ.get(PROFILE_VARIABLE)
    if not name:
        raise ConfigurationError(
            f"no profile is named: give its name, or set {PROFILE_VARIABLE}"
        )
    path = profiles_path()
    profiles = _read_profiles(path)
    if name not in profiles:
        hint = did_you_mean(name, profiles)
        known = ", ".join(map(shown, profiles)) or "none"
        raise ConfigurationError(
            f"there is no profile {shown(name)} in {path}{hint}: it has {known}"
        )
    return _checked(name, profiles[name], path)


def profile_names() -> list[str]:
    """The names of the accounts that ``Client.from_profile`` takes, in the order of
    the file; none where it can't be read.

    >>> from sitestats import profile_names
    >>> for name in profile_names():  # doctest: +SKIP
    ...     with Client.from_profile(name) as account:
    ...         print(name, len(account.websites.list()))
    """
    try:
        return [*_read_profiles(profiles_path())]
    except ConfigurationError:
        return []


def profiles_path() -> Path:
    """The file of the profiles, in the user's configuration folder.

    Raises:
        ConfigurationError: There is no home folder.
    """
    given = os.environ.get("XDG_CONFIG_HOME", "")
    # The XDG specification ignores relative paths.
    if os.path.isabs(given):  # noqa: PTH117 - of text
        return Path(given, "sitestats", "config.toml")
    roaming = os.environ.get("APPDATA")
    if sys.platform == "win32" and roaming:
        return Path(roaming, "sitestats", "config.toml")
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    if not home.is_absolute():
        raise ConfigurationError(
            "there is no home folder to look for profiles in: set XDG_CONFIG_HOME"
        )
    return home / ".config" / "sitestats" / "config.toml"


def _read_profiles(path: Path) -> Mapping[str, Any]:
    problem = ""
    tree: Any = {}
    try:
        # Notepad begins with a byte order mark.
        tree = _wrapped(tomllib.loads(path.read_bytes().decode("utf-8-sig")))
    except OSError as error:
        problem = f"can't be read: {error.strerror or error}"
    except UnicodeDecodeError:
        problem = "is not in UTF-8"
    except (ValueError, RecursionError) as error:
        problem = f"is not valid TOML: {error}"
    if problem:
        raise ConfigurationError(f"the file of profiles, {path}, {problem}")
    profiles: Any = tree.get(_TABLE)
    if tree.keys() - {_TABLE} or not isinstance(profiles, dict):
        raise ConfigurationError(
            f"{path}: each profile is a table [profiles.NAME], and there is nothing "
            "else"
        )
    return cast("dict[str, Any]", profiles)


def _wrapped(value: Any, setting: str = "") -> Any:
    """*value* with each text that may be a credential as a ``Secret``, so that no frame
    that fails has it in a variable.
    """
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {name: _wrapped(inner, name) for name, inner in table.items()}
    if isinstance(value, list):
        return [_wrapped(inner, setting) for inner in cast("list[object]", value)]
    if isinstance(value, str) and setting not in _NO_SECRETS:
        return Secret(value)
    return value


_NO_SECRETS: Final = frozenset(("base_url", "key_file", "key_command"))


def _checked(name: str, table: object, path: Path) -> Profile:
    where = f"{path}: profiles.{name}"
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where} is not a table")
    given = cast("dict[str, Any]", table)
    for setting, value in given.items():
        if setting in {"api_key", "key"}:
            raise ConfigurationError(
                f"{where}: a key is not kept here: put it into a file of its own, and "
                "name it by key_file; or name the program that prints it by "
                "key_command"
            )
        if setting not in _CHECKS:
            hint = (
                did_you_mean(setting, _CHECKS) or f": {', '.join(map(repr, _CHECKS))}"
            )
            raise ConfigurationError(
                f"{where}: {shown(setting)} is no setting of a profile{hint}"
            )
        what, is_right = _CHECKS[setting]
        if not is_right(value):
            # Without the value, which may be a key in a wrong place.
            raise ConfigurationError(f"{where}.{setting} has to be {what}")
    if "base_url" not in given:
        raise ConfigurationError(
            f"{where} has no 'base_url': a key is sent to the service that it is for"
        )
    try:
        BaseAddress.parse(given["base_url"])
    except ValueError as error:
        raise ConfigurationError(f"{where}.base_url: " + str(error)) from None
    if "key_file" in given and "key_command" in given:
        raise ConfigurationError(
            f"{where}: key_file and key_command are both set: leave one of them out"
        )
    user, file = given.get("user_id"), given.get("key_file")
    return Profile(
        name,
        given["base_url"],
        None if user is None else checked_secret(user, f"{where}.user_id"),
        None if file is None else path.parent / _expanded(file),
        tuple(given.get("key_command", ())),
        given.get("read_only", False),
    )


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _are_texts(values: list[object]) -> bool:
    return bool(values) and all(map(_is_text, values))


_CHECKS: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "base_url": ("the service's address", _is_text),
    "user_id": ("a text", lambda value: isinstance(value, Secret)),
    "key_file": ("the path of a file", _is_text),
    "key_command": (
        "a list of a program and its arguments, each a text; no shell reads it",
        lambda value: (
            isinstance(value, list) and _are_texts(cast("list[object]", value))
        ),
    ),
    "read_only": ("true or false", lambda value: isinstance(value, bool)),
}
"""The settings of a profile: what each is, and whether a value can be it."""


# --- the command ------------------------------------------------------------------


def run_key_command(
    command: tuple[str, ...], source: str, seconds: float = COMMAND_SECONDS
) -> Secret:
    """The first line that a program prints. No shell reads the command.

    The program has the caller's terminal and standard error, so that it can ask for a
    password and say what is wrong.

    Args:
        command: The program and its arguments.
        source: What named it, for messages.
        seconds: How long it may take.

    Raises:
        ConfigurationError: It can't be run, fails or takes longer. Neither its output
            nor its arguments are in the message.
    """
    program = shown(command[0])
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603 - the user's own
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or "its arguments are wrong"
        raise ConfigurationError(
            f"{source}: {program} can't be run: {problem}"
        ) from None
    printed: list[Secret] = []
    assert process.stdout is not None
    # In a thread, since a child of the program may keep its output open for ever.
    reader = Thread(target=_read, args=(process.stdout, printed), daemon=True)
    reader.start()
    code: int | None = None
    until = time.monotonic() + seconds
    try:
        reader.join(seconds)
        if not reader.is_alive():
            code = process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if code is None:
        raise ConfigurationError(
            f"{source}: {program} was ended, since it took longer than {seconds:g} "
            "seconds"
        )
    if code != 0:
        raise ConfigurationError(
            f"{source}: {program} failed (exit code {code}); what it printed is above"
        )
    return printed[0]


def _read(output: IO[bytes], printed: list[Secret]) -> None:
    with output:
        # In one expression, so that no frame has it in a variable. The first line is
        # the password for pass and for most others.
        printed.append(
            Secret(text_of(output.read(LONGEST_KEY)).partition("\n")[0].rstrip())
        )
