"""The pictures of the README and the documentation are named, described and small."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from pictures.cells import Cell
from pictures.content import ALL
from pictures.plots import Plot
from pictures.terminal import Screen, screen_of

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.long, pytest.mark.once]

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "docs" / "_static" / "pictures"
PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PICTURE: Final = re.compile(
    r"""^<picture>
  <source media="\(prefers-color-scheme: dark\)" srcset="(?P<dark>[^"]+)">
  <img alt="(?P<alt>[^"]+)" src="(?P<light>[^"]+)" width="740">
</picture>$""",
    re.MULTILINE,
)
MOST_BYTES: Final = 60_000
MOST_BYTES_IN_ALL: Final = 1_300_000
"""A clone loads them all; the recipes have pictures of their own."""


class Named(NamedTuple):
    """A picture, as a page names it."""

    page: Path
    light: Path
    dark: Path
    alt: str


def named() -> Iterator[Named]:
    """Every picture that a page names."""
    for page in PAGES:
        text = page.read_text("utf-8")
        found = list(PICTURE.finditer(text))
        assert len(found) == text.count("<picture>") == text.count("<img"), page
        for match in found:
            light, dark = (
                (page.parent / match[theme]).resolve() for theme in ("light", "dark")
            )
            yield Named(page, light, dark, match["alt"])


def test_each_picture_that_a_page_names_is_there() -> None:
    """A page names a picture in both forms, and says in a sentence what it shows."""
    pictures = list(named())
    assert len(pictures) >= 15
    for picture in pictures:
        assert picture.light.parent == picture.dark.parent == FOLDER
        assert picture.light.is_file(), picture
        assert picture.dark.is_file(), picture
        name = picture.light.stem.removesuffix("-light")
        assert picture.dark.name == f"{name}-dark{picture.light.suffix}"
        assert len(picture.alt) >= 40, picture
        assert picture.alt.endswith("."), picture


def test_the_picture_of_the_readme_is_of_its_code() -> None:
    """The first picture of the README shows the code above it."""
    content = ALL["result"]()
    assert isinstance(content, Cell)
    assert content.source in (ROOT / "README.md").read_text("utf-8")


def test_no_picture_is_left_over() -> None:
    """Every file is named by a page, and every function that makes one has its two."""
    files = set(FOLDER.iterdir())
    assert files == {path for picture in named() for path in picture[1:3]}
    assert {path.stem for path in files} == {
        f"{name}-{theme}" for name in ALL for theme in ("light", "dark")
    }


def test_made_up_traffic_is_labelled() -> None:
    """The alternative text of a picture of made-up traffic says that it is made up."""
    for picture in named():
        name = picture.light.stem.removesuffix("-light")
        # Real traffic, a list of websites, errors, and measurements.
        if name not in {"demo", "plan", "progress", "error"} and "chart" not in name:
            assert "made up" in picture.alt, picture


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_a_picture_has_no_metadata(path: Path) -> None:
    """A picture is small, and has no day or path of the machine that made it."""
    data = path.read_bytes()
    assert len(data) <= MOST_BYTES
    if path.suffix == ".png":
        assert set(chunks_of(data)) <= {b"IHDR", b"PLTE", b"IDAT", b"IEND"}
        return
    text = data.decode()
    assert not re.search(r"<metadata|<script|/(?:home|root|tmp|Users)/", text)
    # What it loads would be another's, and names no font of the reader's.
    assert set(re.findall(r"https?://[\w.]+", text)) <= {
        *("http://www.w3.org", "http://127.0.0.1"),
    }


def chunks_of(png: bytes) -> Iterator[bytes]:
    """The types of the chunks of a PNG."""
    at = 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8]
        at += length + 12


def test_all_pictures_are_small() -> None:
    """All pictures together are no burden for the repository."""
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= MOST_BYTES_IN_ALL


@pytest.mark.skipif(sys.platform == "win32", reason="has no terminals of this kind")
@pytest.mark.parametrize("name", sorted(ALL))
def test_what_makes_a_picture_runs(name: str) -> None:
    """What a picture shows can be made again, all but the photograph of the browser."""
    content = ALL[name]()
    match content:
        case Cell():
            assert "<table" in content.html
            assert content.page("dark") != content.page("light")
        case Plot():
            assert content.png("light") != content.png("dark")
        case Screen():
            assert "Traceback" not in content.text
            assert content.svg("light") != content.svg("dark")


def test_a_plot_is_the_same_again() -> None:
    """A plot that is drawn again has the same bytes, so that no commit changes it."""
    plot = ALL["plot-growth"]()
    assert isinstance(plot, Plot)
    assert plot.png("light") == plot.png("light")


def test_screen_of() -> None:
    """What a program draws over is not on the screen."""
    assert screen_of("one\r\n1 of 3\r2 of 3\n") == "one\n2 of 3\n"
