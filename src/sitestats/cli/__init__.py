"""The command line ``sitestats``, from the extra ``cli``.

The commands do nothing that the library can't do. Importing ``sitestats`` imports
neither this package nor click or rich.
"""

from __future__ import annotations

import io
import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point of ``sitestats``."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        # Cron jobs close a stream: the next file would take its place.
        if getattr(sys, name) is None:
            # Reading from or writing to it is an error, except on standard error.
            mode = os.O_RDONLY if name == "stdout" else os.O_WRONLY
            os.dup2(os.open(os.devnull, mode), number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal can't show must not end the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        from ._app import app

        app(prog_name="sitestats")
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in {"click", "rich"}:
            raise
        print(
            f"sitestats: the commands need {library}: pip install 'sitestats[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
