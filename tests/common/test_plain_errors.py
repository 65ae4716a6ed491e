"""Errors that travel: by pickle, by copy, and by their args as JSON."""

from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sitestats
from sitestats._common import errors
from sitestats._common.advice import (
    Advice,
    Argument,
    Message,
    Place,
    PythonOnly,
    Step,
    error_text,
    render,
)
from sitestats._common.errors import SiteStatsError
from sitestats._common.plain_errors import from_plain, to_plain
from sitestats._common.problems import Problem
from sitestats._common.wire import HttpRequest

if TYPE_CHECKING:
    from collections.abc import Callable

E = TypeVar("E", bound=SiteStatsError)

texts = st.text(max_size=20)
names = st.sampled_from(["fields", "limit", "where"])
values = st.one_of(
    texts,
    st.integers(),
    st.none(),
    st.just(...),
    st.booleans(),
    st.dictionaries(texts, texts, max_size=2),
)
steps = st.builds(
    lambda kind, name, given, named: kind(name, *given, **named),
    st.sampled_from([Step, Place]),
    names,
    st.lists(values, max_size=2),
    st.dictionaries(names.filter("name".__ne__), values, max_size=2),
)
advice = st.one_of(
    steps, st.builds(Argument, names, values), st.builds(PythonOnly, texts)
)
messages = st.recursive(
    texts,
    lambda inner: st.lists(st.one_of(inner, advice), max_size=3).map(
        lambda parts: Message(*parts)
    ),
    max_leaves=5,
)
problems = st.lists(st.builds(Problem, messages, texts, texts, messages), max_size=3)
requests = st.none() | st.builds(
    HttpRequest,
    st.sampled_from(["GET", "POST"]),
    texts,
    st.lists(st.tuples(texts, texts), max_size=2).map(tuple),
)
of_the_service = {
    "status": st.integers(200, 600),
    "retry_after": st.none() | st.floats(0, 1e6),
    "code": st.none() | texts,
    "body": st.binary(max_size=5),
    "headers": st.dictionaries(st.sampled_from(["Via", "date"]), texts),
    "request": requests,
}
MADE: dict[type[SiteStatsError], st.SearchStrategy[SiteStatsError]] = {
    errors.FieldNotRequestedError: st.builds(
        errors.FieldNotRequestedError, messages, name=texts
    ),
    errors.MissingExtraError: st.builds(errors.MissingExtraError, texts, extra=texts),
}


def made(cls: type[SiteStatsError]) -> st.SearchStrategy[SiteStatsError]:
    """Errors of *cls* with everything that one can have."""
    build: Callable[..., SiteStatsError] = cls
    if cls in MADE:
        return MADE[cls]
    if issubclass(cls, errors.InvalidInputError):
        return st.builds(build, problems)
    if issubclass(cls, errors.TransportError):
        flags = {"temporary": st.booleans(), "maybe_sent": st.booleans()}
        return st.builds(build, messages, request=requests, **flags)
    if issubclass(cls, errors.ServiceError):
        return st.builds(build, messages, **of_the_service)
    if issubclass(cls, errors.ResponseError):
        body = st.binary(max_size=5)
        return st.builds(
            build, messages, problems=problems, request=requests, body=body
        )
    return st.builds(build, messages)


def classes(cls: type[SiteStatsError] = SiteStatsError) -> list[type[SiteStatsError]]:
    """*cls* and all that are derived of it."""
    derived = [one for sub in cls.__subclasses__() for one in classes(sub)]
    return [cls, *(one for one in derived if one.__module__ == "sitestats")]


CLASSES = classes()
some_error = st.sampled_from(CLASSES).flatmap(made)


def in_words(advice: Advice) -> str:
    """An advice as another surface could word it."""
    return f"<{type(advice).__name__} {to_plain(advice)}>"


def assert_equal(one: SiteStatsError, other: SiteStatsError) -> None:
    """Check that two errors say the same, to people, programs and other surfaces."""
    assert type(one) is type(other)
    assert (str(one), repr(one)) == (str(other), repr(other))
    assert one.retryable is other.retryable
    assert render(one, in_words) == render(other, in_words)
    assert vars(one).keys() == vars(other).keys()
    assert {**vars(one), "body": b""} == {**vars(other), "body": b""}
    for mine, others in zip(problems_of(one), problems_of(other), strict=True):
        assert render(mine.message, in_words) == render(others.message, in_words)


def problems_of(error: SiteStatsError) -> tuple[Problem, ...]:
    """The problems of an error that has some."""
    found: tuple[Problem, ...] = getattr(error, "problems", ())
    return found


def through_json(error: E) -> E:
    """*error* made again of its args, which JSON held."""
    args: list[Any] = json.loads(json.dumps(error.args))
    again: E = type(error)(*args)
    return again


@given(some_error)
def test_an_error_can_be_made_again_from_its_args(error: SiteStatsError) -> None:
    """JSON holds the args of every error, and its class makes it again of them: text,
    status, problems, advice, all but the body. Twice, as from queue to queue.
    """
    once = through_json(error)
    assert_equal(once, error)
    assert_equal(through_json(once), error)
    assert error_text(once) == error_text(error) == error.args[0] or str(error)


@given(
    some_error, st.sampled_from([copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
)
def test_an_error_is_pickled_and_copied_whole(
    error: SiteStatsError, copied: Callable[[SiteStatsError], SiteStatsError]
) -> None:
    """A pickle and a copy of an error have its body and its notes too."""
    error.add_note("while testing")
    other = copied(error)
    assert_equal(other, error)
    assert vars(other) == vars(error)
    assert getattr(other, "name", None) == getattr(error, "name", None)


def test_args_can_be_set_as_those_of_any_exception() -> None:
    """Who adds to an error's args, as old code does, changes its text."""
    error = errors.NotFoundError("unknown", status=404)
    error.args = ("while loading: unknown", *error.args[1:])
    assert error.message == "while loading: unknown"
    assert through_json(error).status == 404


def test_what_no_json_holds_is_a_short_text() -> None:
    """An attribute of the user's own never keeps an error from travelling."""
    error = errors.BusyError("busy")
    vars(error)["seen_by"] = object()
    assert vars(through_json(error)) == {"seen_by": "a value of type object"}


@pytest.mark.parametrize("name", ["Path", "eval", "HttpResponse"])
def test_data_makes_messages_and_problems_alone(name: str) -> None:
    """Data that names another class makes nothing."""
    with pytest.raises(KeyError):
        from_plain({"class": name, "values": ["1+1"], "named": {}})


def test_celery_sends_an_error_as_json() -> None:
    """An error comes out of a result of Celery, which is JSON, as what it was."""
    pytest.importorskip("celery")
    from celery import Celery
    from celery.backends.base import Backend

    error = sitestats.NotFoundError("no such website", status=404, code="GONE")
    backend = Backend(Celery(set_as_current=False))
    stored = backend.decode(backend.encode(backend.prepare_exception(error)))
    assert_equal(backend.exception_to_python(stored), error)
