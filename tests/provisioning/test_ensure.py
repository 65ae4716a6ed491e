"""Runs of ``ensure``: what is sent, when the list is read again, waits, and stops.

A run waits by a clock that each pause moves, so that waiting takes no time.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from both_clients import opened
from inside import set_clock_of_clients
from provisioning.journals import hostname_of, let_time_pass, sent
from sitestats import (
    ConnectionFailedError,
    RateLimitedError,
    RetryPolicy,
    StatusError,
    WebsiteSpec,
)
from sitestats.emulator import Emulator, RecordedRequest
from sitestats.provisioning import Difference, ProvisioningReport


def names_of(letters: str) -> list[str]:
    """The host names of these letters, such as ``"a b"``."""
    return [f"{letter}.example" for letter in letters.split()]


WANTED: Final = names_of("a b c")
ADDED: Final = {"ok": True, "success": True, "customDomain": None, "validDNS": True}
ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "lost": {"reset": True},
    "late": {"reset": True},
    "added and lost": {"reset": True, "processed": True},
    "taken": {"status": 400, "processed": True, "body": {"error": "It was added"}},
    "different": {
        "processed": True,
        "body": ADDED
        | {"hostname": "a.example", "timezone": "Asia/Tokyo", "public": True},
    },
    "elsewhere": {
        "body": ADDED | {"hostname": "b.example", "timezone": "UTC", "public": False},
    },
}
"""How the emulator fails for each word of what becomes of an add. A late one is added
after the next list was read."""


class Service:
    """An emulator, what becomes of adds, and a clock that pauses move.

    *there* are websites such as ``"a b"``, and *answers* what happens to adds, such as
    ``"a lost, b 400 No"``: a word, or a status with a message, a page or JSON.
    """

    def __init__(
        self, patch: pytest.MonkeyPatch, there: str = "", answers: str = ""
    ) -> None:
        self.emulator = Emulator()
        for hostname in names_of(there):
            self.emulator.add_website(hostname)
        self.pauses = list[float]()
        self.lists = 0
        self.failing_lists = range(0)
        self.late = list[tuple[int, str]]()
        set_clock_of_clients(
            patch,
            sleep=self.pauses.append,
            monotonic=lambda: time.monotonic() + sum(self.pauses),
        )
        for part in filter(None, answers.split(", ")):
            name, answer = part.split(maxsplit=1)
            self.answer(f"{name}.example", answer)
        self.emulator.fail_next(None, reset=True, when=self.is_failing_list)

    def answer(self, hostname: str, answer: str) -> None:
        """Have the add of *hostname* get this *answer*."""
        fault = ANSWERS.get(answer)
        if fault is None:
            status, _, message = answer.partition(" ")
            status, _, seconds = status.partition("/")
            fault = {"status": int(status), "retry_after": seconds or None}
            fault["body"] = {"ok": False, "error": message}
            if message[:1] in {"<", "{", "["}:
                fault["body"] = message

        def is_meant(request: RecordedRequest) -> bool:
            is_add = request.method == "POST"
            is_its = is_add and hostname_of(request.body) == hostname
            if is_its and answer == "late":
                self.late.append((self.lists + 2, hostname))
            return is_its

        self.emulator.fail_next(**fault, when=is_meant)

    def is_failing_list(self, request: RecordedRequest) -> bool:
        """Whether it requests a list that fails; add what is late for it."""
        if request.method == "POST":
            return False
        self.lists += 1
        for number, hostname in self.late:
            if number == self.lists:
                self.emulator.add_website(hostname)
        return self.lists in self.failing_lists

    @property
    def sent(self) -> list[str]:
        """The host names of the adds that were received."""
        return sent(self.emulator)

    def ensure(
        self,
        expected: Iterable[str | WebsiteSpec] = WANTED,
        address: str | None = None,
    ) -> ProvisioningReport:
        """Run ``ensure`` once, and check what holds for every run."""
        expected, before = [*expected], len(self.sent)
        let_time_pass()
        options: Any = {
            "api_key": self.emulator.api_key,
            "user_id": self.emulator.user_id,
        }
        options |= {"retries": RetryPolicy(retries=2)}
        with opened("blocking", address or self.emulator, **options) as client:
            report: ProvisioningReport = client.websites.ensure(expected)
        found = [item.hostname for item in report.items]
        assert found == [getattr(one, "hostname", one) for one in expected]
        now = self.sent[before:]
        assert len(now) == len({*now}), "a website was sent twice within a run"
        return report


@pytest.fixture
def patch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """What a service sets the clock by, with a state folder of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return monkeypatch


