"""A mistake in a list of websites: what to do, and its place."""

from __future__ import annotations

from typing import NoReturn

from sitestats._base.errors import InvalidInputError, Problem


def problem(message: str, where: str) -> Problem:
    """A mistake at a place such as ``"list.csv:3"``."""
    return Problem(message, rule="website-file", where=where)


def refuse(message: str, where: str) -> NoReturn:
    """Refuse a list that can't be understood.

    Raises:
        InvalidInputError: Always.
    """
    raise InvalidInputError([problem(message, where)]) from None
