"""``update``: run the source until each website is up to date or has failed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
from dlt.pipeline.exceptions import PipelineStepFailed

from sitestats._common.errors import SiteStatsError
from sitestats._common.locks import locked

from ._days import Coverage
from ._interrupts import UnderWay
from ._source import DAYS, NOT_LISTED

if TYPE_CHECKING:
    from dlt import Pipeline
    from dlt.common.pipeline import LoadInfo
    from dlt.extract.source import DltSource

_OURS: Final = (SiteStatsError, KeyboardInterrupt)


@attrs.frozen
class Update:
    """What an update came to."""

    loads: tuple[LoadInfo, ...]
    """What dlt reports of each load."""
    requests: int
    """How many days were requested."""
    websites: Mapping[str, Coverage]
    """How far each website of this update is, by its host name."""

    @property
    def failed(self) -> dict[str, Coverage]:
        """The websites with an error, by their host names."""
        return {
            name: cursor
            for name, cursor in self.websites.items()
            if cursor.error not in {None, NOT_LISTED}
        }


def update(pipeline: Pipeline, source: DltSource) -> Update:
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

    Raises:
        BusyError: Another update of this pipeline is under way on this machine.
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
        >>> report.requests, report.failed
        (6, {})
        >>> read_coverage(pipeline)["semicomplete.com"].through - first_day
        datetime.timedelta(days=1)
        >>> folder.cleanup()
    """
    loads: list[LoadInfo] = []
    file_format: Any = _file_format(pipeline)
    state: Mapping[str, Any] = {"left": 1}
    with UnderWay() as under_way, _alone(pipeline), _plain_errors():
        while state["left"] and not under_way.signal:
            _begin_at_destination(pipeline)
            # Its own way would end the load that the first signal waits for.
            pipeline.runtime_config.intercept_signals = False
            loads.append(pipeline.run(source, loader_file_format=file_format))
            under_way.loaded = under_way.read
            state = _state_of(pipeline, source.name)
    cursors = _cursors(state)
    # Others were not wanted this time.
    now = dt.datetime.fromisoformat(state["checked_at"])
    checked = {name: site for name, site in cursors.items() if site.checked_at == now}
    return Update(tuple(loads), state["requests"], checked)


def read_coverage(pipeline: Pipeline, source: str = "sitestats") -> dict[str, Coverage]:
    """How far each website is, from the destination; ``update`` has an example.

    Args:
        pipeline: The pipeline that was updated.
        source: The name of its source.

    Raises:
        BusyError: An update of this pipeline is under way on this machine.
        dlt.pipeline.exceptions.PipelineStepFailed: The destination failed.
    """
    with _alone(pipeline):
        _begin_at_destination(pipeline)
        return _cursors(_state_of(pipeline, source))


def _begin_at_destination(pipeline: Pipeline) -> None:
    """Forget what is not in the destination: it is requested again.

    An interrupted load could be finished. But a process that is killed at some moments
    leaves a package that dlt can't load, and would try to each night; and a load that
    failed for good leaves its cursors in the local state.
    """
    if not pipeline.dev_mode:
        pipeline.drop()
    pipeline.sync_destination()


def _state_of(pipeline: Pipeline, source: str) -> Mapping[str, Any]:
    sources: Mapping[str, Any] = pipeline.state.get("sources", {})
    found: Mapping[str, Any] = (
        sources.get(source, {}).get("resources", {}).get(DAYS, {})
    )
    return found


def _cursors(state: Mapping[str, Any]) -> dict[str, Coverage]:
    cursors = state.get("cursors", {})
    return {name: Coverage.from_state(cursors[name]) for name in sorted(cursors)}


def _file_format(pipeline: Pipeline) -> str | None:
    name = pipeline.destination.destination_type.rpartition(".")[2]
    if name == "postgres":
        # In CSV, its default, an empty text would become null.
        fast = find_spec("adbc_driver_postgresql") is not None
        return "parquet" if fast else "insert_values"
    return "parquet" if name == "filesystem" else None


@contextmanager
def _alone(pipeline: Pipeline) -> Generator[None]:
    # dlt itself lets two runs share a folder, and one of them fails somewhere.
    path = Path(pipeline.pipelines_dir, f"{pipeline.pipeline_name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    busy = (
        f"another run uses the pipeline {pipeline.pipeline_name!r} on this machine: "
        f"wait for its end, and run this one again (it holds {path})"
    )
    with locked(str(path), busy=busy):
        yield


@contextmanager
def _plain_errors() -> Generator[None]:
    """Raise the source's own error, where dlt has wrapped one."""
    try:
        yield
    except PipelineStepFailed as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, _OURS):
            cause = cause.__cause__
        if cause is None:
            raise
        raise cause from None
