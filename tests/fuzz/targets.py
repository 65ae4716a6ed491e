"""Targets of the fuzzer: readers of responses, and the check of what they return."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from typing import Any

from sitestats import SiteStatsError, Stats, StatsQuery
from sitestats._common.fields import FIELDS
from sitestats._common.wire import HttpResponse
from sitestats._protocol.requests import (
    add_request,
    custom_request,
    jsonp_request,
    list_request,
    stats_request,
)
from sitestats._protocol.responses import (
    read_added,
    read_json,
    read_jsonp,
    read_stats,
    read_websites,
)
from sitestats._query.builder import requested
from sitestats._results.entries import Entries
from sitestats._transport.body import Body, CorruptError, TooLargeError

from .inputs import Input

_BASE = StatsQuery("example.com")
QUERIES = {
    "totals": _BASE.fields("pageviews"),
    "everything": _BASE.fields(*FIELDS).events("signup", "purchase").limit(3),
    "hours": _BASE.fields("histogram").interval("hour").timezone("Europe/Amsterdam"),
    "weeks": _BASE.fields("histogram").interval("week"),
    "all events": _BASE.all_events(),
    "version 2": _BASE.version(2).fields("pageviews", "pages"),
    "version 1": _BASE.version(1),
    "page": _BASE.fields("pageviews").path("/contact"),
}
_LIMIT = 100_000
"""The limit of the target for compressed bodies, in bytes."""

Read = Callable[[HttpResponse], Any]


class BrokenError(Exception):
    """An input became neither a model nor one of the package's errors."""


def check(one: Input) -> str:
    """Read an input; the name of its error's class, or ``"model"``.

    Raises:
        BrokenError: It became neither a model nor one of the package's errors.
    """
    try:
        # A context manager would take as much time as the reading.
        return _read(one)
    except BrokenError:
        raise
    except BaseException as error:
        message = f"{one.target}: {type(error).__name__}: {error}"
        raise BrokenError(message) from error


def _read(one: Input) -> str:
    if one.target == "gzip":
        return _inflate(one.body)
    response = HttpResponse(one.status, one.headers, one.body)
    try:
        model = _TARGETS[one.target](response)
    except SiteStatsError as error:
        _use_error(error)
        return type(error).__name__
    if isinstance(model, Stats):
        _use_stats(model)
    else:
        _use(model)
    return "model"


def _stats(query: StatsQuery) -> Read:
    expected = requested(query)
    request = stats_request(expected)
    return lambda response: read_stats(response, request, query, expected)


def _targets() -> dict[str, Read]:
    listing, custom = list_request(), custom_request("GET", "/api/x")
    adding = add_request("example.com", timezone="UTC", public=False)
    query = QUERIES["totals"]
    jsonp = jsonp_request(requested(query), "show")
    targets: dict[str, Read] = {name: _stats(query) for name, query in QUERIES.items()}
    targets["list"] = lambda response: read_websites(response, listing)
    targets["custom"] = lambda response: read_json(response, custom)
    targets["jsonp"] = lambda response: read_jsonp(response, jsonp, "show")
    targets["add"] = lambda response: read_added(
        response, adding, hostname="example.com", timezone="UTC", public=False
    )
    return targets


def _inflate(data: bytes) -> str:
    body = Body("gzip", limit=_LIMIT)
    try:
        for start in range(0, len(data), 7):
            body.feed(data[start : start + 7])
        whole = body.finish()
    except CorruptError:
        return "a broken gzip stream"
    except TooLargeError:
        return "a gzip stream above the limit"
    assert len(whole) <= _LIMIT
    return "model"


def _use_error(error: SiteStatsError) -> None:
    text = str(error)
    assert text
    # A hostile response must not control a terminal or fill a log.
    assert all(line.isprintable() for line in text.split("\n")), ascii(text)
    assert len(text) < 20_000
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == text


def _use_stats(stats: Stats) -> None:
    _use(stats)
    assert isinstance(stats.raw(), dict)
    assert isinstance(stats.extra, dict)
    json.dumps(stats.to_dict())
    _use_html(stats)
    for name in stats.requested:
        try:
            value = getattr(stats, name)
        except SiteStatsError:
            continue
        if isinstance(value, Entries):
            _use_entries(value)


def _use_entries(entries: Entries[Any]) -> None:
    _use(entries[:2])
    assert isinstance(entries.truncated, bool)
    json.dumps(entries.to_dicts())
    _use_html(entries)
    for entry in entries:
        repr(entry)
        for name in entry.columns:
            # An attribute that an odd entry lacks raises.
            try:
                value = getattr(entry, name)
            except SiteStatsError:
                continue
            if name in {"pageviews", "visitors", "total"}:
                assert type(value) is int


def _use_html(shown: Stats | Entries[Any]) -> None:
    # A notebook sends it as UTF-8.
    assert shown._repr_html_().encode()


def _use(model: Any) -> None:
    repr(model)
    copy = pickle.loads(pickle.dumps(model))
    assert _same(copy, model)


def _same(one: Any, other: Any) -> bool:
    # NaN is not equal to itself, so the reprs are compared then.
    return bool(one == other) or repr(one) == repr(other)


_TARGETS = _targets()
warnings.filterwarnings("ignore", category=UserWarning, module="fuzz")
