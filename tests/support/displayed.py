"""What displays show: HTML that is parsed, and what a terminal gets."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

from rich.console import Console

from sitestats import Entries, PageEntry

TAGS = {
    *("div", "h4", "b", "table", "caption", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"class", "style", "colspan", "title"}
STYLE = re.compile(r"([a-z-]+:[\w.,%# ()/-]+;?)+")
"""A style that loads nothing."""


class Page(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.styles: set[str] = set()
        self.texts: list[str] = []
        self.tips: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.styles.update(value or "" for name, value in attrs if name == "style")
        self.tips += [value or "" for name, value in attrs if name == "title"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.tags.add("!--")


def pages_of(*values: str, truncated: bool = False) -> Entries[PageEntry]:
    """A list of these paths."""
    return Entries(
        [PageEntry(value, 9, 3) for value in values],
        name="pages",
        entry_type=PageEntry,
        truncated=truncated,
    )


def assert_harmless(html: str) -> Page:
    """The parsed page, which has only tags that this package writes."""
    page = Page(html)
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert all(map(STYLE.fullmatch, page.styles))
    assert not any("url" in style for style in page.styles)
    return page


def terminal(
    result: object, *, encoding: str = "utf-8", color: bool = False, width: int = 80
) -> str:
    """The output of ``rich.print`` for *result*, so many columns wide."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(
        file=file,
        width=width,
        color_system="standard" if color else None,
        force_terminal=color,
        _environ={},
    )
    console.print(result)
    file.seek(0)
    return file.read()
