"""Texts that are displayed are held word by word, by the files in ``tests/texts``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

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
        found.append(str(text))
        if os.environ.get("WRITE_TEXTS"):
            texts[name] = found
            lines = json.dumps(texts, indent=1, ensure_ascii=False, sort_keys=True)
            file.write_text(f"{lines}\n", encoding="utf-8")
        else:
            assert found == texts.get(name, [])[: len(found)]

    return check
