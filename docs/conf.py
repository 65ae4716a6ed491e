"""Configuration of Sphinx, which builds the documentation."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from sitestats._base import errors

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SOURCE = Path(__file__).parent.parent / "src" / "sitestats"
sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "sitestats"
author = "The sitestats developers"
project_copyright = author
release = version = installed_version("sitestats")

extensions = [
    "myst_parser",
    # The order of the pages is in _toc.yml: in a text it would show as code on GitHub.
    "sphinx_external_toc",
    "sphinx_copybutton",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    # Beside each page the same in Markdown, and llms.txt, which lists them.
    "sphinx_llm.txt",
    # Of this project, in _extensions.
    "command_reference",
    "name_links",
    "notebook_pages",
    "picture_themes",
    "section_links",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]

# Every reference to a public name of this package must have a target.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!sitestats\b).*|sitestats\..*\b_.*")]

# No module before each name: each page says once where its names are imported from.
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

llms_txt_description = (
    "A typed Python client of a web analytics service: its Admin API and its Stats API."
)
llms_txt_suffix_mode = "replace"  # a page's twin is at its address with .md for .html
llms_txt_nested_enabled = False
llms_txt_suppress_unknown_node_warnings = ["meta"]

html_theme = "furo"
html_title = f"sitestats {release}"
html_favicon = "_static/favicon.svg"
# What a copy button leaves out.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_static_path = ["_static"]
html_css_files = ["layout.css"]
html_copy_source = False
# No dates in the pages, so that every build makes the same files.
html_last_updated_fmt = None

# Which page a search has to find first, by the words that users type. Sphinx leaves out
# numbers, needs each word on one page, and ranks methods before guides.
KEYWORDS = {
    "assistants": "mcp, claude, chat, llm",
    "authentication": "api key, 401, 403, key file, profile, several accounts",
    "before-you-trust-it": "check, compare service",
    "caching": "redis, cache",
    "command-line": "exit code, ctrl-c, shell",
    "contributing": "architecture, benchmark",
    "dates": (
        "concurrency, many queries, period, time zone, timezone, utc, today, "
        "yesterday, week, month, hourly"
    ),
    "errors": "exception, unknown value, too many requests",
    "every-night": "cron, schedule, docker, kubernetes",
    "fields-and-filters": (
        "utm, wildcard, country, device, events, referrer, top pages, unique "
        "visitors, bounce rate, google analytics, custom properties, 1000, metric, "
        "dimension, type checker"
    ),
    "frames-and-plots": (
        "pandas, polars, data frame, chart, plot, compare, jupyter, last month, "
        "previous period, growth"
    ),
    "in-the-browser": "pyodide, jupyterlite, cors, wasm",
    "installation": "python version, upgrade, windows, macos, requirements",
    "logging": "sentry, opentelemetry, datadog, debug, logging",
    "notebooks/a-year-of-forty-websites": "heat map, heatmap",
    "notebooks/first-look": "notebook",
    "provisioning": (
        "add website, dry run, private website, public website, spreadsheet, yaml, "
        "label"
    ),
    "reference/command": "option, environment, variable, sitestats_store",
    "reliability": (
        "429, 503, proxy, rate limit, retry, retry-after, backoff, ssl, ssl error, "
        "self-signed, ca bundle, timeout, tls, hook, threads, thread safe"
    ),
    "reports": "excel, xlsx, csv, parquet, html, markdown, json, email",
    "testing-in-any-language": "javascript, typescript, java, ruby, php",
    "testing-your-code": "mock, respx, pytest, vcrpy, fixture",
    "the-service": "section, endpoint, parameter, free plan, delete website",
    "warehouse": "duckdb, dbt, postgresql, airflow, backfill, sql",
    "web-applications": "async, gunicorn, pickle",
}

# Public classes that users do not construct: the signature of the constructor is left
# out, as is that of classes without a public name.
NOT_CONSTRUCTED = {
    "Changes",
    "Comparison",
    "Entries",
    "Stats",
}

# An error's __module__ is the public one. Sphinx needs the one that defines it, to find
# the docstrings of its attributes.
for public in vars(errors).values():
    if isinstance(public, type) and public.__module__ == "sitestats":
        public.__module__ = errors.__name__


def show_signature(
    _app: Sphinx,
    what: str,
    name: str,
    obj: Any,
    _options: Any,
    signature: str | None,
    returns: str | None,
) -> tuple[str, str | None] | None:
    """Leave out signatures of what users do not construct; show plain defaults."""
    if not signature:
        return None
    if what == "exception" or (
        what == "class" and ("._" in name or name.rpartition(".")[2] in NOT_CONSTRUCTED)
    ):
        return "", None
    if what != "class" or not attrs.has(obj):
        return None
    fields = attrs.fields_dict(obj)
    signature = re.sub(
        r"attr_dict\['(\w+)'\]\.default",
        lambda match: repr(fields[match[1]].default),
        signature,
    )
    return signature.replace("=NOTHING", "=…"), returns


def keep_colons(
    _app: Sphinx, what: str, _name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Keep Napoleon from reading the text before a colon as a type."""
    if what in {"attribute", "data", "property"}:
        lines[:0] = ["..", ""]


