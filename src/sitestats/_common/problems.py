"""Problems: what is wrong in an input or a response, and a few lines for many."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs

from .advice import Message


@attrs.frozen
class Problem:
    """One broken rule, or one wrong place in a response or a file."""

    message: str
    """What is wrong and what to do, as one sentence."""
    rule: str = ""
    """The rule's name, such as ``"limit-range"``; empty where none has one."""
    section: str = ""
    """Where the service's document states the rule, such as ``"4.3"``."""
    where: str = ""
    """The step (``"limit"``), the JSON path (``"$.pages[3].visitors"``), or
    the place in a file (``"websites.toml:12:5"``)."""

    def __str__(self) -> str:
        return str(line_of(self))


def line_of(problem: Problem) -> Message:
    """The whole text of *problem*, with its place and its section."""
    place = (problem.where, ": ") if problem.where else ()
    cited = f" (section {problem.section})" if problem.section else ""
    return Message(*place, problem.message, cited)


MOST_OF_A_KIND: Final = 5
"""The most lines for errors that differ in a value alone."""

QUOTED: Final = r"""'[^']*'|"[^"]*\""""
_VALUE: Final = re.compile(rf"{QUOTED}|[0-9]+")
# What follows is advice, which not every error of a kind has.
_ADVICE: Final = re.compile(r",? such as …|(?::| \() ?did you mean …")


def grouped_lines(
    problems: Iterable[Problem],
    *,
    place_of: Callable[[Problem], str],
    rewrite: Callable[[str], str] = str,
) -> Iterator[str]:
    """A line for each of *problems*; those that are equal, or many, are counted.

    Args:
        problems: In their order, which is kept within a kind.
        place_of: Where a problem is.
        rewrite: Puts other words into a line.
    """
    kinds: dict[tuple[str, str], dict[str, list[Problem]]] = {}
    for problem in problems:
        masked = _VALUE.sub("…", problem.message)
        kind = (problem.rule, _ADVICE.split(masked, maxsplit=1)[0])
        kinds.setdefault(kind, {}).setdefault(problem.message, []).append(problem)
    for same in kinds.values():
        groups = list(same.values())
        shown, counted = groups[:MOST_OF_A_KIND], groups[MOST_OF_A_KIND:]
        for equal in shown:
            first, *others = equal
            line = rewrite(line_of(attrs.evolve(first, where=place_of(first))))
            if len(others) == 1:
                line += f" (also at {place_of(others[0])})"
            elif others:
                line += f" (and {len(others):,} more, up to {place_of(others[-1])})"
            yield line
        if counted:
            number = sum(map(len, counted))
            noun = "error" if number == 1 else "errors"
            yield (
                f"… and {number:,} more {noun} like this one, up to "
                f"{place_of(counted[-1][-1])}"
            )
