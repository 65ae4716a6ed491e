"""Tracebacks without variables: a frame may hold a credential."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


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
