"""Hints: the help and the errors that name where an argument belongs."""

from __future__ import annotations

import inspect
import re

import anyio
import pytest

from sitestats import Client, StatsQuery
from sitestats._client import unknown_call_arguments
from sitestats._query.rules import FILTERS
from sitestats.emulator import Emulator

QUERY = StatsQuery("semicomplete.com").fields("pageviews")


@pytest.mark.parametrize("call", ["get", "compare", "get_many"])
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("timeout", r": .* client\.with_options\(timeout=…\)\.stats\."),
        ("retries", r": .* client\.with_options\(retries=…\)\.stats\."),
        ("proxy", r": .* Client\(proxy=…\)"),
        ("limit", r": .* StatsQuery\(…\)\.limit\(…\)"),
        ("colour", "$"),
    ],
)
def test_an_unknown_argument_gets_a_hint(call: str, name: str, hint: str) -> None:
    """The error for an argument that a call does not have says where it belongs."""

    async def call_async() -> None:
        async with Emulator.demo().async_client() as client:
            await getattr(client.stats, call)(QUERY, **{name: 2})

    message = rf"{call}\(\) has no argument '{name}'{hint}"
    with (
        Emulator.demo().client() as client,
        pytest.raises(TypeError, match=message),
    ):
        getattr(client.stats, call)(QUERY, **{name: 2})
    with pytest.raises(TypeError, match=message):
        anyio.run(call_async)


@pytest.mark.parametrize("call", ["get", "compare"])
@pytest.mark.parametrize("name", ["shop.example", "website"])
def test_a_website_is_no_query(call: str, name: str) -> None:
    """The first mistake of many: the error has the call that makes a query of it."""
    emulator = Emulator.demo()
    with emulator.client() as client:
        website = client.websites.list()[0]
        given = website if name == "website" else name
        shown = website.hostname if name == "website" else name
        with pytest.raises(TypeError, match=rf"StatsQuery\('{shown}'\)\.fields"):
            getattr(client.stats, call)(given)
    assert len(emulator.requests) == 1


def test_with_options_takes_every_limit() -> None:
    """The hint for a limit names an argument that ``with_options`` has."""
    parameters = list(inspect.signature(Client.with_options).parameters)[1:]
    assert tuple(parameters) == unknown_call_arguments._LIMITS


def test_the_help_of_where_names_every_filter() -> None:
    """``help(StatsQuery.where)`` names every filter."""
    told = re.findall(r"\w+", inspect.getdoc(StatsQuery.where) or "")
    assert set(FILTERS) <= set(told)
