"""Runs for one account exclude each other on one machine."""

from __future__ import annotations

import errno
import hashlib
import json
import multiprocessing
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from connection_faults import let_time_pass
from ensure_processes import NAMES, ProcessRunner, about_b, wait_until
from fake_service import SETTINGS
from sitestats import BusyError, ConfigurationError, SiteStatsWarning, WebsiteSpec
from sitestats._common.hostnames import BaseAddress
from sitestats._common.secret import Secret
from sitestats._common.settings import Settings
from sitestats._protocol.flow import Moment
from sitestats.emulator import Emulator
from sitestats.provisioning._account import account_file, locked_account, state_folder
from sitestats.provisioning._events import Sending, Settled
from sitestats.provisioning._journal import Journal, open_journal

pytestmark = pytest.mark.standard_library


SPECS = [WebsiteSpec(name) for name in NAMES]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of this test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "sitestats"


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[ProcessRunner]:
    """An emulator without websites, on a loopback socket."""
    emulator = Emulator()
    with emulator.serve() as address:
        yield ProcessRunner(emulator, address, tmp_path / "journal")


def account(user: str, key: str = "key", base: str = "https://s.example") -> Settings:
    """Settings of this account."""
    return attrs.evolve(
        SETTINGS,
        base=BaseAddress.parse(base),
        api_key=Secret(key),
        user_id=Secret(user),
    )


# --- real processes -----------------------------------------------------------------


def test_two_runs_at_once(runner: ProcessRunner, tmp_path: Path) -> None:
    """A second run, with another journal or none, is refused, and adds nothing."""
    runner.emulator.fail_next(latency=60, when=about_b)
    process = runner.start(journal=tmp_path / "one")
    wait_until(lambda: "b.example" in runner.sent or process.poll() is not None)
    lists = runner.lists
    for journal in (tmp_path / "other", None):
        message = runner.finish(runner.start(journal=journal))
        assert "another run adds websites for this account" in message
    assert runner.lists == lists
    process.kill()
    process.communicate(timeout=30)
    assert runner.sent == ["a.example", "b.example"]


@pytest.mark.long
@pytest.mark.once
def test_eight_runs_at_once(runner: ProcessRunner, tmp_path: Path) -> None:
    """Of many runs that begin at once, each website is sent by one alone."""
    processes = [runner.start(journal=tmp_path / f"{n}") for n in range(8)]
    outcomes = [runner.finish(process) for process in processes]
    finished = [outcome for outcome in outcomes if isinstance(outcome, list)]
    assert finished
    assert all(set(states) <= {"added", "present"} for states in finished)
    assert runner.sent == NAMES


@pytest.mark.skipif(os.name == "nt", reason="open files can't be removed there")
def test_a_journal_that_is_removed_meanwhile(runner: ProcessRunner) -> None:
    """A run whose journal was removed excludes others, and sends nothing more."""
    removed = threading.Event()
    runner.emulator.fail_next(
        when=lambda request: about_b(request) and not removed.wait(60), status=500
    )
    process = runner.start()
    wait_until(lambda: "b.example" in runner.sent or process.poll() is not None)
    runner.journal.unlink()
    assert "another run adds websites" in runner.finish(runner.start())
    removed.set()
    assert runner.finish(process) == ["added", "added", "not_tried"]
    assert runner.sent == ["a.example", "b.example"]
    assert runner.finish(runner.start()) == ["present", "present", "added"]


def test_a_killed_run_excludes_nobody(runner: ProcessRunner, state: Path) -> None:
    """After a kill the next run goes on at once, and leaves no file behind."""
    runner.emulator.fail_next(latency=60, when=about_b)
    runner.kill_when(lambda: "b.example" in runner.emulator.websites, journal=None)
    assert len(list(state.iterdir())) == 1
    assert runner.finish(runner.start(journal=None)) == ["present", "added", "added"]
    assert list(state.iterdir()) == []
    assert runner.sent == NAMES


# --- one process ----------------------------------------------------------------------


