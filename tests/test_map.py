"""The map of the modules is true, and its answers lead to files that are there."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Final

from sitestats._rules import RULES

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "src" / "sitestats"
MAP: Final = (ROOT / "docs" / "architecture.md").read_text("utf-8")
ROW: Final = re.compile(r"^\| `(.+?)` \| (.+) \|$", re.MULTILINE)
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


def test_every_module_is_on_the_map() -> None:
    """Each module stands there once, with the first sentence of its docstring."""
    modules = {
        path.relative_to(SOURCE).as_posix(): first_sentence(path)
        for path in SOURCE.rglob("*.py")
    }
    assert len(modules) >= 100
    rows = ROW.findall(section("The modules"))
    times = Counter(name for name, _ in rows)
    assert times == Counter(modules.keys())
    assert dict(rows) == modules


def test_each_module_stands_with_its_package() -> None:
    """The modules of a package are in one table, and those of no other in it."""
    tables = section("The modules").split("\n### ")
    packages = [
        {name.rpartition("/")[0] for name, _ in ROW.findall(table)} for table in tables
    ]
    assert all(len(found) <= 1 for found in packages)
    named = [found for found in packages if found and found != {""}]
    assert sorted(*zip(*named, strict=True)) == sorted(
        path.parent.name for path in SOURCE.glob("*/__init__.py")
    )


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
