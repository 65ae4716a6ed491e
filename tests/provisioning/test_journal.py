"""The journal: what is written before an add is sent, and read after a crash."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from same_text import SameText
from sitestats import ConfigurationError, SpecError, WebsiteSpec
from sitestats.emulator import Emulator
from sitestats.provisioning._events import (
    Began,
    Ended,
    History,
    Sending,
    Settled,
    WebsiteDone,
)
from sitestats.provisioning._journal import Journal, open_journal

SERVICE = "https://service.example"


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


def test_no_path_is_no_journal() -> None:
    """A run without a journal opens none."""
    with open_journal(None, SERVICE) as journal:
        assert journal is None


def test_what_is_written_can_be_read_by_people(path: Path) -> None:
    """The journal has one JSON object a line, with readable times."""
    write(
        path,
        Began(2, 1_000.0),
        WebsiteDone(1, 2),
        Sending("a.example", 1_000.25),
        Settled("a.example", "refused", "Nö", 1_001.0),
        Ended(1_002.0),
    )
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines == [
        {"journal": "sitestats", "format": 1, "service": SERVICE},
        {"at": "1970-01-01T00:16:40.000Z", "event": "began", "websites": 2},
        {
            "at": "1970-01-01T00:16:40.250Z",
            "event": "sending",
            "hostname": "a.example",
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
    write(path, Sending("a.example", 1.0), Settled("a.example", state, None, 2.0))
    added = frozenset(["a.example"]) if state == "added" else frozenset[str]()
    assert history(path) == History({}, added)
    write(path, Ended(3.0))
    assert history(path) == History()


def test_an_unknown_add_stays_pending(path: Path) -> None:
    """An unknown add stays pending until a run settles it."""
    write(path, Sending("a.example", 7.5), Settled("a.example", "unknown", "?", 8.0))
    write(path, Ended(9.0), Began(1, 10.0), Sending("b.example", 11.0))
    assert history(path) == History({"a.example": 7.5, "b.example": 11.0})
    write(path, Settled("a.example", "added", None, 12.0))
    assert history(path) == History({"b.example": 11.0}, frozenset(["a.example"]))


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


HEADER = json.dumps({"journal": "sitestats", "format": 1, "service": SERVICE})


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["hostname,timezone"], "1:1"),
        (["[]"], "1:1"),
        (['{"journal": "sitestats", "format": 2}'], "1:1"),
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
        pytest.raises(ConfigurationError, match="in use by another run") as caught,
        open_journal(path, SERVICE),
    ):
        pass
    same_text(caught.value)
    assert history(path) == History()


EVENTS: list[object] = [
    Began(3, 1.0),
    Sending("a.example", 2.0),
    Settled("a.example", "added", None, 3.0),
    Sending("b.example", 4.0),
    Settled("b.example", "unknown", "?", 5.0),
    Sending("c.example", 6.0),
]


@settings(max_examples=40)  # each waits for the disk
@given(st.data())
def test_a_cut_off_journal_forgets_no_whole_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A journal that was cut off keeps its complete lines, and can be continued."""
    path = tmp_path_factory.mktemp("cut") / "j"
    write(path, *EVENTS)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    # A line is complete with its closing brace.
    lines = whole[:cut].count(b"}")
    known = EVENTS[: max(lines - 1, 0)]
    announced = {e.hostname: e.unix for e in known if isinstance(e, Sending)}
    added = {e.hostname for e in known if isinstance(e, Settled) and e.state == "added"}
    expected = History(
        {name: unix for name, unix in announced.items() if name not in added},
        frozenset(added),
    )
    assert history(path) == expected
    write(path, Sending("z.example", 9.0))
    assert history(path).pending == {**expected.pending, "z.example": 9.0}


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
            journal.record(Sending("a.example", 1.0))
        same_text(caught.value)


# --- with a client ----------------------------------------------------------------

SPECS = [WebsiteSpec("a.example"), WebsiteSpec("b.example")]


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """An emulator without websites."""
    return Emulator()


def test_each_add_is_written_before_it_is_sent(emulator: Emulator, path: Path) -> None:
    """When the service gets an add, the journal has announced it."""
    announced: list[str] = []

    def last_line(request: object) -> bool:
        announced.append(json.loads(path.read_bytes().splitlines()[-1])["hostname"])
        return False

    emulator.fail_next(status=500, method="POST", when=last_line)
    with emulator.client() as client:
        assert client.websites.ensure(SPECS, journal=path).complete
    assert announced == ["a.example", "b.example"]


def test_each_add_is_on_the_disk_before_it_is_sent(
    emulator: Emulator, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each announcement is on the disk before its add, so a power failure keeps it."""
    on_the_disk: list[int] = []
    really = os.fsync

    def fsync(file: int) -> None:
        really(file)
        on_the_disk.append(os.fstat(file).st_size)

    def not_on_the_disk(_request: object) -> bool:
        return on_the_disk[-1] != path.stat().st_size

    monkeypatch.setattr(os, "fsync", fsync)
    emulator.fail_next(None, status=400, method="POST", when=not_on_the_disk)
    with emulator.client() as client:
        assert client.websites.ensure(SPECS, journal=path).complete
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
