"""``ensure`` against the emulator, with a fault at every point of the exchange."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from connection_faults import (
    FAULTS,
    KILLS,
    VARIANTS,
    EnsureRunner,
    Fault,
    Killed,
    Variant,
    let_time_pass,
)
from sitestats import ServerError, WebsiteSpec

pytestmark = pytest.mark.slow

SPECS = [WebsiteSpec(f"{letter}.example") for letter in "abc"]


@pytest.fixture(scope="module")
def runner_of_module() -> EnsureRunner:
    """One emulator for all tests of this file."""
    return EnsureRunner()


@pytest.fixture
def runner(runner_of_module: EnsureRunner) -> EnsureRunner:
    """The emulator without websites."""
    runner_of_module.reset()
    return runner_of_module


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_one_fault_at_every_position(
    runner: EnsureRunner, fault: Fault, variant: Variant
) -> None:
    """After any fault the report is right, and a rerun adds the rest, nothing twice."""
    for position in range(len(SPECS)):
        runner.reset()
        report = runner.ensure(
            SPECS, {SPECS[position].hostname: fault}, variant=variant
        )
        item = report.items[position]
        if fault.is_certain:
            assert item.state in {"refused", "not_tried"}
        else:
            exists = item.hostname in runner.emulator.websites
            assert item.state == ("added" if exists else "unknown")
        if report.stopped is None:
            assert len(report.added) >= len(SPECS) - 1
        let_time_pass()
        assert runner.ensure(SPECS, variant=variant).complete


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("fault", KILLS.values(), ids=KILLS)
def test_a_killed_run_can_be_continued(
    runner: EnsureRunner, tmp_path: Path, fault: Fault, variant: Variant
) -> None:
    """After a kill at any add, a run with the same journal adds the rest once."""
    for position in range(len(SPECS)):
        runner.reset()
        journal = tmp_path / f"{position}"
        with pytest.raises(Killed):
            runner.ensure(
                SPECS,
                {SPECS[position].hostname: fault},
                variant=variant,
                journal=journal,
            )
        existing = len(runner.emulator.websites)
        assert existing == position + (fault.breaks is None)
        let_time_pass(journal)
        report = runner.ensure(SPECS, variant=variant, journal=journal)
        assert [item.state for item in report.items] == ["added"] * 3
        again = runner.ensure(SPECS, variant=variant, journal=journal)
        assert [item.state for item in again.items] == ["present"] * 3


# --- generated combinations -------------------------------------------------------

LETTERS = "abcdef"
# Journals are in a file system in memory if there is one: thousands of them would
# wait for the disk, which these runs do not test.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

hostnames = st.sampled_from([f"{letter}.example" for letter in LETTERS])
any_fault = st.sampled_from([*FAULTS.values(), *KILLS.values()])


class Operators(RuleBasedStateMachine):
    """Several runs over changing lists, with faults, kills and websites of others.

    Each kind of client has an account of its own, and all get the same faults.
    """

    runners: ClassVar[dict[Variant, EnsureRunner]]

    @initialize()
    def start(self) -> None:
        """An account without websites, and no journal."""
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        for runner in self.runners.values():
            runner.reset()

    @rule(hostname=hostnames)
    def somebody_adds_a_website(self, hostname: str) -> None:
        """Others add websites to the same account, in the dashboard."""
        for runner in self.runners.values():
            if hostname not in runner.emulator.websites:
                runner.emulator.add_website(hostname)

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
        """Run ``ensure`` with each client, which checks what holds for every run."""
        specs = [WebsiteSpec(name) for name in names]
        outcomes: list[object] = []
        for variant, runner in self.runners.items():
            journal = self.folder / variant
            let_time_pass(*[journal] * journal.exists())
            before = set(runner.emulator.websites)
            try:
                report = runner.ensure(
                    specs,
                    faults,
                    variant=variant,
                    journal=journal if with_journal else None,
                    lists_that_fail=lists_that_fail,
                )
            except (Killed, ServerError) as error:
                outcomes.append(type(error))
            else:
                outcomes.append(report)
                reported = {item.hostname for item in (*report.added, *report.unknown)}
                assert set(runner.emulator.websites) - before <= reported
        assert outcomes == [outcomes[0]] * len(VARIANTS)

    @invariant()
    def only_named_websites_exist(self) -> None:
        """Only websites that a list or a person names are added."""
        for runner in self.runners.values():
            names = {f"{letter}.example" for letter in LETTERS}
            assert set(runner.emulator.websites) <= names

    def teardown(self) -> None:
        """Whatever happened, one run without faults completes."""
        if not hasattr(self, "folder"):
            return
        specs = [WebsiteSpec(f"{letter}.example") for letter in LETTERS]
        for variant, runner in self.runners.items():
            journal = self.folder / variant
            continued = journal.exists()
            let_time_pass(*[journal] * continued)
            report = runner.ensure(
                specs, variant=variant, journal=journal if continued else None
            )
            assert report.complete
        shutil.rmtree(self.folder)


@pytest.mark.hypothesis
def test_generated_combinations() -> None:
    """In some 80 random runs no website is added twice or lost, and all complete.

    Under ``nox -s properties`` there are some 20,000.
    """
    examples = settings().max_examples * 2 // 5
    Operators.runners = {variant: EnsureRunner() for variant in VARIANTS}
    run_state_machine_as_test(
        Operators, settings=settings(max_examples=examples, stateful_step_count=12)
    )
    assert sum(runner.runs for runner in Operators.runners.values()) >= 10 * examples
