"""Notebooks as pages: ``{notebook}`` shows a file with its stored output.

Nothing is run when the documentation is built. It reads the file itself, since myst-nb
took as long as all other pages together, and nbsphinx needs pandoc, a program.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

# The tag of the build that makes the Markdown beside each page.
MARKDOWN: Final = "sphinx_llm_markdown"


class Notebook(SphinxDirective):
    """``{notebook} PATH``: the cells of a notebook, relative to the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the page from Markdown; its title is that of the notebook."""
        page = Path(self.env.doc2path(self.env.docname))
        path = (page.parent / self.arguments[0]).resolve()
        self.env.note_dependency(str(path))
        cells = json.loads(path.read_text("utf-8"))["cells"]
        text = "\n\n".join(map(markdown_of, cells))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def markdown_of(cell: dict[str, Any]) -> str:
    """A cell and its output as Markdown."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    blocks = [block("{code-block} python", source)]
    return "\n\n".join([*blocks, *map(output_of, cell["outputs"])])


def output_of(output: dict[str, Any]) -> str:
    """An output as Markdown: for the site as it looks, for its Markdown as text."""
    data = {kind: "".join(lines) for kind, lines in output.get("data", {}).items()}
    text = data.get("text/plain", "".join(output.get("text", "")))
    if "image/png" in data:
        # What the plot shows is said by its title and by the text around it.
        source = f"data:image/png;base64,{''.join(data['image/png'].split())}"
        html = f'<img src="{source}" alt="The plot that the cell draws">'
    else:
        html = data.get("text/html", f"<pre>{escape(text)}</pre>")
    shown = f'<div class="output" tabindex="0">{html}</div>'
    return "\n\n".join(
        [
            block(f"{{only}} not {MARKDOWN}", block("{raw} html", shown)),
            block(f"{{only}} {MARKDOWN}", block("text", text)),
        ]
    )


def block(name: str, content: str) -> str:
    """A fenced block, whose fence is longer than any in *content*."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", content)), 0)
    return f"{fence}{name}\n{content.rstrip()}\n{fence}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("notebook", Notebook)
    return {"parallel_read_safe": True}
