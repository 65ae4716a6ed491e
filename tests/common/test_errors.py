"""warn(): the line at which a warning is shown; and the texts of errors."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from sitestats._common.errors import RateLimitedError, SiteStatsWarning, warn
from sitestats._common.wire import HttpRequest
from sitestats._query import builder


def test_a_warning_is_shown_at_the_first_line_outside_of_the_package() -> None:
    """A warning from deep in the package is shown at the user's own line."""
    code = "def deeper(n):\n    warn('look') if n == 0 else deeper(n - 1)\n"
    inside: dict[str, Any] = {"warn": warn, "__name__": builder.__name__}
    exec(compile(code, "<deeper>", "exec"), inside)
    for depth in (0, 7):
        with pytest.warns(SiteStatsWarning, match="look") as caught:
            inside["deeper"](depth)
        assert caught[0].filename == __file__


def test_a_warning_without_a_user_is_shown_all_the_same() -> None:
    """A warning without any frame outside of the package is shown at the last one."""

    def in_a_thread() -> None:
        thread = threading.Thread(target=warn, args=("look",))
        thread.start()
        thread.join()

    with pytest.warns(SiteStatsWarning, match="look"):
        in_a_thread()


@pytest.mark.parametrize(
    ("seconds", "end"),
    [(None, "GET /a.json)"), (0.2, ": try again in 1 s"), (3600, "in 3,600 s")],
)
def test_a_refusal_says_when_to_try_again(seconds: float | None, end: str) -> None:
    """The text of a 429 has the seconds to wait, rounded up, where they are known."""
    request = HttpRequest("GET", "/a.json")
    error = RateLimitedError(
        "too many", status=429, request=request, retry_after=seconds
    )
    assert str(error).startswith("too many (status 429, GET /a.json)")
    assert str(error).endswith(end)
