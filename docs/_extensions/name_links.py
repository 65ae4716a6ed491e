"""Link every public name in a text to the reference.

A text writes a name as code: ``Client``, ``Stats.pages``, ``client.stats.get``. Where
the reference has it, it becomes a link, so that no author has to write one.
"""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING, Final

from docutils import nodes
from sphinx import addnodes
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx
    from sphinx.domains.python import ObjectEntry

MODULES: Final = (
    "sitestats",
    "sitestats.types",
    "sitestats.emulator",
    "sitestats.analysis",
    "sitestats.provisioning",
)
# What the examples call their values.
CLASSES: Final = {
    "client.stats": "StatsAPI",
    "client.websites": "WebsitesAPI",
    "client": "Client",
    "stats": "Stats",
    "query": "StatsQuery",
    "outcomes": "Outcomes",
    "stream": "OutcomeStream",
    "outcome": "Succeeded",
    "comparison": "Comparison",
    "report": "ProvisioningReport",
    "emulator": "Emulator",
}
VALUE: Final = re.compile(rf"({'|'.join(map(re.escape, CLASSES))})\.(?=\w+$)")
NAME: Final = re.compile(
    r"(?P<dot>\.?)(?P<name>[a-zA-Z][\w.]*)(?P<call>\(.*\))?", re.DOTALL
)
# What is also named as a plain word.
PLAIN: Final = ("collect", "ensure")


def target_of(text: str, documented: Mapping[str, ObjectEntry]) -> str | None:
    """The full name of what *text* names, if the reference has it."""
    found = NAME.fullmatch(text)
    if found is None:
        return None
    name = VALUE.sub(lambda match: f"{CLASSES[match[1]]}.", found["name"])
    full = (f"{module}.{name}" for module in MODULES)
    target = next((name for name in full if name in documented), None)
    # `limit` may be a parameter, and `.json` the end of a file's name; `.limit`,
    # `limit(5)` and `get_many` are methods.
    said = found["dot"] or found["call"] or "_" in name or name in PLAIN
    # `.problems` is rather that of an error.
    if target or "." in name or not said or name == "problems":
        return target
    owner = "StatsQuery" if found["dot"] and not found["call"] else ""
    methods = [
        method
        for method, entry in documented.items()
        if method.endswith(f"{owner}.{name}")
        and ".Async" not in method
        and entry.objtype == "method"
    ]
    return methods[0] if len(methods) == 1 else None


def link_names(app: Sphinx, page: nodes.document, docname: str) -> None:
    """Make the names in the texts of *page* links."""
    if app.builder.format != "html" or docname == "changelog":
        return
    objects = app.env.domains.python_domain.objects
    for literal in list(page.findall(nodes.literal)):
        target = target_of(literal.astext(), objects)
        if target is None or is_linked(literal, objects[target].node_id):
            continue
        entry = objects[target]
        link = make_refnode(
            app.builder, docname, entry.docname, entry.node_id, literal.deepcopy()
        )
        literal.replace_self(link)


def leave_builtins(_app: Sphinx, page: nodes.document) -> None:
    """Keep Sphinx from taking the type ``bytes`` for an attribute of that name."""
    for link in list(page.findall(addnodes.pending_xref)):
        if link["refdomain"] == "py" and hasattr(builtins, link["reftarget"]):
            link.replace_self(link.children)


def is_linked(node: nodes.Node, anchor: str) -> bool:
    """Whether *node* is in a link, a heading, or what *anchor* describes."""
    above = node.parent
    if above is None:
        return False
    if isinstance(above, addnodes.desc):
        return anchor in above[0]["ids"] or is_linked(above, anchor)
    shown = isinstance(above, nodes.reference | nodes.title)
    return shown or is_linked(above, anchor)


def setup(app: Sphinx) -> dict[str, bool]:
    """Link the names when all pages are read."""
    app.connect("doctree-read", leave_builtins)
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True}
