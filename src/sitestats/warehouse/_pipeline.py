"""A pipeline of dlt: one run at a time, its state, and a DuckDB file that is in use."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dlt.pipeline.exceptions import PipelineStepFailed

from sitestats._common.errors import BusyError, SiteStatsError
from sitestats._common.lock_files import locked

from ._coverage import Coverage
from ._source import SOURCE
from ._tables import COLUMNS, DAYS

if TYPE_CHECKING:
    from dlt import Pipeline
    from dlt.common.pipeline import LoadInfo

T = TypeVar("T")

_OURS: Final = (SiteStatsError, KeyboardInterrupt)
_PAUSE: Final = 0.5
"""The seconds between two attempts at a file that is in use."""

# What DuckDB says on Linux and macOS, and on Windows.
_IN_USE: Final = re.compile(r'(?:Could not set lock on|Cannot open) file "([^"]+)"')
_HOLDER: Final = re.compile(r"([^\s\\/]+) \(PID (\d+)\)")


@contextmanager
def alone(pipeline: Pipeline) -> Generator[None]:
    """Keep other runs of *pipeline* on this machine out.

    dlt itself lets two runs share a folder, and one of them fails somewhere.
    """
    path = _beside(pipeline, "lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    busy = (
        f"another run uses the pipeline {pipeline.pipeline_name!r} on this machine: "
        f"wait for its end, and run this one again (it holds {path})"
    )
    with locked(str(path), busy=busy):
        yield


def begin_at_destination(pipeline: Pipeline) -> None:
    """Forget what is not in the destination: it is requested again.

    An interrupted load could be finished. But a process that is killed at some moments
    leaves a package that dlt can't load, and would try to each night; and a load that
    failed for good leaves its cursors in the local state.
    """
    if not pipeline.dev_mode:
        pipeline.drop()
    pipeline.sync_destination()


def load(pipeline: Pipeline) -> LoadInfo:
    """Load what was normalised: type checkers take ``Pipeline.load`` for no step."""
    return pipeline.load()


def when_free(
    step: Callable[[], T], seconds: float, ended: Callable[[], object] = bool
) -> T:
    """Run *step*, again and again while its DuckDB file is in use.

    Args:
        step: What connects to the destination.
        seconds: How long to wait for the file.
        ended: Whether nothing is waited for any more.

    Raises:
        BusyError: Another process has the file open.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            return step()
        except PipelineStepFailed as error:
            text = str(error)
            found = _IN_USE.search(text)
            if found is None:
                raise
            if ended() or time.monotonic() >= end:
                holder = _HOLDER.search(text)
                who = f"{holder[1]} (PID {holder[2]})" if holder else "another process"
                raise BusyError(
                    f"{who} has {found[1]} open, such as a notebook: close the "
                    "connection there, and run this again. While a process has a file "
                    "of DuckDB open, even to read it, no other one can write to it"
                ) from None
        time.sleep(_PAUSE)


def state_in(state: Mapping[str, Any]) -> Any:
    """What the source has stored in the whole *state* of a pipeline."""
    source = state.get("sources", {}).get(SOURCE, {})
    return source.get("resources", {}).get(DAYS, {})


def cursors_of(state: Mapping[str, Any]) -> dict[str, Coverage]:
    """How far each website is, by its host name."""
    cursors = state.get("cursors", {})
    return {name: Coverage.from_state(cursors[name]) for name in sorted(cursors)}


def store_cursors(pipeline: Pipeline) -> None:
    """Leave the cursors in a file, for when the destination can't be read."""
    path = _beside(pipeline, "coverage.json")
    state = state_in(pipeline.state)
    new = path.with_suffix(".new")
    new.write_text(json.dumps({"cursors": state.get("cursors", {})}), "utf-8")
    new.replace(path)


def stored_cursors(pipeline: Pipeline) -> dict[str, Coverage]:
    """How far each website was after the last load, from that file."""
    try:
        text = _beside(pipeline, "coverage.json").read_text("utf-8")
    except FileNotFoundError:
        return {}
    return cursors_of(json.loads(text))


def _beside(pipeline: Pipeline, suffix: str) -> Path:
    return Path(pipeline.pipelines_dir, f"{pipeline.pipeline_name}.{suffix}")


def make_indexes(pipeline: Pipeline) -> None:
    """Let PostgreSQL find the rows of a day, which each load replaces."""
    if not _is_postgres(pipeline):
        return
    with pipeline.sql_client() as client:
        for table in pipeline.default_schema.data_table_names():
            if "first_day" in dict(COLUMNS[table]):
                name = client.make_qualified_table_name(table)
                client.execute_sql(
                    f"CREATE INDEX IF NOT EXISTS {table}_of_a_day ON {name} "
                    "(hostname, first_day)"
                )


def _is_postgres(pipeline: Pipeline) -> bool:
    return pipeline.destination.destination_type.endswith(".postgres")


def best_format(pipeline: Pipeline) -> str | None:
    """The format of the files to load; None for the destination's own."""
    if _is_postgres(pipeline):
        # In CSV, its default, an empty text would become null.
        fast = find_spec("adbc_driver_postgresql") is not None
        return "parquet" if fast else "insert_values"
    return "parquet" if is_of_files(pipeline) else None


def is_of_files(pipeline: Pipeline) -> bool:
    """Whether the destination has files, from which no row can be removed."""
    return pipeline.destination.destination_type.endswith(".filesystem")


@contextmanager
def plain_errors() -> Generator[None]:
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
