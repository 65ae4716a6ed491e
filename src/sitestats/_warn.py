"""Warnings about answers, shown at the user's line."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Final

from ._errors import SiteStatsWarning

_PACKAGE: Final = str(Path(__file__).parent)


def warn(message: str) -> None:
    """Warn of an answer that is worth a look.

    How many frames lie between here and the user differs from client to client
    and with every layer, so the first frame outside of the package is looked
    for. Awaited calls may have none, and are shown at the event loop's.
    """
    level = 2
    frame = sys._getframe(1)  # noqa: SLF001  what warnings itself goes by
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, SiteStatsWarning, stacklevel=level)
