"""The fast decoder: it reads what the strict one reads, or leaves it to that."""

from __future__ import annotations

import copy
import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fake_responses import ALL, entry, stats_json
from sitestats._common.jsontext import load_json
from sitestats._protocol.converter import structure_stats
from sitestats._protocol.decoder import shape
from sitestats._results.entries import TimedPageEntry
from sitestats._results.histogram import Bucket

UNTIMED = shape(("pageviews", "visitors", "histogram", "pages", "countries"))
FULL = stats_json(
    pageviews=66,
    visitors=41,
    histogram=[{"date": "2026-11-20", "pageviews": 3, "visitors": 2, "hour": 9}],
    pages=[entry("/", seconds_on_page=12.5), entry("/a", seconds_on_page=None)],
    countries=[entry("NL"), entry(None, 1, 1)],
    referrers=[entry("google")],
    utm_terms=[],
    seconds_on_page=30,
    events=[{"name": "signup", "total": 7}],
    __visitors="prose about visitors",
)
# One value of each kind that JSON has, and some that are hard to read.
SIMPLE = [None, True, False, 0, 7, -1, 10**30, 10**400, 1.0, 1.5, 1e308]
TEXTS = ["", "12", "/", "true", "2026-11-20", "\ud800"]
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [*SIMPLE, *TEXTS, [], ["/"], [None], [[]], {}, {"value": "/"}]
)


def places(value: Any) -> list[tuple[Any, ...]]:
    """The path of every value within a JSON value."""
    found: list[tuple[Any, ...]] = [()]
    if isinstance(value, dict):
        items = list(value.items())
    else:
        items = list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in items:
        found += [(key, *rest) for rest in places(inner)]
    return found


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A valid response in which up to three values were changed or removed."""
    data: Any = copy.deepcopy(FULL)
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(places(data)))
        if not path:
            continue
        parent = data
        for key in path[:-1]:
            parent = parent[key]
        if draw(st.booleans()):
            del parent[path[-1]]
        else:
            parent[path[-1]] = copy.deepcopy(draw(ODD))
    return data


@given(mutated(), st.sampled_from([ALL, UNTIMED]))
@example(FULL, ALL)
def test_the_decoders_agree(data: Any, expected: Any) -> None:
    """What the fast decoder accepts, the strict one reads with the same values."""
    body = json.dumps(data).encode()
    quick = expected.decode(body)
    decoded: Any = load_json(body)
    values, wrong = structure_stats(decoded, expected.types)
    if quick is not None:
        assert (quick, {}) == (values, wrong)
        # 1 == True == 1.0, and the reprs differ.
        assert all(repr(quick[name]) == repr(value) for name, value in values.items())


@given(st.data())
def test_the_decoders_agree_on_broken_bytes(data: st.DataObject) -> None:
    """Bytes that the fast decoder accepts have the same meaning for the strict one."""
    body = bytearray(json.dumps(FULL, ensure_ascii=False).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(body) - 1))
        body[place : place + data.draw(st.integers(0, 2))] = data.draw(
            st.binary(max_size=2)
            | st.sampled_from([b"\xff", b"NaN", b'"', b"1e999", b"\\ud800", b"\x00"])
        )
    quick = ALL.decode(bytes(body))
    if quick is not None:
        decoded: Any = load_json(bytes(body))
        assert structure_stats(decoded, ALL.types) == (quick, {})


def test_a_valid_response_takes_the_fast_decoder() -> None:
    """A usual response is decoded by msgspec alone, straight into the models."""
    quick = ALL.decode(json.dumps(FULL).encode())
    assert quick is not None
    page = quick["pages"][0]
    assert type(page) is TimedPageEntry
    assert page.to_dict() == entry("/", seconds_on_page=12.5)
    assert quick["histogram"] == [Bucket(dt.date(2026, 11, 20), 3, 2, hour=9)]
    assert type(quick["seconds_on_page"]) is float


@pytest.mark.parametrize(
    "body",
    [
        b'{"unknown": "\xff"}',
        b'{"unknown": NaN}',
        b'{"pageviews": 1.0}',
        b"\xef\xbb\xbf{}",
        b'{"unknown": "\\ud800"}',
        b'{"unknown": %s}' % (b"[" * 100_000 + b"]" * 100_000),
        b"",
        b"[]",
    ],
    ids=lambda body: body[:30],
)
def test_the_fast_decoder_leaves_unusual_responses(body: bytes) -> None:
    """Unusual responses are left to the strict decoder, and nothing raises."""
    assert ALL.decode(body) is None
