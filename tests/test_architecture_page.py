"""The map of the modules is true, and its answers lead to files that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

from sitestats._query.rules import RULES

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "src" / "sitestats"
MAP: Final = (ROOT / "docs" / "architecture.md").read_text("utf-8")
ANSWER: Final = re.compile(r"^\| (.+?) \| (.*`.+`.*) \|$", re.MULTILINE)


def section(title: str) -> str:
    """The part of the map below the heading *title*."""
    _, _, rest = MAP.partition(f"\n## {title}\n")
    return rest.partition("\n## ")[0]


def first_sentence(module: Path) -> str:
    """The first sentence of a module's docstring, as Markdown on one line."""
    text = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    paragraph = " ".join(text.partition("\n\n")[0].split()).replace("``", "`")
    return re.split(r"(?<=\.) (?=[A-Z])", paragraph)[0]


def test_every_module_says_what_it_does() -> None:
    """The table of modules is made of docstrings: each module has a first sentence."""
    modules = [path for path in SOURCE.rglob("*.py") if path.read_text("utf-8")]
    assert len(modules) >= 80
    for path in modules:
        sentence = first_sentence(path)
        assert sentence, path
        assert re.search(r"[.:]$", sentence), path


def test_answers_are_files() -> None:
    """Whoever looks for something is sent to files, all of which are there."""
    answers = ANSWER.findall(section("Where is …?"))
    assert len(answers) >= 15
    for question, answer in answers:
        files = re.findall(r"`([\w/.-]+(?:\.py|/))`", answer)
        assert files, question
        for name in files:
            assert (SOURCE / name).exists() or (ROOT / name).exists(), name


def test_answers_name_rules_that_there_are() -> None:
    """The rows of the table of rules that the map points at are in it."""
    rules = re.findall(r"the row `([\w-]+)`", section("Where is …?"))
    assert rules
    assert set(rules) <= set(RULES)
