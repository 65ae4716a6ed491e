"""The page about the service explains what errors and docstrings cite."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, get_args

from sitestats import FieldName, Filters

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "the-service.md").read_text("utf-8")
FIELDS: Final = (ROOT / "docs" / "fields-and-filters.md").read_text("utf-8")
NUMBER: Final = r"[1-9](?:\.[1-9])?"


def cited() -> set[str]:
    """Every section that the package cites, also as an argument of an error."""
    sources = (path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    text = "".join(line for source in sources for line in source.splitlines())
    # Other documents have sections, too.
    text = re.sub(r"RFC [0-9]+, section", "", text)
    words = rf"sections? ({NUMBER}(?:(?:, | and ){NUMBER})*)(?!\.?\d)"
    written = " ".join(re.findall(words, text))
    return {*re.findall(NUMBER, written), *re.findall(r'section="(.+?)"', text)}


def test_every_section_that_is_cited_is_explained() -> None:
    """Whoever reads "(section 4.3)" in an error finds a heading with that number."""
    headings = re.findall(rf"^###? ({NUMBER})\.? \w", PAGE, re.MULTILINE)
    assert headings == sorted({*headings})
    assert len(cited()) > 10
    assert cited() <= {*headings}


def test_every_filter_and_field_is_named() -> None:
    """The page links to the one that has each field and each filter."""
    assert "fields-and-filters.md#fields" in PAGE
    names = [*get_args(FieldName), *Filters.__annotations__]
    assert [name for name in names if f"`{name}`" not in FIELDS] == []
