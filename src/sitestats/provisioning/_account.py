"""Lock of an account: one run at a time, by a file in the user's state folder.

The file is a journal of its own. Its run removes it at the end. When a run was killed,
it stays, and tells the next run what may still be under way, whatever journal that one
uses.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from io import FileIO
from pathlib import Path

from sitestats._common.errors import SpecError
from sitestats._common.lock_files import locked
from sitestats._common.settings import Settings

from ._events import History
from ._journal import Journal, is_journal, read_history


@contextmanager
def locked_account(settings: Settings) -> Generator[Journal | OSError]:
    """Lock the account that *settings* are for.

    Gives its journal, or why there is none: the state folder can't be used.

    Raises:
        BusyError: Another run has locked it.
    """
    with ExitStack() as stack:
        try:
            path = account_file(settings)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = stack.enter_context(
                locked(
                    str(path),
                    busy="another run adds websites for this account on this machine: "
                    f"wait for its end, and run this one again (it holds {path})",
                    is_private=True,
                )
            )
            origin = "{}://{}:{}".format(*settings.base.origin)
            journal = _begin(file, str(path), origin)
        except OSError as error:
            failure = error
        else:
            try:
                yield journal
            finally:
                if not journal.under_way:
                    _remove(path, stack)
            return
        yield failure


def _remove(path: Path, lock: ExitStack) -> None:
    # While it is locked, so that it is no other run's. On Windows a file that is open
    # can't be removed; there it is that of another run which stays.
    if sys.platform == "win32":
        lock.close()
    with suppress(OSError):
        path.unlink()


def _begin(file: FileIO, name: str, service: str) -> Journal:
    try:
        pending = read_history(file, name, service, durable=False).pending
    except SpecError:
        # It is not flushed to the disk, so a power failure may damage it.
        if not is_journal(file):
            message = "it is no file of this package, and was not changed"
            raise FileExistsError(errno.EEXIST, message, name) from None
        pending = {}
    now = time.monotonic()
    pending = {hostname: until for hostname, until in pending.items() if until > now}
    if not pending:
        # Nothing of it matters any more, and it would grow.
        file.truncate(0)
        read_history(file, name, service, durable=False)
    return Journal(name, file, History(pending), durable=False)


def account_file(settings: Settings) -> Path:
    """The file of one account of one service.

    The name is a digest of the service's origin and the user ID, which is random. The
    API key is no part of it: two keys of one user add to the same account.

    Raises:
        OSError: There is no home folder.
    """
    assert settings.user_id is not None
    digest = sha256(repr(settings.base.origin).encode())
    # In one expression, so that no frame has it in a variable.
    digest.update(
        settings.user_id.reveal().lower().removeprefix("sa_user_id_").encode()
    )
    return state_folder() / f"{digest.hexdigest()[:32]}.lock"


def state_folder() -> Path:
    """Where this package keeps state of the user.

    Raises:
        OSError: There is no home folder.
    """
    given = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification ignores relative paths.
    if os.path.isabs(given):  # noqa: PTH117 - of text
        return Path(given, "sitestats")
    try:
        home = Path.home()
    except RuntimeError as error:
        raise FileNotFoundError(str(error)) from error
    if not home.is_absolute():
        raise FileNotFoundError(f"the home folder {home} is a relative path")
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local or home / "AppData" / "Local", "sitestats")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "sitestats"
    return home / ".local" / "state" / "sitestats"
