"""``{commands}``: every command with its options, as the command itself knows them.

It is made when the pages are built, so that the pages and the command can't differ.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Final

import click
from sphinx.util.docutils import SphinxDirective

from sitestats.cli._app import app as program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.application import Sphinx


QUOTE: Final = "'"
_TYPED: Final = r"((?<![\w-])--?[a-z][\w-]*|'[^']+'(?!\w)|\b[A-Z]+_[A-Z_]+\b)"
"""What a text of an option tells to type: an option, a quoted text, a variable."""


def reference() -> str:
    """The sections of all commands, in Markdown."""
    return "\n".join(_command(program, click.Context(program, info_name="sitestats")))


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    """The section of a command, and the sections of the commands below it."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"## {context.command_path}\n\n```text\n{usage}\n```\n"
    yield from _help(command.help or "")
    yield from _options(command, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _command(below, click.Context(below, context, name))


def _help(text: str) -> Iterator[str]:
    """The paragraphs of a help; what click leaves as it is becomes a block."""
    for paragraph in re.split(r"\n\s*\n", cleandoc(text.replace("\f", ""))):
        if not paragraph.lstrip().startswith("\b"):
            yield f"{paragraph}\n"
            continue
        title, _, examples = paragraph.lstrip("\b\n ").partition("\n")
        lines = [line.strip() for line in examples.strip().splitlines()]
        yield "\n".join([f"{title}\n", "```text", *lines, "```\n"])


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """A table of the options; their texts name the defaults and the variables."""
    rows = [
        (" ".join([*option.opts, *option.secondary_opts]), option)
        for option in command.get_params(context)
        if isinstance(option, click.Option) and "--help" not in option.opts
    ]
    if rows:
        yield "| Option | What it does |\n| --- | --- |"
    for names, option in rows:
        written = ", ".join(f"`{name}`" for name in names.split())
        value = _value(option, context)
        yield f"| {written}{value} | {_cell(option.help or '')} |"
    yield ""


def _value(option: click.Option, context: click.Context) -> str:
    """What follows an option, as code."""
    if option.is_flag or option.count:
        return ""
    metavar: Any = option.make_metavar
    try:
        text = metavar(ctx=context)
    except TypeError:
        # Below click 8.2, it takes no context.
        text = metavar()
    return f" `{text.replace('|', ' or ').strip('[]')}`"


def _cell(text: str) -> str:
    """A text in a cell of a table, where what is typed is code."""
    parts = re.split(_TYPED, text)
    typed = [f"`{part.strip(QUOTE)}`" for part in parts[1::2]]
    plain = [re.sub(r"([|*<])", r"\\\1", part) for part in parts[::2]]
    return "".join(
        part for pair in zip(plain, [*typed, ""], strict=True) for part in pair
    )


class Commands(SphinxDirective):
    """``{commands}``: the sections of all commands."""

    def run(self) -> list[nodes.Node]:
        """Make the sections from Markdown."""
        self.env.note_reread()
        return self.parse_text_to_nodes(reference(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
