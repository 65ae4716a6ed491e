"""``sitestats completion``: shell completion for bash, zsh and fish."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem, get_completion_class

SHELLS = ("bash", "zsh", "fish")

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


@click.command(
    epilog="""\b
    Examples:
      eval "$(sitestats completion bash)"      # in ~/.bashrc
      eval "$(sitestats completion zsh)"       # in ~/.zshrc
      sitestats completion fish > ~/.config/fish/completions/sitestats.fish
    """
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that makes SHELL complete sitestats' commands."""
    from . import COMPLETE_VARIABLE
    from ._shells import register

    register()

    found = get_completion_class(shell)
    assert found is not None, "each of SHELLS has one"
    script = found(ctx.find_root().command, {}, "sitestats", COMPLETE_VARIABLE)
    click.echo(script.source())


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
