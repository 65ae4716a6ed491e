"""How Sphinx builds the documentation."""

from __future__ import annotations

from importlib.metadata import version as installed_version

project = "sitestats"
author = "The sitestats developers"
project_copyright = author
release = version = installed_version("sitestats")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]

# Every reference to a public name of this package must lead somewhere.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!sitestats\b).*|sitestats\..*\b_.*")]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"sitestats {release}"
html_copy_source = False
# The same files on every machine and day: no dates in the pages.
html_last_updated_fmt = None
