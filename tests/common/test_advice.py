"""Advice in messages: data, which each surface renders in words of its own."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats import (
    ConfigurationError,
    FieldNotRequestedError,
    RateLimitedError,
    ResponseError,
    SiteStatsError,
    SiteStatsWarning,
    TransportError,
)
from sitestats._common.advice import (
    Advice,
    Argument,
    Message,
    PythonOnly,
    Step,
    at,
    error_text,
    render,
)
from sitestats._common.problems import Problem, line_of

NAMES = st.sampled_from(["fields", "where", "limit"])
VALUES = st.text() | st.integers() | st.just(...)
ADVICE = (
    st.builds(Step, NAMES, VALUES, VALUES)
    | st.builds(Argument, NAMES, VALUES)
    | st.builds(PythonOnly, st.text())
)


def words(advice: Advice) -> str:
    """What another surface says: the name of the class."""
    return f"<{type(advice).__name__}>"


@given(st.lists(st.text() | ADVICE), ADVICE)
def test_a_message_is_its_text_in_python_wherever_it_goes(
    parts: list[str | Advice], last: Advice
) -> None:
    """A message equals its text for Python, and keeps its advice in every copy."""
    message: str = ""
    for part in (*parts, last):
        message = message + part
    rendered = "".join(p if isinstance(p, str) else words(p) for p in (*parts, last))
    assert message == "".join(map(str, (*parts, last)))
    assert hash(message) == hash(str(message))
    for same in (
        message,
        pickle.loads(pickle.dumps(message)),
        copy.copy(message),
        copy.deepcopy(message),
        *("" + message, message + "", Message(message)),
    ):
        assert same == message
        assert render(same, words) == rendered


def test_a_plain_text_has_no_advice() -> None:
    """A text without advice is the same on every surface."""
    assert render("use .limit(5)", words) == "use .limit(5)"


MESSAGE = "use " + Step("version", 6)
ERRORS: list[BaseException] = [
    SiteStatsError(MESSAGE),
    ConfigurationError(MESSAGE),
    FieldNotRequestedError(MESSAGE, name="pages"),
    TransportError(MESSAGE),
    RateLimitedError(MESSAGE, status=429),
    ResponseError(MESSAGE, problems=[Problem("is wrong", where="$.pages")]),
    SiteStatsWarning(MESSAGE),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_the_text_of_an_error_has_its_advice(error: BaseException) -> None:
    """An error or a warning shows Python and keeps the advice, also when pickled."""
    assert type(str(error)) is str
    for same in (error, pickle.loads(pickle.dumps(error))):
        text = error_text(same)
        assert text == str(same) == str(error)
        assert render(text, words) == str(error).replace(".version(6)", "<Step>")


def test_the_line_of_a_problem_has_its_advice_and_its_place() -> None:
    """A problem's line has its place, its message and its section, all as data."""
    problem = Problem(MESSAGE, section="9", where=at("where", country=...))
    line = line_of(problem)
    assert line == str(problem) == "where(country=…): use .version(6) (section 9)"
    assert render(line, words) == "<Place>: use <Step> (section 9)"
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert {problem, copy.deepcopy(problem)} == {problem}
