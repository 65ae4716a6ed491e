"""The command line ``sitestats``, from the extra ``cli``.

The commands do nothing that the library can't do. Importing ``sitestats`` imports
neither this package nor click or rich.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

NEEDS = ("click", "rich")
COMPLETE_VARIABLE = "_SITESTATS_COMPLETE"
"""What a shell sets to ask for completions; the name is click's."""


def main() -> None:
    """Run the command line; the entry point of ``sitestats``."""
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal can't show must not end the command.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        from ._app import app

        if COMPLETE_VARIABLE in os.environ:
            from ._shells import register

            register()

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
