"""Scripts that make bash, zsh and fish complete, and what the command answers them.

They are not click's, in which ``--field=pag`` does not complete, a list with commas
does not in fish, and ``country=`` gets a space behind it. A script passes the words
before the one at the cursor, one a line, and that one. It gets a value a line, with
its description behind a tab.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Final

from click.shell_completion import (
    CompletionItem,
    ShellComplete,
    add_completion_class,
)

WORDS_VARIABLE: Final = "_SITESTATS_WORDS"
WORD_VARIABLE: Final = "_SITESTATS_WORD"

_BASH: Final = r"""_sitestats() {
    local IFS=$'\n' line
    COMPREPLY=()
    for line in $(
        export _SITESTATS_WORDS="${COMP_WORDS[*]:0:COMP_CWORD}"
        export _SITESTATS_WORD="${COMP_WORDS[COMP_CWORD]}"
        _SITESTATS_COMPLETE=bash_complete "$1"
    ); do
        case $line in
            :file | :dir) compopt -o default 2>/dev/null ;;
            *=) compopt -o nospace 2>/dev/null; COMPREPLY+=("$line") ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done
}
complete -o nosort -F _sitestats sitestats 2>/dev/null ||
    complete -F _sitestats sitestats"""

_ZSH: Final = r"""#compdef sitestats
_sitestats() {
    local line value
    local -a described open
    for line in "${(@f)$(
        export _SITESTATS_WORDS="${(pj:\n:)words[1,CURRENT-1]}"
        export _SITESTATS_WORD="${words[CURRENT]}"
        _SITESTATS_COMPLETE=zsh_complete "${words[1]}"
    )}"; do
        value="${line%%$'\t'*}"
        case $value in
            ("") ;;
            (:file) _files ;;
            (:dir) _files -/ ;;
            (*=) open+=("$value") ;;
            (*)
                described+=("${value//:/\\:}${${line#$value}/$'\t'/:}")
                ;;
        esac
    done
    if (( $#described )); then _describe -V sitestats described; fi
    if (( $#open )); then compadd -S '' -a open; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _sitestats "$@"
else
    compdef _sitestats sitestats
fi"""

_FISH: Final = r"""function __sitestats_complete
    set -l current (commandline -ct)
    set -lx _SITESTATS_WORDS (commandline -opc | string collect)
    set -lx _SITESTATS_WORD "$current"
    set -lx _SITESTATS_COMPLETE fish_complete
    for line in (sitestats)
        switch $line
            case :file
                __fish_complete_path "$current"
            case :dir
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete --no-files --command sitestats --arguments '(__sitestats_complete)'"""


class _Shell(ShellComplete):
    """What the command answers a shell."""

    script: str

    def source(self) -> str:
        """The script."""
        return self.script

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one at the cursor, and that one."""
        words = os.environ.get(WORDS_VARIABLE, "").split("\n")
        words.append(os.environ.get(WORD_VARIABLE, ""))
        # bash makes three words of --field=pages, and two of --field=
        kept = [
            word
            for before, word in pairwise(words)
            if not (word == "=" and before.startswith("--"))
        ]
        if words[-1] == "=":
            kept.append("")
        return kept[:-1], kept[-1]

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """The values for the word at the cursor, each of which replaces it."""
        items = super().get_completions(args, incomplete)
        option, equals, _ = incomplete.partition("=")
        if equals and option.startswith("--"):
            for item in items:
                item.value = f"{option}={item.value}"
        return items

    def format_completion(self, item: CompletionItem) -> str:
        """The line for a value."""
        if item.type != "plain":
            return f":{item.type}"
        if not item.help or self.name == "bash":
            return str(item.value)
        return f"{item.value}\t{' '.join(item.help.split())}"


def register() -> None:
    """Tell click to use these scripts."""
    for shell, script in (("bash", _BASH), ("zsh", _ZSH), ("fish", _FISH)):
        members = {"name": shell, "script": script}
        add_completion_class(type(shell, (_Shell,), members))
