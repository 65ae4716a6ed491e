"""What is special about each destination of dlt, and the lock where its data is.

A destination without a row of its own in ``_SPECIAL`` is a database of which nothing
is known but that dlt can replace rows in it.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit
from urllib.request import url2pathname
from weakref import WeakKeyDictionary

import attrs
import dlt

from sitestats._base.errors import BusyError, InvalidInputError, Problem
from sitestats._base.lock_files import locked

if TYPE_CHECKING:
    from dlt import Pipeline

Look: TypeAlias = Callable[[], None]
"""Raises a ``BusyError`` if a lock was lost."""

_WAIT: Final = "wait for its end, and run this one again"
_LOST: Final = "what was read is not loaded: run this again"


@attrs.frozen(kw_only=True)
class Destination:
    """What is special about one destination."""

    lock: Callable[[Pipeline], AbstractContextManager[Look] | None] = lambda _: None
    """Makes the lock where the data is; None where there is no lock."""
    file_format: Callable[[], str | None] = lambda: None
    """The format of the files to load; None for the destination's own."""
    keeps_old_rows: bool = False
    """Whether files are only added, so that the latest rows of a day count."""
    has_comments: bool = False
    """Whether tables and columns get comments, which dlt does not set."""
    has_keys: bool = False
    """Whether tables get a primary key."""
    lasting: re.Pattern[str] = re.compile(r"(?!)")
    """The texts of failures that no later attempt mends."""
    file: Callable[[Pipeline], Path | None] = lambda _: None
    """The one file that it is."""
    make: Callable[[Path, str], Any] | None = None
    """Makes what dlt loads into, from the path for a file, without a suffix, and the
    name of the dataset; without it, dlt finds the destination by its own name."""


def destination_of(pipeline: Pipeline) -> Destination:
    """What is special about the destination of *pipeline*."""
    kind = pipeline.destination.destination_type.rpartition(".")[2]
    return _SPECIAL.get(kind, _OTHER)


def named(kind: str, path: Path, dataset: str) -> Any:
    """What dlt loads *dataset* into: the destination that dlt calls *kind*. If that is
    a file, it is at *path*, which has no suffix.

    Raises:
        InvalidInputError: The file can't have a dataset of this name.
    """
    make = _SPECIAL.get(kind, _OTHER).make
    return kind if make is None else make(path, dataset)


def has_lock(pipeline: Pipeline) -> bool:
    """Whether two updates of the dataset exclude each other wherever they run."""
    return destination_of(pipeline).lock(pipeline) is not None


@contextmanager
def alone_at(pipeline: Pipeline) -> Generator[Look]:
    """Lock the dataset, for as long as the block runs, against updates on all machines.

    Raises:
        BusyError: Another update has the lock; its text says who.
    """
    lock = destination_of(pipeline).lock(pipeline)
    if lock is None:
        yield lambda: None
        return
    with lock as look:
        yield look


def whoami() -> str:
    """This process, for the update that finds the lock taken."""
    return f"process {os.getpid()} on {socket.gethostname()}"


# --- files ------------------------------------------------------------------------


