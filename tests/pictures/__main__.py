"""Make the pictures that are named, or all: ``python -m pictures result demo``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from .browser import photograph
from .cells import Cell
from .content import ALL
from .plots import Plot
from .terminal import Screen

PICTURES: Final = Path(__file__).parents[2] / "docs" / "_static" / "pictures"


def main() -> None:
    """Write each picture, light and dark, and say how large it is."""
    PICTURES.mkdir(exist_ok=True)
    whole = 0
    for name in sys.argv[1:] or ALL:
        content = ALL[name]()
        for theme in ("light", "dark"):
            match content:
                case Cell():
                    data, kind = photograph(content.page(theme)), "png"
                case Plot():
                    data, kind = content.png(theme), "png"
                case Screen():
                    data, kind = content.svg(theme).encode(), "svg"
            path = PICTURES / f"{name}-{theme}.{kind}"
            path.write_bytes(data)
            whole += len(data)
            print(f"{path.name}: {len(data) / 1000:.1f} kB")
    print(f"in all: {whole / 1000:.0f} kB")


if __name__ == "__main__":
    main()
