"""Fake service and clock without I/O, to run provisioning flows against."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from sitestats import RetryPolicy, SiteStatsError, WebsiteSpec
from sitestats._common.errors import ConnectionFailedError, RequestTimeoutError
from sitestats._common.hostnames import BaseAddress
from sitestats._common.pauses import Pauses
from sitestats._common.secret import Secret
from sitestats._common.settings import Settings
from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._protocol.flow import (
    Flow,
    Moment,
    Note,
    Now,
    Send,
    Sleep,
    Step,
    StepResult,
)
from sitestats.provisioning import ProvisionedWebsite, ProvisioningReport
from sitestats.provisioning._ensure import ensure_websites

Payload = dict[str, Any]
AddHandler = Callable[["FakeService", Payload], HttpResponse]
"""Handles one add: decides whether the website is added, and what is returned."""

SETTINGS = Settings(
    base=BaseAddress.parse("https://service.example"),
    api_key=Secret("key"),
    user_id=Secret("user"),
    retry=RetryPolicy(retries=2),
    total_timeout=120.0,
)


def respond(data: Any, status: int = 200, **headers: str) -> HttpResponse:
    """A response with *data* as JSON."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(status, names, json.dumps(data).encode())


def specs(*hostnames: str, **more: Any) -> tuple[WebsiteSpec, ...]:
    """Specifications that differ in their host names only."""
    return tuple(WebsiteSpec(hostname, **more) for hostname in hostnames)


def states(report: ProvisioningReport) -> list[str]:
    """The state of each website, in the given order."""
    return [item.state for item in report.items]


class FakeService:
    """Websites, handlers of requests, and a clock that only sleeping moves."""

    def __init__(self, *existing: str) -> None:
        self.websites: dict[str, Payload] = {}
        for hostname in existing:
            self.add({"hostname": hostname})
        self.add_handlers: dict[str, list[AddHandler]] = {}
        self.list_handlers: list[Callable[[], HttpResponse | None]] = []
        self.late: list[tuple[int, Payload]] = []
        self.posts: list[str] = []
        self.processed: Counter[str] = Counter()
        self.lists = 0
        self.time = 1_000.0
        self.pauses: list[float] = []
        self.notes: list[object] = []
        self.on_note: Callable[[object], object] = lambda event: None

    # --- the service --------------------------------------------------------------

    def add(self, payload: Payload) -> None:
        """Add a website."""
        self.websites[payload["hostname"]] = {
            "hostname": payload["hostname"],
            "is_public": payload.get("isPublic", False),
            "timezone": payload.get("timezone", "UTC"),
            "has_ssl": True,
            "has_script": False,
            "own_hostname": None,
            "label": payload.get("label", ""),
            "pageviews": 0,
            "events": 0,
        }

    def process(self, payload: Payload) -> HttpResponse:
        """Process an add that was sent, and respond to it."""
        self.processed[payload["hostname"]] += 1
        self.add(payload)
        return self.added(payload)

    def added(self, payload: Payload, **more: Any) -> HttpResponse:
        """The response to a successful add."""
        data = {
            "ok": True,
            "success": True,
            "hostname": payload["hostname"],
            "customDomain": None,
            "public": payload.get("isPublic", False),
            "timezone": payload.get("timezone", "UTC"),
            "validDNS": True,
        }
        return respond(data | more)

    def handle(self, request: HttpRequest) -> HttpResponse:
        """Respond to *request*."""
        if request.path == "/api/websites":
            assert request.method == "GET"
            self.lists += 1
            handler = self.list_handlers.pop(0) if self.list_handlers else None
            failure = None if handler is None else handler()
            for moment, payload in self.late:
                if moment == self.lists:
                    self.process(payload)
            listed = {"success": True, "websites": list(self.websites.values())}
            return failure or respond(listed)
        assert (request.method, request.path) == ("POST", "/api/websites/add")
        payload = json.loads(request.body)
        hostname = payload["hostname"]
        handlers = self.add_handlers.get(hostname)
        handler = handlers.pop(0) if handlers else FakeService.process
        if handler is not not_sent:
            self.posts.append(hostname)
        return handler(self, payload)

    # --- running a flow -----------------------------------------------------------

    def ensure(
        self,
        wanted: Iterable[WebsiteSpec],
        pending: Mapping[str, float] | None = None,
        added: Iterable[str] = (),
        settings: Settings = SETTINGS,
    ) -> ProvisioningReport:
        """Run ``ensure`` once, and check what holds for every run."""
        wanted = tuple(wanted)
        posts = len(self.posts)
        # A client of its own for each run.
        settings = attrs.evolve(settings, pauses=Pauses())
        flow = ensure_websites(settings, wanted, pending or {}, frozenset(added))
        report = self.run(flow)
        assert [item.spec for item in report.items] == list(wanted)
        done = [note for note in self.notes if isinstance(note, ProvisionedWebsite)]
        assert [item.spec for item in done[-len(wanted) :]] == list(wanted)
        sent = self.posts[posts:]
        assert len(sent) == len(set(sent)), "a website was sent twice within a run"
        assert all(count == 1 for count in self.processed.values())
        return report

    def run(self, flow: Flow[Any]) -> Any:
        """Run the steps of *flow*."""
        outcome: StepResult = None
        error: SiteStatsError | None = None
        while True:
            try:
                step = flow.send(outcome) if error is None else flow.throw(error)
            except StopIteration as done:
                return done.value
            outcome, error = None, None
            try:
                outcome = self.run_step(step)
            except SiteStatsError as failure:
                error = failure

    def run_step(self, step: Step) -> StepResult:
        """Run one step."""
        match step:
            case Now():
                return Moment(self.time, self.time)
            case Sleep(seconds):
                self.pauses.append(seconds)
                self.time += seconds
            case Note(event):
                self.notes.append(event)
                self.on_note(event)
            case Send(request):
                return self.handle(request)
        return None


