"""``update``: run the source until each website is up to date or has failed."""

from __future__ import annotations

import datetime as dt
import os
import signal
import threading
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec

from sitestats import StatsQuery
from sitestats._base.errors import (
    BusyError,
    ConfigurationError,
    InvalidInputError,
    warn,
)
from sitestats._base.text import did_you_mean, shown

from ._days import DAYS, MONTHS, Coverage
from ._destinations import destination_of, has_lock
from ._pipelines import (
    alone,
    alone_in_folder,
    begin_at_destination,
    beside,
    only_reading,
    when_free,
)
from ._report import Update
from ._requested import as_day, checked_day
from ._source import SOURCE, UPDATE, Declined, UnderWay
from ._stored import (
    readings_in,
    readings_of,
    remove_from_coverage,
    sums_of,
)
from ._tables import COLUMNS, EMPTY, comments, key
from ._verify import Verification, compared

if TYPE_CHECKING:
    from dlt import Pipeline
    from dlt.common.pipeline import LoadInfo
    from dlt.extract.source import DltSource

_KEYS: Final = (
    "SELECT table_name FROM information_schema.table_constraints "
    "WHERE constraint_type = 'PRIMARY KEY' AND table_schema = %s"
)


@attrs.frozen
class Verified:
    """The last ``verify`` of a warehouse."""

    at: dt.datetime
    """When it was."""
    differences: int
    """How many differences it found."""
    days: Mapping[str, tuple[dt.date, ...]]
    """The days that differed, by host names, without those that were read since."""


@attrs.frozen
class Status:
    """What a warehouse knows about itself, without reading its rows."""

    coverage: Mapping[str, Coverage]
    """The progress of each website, by its host name."""
    has_lock: bool
    """Whether two updates exclude each other, wherever they run."""
    verified: Verified | None = None
    """The last comparison of its rows with what was read; None before the first."""
    doubt: str | None = None
    """What the last update did not believe of the list of websites."""


def update(pipeline: Pipeline, source: DltSource, *, dry_run: bool = False) -> Update:
    """Run *source* until each website is up to date, or has failed.

    Each run is one load. Progress is read from the destination, so days that were not
    loaded are requested again, whatever happened to the pipeline's folder.

    In the main thread, the first SIGINT (Ctrl-C) or SIGTERM ends the reading: what was
    read is loaded, and the signal is handled then. A second one is handled at once.

    Args:
        pipeline: The pipeline of dlt, for example of ``make_pipeline``. Use it for
            this source alone, because pending packages in its folder are dropped.
        source: A source that ``sitestats_source`` made.
        dry_run: Whether to end once the source's ``approve`` has the number of
            requests. It needs no lock, and leaves nothing.

    Raises:
        BusyError: Another update of this dataset is in progress, on this machine or
            another one, or another program has had the DuckDB file open for three
            minutes. It also ends an update that has lost its lock.
        ConfigurationError: The first day is missing or in the future, or a list is new
            to the dataset and the source names websites.
        SiteStatsError: The websites can't be listed.
        KeyboardInterrupt: It was interrupted. The next update continues after the last
            load.
        DestinationError: The destination failed.

    Example:
        >>> from datetime import UTC, datetime, timedelta
        >>> from tempfile import TemporaryDirectory
        >>> from sitestats.warehouse import (
        ...     make_pipeline,
        ...     read_coverage,
        ...     sitestats_source,
        ...     update,
        ...     verify,
        ... )
        >>> folder = TemporaryDirectory()
        >>> pipeline = make_pipeline(folder=folder.name)
        >>> first_day = datetime.now(UTC).date() - timedelta(days=2)
        >>> source = sitestats_source(
        ...     first_day=first_day, lists=["pages"], client=client
        ... )
        >>> report = update(pipeline, source)
        >>> report
        <Update: 9 requests, 1 loads, 3 of 3 websites up to date>
        >>> report.raise_for_failures()
        >>> read_coverage(pipeline)["semicomplete.com"].through - first_day
        datetime.timedelta(days=1)
        >>> with pipeline.sql_client() as database:
        ...     _ = database.execute_sql("DELETE FROM pages")
        >>> verification = verify(pipeline)
        >>> verification.differences[0].table
        'pages'
        >>> source = sitestats_source(client=client, refresh=verification.refresh)
        >>> report = update(pipeline, source)
        >>> verify(pipeline)
        <Verification: 0 differences>
        >>> folder.cleanup()
    """
    loads: list[LoadInfo] = []
    file_format: Any = destination_of(pipeline).file_format()
    locked = alone_in_folder if dry_run else alone
    with suppress(Declined), _under_way() as under_way, locked(pipeline) as look:
        under_way.is_dry = dry_run
        while under_way.left and not under_way.signal:
            begin_at_destination(pipeline, under_way)
            under_way.stored = partial(readings_in, pipeline)
            pipeline.activate()
            # dlt's own handling would end the load that the first signal waits for.
            pipeline.runtime_config.intercept_signals = False
            pipeline.extract(source, loader_file_format=file_format)
            pipeline.normalize()
            look()
            loads.append(when_free(pipeline.load, under_way))
            _store_status(pipeline)
        if loads:
            when_free(lambda: _tidy(pipeline), under_way)
    return attrs.evolve(
        under_way.report, loads=tuple(loads), requests=under_way.requests
    )


