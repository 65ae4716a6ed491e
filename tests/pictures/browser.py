"""Photograph a page with Chromium, which must be there, as a small PNG."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image, ImageChops

from .cells import WIDTH

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--hide-scrollbars", "--force-device-scale-factor=2"),
)
HEIGHT: Final = 1600
COLOURS: Final = 128


def find_browser() -> str:
    """The browser's program."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise FileNotFoundError(f"no Chromium: one of {', '.join(NAMES)}")
    return found


def photograph(page: str) -> bytes:
    """*page* as a PNG that ends where its content does."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "page.html")
        path.write_text(page, "utf-8")
        shot = Path(directory, "shot.png")
        subprocess.run(
            [
                *(find_browser(), *FLAGS, f"--user-data-dir={directory}/profile"),
                *(f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={shot}"),
                path.as_uri(),
            ],
            capture_output=True,
            timeout=120,
            check=True,
        )
        with Image.open(shot) as image:
            whole = image.convert("RGB")
    empty = Image.new("RGB", whole.size, whole.getpixel((0, 0)))
    box = ImageChops.difference(whole, empty).getbbox()
    assert box
    cut = whole.crop((0, 0, whole.width, min(box[3] + 24, whole.height)))
    file = BytesIO()
    # A palette, and none of the metadata: a picture of a page needs few colours.
    cut.quantize(COLOURS, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()
