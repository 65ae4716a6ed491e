"""Errors of dlt and of databases, as errors of this package that say what to do."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from dlt.common.configuration.exceptions import ConfigurationException
from dlt.common.destination.exceptions import (
    DestinationTransientException,
    UnknownDestinationModule,
)
from dlt.common.exceptions import DltException, MissingDependencyException
from dlt.pipeline.exceptions import PipelineStepFailed

from sitestats._base.errors import ConfigurationError, SiteStatsError

from ._destinations import destination_of

if TYPE_CHECKING:
    from dlt import Pipeline

_HOW_TO_CONFIGURE: Final = (
    "dlt reads the destination's address and credentials from .dlt/secrets.toml here, "
    "or from environment variables such as DESTINATION__POSTGRES__CREDENTIALS"
)
_OF_CONFIGURATION: Final = (
    ConfigurationException,
    MissingDependencyException,
    UnknownDestinationModule,
)
_OF_DATABASES: Final = {"OperationalError", "InterfaceError"}
"""The names that PEP 249 gives to errors of a connection."""


class DestinationError(SiteStatsError):
    """The database or the folder of the warehouse failed.

    Its ``__cause__`` is the error of dlt. Progress is stored with the rows, so the next
    update requests what was not loaded.
    """

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self._retryable = retryable

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later: a database that is down, but no
        wrong password.
        """
        return self._retryable


@contextmanager
def readable_errors(pipeline: Pipeline | None = None) -> Generator[None]:
    """Raise each error of dlt as what is behind it: an error of this package, or what
    a function of yours raised.
    """
    try:
        yield
    except SiteStatsError:
        raise
    except Exception as error:
        if not (isinstance(error, DltException) or _is_of_database(error)):
            raise
        mended = _readable(error, pipeline)
        raise mended from (None if mended in {*_chain(error)} else error)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """*error* and what is behind it, down to the first of another library: dlt, or
    that library, has handled the others.
    """
    current: BaseException | None = error
    while current is not None:
        yield current
        if not isinstance(current, DltException):
            return
        current = current.__cause__ or current.__context__


def _is_of_database(error: BaseException) -> bool:
    return type(error).__name__ in _OF_DATABASES


def _readable(error: Exception, pipeline: Pipeline | None) -> BaseException:
    causes = [*_chain(error)]
    for cause in causes:
        if isinstance(cause, SiteStatsError):
            return cause
        if isinstance(cause, _OF_CONFIGURATION):
            # The other lines list the places where dlt has looked.
            why = " ".join(str(cause).splitlines()[:2])
            return ConfigurationError(f"{why}\n{_HOW_TO_CONFIGURE}")
    last = causes[-1]
    is_read = isinstance(error, PipelineStepFailed) and error.step == "extract"
    if is_read and not isinstance(last, DltException | OSError):
        # A function of the caller raised it, such as the one that approves.
        return last
    if not isinstance(last, Exception):
        # An interrupt.
        return last
    first, _, _ = str(last).partition("\n")
    kinds = (DestinationTransientException, OSError)
    may_pass = any(isinstance(c, kinds) or _is_of_database(c) for c in causes)
    if pipeline is not None and destination_of(pipeline).lasting.search(first):
        may_pass = False
    return DestinationError(f"the destination failed: {first}", retryable=may_pass)
