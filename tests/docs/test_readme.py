"""The README, as a package index shows it."""

from __future__ import annotations

import importlib.metadata
import re
import runpy
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.once


ROOT: Final = Path(__file__).parents[2]
README: Final = (ROOT / "README.md").read_text("utf-8")
readme_for_index = runpy.run_path(str(ROOT / "docs/_extensions/package_readme.py"))[
    "readme_for_index"
]
SOURCE: Final = "https://git.example/owner/name"


def addresses(text: str) -> list[str]:
    """Where the links and pictures of *text* lead."""
    return re.findall(r'\]\(([^)]+)\)|\bsrc(?:set)?="([^"]+)"', text)


def test_without_an_address_nothing_is_broken() -> None:
    """Without the repository's address, no picture and no relative link is left."""
    text = readme_for_index(README, "1.2", None)
    assert addresses(text) == []
    assert "<picture>" not in text
    assert "See months, weeks and history." in " ".join(text.split())


def test_with_an_address_everything_is_absolute() -> None:
    """With one, pictures and links lead to the tag of the version."""
    text = readme_for_index(README, "1.2", SOURCE)
    found = ["".join(address) for address in addresses(text)]
    assert len(found) == len(addresses(README)) >= 10
    assert all(address.startswith(SOURCE) for address in found)
    assert f"{SOURCE}/raw/v1.2/docs/_static/pictures/result-light.png" in found
    assert f"{SOURCE}/blob/v1.2/docs/periods.md" in found


def test_the_package_has_it() -> None:
    """What was built has the README for the index, not that of the repository."""
    description = importlib.metadata.metadata("sitestats")["Description"]
    text = description or importlib.metadata.metadata("sitestats").get_payload()
    assert "# sitestats" in text
    assert not [one for one in addresses(text) if "https:" not in "".join(one)]
