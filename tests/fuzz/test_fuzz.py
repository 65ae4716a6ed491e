"""Fuzzing of response bytes, the short form: a model or one of our errors."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from fuzz import FOUND, SEEDS, BrokenError, Input, check, wire
from fuzz.__main__ import run

pytestmark = [pytest.mark.long, pytest.mark.once]


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


def test_a_short_run() -> None:
    """Two thousand mutated inputs break nothing, and come to models and errors of
    each kind.
    """
    outcomes, lines, broken = run(2_000, seed=7)
    assert not broken
    # How many goes by the lines that a Python reports as reached.
    assert outcomes["model"] > 20
    assert len(outcomes) > 8
    assert lines > 500


def test_a_short_run_through_a_socket() -> None:
    """A few hundred mutated responses break nothing when they come over a socket."""
    outcomes = wire.run(300, seed=7)
    assert outcomes.total() == 300
    assert {"model", "ConnectionFailedError", "ResponseError"} <= outcomes.keys()


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
