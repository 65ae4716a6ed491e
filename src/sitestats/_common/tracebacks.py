"""Tracebacks without variables: a frame may hold a credential."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

T = TypeVar("T")
P = ParamSpec("P")


def clear_frames(error: BaseException) -> None:
    """Take the variables from the frames of *error*, which goes on as it is.

    The lines stay, for whoever looks for the mistake.
    """
    # Only who sees an exception has to load it.
    import traceback

    ours: set[FrameType] = set()
    link: BaseException | None = error
    while link is not None:
        begin = link.__traceback__
        # What was raised outside, and is being handled there, may have frames that
        # are not over: to clear those would end them.
        if begin is None or (ours and begin.tb_frame not in ours):
            return
        ours |= {frame for frame, _ in traceback.walk_tb(begin)}
        traceback.clear_frames(begin)
        link = link.__cause__ or link.__context__


def forgetful(function: Callable[P, T]) -> Callable[P, T]:
    """Make *function* leave no variables in a traceback.

    Its arguments may be credentials, also those that are meant to be none: a key may be
    given in a wrong place.
    """

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        try:
            return function(*args, **options)
        except BaseException as error:
            clear_frames(error)
            raise
        finally:
            del args, options

    return call
