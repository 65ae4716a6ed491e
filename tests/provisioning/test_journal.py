"""Runs that end early: their journals, read after a crash, and their reports."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import respx

from both_clients import VARIANTS, opened
from inside import set_clock_of_clients
from provisioning.inside import journal_of, own_journals
from provisioning.journals import Killed, let_time_pass
from provisioning.journals import sent as hostnames_sent
from sitestats import (
    AuthenticationError,
    BusyError,
    Client,
    ConfigurationError,
    ConnectionFailedError,
    InvalidInputError,
    SiteStatsWarning,
    WebsiteSpec,
)
from sitestats.emulator import Emulator, RecordedRequest
from sitestats.provisioning import ProvisioningReport

SPECS = [WebsiteSpec(f"{name}.example") for name in "abc"]
JOURNALS = [(False, False), (False, True), (True, False), (True, True)]
"""Whether the first run, and the second, has a journal of the caller's."""


def kill(emulator: Emulator, hostname: str, journal: Path | None) -> None:
    """A run that is killed when the service got the add of *hostname*."""

    def dies(request: httpx.Request) -> httpx.Response:
        response = inner.handle_request(request)
        if hostname.encode() in request.content:
            raise Killed
        return response

    inner = emulator.transport()
    keys: dict[str, Any] = {"api_key": emulator.api_key, "user_id": emulator.user_id}
    with (
        respx.mock(base_url="https://emulator.test") as routes,
        Client("https://emulator.test", **keys) as client,
    ):
        routes.route().mock(side_effect=dies)
        with pytest.raises(Killed):
            client.websites.ensure(SPECS, journal=journal)


def ensure(
    emulator: Emulator, journal: Path | None = None, **options: Any
) -> ProvisioningReport:
    """A run with a client of its own."""
    options = {"base_url": "https://emulator.test", **options}
    with emulator.client(**options) as client:
        return client.websites.ensure(SPECS, journal=journal)


def sent(emulator: Emulator) -> list[str]:
    """The host names of all adds that the emulator got, by their first letters."""
    return [hostname[0] for hostname in hostnames_sent(emulator)]


@pytest.fixture
def emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Emulator:
    """An account without websites, and a state folder without files."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Emulator()


@pytest.mark.parametrize(("first", "second"), JOURNALS)
def test_a_killed_run_is_continued_without_a_second_add(
    emulator: Emulator, tmp_path: Path, *, first: bool, second: bool
) -> None:
    """Whichever of the two runs has a journal of its own: what the killed one added is
    reported as added.
    """
    journal = tmp_path / "journal"
    kill(emulator, "b.example", journal if first else None)
    assert [*emulator.websites] == ["a.example", "b.example"]
    report = ensure(emulator, journal if second else None)
    assert [item.state for item in report.items] == ["added"] * 3
    assert sent(emulator) == ["a", "b", "c"]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of all pauses, which take no time, but move the clock."""
    pauses = list[float]()
    set_clock_of_clients(
        monkeypatch,
        sleep=pauses.append,
        monotonic=lambda: time.monotonic() + sum(pauses),
    )
    return pauses


@pytest.mark.parametrize("passed", [-86_400, 0, 90, 120, 3_000])
def test_an_add_that_is_under_way_is_waited_for(
    emulator: Emulator, pauses: list[float], passed: int
) -> None:
    """An add whose website the list does not show is sent again only when the service
    must have processed it, and no later where the clock was set back. A run about other
    websites does not wait.
    """
    kill(emulator, "b.example", None)
    let_time_pass(seconds=passed)
    emulator.remove_website("b.example")
    with emulator.client(base_url="https://emulator.test") as client:
        assert client.websites.ensure(["z.example"]).complete
    assert pauses == []
    left = 120 - max(passed, 0)
    waits = pytest.warns(SiteStatsWarning, match="an earlier run sent b.example, and")
    with waits if left > 0 else nullcontext():
        assert ensure(emulator).complete
    assert left - 60 < sum(pauses) <= max(left, 0)
    assert sent(emulator) == ["a", "b", "z", "b", "c"]