@contextmanager
def alone_with(path: Path, what: str, *, wait: float = 0) -> Generator[Look]:
    """Lock *what* by the file *path*, for which it waits so many seconds; another file
    beside it says who has the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    holder, who = path.with_name(f"{path.name}.holder"), "another process"
    with suppress(OSError, UnicodeDecodeError):
        who = holder.read_text("utf-8") or who
    busy = f"another run uses {what}: {who}, which holds {path}; {_WAIT}"
    with locked(str(path), busy=busy, wait=wait):
        number = path.stat().st_ino

        def look() -> None:
            # Another update could lock a new file of this name.
            with suppress(OSError):
                if path.stat().st_ino == number:
                    return
            raise BusyError(f"the lock file {path} was removed; {_LOST}")

        holder.write_text(whoami(), "utf-8")
        try:
            yield look
        finally:
            holder.unlink(missing_ok=True)


_DUCKDB_FILES: Final = WeakKeyDictionary["Pipeline", Path]()
"""The databases of pipelines: dlt takes a while to find one in its configuration."""


def _duckdb_file(pipeline: Pipeline) -> Path | None:
    if pipeline not in _DUCKDB_FILES:
        credentials: Any = pipeline.destination_client().config.credentials
        _DUCKDB_FILES[pipeline] = Path(credentials.database)
    # A connection that was given has ":external:" in place of a path.
    database = _DUCKDB_FILES[pipeline]
    return database if database.is_absolute() else None


def _duckdb_named(path: Path, dataset: str) -> Any:
    if dataset == path.name:
        # DuckDB would take this name for the database's name.
        why = f"{dataset}: the file has that name: choose another"
        raise InvalidInputError([Problem(why, where="dataset")])
    # dlt would load once more into the old file after the folder was moved.
    return dlt.destinations.duckdb(f"{path}.duckdb")


def _lock_of_duckdb(pipeline: Pipeline) -> AbstractContextManager[Look] | None:
    file = _duckdb_file(pipeline)
    if file is None:
        return None
    return alone_with(file.with_name(f"{file.name}.lock"), f"the database {file}")


def _folder(pipeline: Pipeline) -> Path | None:
    """The folder of local files; None for a bucket."""
    config: Any = pipeline.destination_client().config
    address = str(config.bucket_url)
    parts = urlsplit(address)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path)).absolute()
    # On Windows, the letter of a drive looks like a scheme.
    return Path(address).absolute() if len(parts.scheme) < len("C:") else None


def _lock_of_files(pipeline: Pipeline) -> AbstractContextManager[Look] | None:
    folder, name = _folder(pipeline), pipeline.dataset_name
    if folder is None:
        return None
    return alone_with(folder / f"{name}.lock", f"the dataset {name!r} in {folder}")


# --- PostgreSQL -------------------------------------------------------------------

_SESSION: Final = (
    "SELECT set_config(name, wanted.value, false) FROM pg_settings JOIN (VALUES "
    "('application_name', %s), ('idle_session_timeout', '0'), "
    "('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), "
    "('tcp_keepalives_count', '3')) AS wanted (name, value) USING (name)"
)
"""Nothing ends the idle session, and the server misses a machine that is gone after a
minute, not after two hours."""
_OF_LOCK: Final = (
    "FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND (classid::bigint << 32) | objid::bigint = %s"
)
_HELD: Final = f"SELECT pid {_OF_LOCK} AND pid = pg_backend_pid()"
_HOLDER: Final = (
    "SELECT application_name, pid, client_addr::text, backend_start::text "
    "FROM pg_stat_activity JOIN pg_locks USING (pid) "
    + _OF_LOCK.removeprefix("FROM pg_locks ")
)


@contextmanager
def _lock_in_postgres(pipeline: Pipeline) -> Generator[Look]:
    """An advisory lock of a connection that stays open.

    The server releases it when the connection ends, however the process ends.
    """
    with pipeline.sql_client() as client:
        text = f"sitestats {client.dataset_name}".encode()
        digest = hashlib.blake2b(text, digest_size=8).digest()
        number = int.from_bytes(digest, signed=True)
        client.execute_sql(_SESSION, f"sitestats, {whoami()}"[:63])
        rows = client.execute_sql("SELECT pg_try_advisory_lock(%s)", number)
        if not rows or not rows[0][0]:
            holder = _holder(client.execute_sql(_HOLDER, number))
            raise BusyError(
                f"{holder} uses the dataset {client.dataset_name!r}: {_WAIT}"
            )

        def look() -> None:
            # The network may have dropped the connection, or a pool exchanged it.
            try:
                rows = client.execute_sql(_HELD, number)
            except Exception as error:  # noqa: BLE001 - of dlt, or of the driver
                first, _, _ = str(error).partition("\n")
                raise BusyError(
                    f"the connection with the lock was lost ({first}); {_LOST}"
                ) from None
            if not rows:
                raise BusyError(
                    "the lock in PostgreSQL was lost: a pool of connections must "
                    f"leave each session its own; {_LOST}"
                )

        try:
            yield look
        finally:
            # A pool may keep the session. If it is gone, so is the lock.
            with suppress(Exception):
                client.execute_sql("SELECT pg_advisory_unlock(%s)", number)


def _holder(rows: Sequence[Any] | None) -> str:
    """Who has the lock, by the rows about it."""
    # It may have ended meanwhile.
    if not rows:
        return "a session that has ended since"
    name, process, address, since = rows[0]
    where = address or "its own machine"
    session = f"PostgreSQL's process {process}, from {where}, since {since}"
    return f"{name or 'a session'} ({session})"


def _format_for_postgres() -> str:
    # In CSV, its default, an empty text would become null.
    return "parquet" if find_spec("adbc_driver_postgresql") else "insert_values"


# --- the table --------------------------------------------------------------------

_OTHER: Final = Destination()
_SPECIAL: Final = {
    "duckdb": Destination(
        lock=_lock_of_duckdb,
        has_comments=True,
        # dlt takes a broken file for a lost connection too.
        lasting=re.compile(""),
        file=_duckdb_file,
        make=_duckdb_named,
    ),
    "postgres": Destination(
        lock=_lock_in_postgres,
        file_format=_format_for_postgres,
        has_comments=True,
        has_keys=True,
        lasting=re.compile(
            r"authentication failed|(database|role) \S+ does not exist|no pg_hba\.conf|"
            r"not permitted to log in|not currently accepting connections|"
            r"invalid port number|invalid response to SSL|server does not support SSL|"
            r"permission denied|read-only transaction"
        ),
    ),
    "filesystem": Destination(
        lock=_lock_of_files,
        file_format=lambda: "parquet",
        keeps_old_rows=True,
    ),
}
"""By the names of dlt."""
