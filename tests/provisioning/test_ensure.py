"""The ``ensure`` flow: when it sends, reads the list again, and stops."""

from __future__ import annotations

import pytest

import fake_service
from fake_service import (
    AddHandler,
    FakeService,
    Payload,
    refused,
    respond,
    specs,
    states,
)
from sitestats import ServerError, WebsiteSpec
from sitestats._common.errors import (
    ConfigurationError,
    ConnectionFailedError,
    RateLimitedError,
    ServiceError,
)
from sitestats._common.wire import HttpResponse
from sitestats.provisioning import Difference
from sitestats.provisioning._ensure import Ended, Sending, Settled, Waiting

WANTED = specs("a.example", "b.example", "c.example")


def test_missing_websites_are_added_in_order() -> None:
    """Each missing website is sent once, in order; an existing one is not sent."""
    service = FakeService("b.example", "z.example")
    report = service.ensure(WANTED)
    assert service.posts == ["a.example", "c.example"]
    assert states(report) == ["added", "present", "added"]
    assert report.complete
    assert report.stopped is None
    assert service.lists == 1


def test_a_second_run_sends_nothing() -> None:
    """When every website exists, only the list is requested."""
    service = FakeService()
    assert service.ensure(WANTED).complete
    again = service.ensure(WANTED)
    assert states(again) == ["present"] * 3
    assert len(service.posts) == 3


def test_no_website_is_a_complete_list() -> None:
    """Without specifications the report is complete, and nothing is sent."""
    service = FakeService()
    report = service.ensure(())
    assert report.complete
    assert service.posts == []


def test_what_is_specified_is_sent() -> None:
    """The add has the values of the specification, and no label without one."""
    service = FakeService()
    spec = WebsiteSpec("a.example", "Asia/Tokyo", public=True, label="")
    assert service.ensure([spec, *specs("b.example")]).complete
    assert service.websites["a.example"]["timezone"] == "Asia/Tokyo"
    assert service.websites["a.example"]["is_public"] is True


@pytest.mark.parametrize("written", ["A.EXAMPLE", "a.example.", "A.example."])
def test_host_names_of_the_list_are_normalised(written: str) -> None:
    """A website exists, also if the list writes its name with capitals or a dot."""
    service = FakeService(written)
    assert states(service.ensure(specs("a.example"))) == ["present"]


def test_another_host_name_in_the_response_is_reported() -> None:
    """A website that was added under another name is not added again under that."""

    def without_www(service: FakeService, payload: Payload) -> HttpResponse:
        return service.process(payload | {"hostname": "a.example"})

    service = FakeService()
    service.add_handlers["www.a.example"] = [without_www]
    report = service.ensure(specs("www.a.example", "a.example", "b.example"))
    assert states(report) == ["added", "present", "added"]
    assert report.items[0].differences == (
        Difference("hostname", "www.a.example", "a.example"),
    )
    assert service.posts == ["www.a.example", "b.example"]


# --- failures without an outcome --------------------------------------------------

PROCESSED = {
    "response lost": fake_service.lost_response,
    "processed and timed out": fake_service.processed_and_timed_out,
    "processed and failed": fake_service.processed_and_failed,
    "processed and cut off": fake_service.processed_and_cut_off,
}
NOT_PROCESSED = {
    "request lost": fake_service.lost_request,
    "timed out": fake_service.timed_out,
    "failed": fake_service.failed,
    "gateway timeout": refused(408, "Too slow"),
}


@pytest.mark.parametrize("handler", PROCESSED.values(), ids=PROCESSED)
@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_website_that_was_added_without_a_response_is_found(
    position: int, handler: AddHandler
) -> None:
    """After a lost response the list is read again, and shows what was added."""
    service = FakeService()
    service.add_handlers[WANTED[position].hostname] = [handler]
    report = service.ensure(WANTED)
    assert states(report) == ["added"] * 3
    assert report.complete
    assert report.items[position].error is not None
    assert service.lists == 2