def read_coverage(pipeline: Pipeline) -> dict[str, Coverage]:
    """The progress of each website, from the destination; ``update`` has an example.

    It is the ``coverage`` of ``read_status``, which has the arguments and the errors.
    """
    return dict(read_status(pipeline).coverage)


def read_status(pipeline: Pipeline) -> Status:
    """The progress of each website, and the last ``verify``, from the destination.

    While an update of this pipeline is under way on this machine, or another program
    has the DuckDB file open, it is read from a file that each load writes into the
    pipeline's folder, with a warning about its age.

    Args:
        pipeline: The pipeline that was updated.

    Raises:
        BusyError: The destination is in use, and that file does not exist.
        DestinationError: The destination failed.
    """
    try:
        with only_reading(pipeline):
            return _status_of(pipeline)
    except BusyError as error:
        stored = beside(pipeline, "coverage.json")
        try:
            moment = dt.datetime.fromtimestamp(stored.stat().st_mtime, dt.UTC)
            status = msgspec.json.decode(stored.read_bytes(), type=Status)
        except (OSError, ValueError):
            # There is none, or a power failure has left it without its content.
            raise error from None
        warn(f"coverage as of {moment:%Y-%m-%d %H:%M} UTC, since {error}")
        return status


def verify(pipeline: Pipeline, *, since: dt.date | str | None = None) -> Verification:
    """Compare the rows of each website and day with what was read, without a request.

    The number of rows of each table, the totals of days, and the sums of lists are
    compared with the column ``as_read`` of ``days``, which has them as they came. The
    days that ``coverage`` counts as read have to be there. ``read_status`` knows the
    outcome; ``update`` has an example.

    Args:
        pipeline: The pipeline that was updated.
        since: The first day to compare, if you have deleted the days before.

    Raises:
        InvalidInputError: *since* is not a day.
        BusyError: As for ``update``.
        DestinationError: The destination failed.
    """
    now = dt.datetime.now(dt.UTC)
    text = None if since is None else checked_day(since, "since")
    with alone(pipeline):
        begin_at_destination(pipeline)
        state = _state_in(pipeline.state)
        lists = [name for name in state.get("lists", ()) if name != MONTHS]
        tables = ((name, sums_of(pipeline, name)) for name in (DAYS, *lists))
        verification = compared(
            _status_of(pipeline).coverage,
            readings_of(pipeline, lists),
            tables,
            sums_of(pipeline, MONTHS),
            dt.date.min if text is None else as_day(text, now.date()),
        )
        days = defaultdict[str, set[dt.date]](set)
        for each in verification.differences:
            days[each.hostname].add(each.day)
        if "lists" in state:
            in_order = {name: tuple(sorted(each)) for name, each in days.items()}
            verified = Verified(now, len(verification.differences), in_order)
            with pipeline.managed_state(extract_state=True) as changed:
                _state_in(changed)["verified"] = msgspec.to_builtins(verified)
            _load_state(pipeline)
    return verification


def forget(
    pipeline: Pipeline, hostnames: Iterable[str], *, force: bool = False
) -> None:
    """Remove websites that are gone for good from ``coverage``, and from the state.

    Their days stay in the tables.

    Args:
        pipeline: The pipeline that was updated.
        hostnames: The websites.
        force: Also forget websites that the service still lists. The next update reads
            them again, from the first day.

    Raises:
        ConfigurationError: The warehouse has no such website, or it is still listed.
        BusyError: As for ``update``.
        DestinationError: The destination failed.
    """
    with alone(pipeline):
        begin_at_destination(pipeline)
        state = _state_in(pipeline.state)
        names = {_known_name(name, state, force=force) for name in hostnames}
        remove_from_coverage(pipeline, names)
        with pipeline.managed_state(extract_state=True) as changed:
            for name in names:
                del _state_in(changed)["coverage"][name]
        _load_state(pipeline)


