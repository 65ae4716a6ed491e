"""A plot of matplotlib as a PNG, with nothing in it that differs between runs."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from PIL import Image

from .png import small_png

if TYPE_CHECKING:
    from collections.abc import Callable

OPTIONS: Final[dict[Any, Any]] = {
    # In inches, at which a plot has to be readable.
    "figure.figsize": (6, 3),
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
}
STYLES: Final = {"light": "default", "dark": "dark_background"}
PAPER: Final = {"light": "#fff", "dark": "#0d1117"}


class Plot(NamedTuple):
    """What makes a figure of pyplot."""

    draw: Callable[[], object]

    def png(self, theme: str) -> bytes:
        """The plot, light or dark."""
        import matplotlib.pyplot as plt

        with plt.style.context(STYLES[theme]), plt.rc_context(OPTIONS):
            self.draw()
            figure = plt.gcf()
            figure.set_facecolor(PAPER[theme])
            for axes in figure.axes:
                axes.set_facecolor(PAPER[theme])
            file = BytesIO()
            figure.savefig(file)
            plt.close(figure)
        with Image.open(file) as image:
            return small_png(image)
