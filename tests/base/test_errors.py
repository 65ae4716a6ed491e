"""warn(): the line at which a warning is shown; and the texts of errors."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import attrs
import pytest

import sitestats
from base.inside import A_MODULE, warn
from sitestats import Problem, SiteStatsError, SiteStatsWarning
from sitestats.types import HttpRequest


def test_a_warning_is_shown_at_the_first_line_outside_of_the_package() -> None:
    """A warning from deep in the package is shown at the user's own line."""
    code = "def deeper(n):\n    warn('look') if n == 0 else deeper(n - 1)\n"
    inside: dict[str, Any] = {"warn": warn, "__name__": A_MODULE}
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
    error = sitestats.RateLimitedError(
        "too many", status_code=429, request=request, retry_after=seconds
    )
    assert str(error).startswith("too many (status 429, GET /a.json)")
    assert str(error).endswith(end)


REQUEST = HttpRequest("GET", "/a.json", (("limit", "5"),))
PROBLEMS = [Problem("is wrong", "limit-range", "4.3", "limit"), Problem("is late")]
RECEIVED = {"body": b"{}", "headers": {"Via": "a gateway"}, "request": REQUEST}
ERRORS: list[SiteStatsError] = [
    sitestats.BusyError("another run"),
    sitestats.InvalidInputError(PROBLEMS),
    sitestats.FieldNotRequestedError("add 'pages'", name="pages"),
    sitestats.MissingExtraError("pandas", extra="pandas"),
    sitestats.RequestTimeoutError("no response", REQUEST, temporary=False, phase="tcp"),
    sitestats.NotFoundError("unknown", status_code=404, code="GONE", **RECEIVED),
    sitestats.RateLimitedError("too many", status_code=429, retry_after=3.5),
    sitestats.InvalidResponseError("is wrong", PROBLEMS, **RECEIVED),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_pickled_and_copied_whole(error: SiteStatsError) -> None:
    """An error of another process, or a copy, has all attributes and notes."""
    error.add_note("while testing")
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert (str(other), vars(other)) == (str(error), vars(error))
        assert getattr(other, "name", None) == getattr(error, "name", None)
        assert other.retryable is error.retryable
    # A body of megabytes is in no log of an error.
    assert "{}" not in repr(error)
    assert type(error).__name__ in repr(error)


def test_the_same_problem_many_times_is_one_line() -> None:
    """Equal problems are one line with their number; two keep both places."""
    once, twice, often = "is wrong", "is bad", "is neither"
    messages = [once, *[twice] * 2, *[often] * 500]
    error = sitestats.InvalidInputError(
        Problem(message, "website-file", where=f"w.json:{line}:1")
        for line, message in enumerate(messages, 1)
    )
    assert str(error).splitlines() == [
        "w.json:1:1: is wrong",
        "w.json:2:1: is bad (also at w.json:3:1)",
        "w.json:4:1: is neither (and 499 more, up to w.json:503:1)",
    ]


def test_celery_raises_an_error_of_the_same_class() -> None:
    """An error that went through Celery, as JSON, has its text and says whether the
    call may be repeated.
    """
    pytest.importorskip("celery")
    from celery import Celery
    from celery.backends.base import Backend

    backend = Backend(Celery(set_as_current=False))

    def sent(error: SiteStatsError) -> Any:
        data = backend.encode(backend.prepare_exception(error))
        return backend.exception_to_python(backend.decode(data))

    added = attrs.evolve(REQUEST, method="POST")
    lost = sitestats.ServerError("it broke", status_code=503, request=added)
    for error in (*ERRORS, lost):
        again = sent(error)
        assert type(again) is type(error)
        assert (str(again), again.to_dict()) == (str(error), error.to_dict())
