"""Photograph a page with Chromium, which must be there, as a small PNG."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from PIL import Image, ImageChops

from chromium import FLAGS, find_chromium

from .cells import WIDTH
from .png import small_png

HEIGHT: Final = 1600


def photograph(page: str) -> bytes:
    """*page* as a PNG that ends where its content does."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "page.html")
        path.write_text(page, "utf-8")
        shot = Path(directory, "shot.png")
        subprocess.run(
            [
                *(find_chromium(), *FLAGS, f"--user-data-dir={directory}/profile"),
                *("--hide-scrollbars", "--force-device-scale-factor=2"),
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
    return small_png(whole.crop((0, 0, whole.width, min(box[3] + 24, whole.height))))