def describe(_app: Sphinx, page: nodes.document) -> None:
    """Make the first sentence of a page its description, for llms.txt and for HTML."""
    for paragraph in page.findall(nodes.paragraph):
        references = paragraph.findall(addnodes.pending_xref)
        named = all(reference.astext() for reference in references)
        if named and isinstance(paragraph.parent, nodes.section):
            text = " ".join(paragraph.astext().split())
            first = re.split(r"(?<=\.) (?=[A-Z])|:$", text)[0]
            page.insert(0, nodes.meta(name="description", content=first))
            return


def add_keywords(app: Sphinx, page: nodes.document) -> None:
    """Make the keywords of a page main entries of the index, first in a search; on the
    page about the service also each "section 4.3", by its heading.
    """
    named = KEYWORDS.get(app.env.docname)
    words = [(word, "") for word in named.split(", ")] if named else []
    if app.env.docname == "the-service":
        titles = (
            (one[0].astext(), one["ids"][0]) for one in page.findall(nodes.section)
        )
        numbers = ((re.match(r"[\d.]*\d", title), anchor) for title, anchor in titles)
        words += [(f"section {number[0]}", at) for number, at in numbers if number]
    entries = [("single", word, anchor, "main", None) for word, anchor in words]
    page.insert(0, addnodes.index(entries=entries))


def keep_options(_app: Sphinx, page: nodes.document) -> None:
    """Mark code with options, which layout.css keeps from breaking behind ``--``."""
    for literal in page.findall(nodes.literal):
        if re.search(r"(^|\s)-", literal.astext()):
            literal["classes"].append("option")


def name_publicly(_app: Sphinx, page: nodes.document, _docname: str) -> None:
    """Give a link to a class that is private where it is defined its public name."""
    for link in page.findall(nodes.reference):
        if "._" in link.get("reftitle", ""):
            target = link.get("refuri") or link["refid"]
            link["reftitle"] = target.rpartition("#")[2]


def keep_text(_translator: Any, _node: nodes.Node) -> None:
    """Write what is in a node, and nothing around it."""


class ModuleTable(SphinxDirective):
    """``{modules}``: a table of all modules, with the first sentence of each."""

    def run(self) -> list[nodes.Node]:
        """Make the table from Markdown."""
        paths = sorted(SOURCE.rglob("*.py"), key=lambda path: (path.parent, path.name))
        rows = [
            f"| `{path.relative_to(SOURCE).as_posix()}` | {first_sentence(path)} |"
            for path in paths
            if path.read_text("utf-8")
        ]
        for path in paths:
            self.env.note_dependency(str(path))
        lines = ["| Module | What it does |", "| --- | --- |", *rows]
        return self.parse_text_to_nodes("\n".join(lines))


def first_sentence(module: Path) -> str:
    """The first sentence of a module's docstring, as Markdown on one line."""
    text = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    paragraph = " ".join(text.partition("\n\n")[0].split()).replace("``", "`")
    return re.split(r"(?<=\.) (?=[A-Z])", paragraph)[0]


def setup(app: Sphinx) -> None:
    """Register the functions above; *keep_colons* before Napoleon's priority of 500."""
    # The asterisk in signatures, which the Markdown would lose.
    app.add_node(nodes.abbreviation, override=True, markdown=(keep_text, keep_text))
    app.connect("autodoc-process-signature", show_signature)
    app.connect("autodoc-process-docstring", keep_colons, priority=100)
    app.connect("doctree-read", describe)
    app.connect("doctree-read", add_keywords)
    app.connect("doctree-read", keep_options)
    app.connect("doctree-resolved", name_publicly)
    app.add_directive("modules", ModuleTable)
