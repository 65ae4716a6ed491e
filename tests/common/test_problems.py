"""Many problems in a few lines: equal ones once."""

from __future__ import annotations

from sitestats import Problem, SpecError


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
    assert str(error).splitlines() == [
        "w.json:1:1: is wrong",
        "w.json:2:1: is bad (also at w.json:3:1)",
        "w.json:4:1: is neither (and 499 more, up to w.json:503:1)",
    ]