# --- handlers of adds ------------------------------------------------------------


def not_sent(_service: FakeService, _payload: Payload) -> HttpResponse:
    """The connection is refused: nothing is sent."""
    raise ConnectionFailedError("refused", maybe_sent=False)


def lost_request(_service: FakeService, _payload: Payload) -> HttpResponse:
    """The connection breaks while the request is sent: nothing is added."""
    raise ConnectionFailedError("broken pipe", maybe_sent=True)


def lost_response(service: FakeService, payload: Payload) -> HttpResponse:
    """The website is added, and the response is lost."""
    service.process(payload)
    raise ConnectionFailedError("reset", maybe_sent=True)


def timed_out(_service: FakeService, _payload: Payload) -> HttpResponse:
    """The request times out, and nothing is added."""
    raise RequestTimeoutError("no response within 30 s", maybe_sent=True)


def processed_and_timed_out(service: FakeService, payload: Payload) -> HttpResponse:
    """The website is added, and the request times out."""
    service.process(payload)
    raise RequestTimeoutError("no response within 30 s", maybe_sent=True)


def processed_late(service: FakeService, payload: Payload) -> HttpResponse:
    """The request times out, and the website is added after the next list was read."""
    service.late.append((service.lists + 2, payload))
    raise RequestTimeoutError("no response within 30 s", maybe_sent=True)


def failed(_service: FakeService, _payload: Payload) -> HttpResponse:
    """The service fails before it adds the website."""
    return respond({"ok": False, "error": "It broke"}, 500)


def processed_and_failed(service: FakeService, payload: Payload) -> HttpResponse:
    """The service fails after it added the website."""
    service.process(payload)
    return HttpResponse(502, {}, b"<html><title>Bad gateway</title>")


def processed_and_cut_off(service: FakeService, payload: Payload) -> HttpResponse:
    """The website is added, and the response is cut off."""
    service.process(payload)
    return HttpResponse(200, {}, b'{"ok": true, "host')


def refused(status: int, message: str, **headers: str) -> AddHandler:
    """The service refuses the add with this message."""

    def handler(_service: FakeService, _payload: Payload) -> HttpResponse:
        data = {"ok": False, "success": False, "error": message}
        return respond(data, status, **headers)

    return handler
