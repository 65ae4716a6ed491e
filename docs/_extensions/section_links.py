"""Link every section of the service's document that a text names to the page about it.

A text says ``section 4.3``, or ``(4.3)`` on the page of fields and filters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from docutils import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sphinx.application import Sphinx

PAGE: Final = "the-service"
NUMBERED: Final = "fields-and-filters"
"""The page that writes a section as its number alone."""
NUMBER: Final = r"[1-9](?:\.[1-9])?(?![\w.]*\d)"
SECTION: Final = re.compile(rf"\bsections? {NUMBER}(?:(?:, | and ){NUMBER})*")
IN_PARENTHESES: Final = re.compile(rf"\({NUMBER}(?:, {NUMBER})*\)")
UNCHANGED: Final = (
    nodes.reference,
    nodes.title,
    nodes.literal_block,
    nodes.literal,
    nodes.raw,
)


def link_sections(app: Sphinx, page: nodes.document, docname: str) -> None:
    """Make the sections in the texts of *page* links."""
    if app.builder.format != "html" or docname in {PAGE, "changelog"}:
        return
    pattern = IN_PARENTHESES if docname == NUMBERED else SECTION
    address = app.builder.get_relative_uri(docname, PAGE)
    addresses = {
        number: f"{address}#{anchor}" for number, anchor in anchors(app).items()
    }
    for text in list(page.findall(nodes.Text)):
        if pattern.search(text) and not is_inside(text):
            text.parent.replace(text, [*linked(text, pattern, addresses)])


def anchors(app: Sphinx) -> dict[str, str]:
    """The anchor of each section on the page, by its number."""
    sections = app.env.get_doctree(PAGE).findall(nodes.section)
    numbers = ((re.match(NUMBER, one[0].astext()), one["ids"][0]) for one in sections)
    return {number[0]: anchor for number, anchor in numbers if number}


def linked(
    text: str, pattern: re.Pattern[str], addresses: Mapping[str, str]
) -> Iterator[nodes.Node]:
    """*text* with a link for each number of a section."""
    done = 0
    for found in pattern.finditer(text):
        for number in re.finditer(NUMBER, found[0]):
            begin = found.start() + number.start()
            yield nodes.Text(text[done:begin])
            uri = addresses[number[0]]
            yield nodes.reference(number[0], number[0], refuri=uri, internal=True)
            done = begin + len(number[0])
    yield nodes.Text(text[done:])


def is_inside(node: nodes.Node) -> bool:
    """Whether *node* is in a link, a heading or code."""
    above = node.parent
    if above is None:
        return False
    return isinstance(above, UNCHANGED) or is_inside(above)


def setup(app: Sphinx) -> dict[str, bool]:
    """Link the sections when all pages are read."""
    app.connect("doctree-resolved", link_sections)
    return {"parallel_read_safe": True}