@pytest.mark.parametrize("handler", NOT_PROCESSED.values(), ids=NOT_PROCESSED)
@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_website_that_is_not_in_the_list_is_unknown(
    position: int, handler: AddHandler
) -> None:
    """An add without an outcome is reported as unknown, and not sent again."""
    service = FakeService()
    service.add_handlers[WANTED[position].hostname] = [handler]
    report = service.ensure(WANTED)
    (item,) = report.unknown
    assert item.spec == WANTED[position]
    assert item.error is not None
    assert len(report.added) == 2
    assert not report.complete
    assert service.ensure(WANTED).complete


def test_an_add_that_is_processed_late_is_found_at_the_end() -> None:
    """At the end the list is read once more if a website is unknown."""
    service = FakeService()
    service.add_handlers["a.example"] = [fake_service.processed_late]
    report = service.ensure(WANTED)
    assert states(report) == ["added"] * 3
    assert service.lists == 3
    settled = [note for note in service.notes if isinstance(note, Settled)]
    assert [note.state for note in settled if note.hostname == "a.example"] == [
        "unknown",
        "added",
    ]


def test_the_list_is_not_read_twice_in_a_row() -> None:
    """The list is not read again if nothing was sent since it was read."""
    service = FakeService()
    service.add_handlers["c.example"] = [fake_service.failed]
    assert states(service.ensure(WANTED))[-1] == "unknown"
    assert service.lists == 2


def test_a_request_that_was_not_sent_is_retried() -> None:
    """An add is retried if the connection was refused, so that nothing was sent."""
    service = FakeService()
    service.add_handlers["a.example"] = [fake_service.not_sent, fake_service.not_sent]
    assert service.ensure(WANTED).complete
    assert service.posts == [spec.hostname for spec in WANTED]


def test_an_add_that_could_not_be_sent_is_not_tried() -> None:
    """A refused connection makes a website not_tried, and the run goes on."""
    service = FakeService()
    service.add_handlers["a.example"] = [fake_service.not_sent] * 3
    report = service.ensure(WANTED)
    assert states(report) == ["not_tried", "added", "added"]
    assert isinstance(report.items[0].error, ConnectionFailedError)
    assert report.stopped is None


@pytest.mark.parametrize(
    ("handler", "state"),
    [(fake_service.not_sent, "not_tried"), (fake_service.failed, "unknown")],
)
def test_without_the_list_nothing_more_is_sent(handler: AddHandler, state: str) -> None:
    """If the list can't be read after a failure, the run stops and reports the rest."""

    def unreachable() -> HttpResponse:
        raise ConnectionFailedError("refused", maybe_sent=False)

    service = FakeService("c.example")
    service.add_handlers["a.example"] = [handler] * 3
    service.list_handlers = [lambda: None, unreachable, unreachable, unreachable]
    report = service.ensure(WANTED)
    assert states(report) == [state, "not_tried", "present"]
    assert report.stopped is not None
    assert str(report.stopped) == "the list can't be read back: refused"
    assert isinstance(report.stopped, ConnectionFailedError)
    assert service.lists == 4


def test_a_failure_of_the_list_at_the_end_changes_nothing() -> None:
    """If the list can't be read at the end, the report has what is known."""
    service = FakeService()
    service.add_handlers["a.example"] = [fake_service.processed_late]
    service.list_handlers = [
        lambda: None,
        lambda: None,
        *[lambda: respond({}, 500)] * 3,
    ]
    assert states(service.ensure(WANTED)) == ["unknown", "added", "added"]


def test_without_the_first_list_there_is_an_error() -> None:
    """If the list can't be read at the beginning, its error is raised."""
    service = FakeService()
    service.list_handlers = [lambda: respond({}, 503)] * 3
    with pytest.raises(ServerError):
        service.ensure(WANTED)
    assert service.posts == []


# --- refusals -----------------------------------------------------------------------


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("status", [400, 404, 409, 422, 423])
def test_a_refusal_of_one_website_does_not_stop(position: int, status: int) -> None:
    """After one refused website the others are added, and its message is reported."""
    service = FakeService()
    message = f"{WANTED[position].hostname} is taken"
    service.add_handlers[WANTED[position].hostname] = [refused(status, message)]
    report = service.ensure(WANTED)
    (item,) = report.refused
    assert item.spec == WANTED[position]
    assert item.row()["error"] == message
    assert len(report.added) == 2
    assert report.stopped is None


