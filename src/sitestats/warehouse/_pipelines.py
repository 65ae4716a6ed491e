"""The pipelines of dlt: who may use their files, and how they begin."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import dlt
from dlt.common.exceptions import DltException

from sitestats._base.errors import BusyError
from sitestats._base.lock_files import locked

from ._destinations import Look, alone_at, alone_with, destination_of, named
from ._errors import readable_errors
from ._source import SOURCE, UnderWay, set_default

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from dlt import Pipeline

T = TypeVar("T")

_WAIT: Final = 180.0
"""How many seconds an update waits for a DuckDB file that another program has open."""
_PAUSE: Final = 0.5
"""The seconds between two attempts at a file that is in use."""
_WAIT_FOR_FILES: Final = 30.0
"""How many seconds to wait until another process has written dlt's files anew."""
_WAIT_FOR_A_LOOK: Final = 1.0
"""How many seconds to wait for a process that looks whether an update is under way."""
# These are DuckDB's messages on Linux and macOS, and on Windows.
_IN_USE: Final = re.compile(r"(?:Could not set lock on|Cannot open) file .+", re.DOTALL)


def make_pipeline(
    to: str = "duckdb",
    dataset: str = "web",
    *,
    folder: str | os.PathLike[str] = ".",
    pipelines_dir: str | os.PathLike[str] | None = None,
) -> Pipeline:
    """The pipeline of the command ``sitestats warehouse``, with the same tables.

    ``dlt.pipeline`` makes a pipeline, too. It may fail while an update that uses the
    same *pipelines_dir* begins; this function waits for that.

    Args:
        to: The destination, as dlt calls it. Its address and credentials are in dlt's
            configuration; DuckDB's file is ``sitestats.duckdb`` in *folder*.
        dataset: The schema of the tables in the database, or their folder.
        folder: Where the DuckDB file and dlt's own files are.
        pipelines_dir: Where dlt's own files are, if they are not in *folder*.

    Raises:
        InvalidInputError: The DuckDB file can't have a dataset of this name.
        ConfigurationError: dlt knows no such destination.
        BusyError: Other processes have used *pipelines_dir* for half a minute.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from sitestats.warehouse import make_pipeline, read_status
        >>> with TemporaryDirectory() as folder:
        ...     pipeline = make_pipeline(folder=folder)
        ...     dict(read_status(pipeline).coverage)
        {}
    """
    if pipelines_dir is None:
        # Each dataset has its own, since pending packages belong to one destination.
        name = f"{to}-{dataset}".replace(os.sep, "_")
        pipelines_dir = Path(folder, ".dlt", "pipelines", name)
    place = Path(pipelines_dir).absolute()
    destination = named(to, Path(folder, SOURCE).absolute(), dataset)
    with readable_errors(), _alone_with_files(place, SOURCE):
        return dlt.pipeline(
            SOURCE,
            destination=destination,
            dataset_name=dataset,
            pipelines_dir=str(place),
        )


def beside(pipeline: Pipeline, suffix: str) -> Path:
    """The path of a file beside dlt's files for *pipeline*."""
    return Path(pipeline.pipelines_dir, f"{pipeline.pipeline_name}.{suffix}")


def _alone_with_files(
    pipelines_dir: str | Path, name: str
) -> AbstractContextManager[None]:
    """Let one process at a time make, empty or read dlt's files of the pipeline *name*.

    dlt has no lock there, and fails on what another process has just removed.
    """
    folder = Path(pipelines_dir)
    folder.mkdir(parents=True, exist_ok=True)
    return locked(
        str(folder / f"{name}.files.lock"),
        busy=f"another run begins in {folder}: run this one again",
        wait=_WAIT_FOR_FILES,
    )


@contextmanager
def alone_in_folder(pipeline: Pipeline, *, waits: bool = True) -> Generator[Look]:
    """Lock the folder of *pipeline*, and make dlt's errors readable.

    dlt itself lets two runs share a folder, and one of them fails somewhere.
    """
    set_default("runtime.dlthub_telemetry", value=False)
    what = f"the pipeline {pipeline.pipeline_name!r} on this machine"
    path = beside(pipeline, "lock")
    wait = _WAIT_FOR_A_LOOK if waits else 0
    with readable_errors(pipeline), alone_with(path, what, wait=wait) as look:
        yield look


@contextmanager
def alone(pipeline: Pipeline) -> Generator[Look]:
    """Lock the folder of *pipeline*, and the data wherever it is updated from."""
    with alone_in_folder(pipeline), alone_at(pipeline) as look:
        yield look


@contextmanager
def only_reading(pipeline: Pipeline) -> Generator[None]:
    """Begin at the destination, while no update of *pipeline* is under way. One that
    begins meanwhile waits for the end of the block.
    """
    with _alone_with_files(pipeline.pipelines_dir, pipeline.pipeline_name):
        # An update that waits for these files must not wait for long.
        with alone_in_folder(pipeline, waits=False):
            pass
        with readable_errors(pipeline):
            when_free(partial(_begin, pipeline))
            yield


def begin_at_destination(pipeline: Pipeline, update: UnderWay | None = None) -> None:
    """Forget what is not in the destination, so that it is requested again."""

    def begin() -> None:
        with _alone_with_files(pipeline.pipelines_dir, pipeline.pipeline_name):
            _begin(pipeline)

    when_free(begin, update)


def _begin(pipeline: Pipeline) -> None:
    # An interrupted load could be finished. But a process that is killed at some
    # moments leaves a package that dlt can't load, and would try to each night; and a
    # load that failed for good leaves its coverage in the local state.
    if not pipeline.dev_mode:
        pipeline.drop()
    # A refused update and a call that only reads must not leave an empty database.
    file = destination_of(pipeline).file(pipeline)
    if file is None or file.exists():
        pipeline.sync_destination()


def when_free(step: Callable[..., T], under_way: UnderWay | None = None) -> T:
    """Run *step*, which connects to the destination; in an update again and again while
    another process has its DuckDB file open.
    """
    end = time.monotonic() + _WAIT
    while True:
        try:
            return step()
        except DltException as error:
            match = _IN_USE.search(str(error))
            if match is None:
                raise
            if under_way is None or under_way.signal or time.monotonic() >= end:
                raise BusyError(
                    "Another process, such as a notebook, has the DuckDB file open. "
                    "Close the connection there, and run this again. "
                    f"{' '.join(match[0].split())}"
                ) from None
        time.sleep(_PAUSE)