RUNS = """
b z |                     | added present added          | a c   | 1
a b c |                   | present present present      |       | 1
|                         | added added added            | a b c | 1
| a added and lost        | added added added            | a b c | 2
| c added and lost        | added added added            | a b c | 2
| a lost                  | unknown added added          | a b c | 3
| c lost                  | added added unknown          | a b c | 2
| a late                  | added added added            | a b c | 3
| a 500 It broke          | unknown added added          | a b c | 3
| a 408 Too slow          | unknown added added          | a b c | 3
| a elsewhere             | added present added          | a c   | 1
| a taken                 | present added added          | a b c | 2
| a 400 a.example is taken | refused added added         | a b c | 2
| b 404 No                | added refused added          | a b c | 2
| c 409 No                | added added refused          | a b c | 2
| b 423 No                | added refused added          | a b c | 2
c | b 401 No              | added refused present        | a b   | 2
| b 402 No                | added refused not_tried      | a b   | 2
| b 403 No                | added refused not_tried      | a b   | 2
| b 200 Invalid credentials | added refused not_tried    | a b   | 2
| b 400 No Api-Key found  | added refused not_tried      | a b   | 2
| b 400 The role viewer can't add websites | added refused not_tried | a b | 2
| b 400 The plan's limit of 10 websites is reached | added refused not_tried | a b | 2
| a 500 website limit reached | unknown not_tried not_tried | a   | 2
| a 400 <html>Sign in: api key | refused not_tried not_tried | a  | 2
| a 401 <html>Sign in     | refused not_tried not_tried  | a     | 2
| a 403 <html>Blocked     | refused not_tried not_tried  | a     | 2
| a 404 <html>Not Found   | refused not_tried not_tried  | a     | 2
| a 502 <html>Late        | unknown added added          | a b c | 3
| a 400 {"error":{"message":"plan limit"}} | refused not_tried not_tried | a | 2
| a 400 {"errors":[{"detail":"plan limit"}]} | refused not_tried not_tried | a | 2
| a 400 {"error":"No","message":"plan limit"} | refused not_tried not_tried | a | 2
| a 400 {"errors":{"hostname":["plan limit"]}} | refused not_tried not_tried | a | 2
| a 400 ["plan limit"] | refused not_tried not_tried | a  | 2
| a 400 {"errors":["label 'api key' is long"]} | refused added added | a b c | 2
| a 429/37 Slow down      | refused added added          | a b c | 2
| a 429/121 Slow down     | refused not_tried not_tried  | a     | 1
"""
"""What is there, what becomes of adds, the states, what is sent, how many lists are
read: one after a failure that may have added a website, and one at the end of a run
that is not certain. A refusal that every website would get ends the run, in any shape,
and so does a page: what is on the way would answer for each other website too."""


@pytest.mark.parametrize("line", RUNS.strip().splitlines())
def test_a_run(line: str, patch: pytest.MonkeyPatch) -> None:
    """Each missing website is sent once, in order, until waiting does not help."""
    there, answers, states, letters, lists = (cell.strip() for cell in line.split("|"))
    service = Service(patch, there, answers)
    report = service.ensure()
    assert [item.state for item in report.items] == states.split()
    assert service.sent == names_of(letters)
    assert service.lists == int(lists)
    assert (report.stopped is not None) is (
        there == "c" or states.endswith("not_tried")
    )
    # Whatever failed, the next run completes.
    service.emulator.clear_faults()
    assert service.ensure().complete


def test_the_name_of_a_website_is_no_word_about_the_account(
    patch: pytest.MonkeyPatch,
) -> None:
    """A refusal that repeats the name of a website, as plan.example, ends no run."""
    service = Service(patch, "", "plan 400 plan.example is taken")
    states = [item.state for item in service.ensure(names_of("plan a")).items]
    assert states == ["refused", "added"]


@pytest.mark.parametrize("status", [408, 502, 522])
def test_a_page_of_a_gateway_leaves_it_open(
    patch: pytest.MonkeyPatch, status: int
) -> None:
    """The website may have been added before the gateway gave up: the list shows it. An
    add by itself says so, and is not to be repeated.
    """
    service = Service(patch)
    service.emulator.fail_next(
        2, status=status, body="<html>Late", method="POST", processed=True
    )
    states = [item.state for item in service.ensure(WANTED[:1]).items]
    assert states == ["added"]
    with (
        service.emulator.client() as client,
        pytest.raises(StatusError, match="may have been done: look") as caught,
    ):
        client.websites.add("b.example")
    assert not caught.value.retryable
    assert service.sent == WANTED[:2]


@pytest.mark.filterwarnings("ignore:.*list of websites can't be read")
def test_nothing_is_added_that_may_be_in_the_list(patch: pytest.MonkeyPatch) -> None:
    """While the list has a website without a readable host name, nothing is added; one
    that is there is reported, though what is specified of it can't be read.
    """
    service = Service(patch, "a z")
    with service.emulator.client() as client:
        first, last = client.websites.list()
    first, last = ({**one.to_dict(), "problems": []} for one in (first, last))
    expected = [WebsiteSpec("a.example", timezone="UTC"), *WANTED[1:]]
    for hostname, states in (
        (None, "unknown not_tried not_tried"),
        ("b.example", "unknown present added"),
    ):
        listed = [{**first, "timezone": 7}, {**last, "hostname": hostname}]
        service.emulator.fail_next(body={"websites": listed}, path="/api/websites")
        report = service.ensure(expected)
        assert [item.state for item in report.items] == states.split()
        assert "timezone can't be read" in str(report.items[0].error)
        assert ("host name can't be read" in str(report.stopped)) is (hostname is None)
    assert service.sent == ["c.example"]