def test_threads_of_one_process() -> None:
    """Two threads can't add for one account at once either."""
    emulator = Emulator()
    begun, end = threading.Event(), threading.Event()

    def wait(_request: object) -> bool:
        begun.set()
        return not end.wait(30)

    emulator.fail_next(when=wait, method="POST", status=500)
    with emulator.client() as client:
        thread = threading.Thread(target=client.websites.ensure, args=(SPECS,))
        thread.start()
        assert begun.wait(30)
        with pytest.raises(BusyError), emulator.client() as other:
            other.websites.ensure(SPECS)
        end.set()
        thread.join()
        assert client.websites.ensure(SPECS).complete


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_tasks_of_one_process(backend: str) -> None:
    """Of two tasks one is refused, and the other adds everything."""
    emulator = Emulator()
    emulator.fail_next(None, latency=0.05)
    outcomes: list[object] = []

    async def main() -> None:
        async with emulator.async_client() as client:

            async def ensure() -> None:
                try:
                    outcomes.append(await client.websites.ensure(SPECS))
                except BusyError as error:
                    outcomes.append(error)

            async with anyio.create_task_group() as group:
                group.start_soon(ensure)
                group.start_soon(ensure)

    anyio.run(main, backend=backend)
    assert sorted(isinstance(one, BusyError) for one in outcomes) == [False, True]
    assert emulator.websites == tuple(NAMES)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork here"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    """A child that was forked during a run excludes no run after it."""
    context = multiprocessing.get_context("fork")
    child = context.Process(target=threading.Event().wait, args=(60,))
    path = tmp_path / "journal"
    with locked_account(account("u")), open_journal(path, "s"):
        child.start()
    with locked_account(account("u")) as own, open_journal(path, "s"):
        assert isinstance(own, Journal)
    child.kill()
    child.join()
    child.close()


def test_read_only_clients_and_clients_without_a_user_lock_nothing(state: Path) -> None:
    """A run that can't add anything leaves no file, and excludes nobody."""
    emulator = Emulator()
    variants: list[dict[str, Any]] = [{"read_only": True}, {"user_id": None}]
    for options in variants:
        with (
            emulator.client(**options) as client,
            pytest.raises(ConfigurationError),
        ):
            client.websites.ensure(SPECS)
    assert not state.exists()


# --- the file -------------------------------------------------------------------------


def test_which_runs_exclude_each_other() -> None:
    """Users and services have locks of their own; keys of one user have not."""
    user = "sa_user_id_3F0c8e52-7a4b-4c1d-9e2f-001122334455"
    file = account_file(account(user))
    same = [
        account(user.lower()),
        account(user.removeprefix("sa_user_id_")),
        account(user, key="another"),
        account(user, base="https://S.example:443/"),
        account(user, base="https://s.example/prefix"),
    ]
    other = [
        account(user.replace("3F", "4F")),
        account(user, base="http://s.example"),
        account(user, base="https://s.example:8443"),
        account(user, base="https://t.example"),
    ]
    assert {account_file(settings) for settings in same} == {file}
    assert len({account_file(settings) for settings in other} | {file}) == 5


def test_the_file_tells_no_credential(state: Path) -> None:
    """Neither key nor user ID is in the file or its name, and others can't read it."""
    settings = account("sa_user_id_0001", key="sa_api_key_0002")
    with locked_account(settings) as journal:
        assert isinstance(journal, Journal)
        journal.record(Sending("a.example", Moment(1.0, 1.0), 60.0))
        (file,) = state.iterdir()
        text = f"{file}{file.read_text()}"
        for secret in ("sa_user_id_0001", "0001", "sa_api_key_0002"):
            assert secret not in text
            for name in hashlib.algorithms_guaranteed:
                if not name.startswith("shake"):
                    digest = hashlib.new(name, secret.encode()).hexdigest()
                    assert digest[:16] not in text
        if os.name != "nt":
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert stat.S_IMODE(state.stat().st_mode) == 0o700


