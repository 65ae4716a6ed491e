"""Finds a secret in objects, exceptions and logs."""

from __future__ import annotations

import logging
import pickle
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sitestats

PACKAGE = str(Path(sitestats.__file__).parent)


def chain(error: BaseException) -> Iterator[BaseException]:
    """*error*, what caused it, what it happened in, and the members of groups."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [e for e in (one.__cause__, one.__context__) if e is not None]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


def shown_by(error: BaseException) -> str:
    """All text that anybody can make of an exception, library frames' locals too."""
    parts = list[str]()
    for one in chain(error):
        parts += [str(one), repr(one), repr(one.args), repr(vars(one))]
        parts += [repr(value) for value in vars(one).values()]
        summary = traceback.TracebackException.from_exception(one, capture_locals=True)
        parts += [
            f"{frame.name} {frame.locals}"
            for frame in summary.stack
            if frame.filename.startswith(PACKAGE)
        ]
        # What is not ours may not pickle; what is does in every case.
        if isinstance(one, sitestats.SiteStatsError):
            parts.append(repr(pickle.dumps(one)))
    parts += traceback.format_exception(error)
    return "\n".join(parts)


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(level=0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.getMessage()} {vars(record)}")


@contextmanager
def everything_logged() -> Iterator[list[str]]:
    """Collect the records of every logger, at every level."""
    collector = _Collector()
    root = logging.getLogger()
    loggers = [root, *map(logging.getLogger, ("httpx", "httpcore", "sitestats"))]
    levels = [one.level for one in loggers]
    root.addHandler(collector)
    for one in loggers:
        one.setLevel(1)
    try:
        yield collector.lines
    finally:
        root.removeHandler(collector)
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)
