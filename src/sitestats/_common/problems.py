"""Problems: what is wrong in an input or a response, and one line for equal ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import attrs


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
        place = f"{self.where}: " if self.where else ""
        cited = f" (section {self.section})" if self.section else ""
        return f"{place}{self.message}{cited}"


MOST_LINES: Final = 20
"""A file may have thousands of mistakes."""


def lines_of(problems: Iterable[Problem]) -> Iterator[str]:
    """A line for each of *problems*; those that differ in their place alone are one."""
    found: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        found.setdefault((problem.rule, problem.message), []).append(problem)
    for first, *others in islice(found.values(), MOST_LINES):
        if len(others) > 1:
            yield f"{first} (and {len(others):,} more, up to {others[-1].where})"
        elif others and others[0].where != first.where:
            yield f"{first} (also at {others[0].where})"
        else:
            yield str(first)
    if (more := len(found) - MOST_LINES) > 0:
        yield f"… and {more:,} more"
