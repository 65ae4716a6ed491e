"""The documentation knows the public names, and its examples are really run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import sitestats
import sitestats.emulator
from sitestats import _errors

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
CODE = re.compile(r"^`{3,}(?:python|\{doctest\})", re.MULTILINE)


@pytest.fixture(scope="module")
def examples() -> Counter[str]:
    """How many examples pytest finds in each file."""
    arguments = ["README.md", "docs", "src"]
    # As a program of its own, since the tests may run without the examples.
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return Counter(re.findall(r"^(\S+)::line:\d+", found.stdout, re.MULTILINE))


def test_examples_are_found(examples: Counter[str]) -> None:
    """A mistake in the setting up can't make all of them vanish unnoticed."""
    assert examples["README.md"] >= 1
    pages = [n for name, n in examples.items() if name.startswith("docs/")]
    assert sum(pages) >= 60
    modules = [n for name, n in examples.items() if name.startswith("src/")]
    assert sum(modules) >= 120


def test_every_page_with_code_is_run(examples: Counter[str]) -> None:
    """No page of the documentation shows Python that is not run."""
    with_code = [page for page in PAGES if CODE.search(page.read_text("utf-8"))]
    assert len(with_code) >= 5
    assert [page.name for page in with_code if not examples[f"docs/{page.name}"]] == []


def test_every_public_name_is_in_the_reference() -> None:
    """What can be imported from the package is explained in the reference."""
    reference = (ROOT / "docs" / "reference.md").read_text("utf-8")
    named = set(re.findall(r":: (sitestats[\w.]*)$", reference, re.MULTILINE))
    assert "sitestats._errors" in named
    public = {
        f"{module.__name__}.{name}"
        for module in (sitestats, sitestats.emulator)
        for name in module.__all__
        # The tree of the errors is shown as a whole.
        if not hasattr(_errors, name)
    }
    assert len(public) >= 20
    assert public - named == set()


def test_the_reference_names_nothing_else() -> None:
    """Nothing is explained that is no longer there."""
    reference = (ROOT / "docs" / "reference.md").read_text("utf-8")
    named = re.findall(
        r":: (sitestats(?:\.emulator)?)\.([A-Za-z]\w*)$", reference, re.MULTILINE
    )
    assert len(named) >= 20
    for module, name in named:
        assert name in sys.modules[module].__all__
