"""The ``ensure`` flow: when it sends, reads the list again, waits, and stops.

The service and its clock are a few lines here, so that waiting takes no time.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from inside import (
    BaseAddress,
    HttpResponse,
    Moment,
    Note,
    Now,
    Secret,
    Send,
    Session,
    Settings,
    Sleep,
)
from provisioning.inside import EnsureFlow
from sitestats import (
    ConnectionFailedError,
    RateLimitedError,
    RequestTimeoutError,
    RetryPolicy,
    SiteStatsError,
    SiteStatsWarning,
    StatusError,
    WebsiteSpec,
)
from sitestats.provisioning import Difference, ProvisionedWebsite, ProvisioningReport
from sitestats.types import HttpRequest

SETTINGS = Settings(
    base=BaseAddress.parse("https://service.example"),
    api_key=Secret("key"),
    user_id=Secret("user"),
    retry=RetryPolicy(retries=2),
    total_timeout=120.0,
)


def specs(names: str) -> list[WebsiteSpec]:
    """Specifications of these names, such as ``"a b"`` for a.example and b.example."""
    return [WebsiteSpec(f"{name}.example") for name in names.split()]


WANTED = specs("a b c")


def respond(data: Any, status: int = 200, **headers: str) -> HttpResponse:
    """A response with *data* as JSON."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(status, names, json.dumps(data).encode())


class Service:
    """Websites, what becomes of adds, and a clock that only sleeping moves.

    *there* are websites such as ``"a b"``, and *answers* what happens to adds, such as
    ``"a lost, b 400 No"``: a word, or a status with a message.
    """

    def __init__(self, there: str = "", answers: str = "") -> None:
        self.websites: dict[str, dict[str, Any]] = {}
        self.processed = list[str]()
        for spec in specs(there):
            self.process({"hostname": spec.hostname})
        parts = (part.split(maxsplit=1) for part in answers.split(",") if part)
        self.answers = {f"{name}.example": answer for name, answer in parts}
        self.sent = list[str]()
        self.lists = 0
        self.seconds_of_list = 0.0
        self.failing_lists = range(0)
        self.late = list[tuple[int, dict[str, Any]]]()
        self.time = 1_000.0
        self.pauses = list[float]()
        self.notes = list[Any]()
        self.on_sleep: Callable[[], object] = lambda: None

    def process(self, payload: dict[str, Any], **other: Any) -> HttpResponse:
        """Add a website, and respond to it."""
        name = payload["hostname"]
        self.processed.append(name)
        public, zone = payload.get("isPublic", False), payload.get("timezone", "UTC")
        flags = {"is_public": public, "has_ssl": True, "has_script": False}
        self.websites[name] = {"hostname": name, "timezone": zone, **flags}
        self.websites[name] |= {"own_hostname": None, "label": payload.get("label", "")}
        self.websites[name] |= {"pageviews": 0, "events": 0}
        result = {"hostname": name, "public": public, "timezone": zone}
        result |= {"ok": True, "success": True, "customDomain": None, "validDNS": True}
        return respond(result | other)

    def handle(self, request: HttpRequest) -> HttpResponse:
        """Respond to *request*."""
        if request.method == "GET":
            self.lists += 1
            for payload in [one for when, one in self.late if when == self.lists]:
                self.process(payload)
            if self.lists in self.failing_lists:
                raise ConnectionFailedError("refused", maybe_sent=False)
            self.time += self.seconds_of_list
            return respond({"success": True, "websites": [*self.websites.values()]})
        return self.add(json.loads(request.body))

    def add(self, payload: dict[str, Any]) -> HttpResponse:
        """Respond to an add of *payload*."""
        answer = self.answers.get(payload["hostname"], "processed")
        if answer == "not sent":
            raise ConnectionFailedError("refused", maybe_sent=False)
        self.sent.append(payload["hostname"])
        match answer:
            case "processed":
                return self.process(payload)
            case "different":
                return self.process(payload, timezone="Asia/Tokyo", public=True)
            case "elsewhere":
                return self.process(payload | {"hostname": "b.example"})
            case "added and lost":
                self.process(payload)
                raise ConnectionFailedError("reset", maybe_sent=True)
            case "lost" | "late":
                if answer == "late":
                    # It is added after the next list was read.
                    self.late.append((self.lists + 2, payload))
                raise RequestTimeoutError("no response within 30 s", maybe_sent=True)
            case "taken":
                # It was added before, and the list has it only now.
                self.process(payload)
                return respond({"ok": False, "error": "It was added before"}, 400)
            case _:
                status, _, message = answer.partition(" ")
                status, _, seconds = status.partition("/")
                headers = {"retry_after": seconds} if seconds else {}
                return respond({"ok": False, "error": message}, int(status), **headers)

    def ensure(
        self,
        expected: Iterable[WebsiteSpec] = WANTED,
        pending: Mapping[str, float] | None = None,
    ) -> ProvisioningReport:
        """Run ``ensure`` once, and check what holds for every run."""
        expected, before = tuple(expected), len(self.sent)
        flow = EnsureFlow(Session(SETTINGS), expected, pending or {}, frozenset()).run()
        outcome: Any = None
        while True:
            try:
                failed = isinstance(outcome, SiteStatsError)
                step = flow.throw(outcome) if failed else flow.send(outcome)
            except StopIteration as done:
                report: ProvisioningReport = done.value
                break
            try:
                outcome = self.run_step(step)
            except SiteStatsError as error:
                outcome = error
        assert [item.spec for item in report.items] == [*expected]
        done = [note for note in self.notes if isinstance(note, ProvisionedWebsite)]
        assert [item.spec for item in done[-len(expected) :]] == [*expected]
        sent = self.sent[before:]
        assert len(sent) == len(set(sent)), "a website was sent twice within a run"
        assert len(self.processed) == len(set(self.processed))
        return report

    def run_step(self, step: Any) -> Any:
        """Run one step of the flow."""
        match step:
            case Now():
                return Moment(self.time, self.time)
            case Sleep(seconds):
                self.pauses.append(seconds)
                self.time += seconds
                self.on_sleep()
            case Note(event):
                self.notes.append(event)
            case Send(request):
                return self.handle(request)
        return None


