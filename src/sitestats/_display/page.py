"""A page of several results: a report that is a file, or the text of a mail."""

from __future__ import annotations

from html import escape
from typing import Final, TypeAlias, cast

from sitestats._base.errors import UsageError
from sitestats._base.text import encodable
from sitestats._display.display import Display
from sitestats._display.labels import MOST_ROWS
from sitestats._display.markdown import text
from sitestats._public import Public
from sitestats._results.bases import Displayed

Block: TypeAlias = Displayed | Display | str
"""What stands on a page: a result, a ``Display`` of one, or a text."""

_BODY: Final = (
    "font:14px/1.5 system-ui,sans-serif;max-width:46rem;margin:1.5em auto;padding:0 1em"
)
_TITLE: Final = "font-size:1.4em;font-weight:600;margin:0 0 .8em"


class Page(Public):
    """A page of several results, with a title and texts between them.

    It is complete: it loads nothing, and has no script and no style sheet. Browsers
    show it light or dark, and a mail client shows it as a mail.

    Args:
        title: The title.
        blocks: Results, and texts; a ``Display`` where a result needs other rows.
        rows: The most rows of a table.

    >>> from sitestats.analysis import Page
    >>> query = StatsQuery("semicomplete.com").fields("visitors", "pages")
    >>> week = client.stats.compare(query.last(days=7))
    >>> page = Page("The week", "Compared with the week before.", week, week.largest())
    >>> page.to_html().startswith("<!doctype html>")
    True
    >>> print(page.to_markdown().splitlines()[0])
    # The week
    """

    title: str
    blocks: tuple[Block, ...]
    rows: int

    def __init__(self, title: str, *blocks: Block, rows: int = MOST_ROWS) -> None:
        if not isinstance(cast("object", title), str):
            raise UsageError("give the title first: Page('The week', stats)")
        self.title = title
        self.blocks = blocks
        self.rows = rows

    def __repr__(self) -> str:
        return f"<Page {self.title!r}: .to_html(), .to_markdown()>"

    def to_html(self) -> str:
        """The page as a whole document, ready for a file or a mail."""
        title = escape(encodable(self.title))
        return (
            "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width,initial-scale=1'>"
            "<meta name='color-scheme' content='light dark'>"
            f"<title>{title}</title></head>\n<body style='{_BODY}'>\n"
            f"{self._repr_html_()}\n</body></html>\n"
        )

    def to_markdown(self) -> str:
        """The page as a text in Markdown."""
        blocks = [f"# {text(self.title)}"]
        for block in self._shown():
            if isinstance(block, str):
                blocks.append(text(block))
            else:
                blocks.append(block.to_markdown().rstrip("\n"))
        return encodable("\n\n".join(blocks)) + "\n"

    def _repr_html_(self) -> str:
        parts = [f"<h2 style='{_TITLE}'>{escape(encodable(self.title))}</h2>"]
        for block in self._shown():
            if isinstance(block, str):
                parts.append(f"<p>{escape(encodable(block))}</p>")
            else:
                parts.append(block.to_html())
        return "\n".join(parts)

    def _shown(self) -> list[Display | str]:
        return [
            block if isinstance(block, Display | str) else Display(block, self.rows)
            for block in self.blocks
        ]
