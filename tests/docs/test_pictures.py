"""The pictures of the README and the documentation are named, described and small."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from pictures import ALL, PICTURES, Cell

pytestmark = pytest.mark.long

ROOT: Final = Path(__file__).parents[2]
PICTURE: Final = re.compile(
    r"""^<picture>
  <source media="\(prefers-color-scheme: dark\)" srcset="\S+/(?P<name>[\w-]+)-dark\S+">
  <img alt="(?P<alt>[^"]{40,}\.)" src="\S+/(?P=name)-light[^"]+" width="740">
</picture>$""",
    re.MULTILINE,
)


def named() -> dict[str, str]:
    """The pictures that the pages name, with what they say that it shows."""
    found: dict[str, str] = {}
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = page.read_text("utf-8")
        pictures = PICTURE.findall(text)
        assert len(pictures) == text.count("<img"), page
        found |= dict(pictures)
    return found


def test_pages_pictures_and_functions_are_the_same() -> None:
    """Each picture is there, light and dark, made by a function and named by a page."""
    assert named().keys() == ALL.keys()
    # Those who don't see a picture read that its traffic is made up.
    unsaid = {n for n, alt in named().items() if not re.search("(?i)made[ -]up", alt)}
    assert unsaid <= {"demo", "error"}
    stems = {path.stem for path in PICTURES.iterdir()}
    assert stems == {f"{name}-{theme}" for name in ALL for theme in ("light", "dark")}


def test_the_picture_of_the_readme_is_of_its_code() -> None:
    """The first picture of the README shows the code above it."""
    content = ALL["result"]()
    assert isinstance(content, Cell)
    assert content.source in (ROOT / "README.md").read_text("utf-8")


def test_the_pictures_are_small() -> None:
    """A clone loads them all; none names a path of the machine that made it."""
    data = [path.read_bytes() for path in PICTURES.iterdir()]
    assert max(map(len, data)) <= 60_000
    assert sum(map(len, data)) <= 1_300_000
    assert not any(re.search(rb"<metadata|<script|/(home|root|tmp)/", d) for d in data)


@pytest.mark.parametrize("name", sorted(ALL))
def test_what_makes_a_picture_runs(name: str) -> None:
    """What a picture shows can be made again, all but the drawing."""
    content = ALL[name]()
    assert "Traceback" not in getattr(content, "text", "")