@pytest.mark.parametrize(
    ("number", "seconds", "expected"), [(4, 0, [1, 2, 4]), (2, 121, [1])]
)
def test_the_wait_ends_as_soon_as_the_website_is_there(
    emulator: Emulator,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    seconds: int,
    expected: list[float],
) -> None:
    """The list is read after 1, 2 and 4 seconds, and the website is not sent again. A
    list that was requested before the deadline does not count, however late it comes.
    """
    lists, pauses = list[int](), list[float]()

    def list_comes(request: RecordedRequest) -> bool:
        if request.method == "GET":
            lists.append(seconds)
            if len(lists) == number:
                emulator.add_website("b.example")
        return False

    set_clock_of_clients(
        monkeypatch,
        sleep=pauses.append,
        monotonic=lambda: time.monotonic() + sum(pauses) + sum(lists),
    )

    kill(emulator, "b.example", None)
    emulator.remove_website("b.example")
    emulator.fail_next(None, status=500, when=list_comes)
    with pytest.warns(SiteStatsWarning, match="sent b.example, and"):
        assert ensure(emulator).complete
    assert pauses == expected
    assert sent(emulator) == ["a", "b", "c"]


@pytest.mark.parametrize("with_journal", [True, False])
def test_journals_are_emptied_when_nothing_is_pending(
    emulator: Emulator, tmp_path: Path, *, with_journal: bool
) -> None:
    """A run that ends leaves nothing behind, unless an add may still be processed."""
    journal = tmp_path / "journal" if with_journal else None

    def contents() -> set[bytes]:
        files = [*own_journals(), *filter(None, [journal])]
        return {path.read_bytes() for path in files}

    assert ensure(emulator, journal).complete
    assert contents() == {b""}
    for hostname in emulator.websites:
        emulator.remove_website(hostname)
    emulator.fail_next(reset=True, method="POST")
    (item,) = ensure(emulator, journal).unknown
    assert item.hostname == "a.example"
    pending = b'"sending", "hostname": "a.example"'
    assert all(pending in data for data in contents())
    let_time_pass(*filter(None, [journal]))
    assert ensure(emulator, journal).complete
    assert contents() == {b""}


def test_a_journal_can_be_read_by_people_and_has_no_credential(
    emulator: Emulator, tmp_path: Path
) -> None:
    """It has one JSON object a line: host names, times and outcomes. An add is in it
    before it is sent.
    """
    journal = tmp_path / "journal"
    kill(emulator, "b.example", journal)
    head, *records = [json.loads(line) for line in journal.read_bytes().splitlines()]
    assert head == {"journal": "sitestats", "service": "https://emulator.test"}
    assert [{**record, "at": 0} for record in records] == [
        {"at": 0, "event": "sending", "hostname": "a.example", "timeout": 120.0},
        *[{"at": 0, "event": "settled", "hostname": "a.example", "state": "added",
           "message": None}],
        {"at": 0, "event": "sending", "hostname": "b.example", "timeout": 120.0},
    ]  # fmt: skip
    for path in (journal, *own_journals()):
        for secret in (emulator.api_key, emulator.user_id):
            assert secret not in path.read_text() + path.name


def test_what_an_interrupted_run_added_is_not_added_again(
    emulator: Emulator, tmp_path: Path
) -> None:
    """A website that it added and the list lacks is unknown: the list may lag."""
    kill(emulator, "b.example", None)
    emulator.remove_website("a.example")
    report = ensure(emulator)
    assert [item.state for item in report.items] == ["unknown", "added", "added"]
    assert "journal" in str(report.items[0].error)
    assert sent(emulator) == ["a", "b", "c"]
    # That report was received.
    assert ensure(emulator).complete


