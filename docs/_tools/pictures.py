"""Make the pictures of the README and the documentation: ``nox -s pictures``.

    python docs/_tools/pictures.py result demo      # these two; without names, all

A function makes what a picture shows, and has its name. It runs the real thing against
an emulator whose day is fixed, so that a picture changes only when what it shows does.
Results are photographed in Chromium, which must be there.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache, partial
from io import BytesIO, StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

import matplotlib.pyplot as plt
from PIL import Image, ImageChops
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from rich.color import parse_rgb_hex
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from chromium import FLAGS, find_chromium
from sitestats import Client, Outcomes, StatsQuery
from sitestats.emulator import Emulator

DOCS: Final = Path(__file__).parents[1]
PICTURES: Final = DOCS / "_static" / "pictures"

# -- what a picture is of: a cell of a notebook, a plot, or a terminal

WIDTH: Final = 740
"""Of a page, in CSS pixels: wide enough for a table beside its bars."""
STYLE: Final = """
html{color-scheme:%(scheme)s}
body{margin:0;padding:14px 18px 8px;background:%(paper)s;color:%(ink)s;
font:14px/1.5 system-ui,sans-serif;width:%(width)dpx;box-sizing:border-box}
pre{margin:0 0 12px;padding:9px 12px;font:12.5px/1.5 monospace;
background:%(shade)s;border:1px solid %(line)s;border-radius:3px}
.highlight{background:none}
"""
LIGHT: Final = {"scheme": "light", "paper": "#fff", "ink": "#1f2328"}
DARK: Final = {"scheme": "dark", "paper": "#0d1117", "ink": "#e6edf3"}
THEMES: Final = {
    "light": LIGHT | {"shade": "#f6f8fa", "line": "#d1d9e0", "code": "default"},
    "dark": DARK | {"shade": "#151b23", "line": "#3d444d", "code": "github-dark"},
}


class Cell(NamedTuple):
    """A cell that has run."""

    source: str
    html: str

    def page(self, theme: str) -> str:
        """The cell as a page, light or dark."""
        colours = THEMES[theme]
        code = HtmlFormatter(style=colours["code"], cssclass="highlight")
        style = STYLE % {**colours, "width": WIDTH} + code.get_style_defs(".highlight")
        source = highlight(self.source, PythonLexer(), code)
        return (
            f"<!doctype html><meta charset='utf-8'><style>{style}</style>"
            f"{source}{self.html}"
        )

    def picture(self, theme: str) -> bytes:
        """A photograph of the page, which ends where its content does."""
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "page.html")
            path.write_text(self.page(theme), "utf-8")
            shot = Path(directory, "shot.png")
            subprocess.run(
                [
                    *(find_chromium(), *FLAGS, f"--user-data-dir={directory}/profile"),
                    *("--hide-scrollbars", "--force-device-scale-factor=2"),
                    *(f"--window-size={WIDTH},1600", f"--screenshot={shot}"),
                    path.as_uri(),
                ],
                capture_output=True,
                timeout=120,
                check=True,
            )
            with Image.open(shot) as image:
                whole = image.convert("RGB")
        empty = Image.new("RGB", whole.size, whole.getpixel((0, 0)))
        box = ImageChops.difference(whole, empty).getbbox()
        assert box
        end = min(box[3] + 24, whole.height)
        return small_png(whole.crop((0, 0, whole.width, end)))


OPTIONS: Final[dict[Any, Any]] = {
    # In inches, at which a plot has to be readable.
    "figure.figsize": (6, 3),
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
}
STYLES: Final = {"light": "default", "dark": "dark_background"}


class Plot(NamedTuple):
    """What makes a figure of pyplot."""

    draw: Callable[[], object]

    def picture(self, theme: str) -> bytes:
        """The plot, with nothing in it that differs between runs."""
        paper = THEMES[theme]["paper"]
        with plt.style.context(STYLES[theme]), plt.rc_context(OPTIONS):
            self.draw()
            figure = plt.gcf()
            for part in (figure, *figure.axes):
                part.set_facecolor(paper)
            file = BytesIO()
            figure.savefig(file)
            plt.close(figure)
        with Image.open(file) as image:
            return small_png(image)


def small_png(image: Image.Image) -> bytes:
    """*image* as a PNG with a palette, and none of the metadata."""
    file = BytesIO()
    # As many colours as the letters' edges need; a page has few others.
    reduced = image.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    reduced.save(file, "PNG", optimize=True)
    return file.getvalue()


COLUMNS: Final = 84
# The paper, the ink, and the eight colours of a terminal. Black is grey, so that it can
# be seen on both.
_COLOURS: Final = {
    "light": "ffffff 1f2328 6e7781 cf222e 116329 7d4e00 0969da 8250df 1b7c83 6e7781",
    "dark": "0d1117 e6edf3 6e7681 ff7b72 56d364 e3b341 79c0ff d2a8ff 56d4dd c9d1d9",
}
TERMINALS: Final = {theme: colours.split() for theme, colours in _COLOURS.items()}
FORMAT: Final = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font: {char_height}px/{line_height}px ui-monospace, Menlo, Consolas,
    "DejaVu Sans Mono", "Liberation Mono", monospace;
}}
{styles}
</style>
<defs>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


class Screen(NamedTuple):
    """What a terminal shows, with the escapes of colours."""

    text: str

    def picture(self, theme: str) -> bytes:
        """The terminal, light or dark."""
        paper, ink, *colours = map(parse_rgb_hex, TERMINALS[theme])
        console = Console(record=True, file=StringIO(), width=COLUMNS)
        console.print(Text.from_ansi(self.text), end="")
        svg = console.export_svg(
            title="",
            theme=TerminalTheme(paper, ink, [*colours]),
            code_format=FORMAT,
            unique_id="terminal",
        )
        # Its border can't be seen on white, and its blocks have gaps between them.
        svg = svg.replace("rgba(255,255,255,0.35)", "#8b949e")
        spacing = 'lengthAdjust="spacingAndGlyphs" textLength'
        return svg.replace("textLength", spacing).encode()


def run_command(
    arguments: Sequence[str], settings: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Run a program, and return all that it prints on a terminal with colours."""
    # Neither the settings of whoever makes the picture, nor their taste in colours.
    ours = re.compile("SITESTATS_|NO_COLOR|COLORTERM|LINES")
    kept = {name: value for name, value in os.environ.items() if not ours.match(name)}
    kept |= {"TERM": "xterm-256color", "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    # Tables fit into the width of a terminal, and a pipe has none.
    this_end, other_end = os.openpty()
    env = kept | dict(settings)
    shown = b""
    with (
        os.fdopen(this_end, "rb", buffering=0) as terminal,
        subprocess.Popen(arguments, stdout=other_end, stderr=other_end, env=env),
    ):
        os.close(other_end)
        # Linux reports the end of the program as an error.
        with suppress(OSError):
            while data := terminal.read(65_536):
                shown += data
    return shown.decode().replace("\r\n", "\n")


# -- what the pictures show

NOW: Final = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
Content: TypeAlias = Cell | Plot | Screen
ALL: Final[dict[str, Callable[[], Content]]] = {}


@cache
def emulator(websites: int = 6, days: int = 365) -> Emulator:
    """Websites with some days of made-up traffic."""
    return Emulator.made_up(websites, days=days, now=NOW)


@cache
def client() -> Client:
    """A client of the emulator, for all pictures."""
    return emulator().client()


def october() -> StatsQuery:
    """Last month of the shop."""
    query = StatsQuery("shop.example").during("2026-10").limit(5)
    return query.fields("pageviews", "visitors", "histogram", "pages")


# --- in a notebook


def cell(source: str) -> Cell:
    """A cell that can use the client and the public names."""
    names: dict[str, Any] = {"StatsQuery": StatsQuery}
    shop = StatsQuery("shop.example")
    names |= {"client": client(), "shop": shop, "month": october()}
    return Cell(source, last_value(source, names)._repr_html_())


for name, source in {
    "result": """\
shop = StatsQuery("shop.example").fields("pageviews", "visitors", "histogram", "pages")
client.stats.get(shop.last(days=30).limit(4))
""",
    "outcomes": """\
websites = [*client.websites.list(), "shpo.example"]  # made-up traffic
client.stats.get_many([month.website(name) for name in websites]).collect()
""",
}.items():
    ALL[name] = partial(cell, source)


# --- plots


def outcomes_of(month: str) -> Outcomes:
    """A month of all websites."""
    queries = [october().website(w).during(month) for w in client().websites.list()]
    return client().stats.get_many(queries).collect()


ALL |= {
    "plot-days": lambda: Plot(client().stats.get(october()).plot),
    "plot-websites": lambda: Plot(outcomes_of("2026-10").plot),
    "plot-growth": lambda: Plot(
        outcomes_of("2026-10").compare_to(outcomes_of("2026-09")).plot
    ),
}


# --- the recipes


def last_value(source: str, names: dict[str, Any]) -> Any:
    """Run *source*, and return the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def recipe(title: str, websites: int, days: int) -> Plot:
    """What the code below a heading of the recipes draws."""
    _, _, text = RECIPES.read_text("utf-8").partition("\n```python\n")
    beginning, code = (
        part.partition("```\n")[0]
        for part in (
            text,
            text.partition(f"## {title}\n")[2].partition("```python\n")[2],
        )
    )

    def run() -> object:
        client = emulator(websites, days).client()
        return last_value(
            beginning + code, {"StatsQuery": StatsQuery, "client": client}
        )

    return Plot(run)


RECIPES: Final = DOCS / "reports.md"
for name, title in {
    "hours": "Hours and weekdays as a heat map",
    "devices": "The share of each device over time",
    "funnel": "A funnel of events",
    "launch": "Unusual days after a launch",
}.items():
    ALL[f"recipe-{name}"] = partial(recipe, title, 4, 430)


# --- in a terminal


@contextmanager
def settings(emulator: Emulator) -> Iterator[dict[str, str]]:
    """The variables of a command that uses *emulator*."""
    with emulator.serve() as address, tempfile.TemporaryDirectory() as folder:
        yield {
            "SITESTATS_BASE_URL": address,
            "SITESTATS_API_KEY": emulator.api_key,
            "SITESTATS_USER_ID": emulator.user_id,
            "XDG_STATE_HOME": folder,
        }


# The day of `sitestats demo` is the present: here it is a fixed one.
DEMO: Final = f"""
import datetime, sys
from functools import partial
from sitestats.cli import main
from sitestats.emulator import Emulator
Emulator.demo = partial(Emulator.demo, now={NOW!r})
sys.argv = ["sitestats", "demo"]
main()
"""
COMMAND: Final = (sys.executable, "-m", "sitestats")


def demo() -> Screen:
    """The beginning of what the demo prints."""
    output = run_command([sys.executable, "-c", DEMO])
    # The port is another one each time.
    output = re.sub(r"(?<=127\.0\.0\.1:)\d+", "8080", output)
    shown = output.rpartition("countries")[0].rstrip()
    return Screen(f"{prompt('sitestats demo')}{shown}")


def error() -> Screen:
    """Errors, each with what to do."""
    lines = []
    with settings(emulator()) as environment:
        for line in (
            "stats shpo.example",
            "stats shop.example --fields pageview --since 2026-13-01",
        ):
            output = run_command([*COMMAND, *line.split()], environment)
            lines += [prompt(f"sitestats {line}"), output, "\n"]
    return Screen("".join(lines).rstrip())


def stats() -> Screen:
    """A result in a terminal."""
    line = "stats shop.example --last 7 --fields visitors,histogram,pages --limit 4"
    with settings(emulator()) as environment:
        output = run_command([*COMMAND, *line.split()], environment)
    return Screen(f"{prompt(f'sitestats {line}')}{output.rstrip()}")


ALL |= {"demo": demo, "error": error, "stats": stats}


def prompt(line: str) -> str:
    """A line that was typed, in bold."""
    return f"\x1b[1m$ {line}\x1b[0m\n"


def main() -> None:
    """Write each picture, light and dark, and say how large it is."""
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or ALL:
        content = ALL[name]()
        kind = "svg" if isinstance(content, Screen) else "png"
        for theme in ("light", "dark"):
            path = PICTURES / f"{name}-{theme}.{kind}"
            path.write_bytes(content.picture(theme))
            print(f"{path.name}: {path.stat().st_size / 1000:.1f} kB")


if __name__ == "__main__":
    main()
