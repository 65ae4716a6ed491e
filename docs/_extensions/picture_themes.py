"""Pictures that are light or dark, as the site is, which has a switch of its own.

The texts have ``<picture>``, which GitHub shows as well, and which by itself follows
the reader's system.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class ShowPictures(SphinxTransform):
    """Make each ``<picture>`` two images, of which the theme shows one."""

    # Before the links of the Markdown are read.
    default_priority = 10

    def apply(self, **_options: Any) -> None:
        """Replace the pictures of a page, and of the README that it includes."""
        for node in list(self.document.findall(nodes.raw)):
            if node.astext().startswith("<picture>"):
                text = node.astext()
                dark = self.image(text, "srcset", "only-dark")
                light = self.image(text, "src", "only-light")
                # The Markdown beside the page has no theme.
                markdown = self.app.tags.has("sphinx_llm_markdown")
                shown = [light] if markdown else [light, dark]
                node.replace_self(nodes.paragraph("", "", *shown))

    def image(self, text: str, address: str, name: str) -> nodes.image:
        """The image of one theme; all of them are in one folder."""
        found = {
            key: unescape(value) for key, value in re.findall(r'(\w+)="([^"]+)"', text)
        }
        path = f"/_static/pictures/{PurePosixPath(found[address]).name}"
        # An image with a width leads to its full size.
        kinds = ["picture", name]
        return nodes.image(uri=path, alt=found["alt"], classes=kinds, width="740px")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(ShowPictures)
    return {"parallel_read_safe": True}