REPEATING: list[tuple[int, str]] = [
    (401, "No"),
    (402, "No"),
    (403, "No"),
    (400, "No Api-Key found, specify via header"),
    (400, "The role viewer can't add websites to this team"),
    (400, "The plan's limit of 10 websites is reached"),
    (200, "Invalid credentials"),
]


@pytest.mark.parametrize(("status", "message"), REPEATING)
def test_a_refusal_that_will_repeat_stops(status: int, message: str) -> None:
    """A refusal about credentials, role or plan stops the run."""
    service = FakeService("c.example")
    service.add_handlers["b.example"] = [refused(status, message)]
    wanted = (*WANTED, *specs("d.example"))
    report = service.ensure(wanted)
    assert states(report) == ["added", "refused", "present", "not_tried"]
    assert report.stopped is not None
    assert str(report.stopped).startswith(
        f"every website would be refused for this: {message} (status {status}, "
    )
    assert isinstance(report.stopped, ServiceError)
    assert report.stopped.status == status
    assert service.posts == ["a.example", "b.example"]


def test_a_server_error_about_the_plan_is_unknown_and_stops() -> None:
    """A 5xx about the plan stops the run, and its website is unknown, not refused."""
    service = FakeService()
    service.add_handlers["a.example"] = [refused(500, "website limit reached")]
    report = service.ensure(WANTED)
    assert states(report) == ["unknown", "not_tried", "not_tried"]
    assert service.lists == 2


def test_a_refused_website_that_exists_at_the_end_is_present() -> None:
    """A refused website that the list shows at the end is reported as present."""

    def taken(service: FakeService, payload: Payload) -> HttpResponse:
        service.add(payload)
        return respond({"ok": False, "error": "It was added before"}, 400)

    service = FakeService()
    service.add_handlers["a.example"] = [taken]
    report = service.ensure(WANTED)
    assert states(report) == ["present", "added", "added"]
    assert report.items[0].row()["error"] == "It was added before"


def test_a_rate_limit_is_waited_for() -> None:
    """After a 429 the next add waits for Retry-After; the refused one is not resent."""
    service = FakeService()
    service.add_handlers["a.example"] = [refused(429, "Slow down", retry_after="37")]
    report = service.ensure(WANTED)
    assert states(report) == ["refused", "added", "added"]
    assert service.pauses == [37.0]


def test_a_pause_that_is_too_long_stops() -> None:
    """A Retry-After of total_timeout or more stops the run."""
    service = FakeService()
    service.add_handlers["a.example"] = [refused(429, "Slow down", retry_after="120")]
    report = service.ensure(WANTED)
    assert states(report) == ["refused", "not_tried", "not_tried"]
    assert service.pauses == []
    assert report.stopped is not None
    assert isinstance(report.stopped, RateLimitedError)
    assert "the pause of a rate limit: Slow down" in report.stopped.message
    assert report.items[0].row()["error"] == "Slow down"


def test_too_many_rate_limits_in_a_row_stop() -> None:
    """More 429 in a row than retries stop the run; a success starts counting anew."""
    service = FakeService()
    wanted = specs(*(f"{letter}.example" for letter in "abcdefg"))
    for spec in (*wanted[:2], *wanted[3:]):
        service.add_handlers[spec.hostname] = [refused(429, "Slow down")]
    assert states(service.ensure(wanted)) == [
        *["refused", "refused", "added"],
        *["refused", "refused", "refused", "not_tried"],
    ]
    assert len(service.pauses) == 4


# --- errors and events --------------------------------------------------------------


def test_an_add_is_announced_before_it_is_sent() -> None:
    """Each add is announced before it is sent, and its outcome is recorded after."""
    service = FakeService("b.example")
    seen: list[tuple[object, int]] = []
    service.on_note = lambda event: seen.append((event, len(service.posts)))
    service.add_handlers["c.example"] = [refused(400, "No")]
    service.ensure(WANTED)
    kept = [pair for pair in seen if isinstance(pair[0], (Sending, Settled, Ended))]
    assert kept == [
        (Sending("a.example", 120.0), 0),
        (Settled("a.example", "added", None), 1),
        (Sending("c.example", 120.0), 1),
        (Settled("c.example", "refused", "No"), 2),
        (Ended(), 2),
    ]