@pytest.mark.parametrize("rest", [b'{"at": 17', b'{"event": "sending", "hostname": '])
def test_a_line_that_was_cut_off_announces_nothing(
    emulator: Emulator, tmp_path: Path, rest: bytes
) -> None:
    """It was not on the disk, so its add was not sent; a header may be cut off too."""
    journal = tmp_path / "journal"
    kill(emulator, "b.example", journal)
    journal.write_bytes(journal.read_bytes() + rest)
    assert ensure(emulator, journal).complete
    journal.write_bytes(b'{"journal": "sites')
    assert ensure(emulator, journal).complete


HEAD = b'{"journal": "sitestats", "service": "https://emulator.test"}\n'
NOT_A_JOURNAL = ":1: the file is not a journal for https"
DAMAGED = ":2: the journal is damaged here"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"shop.example\n", NOT_A_JOURNAL),
        (b"[]\n", NOT_A_JOURNAL),
        (b"x", NOT_A_JOURNAL),
        (b'{"hostname": "a.example"}\n', NOT_A_JOURNAL),
        (HEAD + b"{x}\n", DAMAGED),
        (HEAD + b"[]\n", DAMAGED),
        (HEAD + b'{"event": "sending", "at": 1, "timeout": 1}\n', DAMAGED),
        (HEAD + b'{"event": "sending", "hostname": "a", "at": "x"}\n', DAMAGED),
        (HEAD + b"\0\0\0\n", DAMAGED),
        (HEAD + b"\xff\n", DAMAGED),
    ],
)
def test_a_file_that_is_no_journal_is_not_changed(
    emulator: Emulator, tmp_path: Path, data: bytes, words: str
) -> None:
    """A file named by mistake is left alone, and so is a damaged journal."""
    journal = tmp_path / "journal"
    journal.write_bytes(data)
    with pytest.raises(InvalidInputError, match=words):
        ensure(emulator, journal)
    assert journal.read_bytes() == data
    assert emulator.requests == ()


def test_a_journal_that_can_t_be_used_is_an_error(
    emulator: Emulator, tmp_path: Path
) -> None:
    """The adds of another service say nothing about this one, so its journal is not
    changed. A missing folder is a FileNotFoundError, as from open().
    """
    journal = tmp_path / "journal"
    kill(emulator, "a.example", journal)
    before = journal.read_bytes()
    with pytest.raises(
        InvalidInputError, match=r"is not a journal for https://other\.test"
    ):
        ensure(emulator, journal, base_url="https://other.test")
    assert journal.read_bytes() == before
    with pytest.raises(FileNotFoundError):
        ensure(emulator, tmp_path / "missing" / "journal")
    assert len(emulator.requests) == 2


