"""Texts that are displayed are held word by word, by the files in ``tests/texts``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from sitestats import InvalidInputError, StatsQuery
from sitestats._common.advice import error_text, render
from sitestats._common.problems import line_of

STEPS = [name for name in vars(StatsQuery) if not name.startswith("_")]
STEP = re.compile(rf"(?<![\w)])\.(?:{'|'.join(STEPS)})\(")
"""A call of a step of the query builder."""

SameText: TypeAlias = Callable[[object], None]
"""The fixture ``same_text``: checks that a text is the one that was written down."""


def same_text_as(file: Path, name: str) -> SameText:
    """Check the texts of the test *name*, in their order, with those in *file*."""
    texts: dict[str, list[str]] = {}
    if file.exists():
        texts = json.loads(file.read_text("utf-8"))
    found: list[str] = []

    def check(text: object) -> None:
        if type(text).__module__.startswith("attr"):
            # Its words differ from version to version.
            return
        if isinstance(text, BaseException):
            check_advice(text)
        found.append(str(text))
        if os.environ.get("WRITE_TEXTS"):
            texts[name] = found
            lines = json.dumps(texts, indent=1, ensure_ascii=False, sort_keys=True)
            file.write_text(f"{lines}\n", encoding="utf-8")
        else:
            assert found == texts.get(name, [])[: len(found)]

    return check


def check_advice(error: BaseException) -> None:
    """Check that every step that an error advises is data, for any surface."""
    texts = [error_text(error)]
    if isinstance(error, InvalidInputError):
        texts = list(map(line_of, error.problems))
    assert not any(STEP.search(render(text, lambda _: "")) for text in texts)