# -- a run

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
| a not sent              | not_tried added added        | b c   | 2
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
| a 429/37 Slow down      | refused added added          | a b c | 2
| a 429/120 Slow down     | refused not_tried not_tried  | a     | 1
"""
"""What is there, what becomes of adds, the states, what is sent, how many lists are
read: one after a failure that may have added a website, and one at the end of a run
that is not certain. A refusal that every website would get ends the run."""


@pytest.mark.parametrize("line", RUNS.strip().splitlines())
def test_a_run(line: str) -> None:
    """Each missing website is sent once, in order, until waiting does not help."""
    there, answers, states, sent, lists = (cell.strip() for cell in line.split("|"))
    service = Service(there, answers)
    report = service.ensure()
    assert [item.state for item in report.items] == states.split()
    assert service.sent == [spec.hostname for spec in specs(sent)]
    assert service.lists == int(lists)
    assert (report.stopped is not None) is (
        there == "c" or states.endswith("not_tried")
    )
    # Whatever failed, the next run completes.
    service.answers.clear()
    assert service.ensure().complete


@pytest.mark.filterwarnings("ignore:.*list of websites can't be read")
def test_nothing_is_added_that_may_be_in_the_list() -> None:
    """While the list has a website without a readable host name, nothing is added; one
    that is there is reported, though what is specified of it can't be read.
    """
    service = Service("a z")
    service.websites["z.example"]["hostname"] = None
    service.websites["a.example"]["timezone"] = 7
    expected = [WebsiteSpec("a.example", timezone="UTC"), *specs("b c")]
    report = service.ensure(expected)
    assert [item.state for item in report.items] == ["unknown", *["not_tried"] * 2]
    assert "timezone can't be read" in str(report.items[0].error)
    assert "host name can't be read" in str(report.stopped)
    assert service.sent == []
    service.websites["z.example"]["hostname"] = "b.example"
    report = service.ensure(expected)
    assert [item.state for item in report.items] == ["unknown", "present", "added"]
    assert service.sent == ["c.example"]


def test_host_names_of_the_list_are_normalised() -> None:
    """A website exists, also if the list writes its name with capitals or a dot."""
    for written in ("A.EXAMPLE", "a.example.", "A.example."):
        service = Service()
        service.process({"hostname": written})
        assert [item.state for item in service.ensure(specs("a")).items] == ["present"]


def test_what_the_service_says_is_in_the_report() -> None:
    """A name, a zone and a visibility that it changed, why a website was refused, and
    why nothing more was sent.
    """
    report = Service("", "a different").ensure()
    assert not report.complete
    names = [difference.field for difference in report.items[0].differences]
    assert names == ["timezone", "public"]
    (difference,) = Service("", "a elsewhere").ensure().items[0].differences
    assert difference == Difference("hostname", "a.example", "b.example")
    report = Service("", "a 400 It is taken, b 403 You may not").ensure()
    assert report.items[0].row()["error"] == "It is taken"
    assert isinstance(report.stopped, StatusError)
    assert report.stopped.status_code == 403
    assert str(report.stopped).startswith(
        "every website would be refused for this: You may not (status 403, "
    )


def test_a_request_that_was_not_sent_is_retried() -> None:
    """An add is retried if the connection was refused, so that nothing was sent."""
    service = Service("", "a not sent")
    service.on_sleep = service.answers.clear
    assert service.ensure().complete
    assert service.lists == 1


def test_without_the_list_nothing_more_is_sent() -> None:
    """If the list can't be read after a failure, the run stops and reports the rest; a
    failure of the list at the end changes nothing, and one at the beginning raises.
    """
    for answer, state in (("not sent", "not_tried"), ("lost", "unknown")):
        service = Service("c", f"a {answer}")
        service.failing_lists = range(2, 99)
        report = service.ensure()
        assert [item.state for item in report.items] == [state, "not_tried", "present"]
        assert isinstance(report.stopped, ConnectionFailedError)
        assert str(report.stopped) == "the list can't be read back: refused"
        # Once, and two retries.
        assert service.lists == 4
    service = Service("", "a late")
    service.failing_lists = range(3, 99)
    states = [item.state for item in service.ensure().items]
    assert states == ["unknown", "added", "added"]
    service = Service()
    service.failing_lists = range(1, 99)
    with pytest.raises(ConnectionFailedError):
        service.ensure()
    assert service.sent == []


def test_a_rate_limit_is_waited_for() -> None:
    """The next add waits for Retry-After, unless that is longer than total_timeout; and
    more of them in a row than retries stop the run.
    """
    service = Service("", "a 429/37 Slow down")
    service.ensure()
    assert service.pauses == [37.0]
    service = Service("", "a 429/120 Slow down")
    report = service.ensure()
    assert service.pauses == []
    assert isinstance(report.stopped, RateLimitedError)
    assert "the pause of a rate limit: Slow down" in report.stopped.message
    service = Service("", ",".join(f"{name} 429 Slow down" for name in "abdefg"))
    states = [item.state for item in service.ensure(specs("a b c d e f g")).items]
    assert states == [*["refused"] * 2, "added", *["refused"] * 3, "not_tried"]
    assert len(service.pauses) == 4


# -- the journal


@pytest.mark.parametrize("seconds", [3_000.0, 120.0, 0.5, 0.0])
def test_an_add_that_may_be_under_way_is_waited_for(seconds: float) -> None:
    """It is resent after its deadline, whatever this run's timeout is; one of a website
    that this run is not about keeps nobody waiting.
    """
    service = Service()
    pending = {"a.example": 1_000 + seconds, "b.example": 700.0, "z.example": 1e6}
    with warnings.catch_warnings(record=True, action="always") as caught:
        assert service.ensure(WANTED, pending).complete
    assert sum(service.pauses) == seconds
    assert service.lists == 1 + len(service.pauses)
    assert len(caught) == (seconds > 0)
    assert all("sent a.example, b.example, and" in str(one.message) for one in caught)


def test_the_wait_ends_as_soon_as_the_website_is_there() -> None:
    """The list is read after 1, 2 and 4 seconds, and the website is not resent. A list
    that was requested before the deadline does not count, however late it comes.
    """
    for number, seconds, pauses in ((4, 0.0, [1.0, 2.0, 4.0]), (2, 121.0, [1.0])):
        service = Service()
        service.late = [(number, {"hostname": "a.example"})]
        service.seconds_of_list = seconds
        with pytest.warns(SiteStatsWarning, match="sent a.example, and"):
            assert service.ensure(WANTED, {"a.example": 1_120.0}).complete
        assert service.pauses == pauses
        assert service.sent == ["b.example", "c.example"]
