"""Progress on standard error: a bar in a terminal, a line every ten seconds elsewhere.

Logs of cron, systemd and containers have no bar, and a run that says nothing for an
hour looks as if it hung.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeAlias

import click

SECONDS: Final = 10.0

Show: TypeAlias = Callable[[int, int | None], object]
"""Is called with the number done and the total, as ``progress=`` of the library."""


@contextmanager
def showing_progress(what: str, *, quiet: bool = False) -> Generator[Show | None]:
    """The function to call with the progress of *what*; None if it is not shown."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar(what) as show:
            yield show
    else:
        with lines_of(what) as show:
            yield show


@contextmanager
def _bar(what: str) -> Generator[Show]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from ._output import make_console

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn())
    console = make_console(stderr=True)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def lines_of(
    what: str,
    *,
    wait: Callable[[float], bool] | None = None,
) -> Generator[Show]:
    """Write a line each time that ten seconds have passed, also while nothing is done.

    Args:
        what: What is counted, such as ``websites``.
        wait: Waits so many seconds and gives whether the end has come; the clock of
            the system when left out.
    """
    ended = threading.Event()
    wait = wait or ended.wait
    state: tuple[int, int | None] = (0, None)

    def show(done: int, total: int | None) -> None:
        nonlocal state
        state = (done, total)

    def write() -> None:
        while not wait(SECONDS):
            done, total = state
            of = "" if total is None else f" of {total:,}"
            click.echo(f"sitestats: {what}: {done:,}{of} so far", err=True)

    thread = threading.Thread(target=write, name="sitestats progress", daemon=True)
    thread.start()
    try:
        yield show
    finally:
        ended.set()
        thread.join()
