"""The journal: what is written before an add is sent, and read after a crash."""

from __future__ import annotations

import errno
import json
import os
import socket
import tempfile
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from same_text import SameText
from sitestats import BusyError, ConfigurationError, SpecError, WebsiteSpec
from sitestats._protocol.flow import Moment
from sitestats.emulator import Emulator
from sitestats.provisioning import ProvisionedWebsite, _journal
from sitestats.provisioning._account import state_folder
from sitestats.provisioning._events import (
    Began,
    Ended,
    History,
    Sending,
    Settled,
    WebsiteDone,
)
from sitestats.provisioning._journal import Journal, open_journal

pytestmark = pytest.mark.standard_library


SERVICE = "https://service.example"
TIMEOUT = 120.0
START = time.monotonic()
"""Announcements of adds are counted from here, so that each has a time of its own."""


def sending(hostname: str, seconds: float) -> Sending:
    """The announcement of an add, *seconds* after the start."""
    return Sending(hostname, Moment(START + seconds, seconds), TIMEOUT)


def deadlines(**seconds: float) -> dict[str, float]:
    """The deadlines of ``sending`` at these times, by the first label of the name."""
    return {f"{k}.example": START + at + TIMEOUT for k, at in seconds.items()}


@pytest.fixture(autouse=True)
def boot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's start has a name, as it has on Linux."""
    monkeypatch.setattr(_journal, "_boot", lambda: "this start")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a journal that does not exist."""
    return tmp_path / "websites.journal"


def write(path: Path, *events: object) -> None:
    """Append *events* to the journal at *path*."""
    with open_journal(path, SERVICE) as journal:
        assert journal is not None
        for event in events:
            journal.record(event)


def history(path: Path) -> History:
    """The history in the journal at *path*."""
    with open_journal(path, SERVICE) as journal:
        assert journal is not None
        return journal.history


def test_what_is_written_can_be_read_by_people(path: Path) -> None:
    """The journal has one JSON object a line, with readable times."""
    write(
        path,
        Began(2, 1_000.0),
        WebsiteDone(ProvisionedWebsite(WebsiteSpec("a.example"), "added"), 1, 2),
        sending("a.example", 1_000.25),
        Settled("a.example", "refused", "Nö", 1_001.0),
        Ended(1_002.0),
    )
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines == [
        {"journal": "sitestats", "format": 2, "service": SERVICE},
        {"at": "1970-01-01T00:16:40.000Z", "event": "began", "websites": 2},
        {
            "at": "1970-01-01T00:16:40.250Z",
            "event": "sending",
            "hostname": "a.example",
            "timeout": TIMEOUT,
            "until": START + 1_000.25 + TIMEOUT,
            "boot": "this start",
        },
        {
            "at": "1970-01-01T00:16:41.000Z",
            "event": "settled",
            "hostname": "a.example",
            "state": "refused",
            "message": "Nö",
        },
        {"at": "1970-01-01T00:16:42.000Z", "event": "ended"},
    ]


@pytest.mark.parametrize("state", ["added", "refused", "not_tried", "present"])
def test_a_settled_add_is_not_pending(path: Path, state: Any) -> None:
    """An add with an outcome is not pending; added ones are kept until the run ends."""
    write(path, sending("a.example", 1.0), Settled("a.example", state, None, 2.0))
    added = frozenset(["a.example"]) if state == "added" else frozenset[str]()
    assert history(path) == History({}, added)
    write(path, Ended(3.0))
    assert history(path) == History()


def test_an_unknown_add_stays_pending(path: Path) -> None:
    """An unknown add stays pending until a run settles it."""
    write(path, sending("a.example", -7.5), Settled("a.example", "unknown", "?", 8.0))
    write(path, Ended(9.0), Began(1, 10.0), sending("b.example", -5.0))
    assert history(path) == History(deadlines(a=-7.5, b=-5.0))
    write(path, Settled("a.example", "added", None, 12.0))
    assert history(path) == History(deadlines(b=-5.0), frozenset(["a.example"]))


def test_the_journal_of_another_service_is_refused(
    path: Path, same_text: SameText
) -> None:
    """A journal of one service can't be used for another."""
    write(path)
    with (
        pytest.raises(
            ConfigurationError, match=r"is for https://service\.example"
        ) as caught,
        open_journal(path, "https://other.example"),
    ):
        pass
    same_text(caught.value)


