"""``update``: run the source until each website is up to date or has failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sitestats._common.errors import BusyError, ConfigurationError, warn
from sitestats._common.text import did_you_mean, shown

from ._interrupts import UnderWay
from ._pipeline import (
    alone,
    begin_at_destination,
    best_format,
    cursors_of,
    is_of_files,
    make_indexes,
    plain_errors,
    state_in,
    store_cursors,
    stored_cursors,
    when_free,
)
from ._plan import Declined
from ._report import Update

if TYPE_CHECKING:
    from dlt import Pipeline
    from dlt.common.pipeline import LoadInfo
    from dlt.extract.source import DltSource

    from ._coverage import Coverage

T = TypeVar("T")


def update(pipeline: Pipeline, source: DltSource, *, wait: float = 180) -> Update:
    """Run *source* until each website is up to date, or has failed.

    Each run is a load of its own. How far each website is, is read from the
    destination: days that were not loaded are requested again, whatever happened to
    them, and to the pipeline's folder.

    In the main thread, the first SIGINT (Ctrl-C) or SIGTERM ends the reading: what was
    read is loaded, and the signal is handled then. A second one is handled at once.

    Args:
        pipeline: Where to load to. It should be this source's own: what waits in its
            folder is thrown away.
        source: What ``sitestats_source`` made.
        wait: How many seconds to wait for a DuckDB file that another program has open.

    Raises:
        BusyError: Another update of this pipeline is under way on this machine, or
            another program has the DuckDB file open.
        SiteStatsError: The websites can't be listed.
        KeyboardInterrupt: It was interrupted; a note says how many days were loaded.
        dlt.pipeline.exceptions.PipelineStepFailed: The destination failed.

    Example:
        >>> from datetime import UTC, datetime, timedelta
        >>> from tempfile import TemporaryDirectory
        >>> import dlt
        >>> from sitestats.warehouse import read_coverage, sitestats_source, update
        >>> folder = TemporaryDirectory()
        >>> pipeline = dlt.pipeline(
        ...     "sitestats",
        ...     destination=dlt.destinations.duckdb(f"{folder.name}/sitestats.duckdb"),
        ...     dataset_name="web",
        ...     pipelines_dir=folder.name,
        ... )
        >>> first_day = datetime.now(UTC).date() - timedelta(days=2)
        >>> source = sitestats_source(
        ...     first_day=first_day, lists=["pages"], client=client
        ... )
        >>> report = update(pipeline, source)
        >>> report
        <Update: 6 requests, 1 loads, 3 of 3 websites up to date>
        >>> report.raise_for_failures()
        >>> read_coverage(pipeline)["semicomplete.com"].through - first_day
        datetime.timedelta(days=1)
        >>> folder.cleanup()
    """
    loads: list[LoadInfo] = []
    file_format: Any = best_format(pipeline)
    state: Any = {"left": 1}
    with (
        suppress(Declined),
        UnderWay() as under_way,
        alone(pipeline),
        plain_errors(),
    ):

        def waiting(step: Callable[[], T]) -> T:
            return when_free(step, wait, lambda: under_way.signal)

        while state["left"] and not under_way.signal:
            waiting(partial(begin_at_destination, pipeline))
            pipeline.activate()
            # Its own way would end the load that the first signal waits for.
            pipeline.runtime_config.intercept_signals = False
            pipeline.extract(source, loader_file_format=file_format)
            pipeline.normalize()
            loads.append(waiting(pipeline.load))
            under_way.loaded = under_way.read
            if len(loads) == 1:
                make_indexes(pipeline)
            state = state_in(pipeline.state)
            store_cursors(pipeline)
    # Others were not wanted this time.
    now = state.get("checked_at")
    checked = {
        name: site
        for name, site in cursors_of(state).items()
        if site.listed and site.checked_at and site.checked_at.isoformat() == now
    }
    # Nothing is remembered of those.
    checked |= cursors_of({"cursors": state.get("unknown", {})})
    return Update(tuple(loads), state.get("requests", 0), checked)


def read_coverage(pipeline: Pipeline) -> dict[str, Coverage]:
    """How far each website is, from the destination; ``update`` has an example.

    While an update of this pipeline is under way on this machine, or another program
    has the DuckDB file open, it is from a file that each load leaves in the pipeline's
    folder, and a warning has from when that is.

    Args:
        pipeline: The pipeline that was updated.

    Raises:
        BusyError: The destination is in use, and there is no such file.
        dlt.pipeline.exceptions.PipelineStepFailed: The destination failed.
    """
    try:
        with alone(pipeline):
            when_free(partial(begin_at_destination, pipeline), 0)
            return cursors_of(state_in(pipeline.state))
    except BusyError as error:
        cursors = stored_cursors(pipeline)
        moments = [site.checked_at for site in cursors.values() if site.checked_at]
        if not moments:
            raise
        warn(f"coverage as of {max(moments):%Y-%m-%d %H:%M} UTC, since {error}")
        return cursors


def forget(pipeline: Pipeline, hostnames: Iterable[str]) -> None:
    """Remove websites that are gone for good from ``coverage``, and from the state.

    Their days stay. One that the service still lists is read again, from the first day.

    Args:
        pipeline: The pipeline that was updated.
        hostnames: The websites.

    Raises:
        ConfigurationError: The warehouse has no such website.
        BusyError: As for ``update``.
        dlt.pipeline.exceptions.PipelineStepFailed: The destination failed.
    """
    with alone(pipeline):
        when_free(partial(begin_at_destination, pipeline), 0)
        cursors = state_in(pipeline.state).get("cursors", {})
        names = {*hostnames}
        if unknown := sorted(names - cursors.keys()):
            hint = did_you_mean(unknown[0], cursors)
            raise ConfigurationError(
                f"the warehouse has no website {shown(unknown[0])}{hint}"
            )
        if not is_of_files(pipeline):
            with pipeline.sql_client() as client:
                table = client.make_qualified_table_name("coverage")
                for name in names:
                    sql = f"DELETE FROM {table} WHERE hostname = %s"  # noqa: S608 - our own table
                    client.execute_sql(sql, name)
        with pipeline.managed_state(extract_state=True) as changed:
            for name in names:
                del state_in(changed)["cursors"][name]
        pipeline.normalize()
        when_free(pipeline.load, 0)
        store_cursors(pipeline)
