"""The soak run, shortened: what a client holds does not grow."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from attrs import evolve

from faults.mixture import FAULTS, MIXTURE
from soak.__main__ import BLOCKS, GROWTH, LONG, what_grew
from soak.measure import Held, can_measure
from soak.phases import AT_ONCE, MOMENTS, VARIANTS, Phase

pytestmark = [pytest.mark.long, pytest.mark.once]

NOTHING = Held(memory=50, blocks=1000, files=10, threads=3, tasks=1)


@pytest.mark.skipif(not can_measure(), reason="reads /proc")
def test_a_short_run() -> None:
    """After some hundreds of calls with one fault in ten, a process holds what it
    held after the first ones, and nothing of a client that is closed.
    """
    result = subprocess.run(
        [sys.executable, "-m", "soak", "--calls", "900", "--first", "40"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    lines = result.stdout.splitlines()[1 : 1 + len(VARIANTS)]
    variants = [line.split(" | ")[0] for line in lines]
    assert variants == [*VARIANTS]
    assert "'ResponseError': " in result.stdout


def test_one_in_ten_is_a_fault() -> None:
    """One response in ten is a fault, and every fault occurs."""
    scripts = MIXTURE.scripts
    assert len(scripts) == 10 * len(FAULTS)
    assert [scripts[n] for n in range(9, len(scripts), 10)] == list(FAULTS)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("memory", GROWTH),
        ("blocks", BLOCKS),
        ("files", AT_ONCE),
        ("threads", 1),
        ("tasks", 0),
    ],
)
def test_growth_is_reported(name: str, allowed: int) -> None:
    """Each kind of growth is named, and small growth is none."""
    phase = Phase("threads", 10, [NOTHING] * len(MOMENTS))
    for more in (0, allowed):
        phase.held[-2] = evolve(NOTHING, **{name: getattr(NOTHING, name) + more})
        assert list(what_grew(phase)) == []
    phase.held[-2] = evolve(NOTHING, **{name: getattr(NOTHING, name) + allowed + 1})
    (seen,) = what_grew(phase)
    assert f"threads: {name} grew: " in seen


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("blocks", BLOCKS), ("files", 0), ("threads", 0), ("tasks", 0)],
)
def test_leftovers_are_reported(name: str, allowed: int) -> None:
    """What a closed client leaves behind is named."""
    phase = Phase("threads", 10, [NOTHING] * len(MOMENTS))
    phase.held[-1] = evolve(NOTHING, **{name: getattr(NOTHING, name) + allowed})
    assert list(what_grew(phase)) == []
    phase.held[-1] = evolve(NOTHING, **{name: getattr(NOTHING, name) + allowed + 1})
    (seen,) = what_grew(phase)
    assert f"threads: {name} are left: " in seen


def test_slow_growth_is_reported() -> None:
    """Memory that still grows in the second half of a long run is reported."""
    half = evolve(NOTHING, memory=NOTHING.memory + GROWTH // 2)
    end = evolve(NOTHING, memory=NOTHING.memory + GROWTH)
    held = [NOTHING, NOTHING, half, end, end]
    assert list(what_grew(Phase("threads", LONG - 1, held))) == []
    (seen,) = what_grew(Phase("threads", LONG, held))
    assert "memory grew" in seen
