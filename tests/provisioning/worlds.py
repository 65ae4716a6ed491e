"""A service and a clock without I/O, to run provisioning against as a flow."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from sitestats import ProvisioningReport, RetryPolicy, SiteStatsError, WebsiteSpec
from sitestats._errors import ConnectionFailedError, RequestTimeoutError
from sitestats._flow import Flow, Moment, Note, Now, Send, Sleep, Step, StepResult
from sitestats._hostnames import BaseAddress
from sitestats._settings import Secret, Settings
from sitestats._wire import HttpRequest, HttpResponse
from sitestats.provisioning._ensure import ensure_websites
from sitestats.provisioning._events import History, Progress

Payload = dict[str, Any]
Fate = Callable[["World", Payload], HttpResponse]
"""What becomes of one add: whether the service acts, and what comes back."""

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
    """Specifications that differ in their host names alone."""
    return tuple(WebsiteSpec(hostname, **more) for hostname in hostnames)


class World:
    """What a flow meets: websites, fates of adds, a clock that sleeping moves."""

    def __init__(self, *there: str) -> None:
        self.websites: dict[str, Payload] = {}
        for hostname in there:
            self.add({"hostname": hostname})
        self.fates: dict[str, list[Fate]] = {}
        self.fates_of_lists: list[Callable[[], HttpResponse | None]] = []
        self.late: list[tuple[int, Payload]] = []
        self.posts: list[str] = []
        self.acted: Counter[str] = Counter()
        self.lists = 0
        self.time = 1_000.0
        self.pauses: list[float] = []
        self.notes: list[object] = []
        self.on_note: Callable[[object], object] = lambda event: None

    # --- the service --------------------------------------------------------------

    def add(self, payload: Payload) -> None:
        """Act on an add."""
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

    def act(self, payload: Payload) -> HttpResponse:
        """Act on an add that was sent, and answer it."""
        self.acted[payload["hostname"]] += 1
        self.add(payload)
        return self.added(payload)

    def added(self, payload: Payload, **more: Any) -> HttpResponse:
        """The answer to an add that went well."""
        answer = {
            "ok": True,
            "success": True,
            "hostname": payload["hostname"],
            "customDomain": None,
            "public": payload.get("isPublic", False),
            "timezone": payload.get("timezone", "UTC"),
            "validDNS": True,
        }
        return respond(answer | more)

    def handle(self, request: HttpRequest) -> HttpResponse:
        """Answer *request*."""
        if request.path == "/api/websites":
            assert request.method == "GET"
            self.lists += 1
            fate = self.fates_of_lists.pop(0) if self.fates_of_lists else None
            failure = None if fate is None else fate()
            for moment, payload in self.late:
                if moment == self.lists:
                    self.act(payload)
            listed = {"success": True, "websites": list(self.websites.values())}
            return failure or respond(listed)
        assert (request.method, request.path) == ("POST", "/api/websites/add")
        payload = json.loads(request.body)
        hostname = payload["hostname"]
        fates = self.fates.get(hostname)
        fate = fates.pop(0) if fates else World.act
        if fate is not never_left:
            self.posts.append(hostname)
        return fate(self, payload)

    # --- running a flow -----------------------------------------------------------

    def ensure(
        self,
        wanted: Iterable[WebsiteSpec],
        history: History | None = None,
        settings: Settings = SETTINGS,
    ) -> ProvisioningReport:
        """Run one ``ensure``, and check what holds for every one."""
        wanted = tuple(wanted)
        posts = len(self.posts)
        flow = ensure_websites(settings, wanted, history or History())
        report = self.run(flow)
        assert [item.spec for item in report.items] == list(wanted)
        assert [n.done for n in self.notes if isinstance(n, Progress)][
            -len(wanted) :
        ] == [*range(1, len(wanted) + 1)]
        sent = self.posts[posts:]
        assert len(sent) == len(set(sent)), "a website was sent twice within a run"
        assert all(count == 1 for count in self.acted.values())
        return report

    def run(self, flow: Flow[Any]) -> Any:
        """Perform the steps of *flow*."""
        outcome: StepResult = None
        error: SiteStatsError | None = None
        while True:
            try:
                step = flow.send(outcome) if error is None else flow.throw(error)
            except StopIteration as done:
                return done.value
            outcome, error = None, None
            try:
                outcome = self.perform(step)
            except SiteStatsError as failure:
                error = failure

    def perform(self, step: Step) -> StepResult:
        """Do what a step asks for."""
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


# --- fates ------------------------------------------------------------------------


def never_left(_world: World, _payload: Payload) -> HttpResponse:
    """The connection is not made: nothing leaves the machine."""
    raise ConnectionFailedError("refused", maybe_sent=False)


def lost_on_the_way(_world: World, _payload: Payload) -> HttpResponse:
    """The connection breaks while the request is sent: the service does nothing."""
    raise ConnectionFailedError("broken pipe", maybe_sent=True)


def lost_on_the_way_back(world: World, payload: Payload) -> HttpResponse:
    """The service acts, and its answer never arrives."""
    world.act(payload)
    raise ConnectionFailedError("reset", maybe_sent=True)


def timed_out(_world: World, _payload: Payload) -> HttpResponse:
    """No answer within the time, and the service does nothing."""
    raise RequestTimeoutError("no answer within 30 s", maybe_sent=True)


def acted_and_timed_out(world: World, payload: Payload) -> HttpResponse:
    """The service acts, and is too late with its answer."""
    world.act(payload)
    raise RequestTimeoutError("no answer within 30 s", maybe_sent=True)


def acted_late(world: World, payload: Payload) -> HttpResponse:
    """No answer; the service acts only after the next list was read."""
    world.late.append((world.lists + 2, payload))
    raise RequestTimeoutError("no answer within 30 s", maybe_sent=True)


def failed(_world: World, _payload: Payload) -> HttpResponse:
    """The service fails before it acts."""
    return respond({"ok": False, "error": "It broke"}, 500)


def acted_and_failed(world: World, payload: Payload) -> HttpResponse:
    """The service fails after it acted."""
    world.act(payload)
    return HttpResponse(502, {}, b"<html><title>Bad gateway</title>")


def acted_and_mumbled(world: World, payload: Payload) -> HttpResponse:
    """The service acts, and its answer is not what the document says."""
    world.act(payload)
    return HttpResponse(200, {}, b'{"ok": true, "host')


def refused(status: int, message: str, **headers: str) -> Fate:
    """The service says no."""

    def fate(_world: World, _payload: Payload) -> HttpResponse:
        answer = {"ok": False, "success": False, "error": message}
        return respond(answer, status, **headers)

    return fate