HEADER = json.dumps({"journal": "sitestats", "format": 2, "service": SERVICE})


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["hostname,timezone"], "1:1"),
        (["[]"], "1:1"),
        (['{"journal": "sitestats", "format": 1}'], "1:1"),
        ([HEADER.replace("sitestats", "other")], "1:1"),
        ([HEADER, '{"event": }'], "2:11"),
        ([HEADER, "", '{"event": "ended"}'], "2:1"),
        ([HEADER, '{"event": "sending", "hostname": "a.b", "at": "soon"}'], "2:1"),
        ([HEADER, '{"event": "settled", "hostname": "a.b"}'], "2:1"),
        ([HEADER, "[" * 100_000], "2:1"),
        ([HEADER, "9" * 5_000], "2:1"),
    ],
)
def test_another_file_is_refused_with_its_location(
    path: Path, lines: list[str], place: str, same_text: SameText
) -> None:
    """A damaged journal, or another file, is refused and not changed."""
    text = "".join(f"{line}\n" for line in lines)
    path.write_text(text)
    with pytest.raises(SpecError) as caught:
        history(path)
    same_text(caught.value)
    (problem,) = caught.value.problems
    assert (problem.rule, problem.where) == ("journal", f"{path}:{place}")
    assert path.read_text() == text


def test_one_run_at_a_time(path: Path, same_text: SameText) -> None:
    """Two runs can't use a journal at once; after a run it can be used again."""
    with (
        open_journal(path, SERVICE),
        pytest.raises(BusyError, match="in use by another run") as caught,
        open_journal(path, SERVICE),
    ):
        pass
    same_text(caught.value)
    assert history(path) == History()


EVENTS: list[object] = [
    Began(3, 1.0),
    sending("a.example", -2.0),
    Settled("a.example", "added", None, 3.0),
    sending("b.example", -4.0),
    Settled("b.example", "unknown", "?", 5.0),
    sending("c.example", -6.0),
]


@given(st.data())
def test_a_cut_off_journal_forgets_no_whole_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A journal that was cut off keeps its complete lines, and can be continued."""
    path = tmp_path_factory.mktemp("cut") / "j"
    write(path, *EVENTS)
    whole = path.read_bytes()
    # With less of its first line it can't be told from another file.
    cut = data.draw(st.just(0) | st.integers(len(b'{"journal": "sitestats"'), 1000))
    path.write_bytes(whole[:cut])
    # A line is complete with its closing brace.
    lines = whole[:cut].count(b"}")
    known = EVENTS[: max(lines - 1, 0)]
    announced = {
        e.hostname: e.moment.monotonic + TIMEOUT
        for e in known
        if isinstance(e, Sending)
    }
    added = {e.hostname for e in known if isinstance(e, Settled) and e.state == "added"}
    expected = History(
        {name: until for name, until in announced.items() if name not in added},
        frozenset(added),
    )
    assert history(path) == expected
    write(path, sending("z.example", -9.0))
    assert history(path).pending == {**expected.pending, **deadlines(z=-9.0)}


# --- files that are no journals -----------------------------------------------------

FOREIGN = {
    "text": b"Dear diary,\ntoday I added a website",
    "list of websites": b"hostname,label\na.example,shop\nb.example,bl",
    "binary": bytes(range(256)) * 40,
    "zeros": bytes(4096),
    "one line": b"x" * 10_000_000,
    "one line of JSON": b'{"journal": "' + b"x" * 10_000_000,
    "JSON of another program": b'{"journal": "of mine"}\n{"torn',
    "a list in JSON": b'[{"hostname": "a.example"}]',
    "deep JSON": b"[" * 100_000,
    "a brace": b"{",
    "almost a journal": HEADER.encode()[:22],
    "a number of too many digits": b"1" * 5_000,
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_is_no_journal_is_not_touched(path: Path, content: bytes) -> None:
    """A user's file that is named as the journal by mistake stays as it is."""
    path.write_bytes(content)
    os.utime(path, ns=(1, 1))
    with pytest.raises(SpecError, match="is not a journal, and was not changed"):
        history(path)
    assert path.read_bytes() == content
    assert path.stat().st_mtime_ns == 1