def _load_state(pipeline: Pipeline) -> None:
    """Load what was changed in the state of *pipeline*."""
    pipeline.normalize()
    when_free(pipeline.load)
    _store_status(pipeline)
    when_free(lambda: _tidy(pipeline))


def _known_name(name: str, state: Mapping[str, Any], *, force: bool) -> str:
    """*name* as it is stored, of a website that may be forgotten."""
    coverage = state.get("coverage", {})
    with suppress(InvalidInputError):
        name = StatsQuery(name).hostname
    if name not in coverage:
        hint = did_you_mean(name, coverage)
        raise ConfigurationError(f"the warehouse has no website {shown(name)}{hint}")
    if name in state["listed"] and not force:
        raise ConfigurationError(
            f"The service still lists {name}, so the next update would read all of its "
            "days again. Pass force=True (--force) to forget it anyway."
        )
    return name


@contextmanager
def _under_way() -> Generator[UnderWay]:
    """The first SIGINT or SIGTERM waits until what was read is loaded."""
    before: dict[int, Any] = {}
    under_way = UnderWay(ExitStack())

    def receive(number: int, _frame: FrameType | None) -> None:
        under_way.signal = number
        for each, handler in before.items():
            signal.signal(each, handler)

    with under_way.stack as stack:
        stack.callback(UPDATE.reset, UPDATE.set(under_way))
        # Only the main thread can set a handler.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if handler not in {signal.SIG_IGN, None}:
                    before[number] = handler
                    stack.callback(signal.signal, number, handler)
                    signal.signal(number, receive)
        yield under_way
    if under_way.signal:
        signal.raise_signal(under_way.signal)


def _state_in(state: Mapping[str, Any]) -> Any:
    """What the source has stored in the whole *state* of a pipeline."""
    source = state.get("sources", {}).get(SOURCE, {})
    return source.get("resources", {}).get(DAYS, {})


def _status_of(pipeline: Pipeline) -> Status:
    """What the state of *pipeline* says of its warehouse."""
    state = _state_in(pipeline.state)
    coverage = dict(sorted(state.get("coverage", {}).items()))
    known = {**state, "coverage": coverage, "has_lock": has_lock(pipeline)}
    return msgspec.convert(known, Status)


def _store_status(pipeline: Pipeline) -> None:
    """Write the status to a file, for when the destination can't be read."""
    path = beside(pipeline, "coverage.json")
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        file.write(msgspec.json.encode(_status_of(pipeline)))
        file.flush()
        # Otherwise a power failure could leave an empty file of the new name.
        os.fsync(file.fileno())
    new.replace(path)


def _tidy(pipeline: Pipeline) -> None:
    """Drop what only loads need, and tell a database what its tables have.

    It does everything each time, since the update before may have been killed.
    """
    destination = destination_of(pipeline)
    if destination.keeps_old_rows:
        return
    with pipeline.sql_client() as client:
        # SQL tools list its copy of each table. dlt makes the dataset again.
        with client.with_staging_dataset():
            if client.has_dataset():
                client.drop_dataset()
        known = pipeline.default_schema.tables
        names = {t: client.make_qualified_table_name(t) for t in COLUMNS if t in known}
        rank = client.escape_column_name("rank")
        for table, name in names.items():
            if "rank" in COLUMNS[table]:
                client.execute_sql(f"DELETE FROM {name} WHERE {rank} = {EMPTY}")  # noqa: S608 - our own table
        if destination.has_comments:
            with client.begin_transaction():
                for table, name in names.items():
                    columns = known[table].get("columns", {})
                    client.execute_many(comments(table, name, columns))
        if destination.has_keys:
            keyed = client.execute_sql(_KEYS, client.dataset_name) or ()
            # A load also uses the key to find the rows of a day, which it replaces.
            for table in names.keys() - {table for (table,) in keyed}:
                sql = f"PRIMARY KEY ({', '.join(key(table))})"
                client.execute_sql(f"ALTER TABLE {names[table]} ADD {sql}")
