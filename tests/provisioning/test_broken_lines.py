"""``ensure`` against the emulator, with a fault at every point of the exchange."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import pytest
from broken_lines import FAULTS, KILLS, WAYS, Bench, Fault, Killed, Way, let_time_pass
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from sitestats import ServerError, WebsiteSpec

pytestmark = pytest.mark.slow

SPECS = [WebsiteSpec(f"{letter}.example") for letter in "abc"]


@pytest.fixture(scope="module")
def bench_of_module() -> Bench:
    """One emulator for all the runs of this file."""
    return Bench()


@pytest.fixture
def bench(bench_of_module: Bench) -> Bench:
    """The emulator without websites."""
    bench_of_module.reset()
    return bench_of_module


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_one_fault_at_every_position(bench: Bench, fault: Fault, way: Way) -> None:
    """Nothing is added twice or lost from the report, and a second run succeeds."""
    for position in range(len(SPECS)):
        bench.reset()
        report = bench.ensure(SPECS, {SPECS[position].hostname: fault}, way=way)
        item = report.items[position]
        if fault.is_certain:
            assert item.state in {"refused", "not_tried"}
        else:
            there = item.hostname in bench.emulator.websites
            assert item.state == ("added" if there else "unknown")
        if report.stopped is None:
            assert len(report.added) >= len(SPECS) - 1
        assert bench.ensure(SPECS, way=way).complete


@pytest.mark.parametrize("first", FAULTS)
def test_two_faults_in_a_row(bench: Bench, first: str) -> None:
    """One fault does not change what comes of another."""
    for second, way in zip(FAULTS, itertools.cycle(WAYS), strict=False):
        bench.reset()
        faults = {
            SPECS[0].hostname: FAULTS[first],
            SPECS[1].hostname: FAULTS[second],
        }
        bench.ensure(SPECS, faults, way=way)
        assert bench.ensure(SPECS, way=way).complete


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["reset before it acted", "reset after it acted"])
def test_without_the_list_a_fate_stays_unknown(
    bench: Bench, name: str, way: Way
) -> None:
    """When the list can't be read back the run stops; the next one finds out."""
    report = bench.ensure(
        SPECS, {"a.example": FAULTS[name]}, way=way, lists_that_fail=(1, 2)
    )
    assert [item.state for item in report.items] == [
        "unknown",
        "not_tried",
        "not_tried",
    ]
    assert bench.ensure(SPECS, way=way).complete


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fault", KILLS.values(), ids=KILLS)
def test_a_killed_run_is_gone_on_with(
    bench: Bench, tmp_path: Path, fault: Fault, way: Way
) -> None:
    """Wherever it was killed, the next run with its journal adds the rest once."""
    for position in range(len(SPECS)):
        bench.reset()
        journal = tmp_path / f"{position}"
        with pytest.raises(Killed):
            bench.ensure(
                SPECS, {SPECS[position].hostname: fault}, way=way, journal=journal
            )
        there = len(bench.emulator.websites)
        assert there == position + (fault.breaks is None)
        let_time_pass(journal)
        report = bench.ensure(SPECS, way=way, journal=journal)
        assert [item.state for item in report.items] == ["added"] * 3
        again = bench.ensure(SPECS, way=way, journal=journal)
        assert [item.state for item in again.items] == ["present"] * 3


# --- generated combinations -------------------------------------------------------

LETTERS = "abcdef"
# Where there is one, journals are in a file system of memory: thousands of
# them would wait for the disk, and that is not what these runs are about.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

hostnames = st.sampled_from([f"{letter}.example" for letter in LETTERS])
any_fault = st.sampled_from([*FAULTS.values(), *KILLS.values()])


class Operators(RuleBasedStateMachine):
    """Several runs over changing lists, with faults, kills and other people.

    Each kind of client has an account of its own, and all are told the same.
    """

    benches: ClassVar[dict[Way, Bench]]

    @initialize()
    def start(self) -> None:
        """An account without websites, and no journal."""
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        for bench in self.benches.values():
            bench.reset()

    @rule(hostname=hostnames)
    def somebody_adds_a_website(self, hostname: str) -> None:
        """Others use the same account, in the dashboard."""
        for bench in self.benches.values():
            if hostname not in bench.emulator.websites:
                bench.emulator.add_website(hostname)

    @rule(
        names=st.lists(hostnames, min_size=1, max_size=5, unique=True),
        faults=st.dictionaries(hostnames, any_fault, max_size=3),
        lists_that_fail=st.tuples(st.integers(1, 4), st.integers(0, 3)),
        with_journal=st.booleans(),
    )
    def run(
        self,
        names: list[str],
        faults: dict[str, Fault],
        lists_that_fail: tuple[int, int],
        with_journal: bool,  # noqa: FBT001 - Hypothesis gives it by its name
    ) -> None:
        """Run a list with each client; what holds for every run is checked there."""
        specs = [WebsiteSpec(name) for name in names]
        outcomes: list[object] = []
        for way, bench in self.benches.items():
            journal = self.folder / way
            if journal.exists():
                let_time_pass(journal)
            before = set(bench.emulator.websites)
            try:
                report = bench.ensure(
                    specs,
                    faults,
                    way=way,
                    journal=journal if with_journal else None,
                    lists_that_fail=lists_that_fail,
                )
            except (Killed, ServerError) as error:
                outcomes.append(type(error))
            else:
                outcomes.append(report)
                told = {item.hostname for item in (*report.added, *report.unknown)}
                assert set(bench.emulator.websites) - before <= told
        assert outcomes == [outcomes[0]] * len(WAYS)

    @invariant()
    def only_what_was_named_is_there(self) -> None:
        """Nothing is ever added but what a list or a person names."""
        for bench in self.benches.values():
            names = {f"{letter}.example" for letter in LETTERS}
            assert set(bench.emulator.websites) <= names

    def teardown(self) -> None:
        """Whatever happened, one run without faults reaches the goal."""
        if not hasattr(self, "folder"):
            return
        specs = [WebsiteSpec(f"{letter}.example") for letter in LETTERS]
        for way, bench in self.benches.items():
            journal = self.folder / way
            gone_on = journal.exists()
            if gone_on:
                let_time_pass(journal)
            report = bench.ensure(specs, way=way, journal=journal if gone_on else None)
            assert report.complete
        shutil.rmtree(self.folder)


@pytest.mark.hypothesis
def test_generated_combinations() -> None:
    """Over 500 runs nothing is added twice, nothing is lost, all reach the goal.

    Under ``nox -s properties`` there are fifty times more.
    """
    examples = settings().max_examples * 2 // 5
    Operators.benches = {way: Bench() for way in WAYS}
    run_state_machine_as_test(
        Operators, settings=settings(max_examples=examples, stateful_step_count=12)
    )
    assert sum(bench.runs for bench in Operators.benches.values()) >= 500
