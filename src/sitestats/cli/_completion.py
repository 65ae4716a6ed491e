"""``sitestats completion``: shell completion for bash, zsh and fish."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import click
from click.shell_completion import CompletionItem, get_completion_class

CHANGES: Final = {
    "bash": (
        "COMPREPLY+=($value)",
        "COMPREPLY+=($value); [[ $value != *= ]] || compopt -o nospace",
    ),
    "zsh": (
        "compadd -U",
        """local -a end; [[ $completions[1] = *= ]] && end=(-S '')
        compadd "${end[@]}" -U""",
    ),
    "fish": ('string split ","', 'string split -m 1 ","'),
}
"""What differs from click's script of each shell: a value follows ``country=`` without
a space, and in fish a value may have a comma, as ``pages,countries``."""

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


@click.command(
    epilog="""\b
    Examples:
      eval "$(sitestats completion bash)"      # in ~/.bashrc
      eval "$(sitestats completion zsh)"       # in ~/.zshrc
      sitestats completion fish > ~/.config/fish/completions/sitestats.fish
    """
)
@click.argument("shell", type=click.Choice([*CHANGES]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script by which SHELL completes commands."""
    found = get_completion_class(shell)
    assert found is not None, "click has one for each"
    script = found(ctx.find_root().command, {}, "sitestats", "_SITESTATS_COMPLETE")
    click.echo(script.source().replace(*CHANGES[shell]))


def one_of(
    names: Callable[[], Iterable[str]], *, suffix: str = "", separator: str = "\n"
) -> Complete:
    """Complete to *names*, which is called when the shell completes.

    Of a list with separators the last name is completed.
    """

    def complete(
        _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, found, begun = incomplete.rpartition(separator)
        return [
            CompletionItem(before + found + name + suffix)
            for name in names()
            if name.lower().startswith(begun.lower())
        ]

    return complete
