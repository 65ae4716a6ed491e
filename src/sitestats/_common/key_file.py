"""Read a credential from a file, as Docker and Kubernetes mount secrets."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from .errors import ConfigurationError, warn
from .secret import Secret, checked_secret

LONGEST_KEY: Final = 65_536
"""The most bytes of a key: a longer file might be a device without an end."""

_BYTE_ORDER_MARK: Final = "\ufeff"
_KEY: Final = "sa_"
"""What the service's keys begin with."""


def read_key_file(path: str | os.PathLike[str], source: str) -> Secret:
    """The credential in a file, without the line end that editors and ``echo`` add.

    Args:
        path: A regular file, or what else can be read, such as a pipe of the shell's.
        source: What named the file, for messages.

    Raises:
        ConfigurationError: The file can't be read, or holds no credential.
    """
    name = os.fspath(path)
    problem = ""
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - Path changes "/dev/fd/…/"
            if _is_too_open(file.fileno(), name):
                warn(
                    source + ": every user of this machine can read or change "
                    f"{name}: run chmod 600 on it"
                )
            # In one expression, so that no frame that fails has it in a variable.
            return checked_secret(
                Secret(text_of(file.read(LONGEST_KEY)).rstrip()), source
            )
    except OSError as error:
        problem = error.strerror or str(error)
    except ValueError:
        problem = "it is no path"
    # Not as a cause of the error, which has the name.
    raise ConfigurationError(
        source + f" names a file that can't be read{_named(name)}: {problem}"
    )


def text_of(data: bytes) -> str:
    """*data* as text. What is not UTF-8 becomes characters that no key can have."""
    return data.decode("utf-8", "replace").removeprefix(_BYTE_ORDER_MARK)


def _named(name: str) -> str:
    # Who takes it for the key's own setting has put the key there.
    folder, last = os.path.split(name)
    if folder and not last.startswith(_KEY):
        return f", {name!a}"
    return " (its name is not shown, since it could be a key)"


def _is_too_open(descriptor: int, name: str) -> bool:
    """Whether it is certain that other users can read or change the file.

    In a container, secrets are often readable by all, and there is nobody else. There
    they are root's or come through a link, so neither counts.
    """
    if sys.platform == "win32":
        return False
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or Path(name).is_symlink():
        return False
    folders = (folder.stat().st_mode for folder in Path(name).absolute().parents)
    return is_open_to_others(found.st_mode, found.st_uid, os.geteuid(), folders)


def is_open_to_others(mode: int, owner: int, user: int, folders: Iterable[int]) -> bool:
    """Whether others can read or write a file of these rights.

    Args:
        mode: The file's.
        owner: Whose it is.
        user: The user of this process.
        folders: The mode of each folder that it is in.
    """
    return (
        owner == user != 0
        and bool(mode & (stat.S_IROTH | stat.S_IWOTH))
        and all(folder & stat.S_IXOTH for folder in folders)
    )
