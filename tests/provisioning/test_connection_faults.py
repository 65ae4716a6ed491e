"""``ensure`` against the emulator, with a fault at every point of the exchange."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from both_clients import VARIANTS, faked, opened
from provisioning.journals import Killed, hostname_of, let_time_pass, sent
from sitestats import RetryPolicy, ServerError, WebsiteSpec
from sitestats.emulator import Emulator, RecordedRequest
from sitestats.provisioning import ProvisioningReport

pytestmark = pytest.mark.slow

SPECS = [WebsiteSpec(f"{letter}.example") for letter in "abc"]
ONE_RETRY = RetryPolicy(retries=1, wait_initial=0.0)
NO: Final = {"ok": False, "success": False, "error": "No"}

FAULTS: Final[dict[str, dict[str, Any]]] = {
    # Of the user's own client it is not known whether it sent anything.
    "not connected": {"before": httpx.ConnectError},
    "broken while sending": {"before": httpx.WriteError},
    # After it was sent, before or after the website was added.
    "reset before it was added": {"reset": True},
    "reset after it was added": {"reset": True, "processed": True},
    "response too late": {"after": httpx.ReadTimeout},
    "cut off within the body": {"cut_off": 20},
    # A complete response without an outcome.
    "failed": {"status": 500},
    "gateway gave up": {"status": 504, "processed": True, "body": "<html>Late"},
    "a page of HTML": {"body": "<html></html>", "processed": True},
    "an empty object": {"body": {}, "processed": True},
    # A complete error response.
    "refused": {"status": 400, "body": NO, "is_certain": True},
    "refused with 200": {"status": 200, "body": NO, "is_certain": True},
    "forbidden": {"status": 403, "body": NO, "is_certain": True},
    "too many": {"status": 429, "body": NO, "retry_after": 0, "is_certain": True},
    "redirected": {"redirect": "https://other.example/", "is_certain": True},
    "killed before it was sent": {"before": Killed},
    "killed before the response": {"after": Killed},
}
"""What is raised before or after the service gets an add, or an argument of the
emulator's ``fail_next``; certain is what the client knows without the list."""


class Runner:
    """Runs ``ensure`` against one emulator: a new one for each run takes long."""

    def __init__(self) -> None:
        self.emulator = Emulator()

    def reset(self) -> None:
        """Remove every website."""
        for hostname in self.emulator.websites:
            self.emulator.remove_website(hostname)

    def ensure(
        self,
        specs: list[WebsiteSpec],
        faults: Mapping[str, str] | None = None,
        *,
        variant: str = "blocking",
        journal: Path | None = None,
        failing_lists: range = range(0),
    ) -> ProvisioningReport:
        """Run ``ensure`` once, with these *faults* of adds; check what always holds."""
        emulator, named = self.emulator, faults or {}
        emulator.clear_faults()
        emulator.forget_requests()
        raised: dict[str, dict[str, Any]] = {}
        for hostname, name in named.items():
            fault = {**FAULTS[name]}
            raised[hostname] = {
                key: fault.pop(key, None) for key in ("before", "after")
            }
            fault.pop("is_certain", None)
            if fault:
                about = f'"{hostname}"'.encode()
                emulator.fail_next(**fault, when=lambda r, about=about: about in r.body)
        there: list[str] = []
        lists = 0

        def watch(request: RecordedRequest) -> bool:
            nonlocal lists
            if request.method == "GET":
                lists += 1
                return lists in failing_lists
            if (hostname := hostname_of(request.body)) in emulator.websites:
                there.append(hostname)
            return False

        def respond(request: httpx.Request) -> httpx.Response:
            name = hostname_of(request.content) if request.method == "POST" else ""
            if error := raised.get(name, {}).get("before"):
                raise error("the connection broke")
            response = inner.handle_request(request)
            response.read()
            if error := raised.get(name, {}).get("after"):
                raise error("the connection broke")
            return response

        inner = emulator.transport()
        emulator.fail_next(None, status=500, when=watch)
        account = {"api_key": emulator.api_key, "user_id": emulator.user_id}
        try:
            with (
                faked() as routes,
                opened(variant, retries=ONE_RETRY, **account) as client,
            ):
                routes.route().mock(side_effect=respond)
                report = client.websites.ensure(specs, journal=journal)
        finally:
            assert len(sent(emulator)) == len({*sent(emulator)}), "sent twice in a run"
            assert there == [], "sent although it existed"
        assert [item.spec for item in report.items] == specs
        for item in report.items:
            exists = item.hostname in emulator.websites
            assert item.state == "unknown" or exists == (
                item.state in {"added", "present", "differing"}
            )
        return report


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_fault(variant: str) -> None:
    """After any fault the report is right, and a rerun adds the rest, nothing twice."""
    runner = Runner()
    for name, fault in FAULTS.items():
        if Killed in fault.values():
            continue
        runner.reset()
        report = runner.ensure(SPECS, {"b.example": name}, variant=variant)
        item = report.items[1]
        if fault.get("is_certain"):
            assert item.state in {"refused", "not_tried"}, name
        else:
            exists = item.hostname in runner.emulator.websites
            assert item.state == ("added" if exists else "unknown"), name
        assert report.stopped or len(report.added) >= len(SPECS) - 1, name
        let_time_pass()
        assert runner.ensure(SPECS, variant=variant).complete, name