def test_the_file_stays_while_an_add_has_no_outcome(state: Path) -> None:
    """The file is removed once every add has an outcome, and else kept for the next."""
    add = Sending("a.example", Moment(1e9, 1.0), 60.0)
    with locked_account(account("u")) as journal:
        assert isinstance(journal, Journal)
        journal.record(add)
    (file,) = state.iterdir()
    with locked_account(account("u")) as journal:
        assert isinstance(journal, Journal)
        assert list(journal.history.pending) == ["a.example"]
        assert journal.history.added == frozenset()
        journal.record(Settled("a.example", "unknown", None, 2.0))
    assert not file.exists()


@pytest.mark.parametrize("content", [b"", bytes(512), b'{"journal": "sitestats", "fo'])
def test_a_damaged_file_is_begun_anew(content: bytes) -> None:
    """What a power failure left of the file locks nobody out."""
    file = account_file(account("u"))
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    with locked_account(account("u")) as journal:
        assert isinstance(journal, Journal)
        assert journal.history.pending == {}
        assert json.loads(file.read_bytes())["service"] == "https://s.example:443"


def link_to(file: Path, other: Path) -> None:
    """A symbolic link."""
    file.symlink_to(other)


def name_again(file: Path, other: Path) -> None:
    """A second name of the other file."""
    file.hardlink_to(other)


def write_the_same(file: Path, other: Path) -> None:
    """A file that is no journal."""
    file.write_bytes(other.read_bytes())


@pytest.mark.skipif(os.name == "nt", reason="links are others there")
@pytest.mark.parametrize("make", [link_to, name_again, write_the_same])
@pytest.mark.parametrize("content", ["important", '{"journal"', "x" * 100_000])
def test_a_file_that_is_not_ours_is_left_alone(
    tmp_path: Path, make: Callable[[Path, Path], None], content: str
) -> None:
    """In place of the file, whatever leads to another one or has no mark of ours is
    neither opened as a journal nor cut: the run warns that it excludes nobody.
    """
    other = tmp_path / "other"
    other.write_text(content)
    emulator = Emulator()
    with emulator.client() as client:
        file = account_file(client._settings)
        file.parent.mkdir(parents=True)
        make(file, other)
        with pytest.warns(SiteStatsWarning, match="can't be excluded"):
            assert client.websites.ensure(SPECS).complete
    assert other.read_text() == file.read_text() == content


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("part", ["file", "folder"])
@pytest.mark.parametrize("spoil", ["mode", "owner"])
def test_what_other_users_can_change_is_not_used(part: str, spoil: str) -> None:
    """A file or a folder of another user, or one that everybody can change, is no lock:
    the run warns.
    """
    emulator = Emulator()
    with emulator.client() as client:
        file = account_file(client._settings)
        file.parent.mkdir(parents=True)
        file.touch(mode=0o600)
        path = file if part == "file" else file.parent
        if spoil == "mode":
            path.chmod(0o777)
        elif os.geteuid():
            pytest.skip("only root can give a file away")  # and it is done for real
        else:
            os.chown(path, 65534, -1)
        why = "every user" if spoil == "mode" else "another user"
        with pytest.warns(
            SiteStatsWarning, match=f"{re.escape(str(path))}: it .* {why}"
        ):
            assert client.websites.ensure(SPECS).complete


def test_old_adds_are_forgotten() -> None:
    """The file does not grow with runs that were killed long ago."""
    settings = account("u")
    for number in range(3):
        with locked_account(settings) as journal:
            assert isinstance(journal, Journal)
            journal.record(Sending(f"{number}.example", Moment(0.0, 1.0), 0.0))
    assert account_file(settings).read_bytes().count(b"sending") == 1