@pytest.mark.parametrize("written", ["A.EXAMPLE", "a.example.", "A.example."])
def test_host_names_of_the_list_are_normalised(
    written: str, patch: pytest.MonkeyPatch
) -> None:
    """A website exists, also if the list writes its name with capitals or a dot."""
    service = Service(patch, "a")
    with service.emulator.client() as client:
        (listed,) = client.websites.list()
    body = {"websites": [{**listed.to_dict(), "hostname": written}]}
    service.emulator.fail_next(body=body, path="/api/websites")
    assert [item.state for item in service.ensure(["a.example"]).items] == ["present"]


def test_what_the_service_says_is_in_the_report(patch: pytest.MonkeyPatch) -> None:
    """A name, a zone and a visibility that it changed, why a website was refused, and
    why nothing more was sent.
    """
    report = Service(patch, "", "a different").ensure()
    assert not report.complete
    names = [difference.field for difference in report.items[0].differences]
    assert names == ["timezone", "public"]
    (difference,) = Service(patch, "", "a elsewhere").ensure().items[0].differences
    assert difference == Difference("hostname", "a.example", "b.example")
    report = Service(patch, "", "a 400 It is taken, b 403 You may not").ensure()
    assert report.items[0].row()["error"] == "It is taken"
    assert isinstance(report.stopped, StatusError)
    assert report.stopped.status_code == 403
    assert str(report.stopped).startswith(
        "every website would be refused for this: You may not (status 403, "
    )


@pytest.mark.parametrize(
    ("refused", "states", "lists"),
    [
        (1, "added added added", 1),
        (3, "not_tried added added", 2),
        (6, "not_tried not_tried not_tried", 1),
    ],
)
def test_a_request_that_was_not_sent_is_retried(
    patch: pytest.MonkeyPatch, refused: int, states: str, lists: int
) -> None:
    """An add is sent again if the connection was refused, so that nothing was sent, and
    it is not an unknown one if all are. If the list can't be read then, the run stops.
    """
    service, connect = Service(patch), socket.socket.connect
    left = iter(range(refused))

    def refuse(sock: socket.socket, address: Any) -> None:
        if service.lists and next(left, None) is not None:
            raise ConnectionRefusedError
        connect(sock, address)

    patch.setattr(socket.socket, "connect", refuse)
    with service.emulator.serve() as address:
        report = service.ensure(address=address)
    assert [item.state for item in report.items] == states.split()
    assert service.lists == lists
    assert (report.stopped is not None) is (refused == 6)


def test_without_the_list_nothing_more_is_sent(patch: pytest.MonkeyPatch) -> None:
    """If the list can't be read after a failure, the run stops and reports the rest; a
    failure of the list at the end changes nothing, and one at the beginning raises.
    """
    service = Service(patch, "c", "a lost")
    service.failing_lists = range(2, 99)
    report = service.ensure()
    states = [item.state for item in report.items]
    assert states == ["unknown", "not_tried", "present"]
    assert isinstance(report.stopped, ConnectionFailedError)
    assert str(report.stopped).startswith("the list can't be read back: The connection")
    # Once, and two retries.
    assert service.lists == 4
    service = Service(patch, "", "a late")
    service.failing_lists = range(3, 99)
    states = [item.state for item in service.ensure().items]
    assert states == ["unknown", "added", "added"]
    service = Service(patch)
    service.failing_lists = range(1, 99)
    with pytest.raises(ConnectionFailedError):
        service.ensure()
    assert service.sent == []


def test_a_rate_limit_is_waited_for(patch: pytest.MonkeyPatch) -> None:
    """The next add waits for Retry-After, unless that is longer than total_timeout; and
    more of them in a row than retries stop the run.
    """
    service = Service(patch, "", "a 429/37 Slow down")
    service.ensure()
    assert service.pauses == [37.0]
    service = Service(patch, "", "a 429/121 Slow down")
    report = service.ensure()
    assert service.pauses == []
    assert isinstance(report.stopped, RateLimitedError)
    assert "the pause of a rate limit: Slow down" in report.stopped.message
    service = Service(
        patch, "", ", ".join(f"{name} 429 Slow down" for name in "abdefg")
    )
    states = [item.state for item in service.ensure(names_of("a b c d e f g")).items]
    assert states == [*["refused"] * 2, "added", *["refused"] * 3, "not_tried"]
    assert len(service.pauses) == 4