@pytest.mark.parametrize(
    "content",
    [
        HEADER.replace("service", "other").encode()[:-30],
        HEADER.replace("service.example", "other.example").encode() + b'\n{"torn',
        HEADER.replace("2", "9").encode() + b'\n{"torn',
        f'{HEADER}\nNo JSON\n{{"torn'.encode(),
    ],
)
def test_only_a_good_journal_is_mended(path: Path, content: bytes) -> None:
    """A torn last line is cut only off a journal that is otherwise whole and ours."""
    path.write_bytes(content)
    with (
        pytest.raises((SpecError, ConfigurationError)),
        open_journal(path, "https://service.example.org"),
    ):
        pass
    assert path.read_bytes() == content


def test_a_big_file_that_is_no_journal_is_not_read(path: Path) -> None:
    """A file of 1 TB that is no journal is refused at once, in little memory."""
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(SpecError, match="is not a journal"):
        history(path)
    assert path.stat().st_size == 1 << 40


@pytest.mark.skipif(os.name == "nt", reason="Windows has other devices")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("/dev/zero", "a device"),
        ("/dev/full", "a device"),
        ("/dev/null", "a device"),
        ("directory", "a directory"),
        ("pipe", "a pipe"),
        ("link to a pipe", "a pipe"),
        ("socket", "a socket"),
    ],
)
def test_a_special_file_is_no_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    """A device, a directory or a pipe is refused without waiting, and not opened."""
    path = tmp_path / name
    if name == "directory":
        path.mkdir()
    elif "pipe" in name:
        os.mkfifo(tmp_path / "pipe")
        if path.name != "pipe":
            path.symlink_to(tmp_path / "pipe")
    elif name == "socket":
        # The address of a socket may have some hundred bytes: too few for many a path.
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(name)
    with pytest.raises(SpecError, match=f"a regular file, and this is {kind}"):
        history(path)


def test_a_link_to_a_journal_is_one(path: Path, tmp_path: Path) -> None:
    """A journal may be kept elsewhere, behind a symbolic link."""
    (tmp_path / "elsewhere").mkdir()
    path.symlink_to(tmp_path / "elsewhere" / "journal")
    write(path, sending("a.example", -1.0))
    assert history(path) == History(deadlines(a=-1.0))


# --- clocks -------------------------------------------------------------------------


def change_records(path: Path, **changes: object) -> None:
    """Change these values in the journal's announcements."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        if line.get("event") == "sending":
            line.update(changes)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.mark.parametrize("at", ["1970-01-01T00:00:00Z", "2099-01-01T00:00:00Z", None])
def test_the_system_clock_is_not_used(path: Path, at: str | None) -> None:
    """Wherever the system clock was set to, an add is waited for until its deadline."""
    write(path, sending("a.example", -1.0))
    change_records(path, at=at)
    assert history(path) == History(deadlines(a=-1.0))


@pytest.mark.parametrize(
    ("boot", "now"), [("another start", "this start"), (None, "this"), (None, None)]
)
def test_before_a_restart_the_whole_timeout_counts(
    path: Path, monkeypatch: pytest.MonkeyPatch, boot: str | None, now: str | None
) -> None:
    """A journal of another machine, or of before a restart, is waited for in full, and
    so is one where the system has no name for its start.
    """
    monkeypatch.setattr(_journal, "_boot", lambda: now)
    write(path, sending("a.example", -1_000.0))
    change_records(path, boot=boot)
    before = time.monotonic()
    until = history(path).pending["a.example"]
    assert before + TIMEOUT <= until <= time.monotonic() + TIMEOUT


@pytest.mark.parametrize(
    "changes",
    [{"until": float("nan")}, {"timeout": float("inf")}, {"until": "x"}, {"until": []}],
)
def test_a_deadline_that_is_none_is_damage(path: Path, changes: dict[str, Any]) -> None:
    """A deadline that can't be read is an error, and not an endless wait."""
    write(path, sending("a.example", -1.0))
    change_records(path, **changes)
    with pytest.raises(SpecError, match="damaged"):
        history(path)


def test_a_deadline_is_never_later_than_the_timeout_from_now(path: Path) -> None:
    """A monotonic clock that ran differently makes no run wait for years."""
    write(path, sending("a.example", 1e9))
    assert history(path).pending["a.example"] <= time.monotonic() + TIMEOUT


