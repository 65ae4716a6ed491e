"""Fuzzing of response bytes, the short form: a model or one of our errors."""

from __future__ import annotations

import json
import warnings
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz import FOUND, SEEDS, BrokenError, Input, check, wire
from fuzz.__main__ import run
from fuzz.inputs import EVERYTHING
from fuzz.mutate import KEYS, VALUES, mutate

pytestmark = [pytest.mark.long, pytest.mark.once]


TARGETS = sorted({seed.target for seed in SEEDS})


@pytest.fixture(autouse=True)
def _no_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.target)
def test_every_seed_is_read(seed: Input) -> None:
    """Every seed is a valid response, and becomes a model."""
    refused = seed.status >= 300 or b'"ok": false' in seed.body
    assert (check(seed) == "model") is not refused


def test_found_inputs_break_nothing() -> None:
    """An input that once broke something does not break it again."""
    assert FOUND.is_dir()
    for path in sorted(FOUND.glob("*.json")):
        check(Input.load(path.read_text(encoding="utf-8")))


def test_a_found_input_reads_back() -> None:
    """An input that was saved is read back unchanged."""
    for seed in SEEDS:
        assert Input.load(seed.dump()) == seed


@settings(max_examples=150)
@given(st.sampled_from(TARGETS), st.binary(max_size=300))
def test_any_bytes(target: str, body: bytes) -> None:
    """Random bytes become a model or one of our errors."""
    check(Input(target, body))


values = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=50)
@given(
    st.sampled_from(TARGETS),
    st.dictionaries(st.sampled_from(sorted(EVERYTHING)), values, max_size=3),
    st.sampled_from([200, 200, 200, 206, 302, 400, 429, 500]),
)
def test_any_values_where_fields_belong(
    target: str, changes: dict[str, Any], status: int
) -> None:
    """Any JSON value in the place of a field is a model or one of our errors."""
    body = json.dumps({**EVERYTHING, **changes}).encode()
    check(Input(target, body, status))


def test_a_short_run() -> None:
    """Two thousand mutated inputs break nothing, and come to models and errors of
    each kind.
    """
    outcomes, lines, broken = run(2_000, seed=7)
    assert not broken
    assert outcomes["model"] > 100
    assert len(outcomes) > 8
    assert lines > 500


def test_a_short_run_through_a_socket() -> None:
    """A few hundred mutated responses break nothing when they come over a socket."""
    outcomes = wire.run(300, seed=7)
    assert outcomes.total() == 300
    assert {"model", "ConnectionFailedError", "ResponseError"} <= outcomes.keys()


def test_mutations_are_repeatable_and_differ() -> None:
    """The same seed gives the same inputs, and few are the seed itself."""
    runs = [
        [mutate(SEEDS[1], SEEDS, random) for _ in range(100)]
        for random in (Random(3), Random(3))
    ]
    assert runs[0] == runs[1]
    assert sum(one != SEEDS[1] for one in runs[0]) > 50


def test_breakage_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A foreign exception is reported, and so are two decoders that differ."""
    from fuzz import targets

    def broken(_response: object) -> object:
        raise KeyError("pages")

    monkeypatch.setitem(targets._TARGETS, "totals", broken)
    with pytest.raises(BrokenError, match="KeyError"):
        check(SEEDS[0])
    monkeypatch.undo()
    monkeypatch.setattr(targets, "_same", lambda one, other: False)
    with pytest.raises(BrokenError, match="AssertionError"):
        check(SEEDS[0])
