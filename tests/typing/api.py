"""What type checkers make of the public names; read by them, never run."""

from __future__ import annotations

from typing import assert_type

from sitestats._wire import HttpRequest


def requests(request: HttpRequest) -> None:
    """A request's parameters stay pairs of strings."""
    assert_type(request.params, tuple[tuple[str, str], ...])
