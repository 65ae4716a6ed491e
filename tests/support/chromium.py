"""Find Chromium, and start it without a window or any request of its own."""

from __future__ import annotations

import shutil
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str:
    """The browser's program.

    Raises:
        FileNotFoundError: There is none.
    """
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise FileNotFoundError(
            "no Chromium: install it, by `apt-get install chromium` for example, so "
            f"that one of {', '.join(NAMES)} is on the PATH"
        )
    return found
