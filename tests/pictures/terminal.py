"""What commands print in a terminal, as an SVG."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from io import StringIO
from types import MappingProxyType
from typing import Final, NamedTuple

COLUMNS: Final = 84
OURS: Final = re.compile("SITESTATS_|(NO|FORCE)_COLOR|COLORTERM|COLUMNS|LINES")
# The paper, the ink, and the eight colours of a terminal. Black is grey, so that it can
# be seen on both.
LIGHT: Final = "ffffff 1f2328 6e7781 cf222e 116329 7d4e00 0969da 8250df 1b7c83 6e7781"
DARK: Final = "0d1117 e6edf3 6e7681 ff7b72 56d364 e3b341 79c0ff d2a8ff 56d4dd c9d1d9"
THEMES: Final = {"light": LIGHT.split(), "dark": DARK.split()}
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

    def svg(self, theme: str) -> str:
        """The terminal, light or dark."""
        from rich.color import parse_rgb_hex
        from rich.console import Console
        from rich.terminal_theme import TerminalTheme
        from rich.text import Text

        paper, ink, *colours = map(parse_rgb_hex, THEMES[theme])
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
        return svg.replace("textLength", 'lengthAdjust="spacingAndGlyphs" textLength')


def screen_of(output: str) -> str:
    """What stays of *output*: text after a return replaces the line."""
    return "\n".join(
        line.rstrip("\r").rpartition("\r")[2] for line in output.split("\n")
    )


def run_command(
    arguments: Sequence[str],
    settings: Mapping[str, str] = MappingProxyType({}),
    replies: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Run a program in a terminal of its own, and return all that it prints.

    *settings* are variables of its environment. *replies* are typed when what the
    program has printed ends with their keys.
    """
    import fcntl
    import pty
    import struct
    import termios

    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    # Neither the settings of whoever makes the picture, nor their taste in colours.
    inherited = {
        name: value for name, value in os.environ.items() if not OURS.match(name)
    }
    environment = inherited | {"TERM": "xterm-256color"} | dict(settings)
    with subprocess.Popen(
        arguments, stdin=its, stdout=its, stderr=its, env=environment
    ):
        os.close(its)
        output = b""
        while part := _read(ours):
            output += part
            for question, reply in replies.items():
                if output.endswith(question.encode()):
                    os.write(ours, f"{reply}\n".encode())
    os.close(ours)
    return output.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    # The end of a terminal is an error on Linux.
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