@pytest.mark.parametrize(("first", "second"), JOURNALS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_two_runs_at_once_exclude_each_other(
    emulator: Emulator, tmp_path: Path, variant: str, *, first: bool, second: bool
) -> None:
    """The second run sends nothing; one of another account is not kept out."""
    caught: list[BusyError] = []

    def run_another(_done: int, _total: int | None) -> None:
        if not caught:
            with pytest.raises(BusyError, match="another run adds websites") as error:
                ensure(emulator, tmp_path / "other" if second else None)
            caught.append(error.value)
            # Another account, which has not the website.
            assert ensure(Emulator(user_id="u" * 8)).complete

    with opened(variant, emulator, base_url="https://emulator.test") as client:
        journal = tmp_path / "journal" if first else None
        report = client.websites.ensure(SPECS, journal=journal, progress=run_another)
    assert report.complete
    assert len(caught) == 1
    assert sent(emulator) == ["a", "b", "c"]


def test_the_lock_is_of_the_user_whatever_the_key(emulator: Emulator) -> None:
    """Two keys of one user add to the same account, however the ID is written."""
    names = set[str]()
    for key, user in (("first", "SA_USER_ID_AB-12"), ("second", "ab-12")):
        with Client("https://a.test", api_key=key, user_id=user) as client:
            names.add(journal_of(client).name)
    with Client("https://b.test", api_key="first", user_id="ab-12") as client:
        assert journal_of(client).name not in names
    assert len(names) == 1


def test_a_state_folder_that_can_t_be_used_advises_a_journal(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, nothing is sent; with a journal, the runs that have it know of each
    other. A user may also have no home folder.
    """
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(ConfigurationError, match="by journal="):
        ensure(emulator)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "expanduser", no_home)
    with pytest.raises(ConfigurationError, match="by journal="):
        ensure(emulator)
    assert emulator.requests == ()
    kill(emulator, "b.example", tmp_path / "journal")
    assert ensure(emulator, tmp_path / "journal").complete
    assert sent(emulator) == ["a", "b", "c"]


def no_home(_path: Path) -> Path:
    """As of a user who has none."""
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of this kind")
@pytest.mark.parametrize(
    ("size", "first"), [(0, ""), (100, ""), (200, "a"), (300, "a")]
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_full_disk_stops_the_run(
    emulator: Emulator, variant: str, size: int, first: str
) -> None:
    """Where the disk takes a part of an announcement, its add is not sent, and after a
    part of an outcome none is. With space, the next run adds the others once.
    """
    import resource

    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most[1]))
    try:
        with opened(variant, emulator, base_url="https://emulator.test") as client:
            report = client.websites.ensure(SPECS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert [item.hostname[0] for item in report.added] == sent(emulator) == [*first]
    assert len(report.not_tried) == 3 - len(first)
    assert isinstance(report.stopped, ConfigurationError)
    assert "nothing more is sent: File too large" in str(report.stopped)
    assert ensure(emulator).complete
    assert "".join(sent(emulator)) == "abc"


def test_no_event_loop_waits_for_the_disk(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an event loop another thread writes the journals."""
    threads: set[int] = set()
    monkeypatch.setattr(os, "fsync", lambda _: threads.add(threading.get_ident()))

    async def main() -> int:
        async with emulator.async_client() as client:
            assert (await client.websites.ensure(SPECS)).complete
        return threading.get_ident()

    assert anyio.run(main) not in threads
    assert threads


# --- interrupted runs -------------------------------------------------------------


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_cancelled_run_has_a_report(backend: str) -> None:
    """After a cancellation the add that was under way is unknown."""
    reports: list[ProvisioningReport] = []
    emulator = Emulator()

    async def main() -> None:
        sent = anyio.Event()

        def is_second(request: RecordedRequest) -> bool:
            if b'"b.example"' in request.body:
                sent.set()
            return sent.is_set()

        emulator.fail_next(latency=60, when=is_second)

        async def ensure() -> None:
            async with emulator.async_client() as client:
                await client.websites.ensure(SPECS, interrupted=reports.append)

        async with anyio.create_task_group() as group:
            group.start_soon(ensure)
            await sent.wait()
            group.cancel_scope.cancel()

    anyio.run(main, backend=backend)
    (report,) = reports
    assert str(report.stopped) == "interrupted"
    assert [item.state for item in report.items] == ["added", "unknown", "not_tried"]
    assert report.complete is False


def test_an_error_of_the_service_is_no_interruption() -> None:
    """A run that could not begin, or that ends by itself, is not interrupted."""
    reports: list[ProvisioningReport] = []
    emulator = Emulator()
    with emulator.client(retries=0) as client:
        emulator.fail_next(status=401)
        with pytest.raises(AuthenticationError):
            client.websites.ensure(SPECS, interrupted=reports.append)
        emulator.fail_next(method="POST", reset=True)
        report = client.websites.ensure(SPECS, interrupted=reports.append)
    assert isinstance(report.items[0].error, ConnectionFailedError)
    assert reports == []
