"""What the tests know of the inside of the package, so that it can be moved."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parents[1]
PRIVATE: Final = re.compile(r"\bsitestats(?:\.\w+)*\._[a-z]")
MOST: Final = 15
"""How many files may know private modules."""


def modules_in(code: str) -> Iterator[str]:
    """The modules and names that *code* imports, and the texts that may name some."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.Constant(value=str(text)):
                yield text


def knows_private_modules(code: str) -> bool:
    """Whether *code* imports or patches a private module of the package."""
    return any(PRIVATE.search(module) for module in modules_in(code))


def test_the_inside_is_known_by_few_files() -> None:
    """Tests use public names, or the ``inside.py`` of their folder: whatever is renamed
    or moved in the package changes that file alone.
    """
    knowing = {
        path.relative_to(TESTS).as_posix()
        for path in sorted(TESTS.rglob("*.py"))
        if knows_private_modules(path.read_text("utf-8"))
    }
    # It is about the modules.
    # It imports one, as a program, to see what that loads.
    others = knowing - {"project/test_architecture.py"}
    assert {path for path in others if not path.endswith("/inside.py")} == set()
    assert 10 < len(knowing) <= MOST