@pytest.mark.skipif(os.name == "nt", reason="open files can't be removed there")
def test_a_file_that_was_removed_announces_nothing(state: Path) -> None:
    """A run whose lock was removed, so that it excludes nobody, sends nothing more."""
    emulator = Emulator()

    def remove(_request: object) -> bool:
        for file in state.iterdir():
            file.unlink()
        return False

    emulator.fail_next(when=remove, method="POST", status=500)
    with emulator.client() as client:
        report = client.websites.ensure(SPECS)
    assert [item.state for item in report.items] == ["added", "not_tried", "not_tried"]
    assert report.stopped is not None
    assert "was removed or replaced" in str(report.stopped)


# --- where no lock is possible --------------------------------------------------------


@pytest.mark.parametrize("place", ["a file", "a file/below", "directory"])
def test_a_state_folder_that_can_t_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Without a lock the run warns before it adds, and its report says so too."""
    emulator = Emulator()
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / place))
    with emulator.client() as client:
        if place == "directory":
            account_file(client._settings).mkdir(parents=True)
        with pytest.warns(SiteStatsWarning, match="can't be excluded: other runs on"):
            report = client.websites.ensure(SPECS)
    assert report.complete
    first, second, third = report.to_dict()["not_excluded"]
    assert "set XDG_STATE_HOME" in first
    assert str(tmp_path / place) in first
    assert "other machines" in second
    assert "no journal" in third


@pytest.mark.skipif(os.name == "nt", reason="Windows has other locks")
def test_a_file_system_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be locked a run warns, and a journal is an error."""
    import fcntl

    def flock(_file: object, operation: int) -> None:
        if operation != fcntl.LOCK_UN:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    emulator = Emulator()
    path = tmp_path / "journal"
    with emulator.client() as client:
        with pytest.warns(SiteStatsWarning, match=r"\.lock: it can't be locked: No lo"):
            assert client.websites.ensure(SPECS).complete
        with (
            pytest.warns(SiteStatsWarning, match="can't be excluded"),
            pytest.raises(OSError, match="it can't be locked") as caught,
        ):
            client.websites.ensure(SPECS, journal=path)
    assert caught.value.filename == str(path)


def test_what_can_t_be_excluded_is_printed_when_it_matters(tmp_path: Path) -> None:
    """A report with an unknown website says how it could come to exist twice."""
    emulator = Emulator()
    with emulator.client() as client:
        emulator.fail_next(reset=True, method="POST")
        report = client.websites.ensure(SPECS, journal=tmp_path / "journal")
        assert report.unknown
        (line,) = report.not_excluded
        assert str(report).splitlines()[-1] == f"can't be excluded: {line}"
        let_time_pass(tmp_path / "journal")
        again = client.websites.ensure(SPECS, journal=tmp_path / "journal")
        assert again.not_excluded == report.not_excluded
        assert "can't be excluded" not in str(again)


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("linux", ".local/state/sitestats"),
        ("darwin", "Library/Application Support/sitestats"),
    ],
)
@pytest.mark.parametrize("given", ["", "relative"])
@pytest.mark.skipif(os.name == "nt", reason="Windows has other paths")
def test_the_state_folder(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    folder: str,
    given: str,
) -> None:
    """The folder is the platform's own, unless XDG_STATE_HOME is an absolute path."""
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", given)
    assert state_folder() == tmp_path / folder
    monkeypatch.setenv("XDG_STATE_HOME", "/elsewhere")
    assert state_folder() == Path("/elsewhere/sitestats")


def test_the_state_folder_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows the folder is below LOCALAPPDATA, or where that normally is."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert state_folder() == tmp_path / "local" / "sitestats"
    monkeypatch.delenv("LOCALAPPDATA")
    assert state_folder() == tmp_path / "AppData" / "Local" / "sitestats"


@pytest.mark.parametrize("home", ["relative", None])
def test_without_a_home_folder(monkeypatch: pytest.MonkeyPatch, home: Any) -> None:
    """A user without a home folder gets a reason, and no folder in the current one."""

    def no_home() -> Path:
        if home is None:
            raise RuntimeError("Could not determine home directory.")
        return Path(home)

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(FileNotFoundError, match="home"):
        state_folder()
