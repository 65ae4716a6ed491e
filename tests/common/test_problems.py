"""Many problems in a few lines: equal ones once, and those of a kind counted."""

from __future__ import annotations

from sitestats import Problem, SpecError
from sitestats.cli._advice import messages_of


def problem(line: int, message: str) -> Problem:
    """A problem of a file."""
    return Problem(message, rule="website-file", where=f"w.json:{line}:1")


def test_the_same_error_many_times_is_one_line() -> None:
    """Equal errors are one line with their number; two keep both places."""
    once, twice, often = "is wrong", "is bad", "is neither"
    error = SpecError(
        [
            problem(1, once),
            *(problem(line, twice) for line in (2, 3)),
            *(problem(line, often) for line in range(4, 504)),
        ]
    )
    assert list(messages_of(error)) == [
        "w.json:1:1: is wrong",
        "w.json:2:1: is bad (also at w.json:3:1)",
        "w.json:4:1: is neither (and 499 more, up to w.json:503:1)",
    ]


def test_errors_of_one_kind_are_counted_after_the_fifth() -> None:
    """Errors that differ in a value alone are shown five times, and then counted."""
    error = SpecError(
        [problem(line, f"'w{line}' has no name") for line in range(1, 3501)]
    )
    *shown, last = messages_of(error)
    assert shown == [f"w.json:{n}:1: 'w{n}' has no name" for n in range(1, 6)]
    assert last == "… and 3,495 more errors like this one, up to w.json:3500:1"
    five = SpecError(error.problems[:5])
    assert list(messages_of(five)) == shown