@pytest.mark.parametrize("kind", [Sending, Settled])
def test_if_the_journal_fails_nothing_more_is_sent(kind: type) -> None:
    """An add that the journal can't announce is not sent, and the run reports it."""

    def full(event: object) -> None:
        if isinstance(event, kind):
            raise ConfigurationError("the journal can't be written")

    service = FakeService("c.example")
    service.on_note = full
    report = service.ensure(WANTED)
    first = "not_tried" if kind is Sending else "added"
    assert states(report) == [first, "not_tried", "present"]
    assert isinstance(report.stopped, ConfigurationError)
    assert str(report.stopped) == "the journal can't be written"
    assert service.posts == (["a.example"] if kind is Settled else [])


# --- continuing an interrupted run --------------------------------------------------


def test_a_pending_add_in_the_list_was_added() -> None:
    """A website that an interrupted run sent is not resent if the list has it."""
    service = FakeService("a.example", "b.example")
    report = service.ensure(WANTED, {"a.example": 1_119.0}, ["b.example"])
    assert states(report) == ["added", "added", "added"]
    assert service.posts == ["c.example"]
    assert service.pauses == []


@pytest.mark.parametrize("seconds", [120.0, 20.0, 0.5, 3_000.0])
def test_a_pending_add_is_waited_for(seconds: float) -> None:
    """A pending add is resent after its deadline, whatever this run's timeout is."""
    service = FakeService()
    pending = {"a.example": service.time + seconds, "b.example": service.time - 300}
    report = service.ensure(WANTED, pending)
    assert sum(service.pauses) == seconds
    assert service.lists == 1 + len(service.pauses)
    assert report.complete
    assert service.posts[0] == "a.example"
    (told,) = [note for note in service.notes if isinstance(note, Waiting)]
    assert told == Waiting(("a.example", "b.example"), seconds)


def test_a_pending_add_that_is_processed_meanwhile_is_not_sent() -> None:
    """The wait ends as soon as the list shows the website, which is not resent."""
    service = FakeService()
    service.late = [(4, {"hostname": "a.example"})]
    report = service.ensure(WANTED, {"a.example": service.time + 120})
    assert report.complete
    assert service.pauses == [1.0, 2.0, 4.0]
    assert service.posts == ["b.example", "c.example"]


def test_an_old_pending_add_is_not_waited_for() -> None:
    """A pending add whose deadline is over is resent at once."""
    service = FakeService()
    assert service.ensure(WANTED, {"a.example": service.time}).complete
    assert service.pauses == []


def test_pending_adds_of_other_websites_are_ignored() -> None:
    """A pending add of a website that this run is not about is not waited for."""
    service = FakeService()
    assert service.ensure(WANTED, {"z.example": service.time + 120}).complete
    assert service.pauses == []


def test_a_website_that_was_added_and_removed_is_not_added_again() -> None:
    """A website that the journal has as added, and the list lacks, is not resent."""
    service = FakeService()
    report = service.ensure(WANTED, {}, ["a.example"])
    assert states(report) == ["unknown", "added", "added"]
    assert "journal" in str(report.items[0].error)
    assert service.posts == ["b.example", "c.example"]


# --- combinations ---------------------------------------------------------------------

ALL: dict[str, AddHandler] = {
    "processed": FakeService.process,
    "not sent": fake_service.not_sent,
    **PROCESSED,
    **NOT_PROCESSED,
    "processed late": fake_service.processed_late,
    "one refused": refused(400, "No"),
    "all refused": refused(403, "No"),
    "slow down": refused(429, "No"),
}


@pytest.mark.parametrize("first", ALL)
@pytest.mark.parametrize("second", ALL)
def test_every_outcome_after_every_other(first: str, second: str) -> None:
    """With any two failures the report is right, and no website is added twice."""
    service = FakeService()
    for spec, name in zip(WANTED, (first, second), strict=False):
        service.add_handlers[spec.hostname] = [ALL[name]] * 3
    report = service.ensure(WANTED)
    for item in report.items:
        exists = service.processed[item.hostname] == 1
        if item.state in {"added", "present"}:
            assert exists
        elif item.state in {"refused", "not_tried"}:
            assert not exists
    # Whatever failed, the next run completes.
    service.add_handlers.clear()
    assert service.ensure(WANTED).complete