@pytest.mark.parametrize("unix", [float("nan"), 1e18, -1e18])
def test_a_system_clock_that_shows_no_time(path: Path, unix: float) -> None:
    """A broken system clock ends no run: its time is for people alone."""
    write(path, Began(1, unix))
    assert b'"at": null' in path.read_bytes()


# --- files that can't be written any more ---------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="open files can't be removed there")
@pytest.mark.parametrize("replaced", [False, True])
def test_a_journal_that_was_removed_announces_nothing(
    path: Path,
    replaced: bool,  # noqa: FBT001 - pytest gives it by its name
) -> None:
    """Once the journal was removed no add is sent, as no later run would know of it."""
    with open_journal(path, SERVICE) as journal:
        assert journal is not None
        journal.record(sending("a.example", -1.0))
        path.unlink()
        if replaced:
            path.write_bytes(b"mine")
        # What was sent has an outcome, wherever it is written.
        journal.record(Settled("a.example", "added", None, 1.0))
        with pytest.raises(ConfigurationError, match="was removed or replaced"):
            journal.check_place()
    assert not replaced or path.read_bytes() == b"mine"


class FullDisk(FileIO):
    """A file on a full disk."""

    def write(self, _data: Any, /) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_an_error(path: Path, same_text: SameText) -> None:
    """An event that can't be written raises ConfigurationError."""
    path.touch()
    with FullDisk(path, "a+") as file:
        journal = Journal(str(path), file, History())
        with pytest.raises(ConfigurationError, match="No space left") as caught:
            journal.record(sending("a.example", 1.0))
        same_text(caught.value)


def test_no_test_writes_into_the_home_folder() -> None:
    """What the runs of all tests lock is in a folder that is removed in the end."""
    assert state_folder().parent.name.startswith("sitestats-state-")
    assert state_folder().is_relative_to(tempfile.gettempdir())


# --- with a client ----------------------------------------------------------------

SPECS = [WebsiteSpec("a.example"), WebsiteSpec("b.example")]


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """An emulator without websites."""
    return Emulator()


def test_each_add_is_on_the_disk_before_it_is_sent(
    emulator: Emulator, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the service gets an add, the journal has announced it, and that is on the
    disk, so a power failure keeps it.
    """
    on_the_disk: list[int] = []
    announced: list[str] = []
    really = os.fsync

    def fsync(file: int) -> None:
        really(file)
        on_the_disk.append(os.fstat(file).st_size)

    def not_on_the_disk(_request: object) -> bool:
        announced.append(json.loads(path.read_bytes().splitlines()[-1])["hostname"])
        return on_the_disk[-1] != path.stat().st_size

    monkeypatch.setattr(os, "fsync", fsync)
    emulator.fail_next(None, status=400, method="POST", when=not_on_the_disk)
    with emulator.client() as client:
        assert client.websites.ensure(SPECS, journal=path).complete
    assert announced == ["a.example", "b.example"]
    header = path.read_bytes().splitlines(keepends=True)[0]
    assert on_the_disk[0] == len(header)


def test_each_website_is_progress(emulator: Emulator, path: Path) -> None:
    """Progress counts the websites that are done, with a journal and without."""
    calls: list[tuple[object, ...]] = []
    with emulator.client() as client:
        for journal in (None, path):
            client.websites.ensure(
                SPECS, journal=journal, progress=lambda *numbers: calls.append(numbers)
            )
    assert calls == [(1, 2), (2, 2)] * 2


def test_the_journal_holds_no_credential(emulator: Emulator, path: Path) -> None:
    """Neither the key nor the user id is in the journal."""
    emulator.fail_next(status=401, body={"ok": False, "error": "No"}, method="POST")
    with emulator.client() as client:
        client.websites.ensure(SPECS, journal=str(path))
    text = path.read_text()
    assert "a.example" in text
    assert emulator.api_key not in text
    assert emulator.user_id not in text


def test_a_directory_that_is_not_there_is_the_system_s_error(
    emulator: Emulator, tmp_path: Path
) -> None:
    """A journal that can't be opened raises OSError before anything is sent."""
    with emulator.client() as client, pytest.raises(FileNotFoundError):
        client.websites.ensure(SPECS, journal=tmp_path / "none" / "journal")
    assert emulator.requests == ()
