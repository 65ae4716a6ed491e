"""A cell of a notebook with its result, as a page of HTML."""

from __future__ import annotations

import ast
from typing import Any, Final, NamedTuple

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

STYLE: Final = """
html{color-scheme:%(scheme)s}
body{margin:0;padding:14px 18px 8px;background:%(paper)s;color:%(ink)s;
font:14px/1.5 system-ui,sans-serif;width:%(width)dpx;box-sizing:border-box}
pre{margin:0 0 12px;padding:9px 12px;font:12.5px/1.5 monospace;
background:%(shade)s;border:1px solid %(line)s;border-radius:3px}
.highlight{background:none}
.dataframe{border-collapse:collapse;border:0;font-size:12px}
.dataframe th,.dataframe td{border:0;padding:4px 9px;text-align:right}
.dataframe thead tr{border-bottom:1px solid %(line)s}
.dataframe tbody tr:nth-child(odd){background:%(shade)s}
"""
LIGHT: Final = {"scheme": "light", "paper": "#fff", "ink": "#1f2328"}
DARK: Final = {"scheme": "dark", "paper": "#0d1117", "ink": "#e6edf3"}
THEMES: Final = {
    "light": LIGHT | {"shade": "#f6f8fa", "line": "#d1d9e0", "code": "default"},
    "dark": DARK | {"shade": "#151b23", "line": "#3d444d", "code": "github-dark"},
}
WIDTH: Final = 740
"""Of a page, in CSS pixels: wide enough for a table beside its bars."""


class Cell(NamedTuple):
    """A cell that has run."""

    source: str
    html: str

    def page(self, theme: str) -> str:
        """The cell as a page, light or dark."""
        colours = THEMES[theme]
        code = HtmlFormatter(style=colours["code"], cssclass="highlight")
        style = STYLE % {**colours, "width": WIDTH} + code.get_style_defs(".highlight")
        source = self.source and highlight(self.source, PythonLexer(), code)
        return (
            f"<!doctype html><meta charset='utf-8'><style>{style}</style>"
            f"{source}{self.html}"
        )


def run_cell(source: str, names: dict[str, Any]) -> Cell:
    """Run a cell whose last line is what it shows."""
    return Cell(source, last_value(source, names)._repr_html_())


def last_value(source: str, names: dict[str, Any]) -> Any:
    """Run *source*, and return the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
