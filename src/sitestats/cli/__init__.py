"""The command line ``sitestats``, from the extra ``cli``.

The commands do nothing that the library can't do. Importing ``sitestats`` imports
neither this package nor click or rich.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO, cast

__all__ = ["main"]

NEEDS = ("click", "rich")


def main() -> None:
    """Run the command line; the entry point of ``sitestats``."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The caller has closed it, as with 2>&- in a shell.
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 - a device
    sys.stdout = _checked(sys.stdout)
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal can't show must not end the command.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        from ._app import app
        from ._exits import handle_sigterm

        handle_sigterm()
        app(prog_name="sitestats")
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in NEEDS:
            raise
        print(
            f"sitestats: the commands need {library}: pip install 'sitestats[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)


def _checked(stream: TextIO) -> TextIO:
    """*stream* with a buffer, also where PYTHONUNBUFFERED is set, as in containers.

    Without one, Python takes a write that a full disk or a closed pipe has cut short
    for a whole one.
    """
    if not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return stream
    encoding = stream.encoding
    raw = cast("io.RawIOBase", cast("io.TextIOWrapper", stream).detach())
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, line_buffering=True)
