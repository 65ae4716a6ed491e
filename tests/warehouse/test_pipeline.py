"""A DuckDB file that is in use: what is recognised, and how long it is waited for."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import NoReturn

import dlt
import pytest
from dlt.pipeline.exceptions import PipelineStepFailed

from sitestats import BusyError
from sitestats.warehouse._pipeline import when_free

pytestmark = pytest.mark.once

LINUX = (
    'IO Error: Could not set lock on file "/srv/x.duckdb": Conflicting lock is held in '
    "/usr/bin/python3.11 (PID 15026). See also https://duckdb.org/"
)
WINDOWS = (
    'IO Error: Cannot open file "c:\\x.duckdb": The process cannot access the file '
    "because it is being used by another process.\n\nFile is already open in \n"
    "C:\\Python311\\python.exe (PID 8)"
)


def failing(text: str) -> NoReturn:
    """Fail as a step of dlt does."""
    with TemporaryDirectory() as folder:
        pipeline = dlt.pipeline("unused", pipelines_dir=folder)
        raise PipelineStepFailed(pipeline, "load", "1", OSError(text), None)  # type: ignore[arg-type]  # no step has run


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LINUX, "python3.11 (PID 15026) has /srv/x.duckdb open"),
        (WINDOWS, "python.exe (PID 8) has c:\\x.duckdb open"),
        (LINUX[:60], "another process has /srv/x.duckdb open"),
    ],
    ids=["Linux", "Windows", "unnamed"],
)
def test_a_file_in_use_has_a_holder(text: str, message: str) -> None:
    """DuckDB's texts become an error that names the file, and who has it."""
    with pytest.raises(BusyError) as raised:
        when_free(lambda: failing(text), 0)
    assert str(raised.value).startswith(message)


def test_only_a_file_in_use_is_waited_for() -> None:
    """Another failure is raised at once, and nothing is waited for after a signal."""
    attempts: list[str] = []

    def step(text: str) -> None:
        attempts.append(text)
        failing(text)

    with pytest.raises(PipelineStepFailed):
        when_free(lambda: step("no space left"), 60)
    with pytest.raises(BusyError):
        when_free(lambda: step(LINUX), 60, lambda: True)
    assert len(attempts) == 2