LETTERS = "abcdef"
# Journals are in a file system in memory if there is one: thousands of them would
# wait for the disk, which these runs do not test.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

hostnames = st.sampled_from([f"{letter}.example" for letter in LETTERS])


class Operators(RuleBasedStateMachine):
    """Several runs over changing lists, with faults, kills and websites of others."""

    runner: Runner

    @initialize()
    def start(self) -> None:
        """An account without websites, and no journal."""
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        self.journal = self.folder / "journal"
        self.runner.reset()

    @rule(hostname=hostnames)
    def somebody_adds_a_website(self, hostname: str) -> None:
        """Others add websites to the same account, in the dashboard."""
        if hostname not in self.runner.emulator.websites:
            self.runner.emulator.add_website(hostname)

    @rule(
        names=st.lists(hostnames, min_size=1, max_size=5, unique=True),
        faults=st.dictionaries(hostnames, st.sampled_from([*FAULTS]), max_size=3),
        failing_lists=st.builds(range, st.integers(1, 5), st.integers(1, 7)),
        with_journal=st.booleans(),
    )
    def run(
        self,
        names: list[str],
        faults: dict[str, str],
        failing_lists: range,
        with_journal: bool,  # noqa: FBT001 - Hypothesis gives it by its name
    ) -> None:
        """Run ``ensure``, which checks what holds for every run."""
        let_time_pass(*[self.journal] * self.journal.exists())
        before = {*self.runner.emulator.websites}
        try:
            report = self.runner.ensure(
                [WebsiteSpec(name) for name in names],
                faults,
                journal=self.journal if with_journal else None,
                failing_lists=failing_lists,
            )
        except (Killed, ServerError):
            return
        reported = {item.hostname for item in (*report.added, *report.unknown)}
        assert {*self.runner.emulator.websites} - before <= reported

    def teardown(self) -> None:
        """Whatever happened, one run without faults completes."""
        if hasattr(self, "folder"):
            continued = self.journal.exists()
            let_time_pass(*[self.journal] * continued)
            specs = [WebsiteSpec(f"{letter}.example") for letter in LETTERS]
            journal = self.journal if continued else None
            assert self.runner.ensure(specs, journal=journal).complete
            shutil.rmtree(self.folder)


@pytest.mark.hypothesis
def test_generated_combinations() -> None:
    """In some 80 random runs no website is added twice or lost, and all complete.

    With the profile ``fuzz`` there are some 20,000.
    """
    examples = settings().max_examples * 2 // 5
    Operators.runner = Runner()
    run_state_machine_as_test(
        Operators, settings=settings(max_examples=examples, stateful_step_count=12)
    )
