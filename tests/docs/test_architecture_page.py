"""The rules that docs/architecture.md names exist, and each module has a sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

from sitestats._query.rules import RULES

pytestmark = pytest.mark.once


ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src" / "sitestats"
MAP: Final = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def section(title: str) -> str:
    """The part of the page below the heading *title*."""
    _, _, rest = MAP.partition(f"\n## {title}\n")
    return rest.partition("\n## ")[0]


def first_sentence(module: Path) -> str:
    """The first sentence of a module's docstring, as Markdown on one line."""
    text = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    paragraph = " ".join(text.partition("\n\n")[0].split()).replace("``", "`")
    return re.split(r"(?<=\.) (?=[A-Z])", paragraph)[0]


def test_every_module_says_what_it_does() -> None:
    """Each module has a first sentence, of which the table of modules is made."""
    modules = [path for path in SOURCE.rglob("*.py") if path.read_text("utf-8")]
    assert len(modules) >= 80
    for path in modules:
        sentence = first_sentence(path)
        assert sentence, path
        assert re.search(r"[.:]$", sentence), path


def test_where_is_names_rules() -> None:
    """The table of "Where is …?" names only rules that exist."""
    rules = re.findall(r"the row `([\w-]+)`", section("Where is …?"))
    assert rules
    assert set(rules) <= set(RULES)
