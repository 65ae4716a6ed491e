"""Make a PNG small: a palette, and none of the metadata."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

COLOURS = 64
"""As many as the letters' edges need; a picture of a page has few others."""


def small_png(image: Image.Image) -> bytes:
    """*image* as a PNG."""
    file = BytesIO()
    reduced = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    reduced.save(file, "PNG", optimize=True)
    return file.getvalue()
