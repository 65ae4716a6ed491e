"""Progress in a terminal, a log and a notebook."""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any, TextIO

import pytest

from base.inside import ShowProgress, showing
from children import import_of
from sitestats import ConfigurationError


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of a call that is shown."""
    return Clock()


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def drawings(self) -> list[str]:
        """What a person has seen in the line."""
        return self.getvalue().split("\r")[1:]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal whose width nobody knows."""
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


@contextmanager
def bar(stream: TextIO, what: str, **options: Any) -> Generator[ShowProgress]:
    """A bar of *what* on standard error, which is *stream*."""
    with (
        redirect_stderr(stream),
        showing(True, what, **options) as show,  # noqa: FBT003 - what the user gives
    ):
        assert show is not None
        yield show


# --- a terminal -------------------------------------------------------------------


def test_a_terminal_has_a_line_that_is_redrawn(
    terminal: Terminal, clock: Clock
) -> None:
    """A line is redrawn twice a second, not before something is done; nothing of it is
    left at the end.
    """
    with bar(terminal, "nothing"):
        assert terminal.getvalue() == ""
    assert terminal.getvalue() == ""
    with bar(terminal, "websites", clock=clock) as show:
        for done in range(1, 1001):
            show(done, 1000)
            clock.now += 0.01
    *drawings, blank, end = terminal.drawings
    assert len(drawings) == 20
    assert drawings[0] == f"[{'.' * 16}] 1 of 1,000 websites"
    assert drawings[-1].startswith(f"[{'#' * 15}.] 970 of 1,000 websites, 100 a sec")
    assert (blank.strip(), end) == ("", "")
    assert len(blank) >= max(map(len, drawings))


def test_a_slow_call_is_drawn_as_time_passes(terminal: Terminal, clock: Clock) -> None:
    """Where the percentage stays the same, or there is none, time brings a drawing."""
    for total in (100_000, None):
        with bar(terminal, "days", clock=clock) as show:
            for done in range(1, 31):
                show(done, total)
                clock.now += 0.1
        *drawings, _, _ = terminal.drawings
        terminal.seek(0)
        terminal.truncate()
        assert len(drawings) == 6
    assert drawings[-1].rstrip() == "26 days so far, 10 a second"


def test_a_shorter_text_leaves_nothing_of_a_longer_one(
    terminal: Terminal, clock: Clock
) -> None:
    """Each drawing covers the one before."""
    with bar(terminal, "days", clock=clock) as show:
        # The first day comes after a wait, which is not part of the rate.
        clock.now += 120
        for done in (1, 2, 3):
            clock.now += 20
            show(done, 3)
    _, long, short, *_ = terminal.drawings
    assert long == f"[{'#' * 10}{'.' * 6}] 2 of 3 days, 0.05 a second, 0:00:20 left"
    assert short.rstrip() == f"[{'#' * 16}] 3 of 3 days in 0:03:00"
    assert len(short) == len(long)


def test_the_line_is_erased_when_the_work_fails(terminal: Terminal) -> None:
    """After Ctrl-C, which writes ^C after the bar, a message has the line alone."""
    with pytest.raises(KeyboardInterrupt), bar(terminal, "websites") as show:  # noqa: PT012 - the bar is drawn, then broken off
        show(1, 2)
        terminal.write("^C")
        raise KeyboardInterrupt
    drawn, blank, end = terminal.drawings
    assert drawn == f"[{'#' * 8}{'.' * 8}] 1 of 2 websites^C"
    assert (blank, end) == (" " * len(drawn), "")


@pytest.mark.skipif(os.name == "nt", reason="a terminal of POSIX")
def test_a_narrow_terminal_keeps_its_lines() -> None:
    """In a terminal of 30 columns the line does not wrap, which would leave each."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
    program = (
        f"{import_of(showing)} as showing\n"
        "with showing(True, 'websites') as show: show(1, 2); show(2, 2)"
    )
    command = [sys.executable, "-c", program]
    settings = {k: v for k, v in os.environ.items() if k != "COLUMNS"} | {
        "TERM": "xterm"
    }
    streams = {"stdout": theirs, "stderr": theirs}
    subprocess.run(command, **streams, env=settings, check=True, timeout=60)
    os.close(theirs)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    assert shown.split("\r")[1] == f"[{'#' * 8}{'.' * 8}] 1 of 2 web"
    assert [len(drawing) for drawing in shown.split("\r")] == [0, 29, 29, 0]


# --- a log ------------------------------------------------------------------------


def test_a_log_has_a_line_every_ten_seconds(clock: Clock) -> None:
    """Without a terminal there are lines, and the last one says how it ended."""
    log = io.StringIO()
    with bar(log, "websites", clock=clock) as show:
        for done in range(0, 5001, 1000):
            show(done, 5000)
            clock.now += 5
    assert log.getvalue().splitlines() == [
        "sitestats: 2,000 of 5,000 websites, 200 a second, 0:00:15 left",
        "sitestats: 4,000 of 5,000 websites, 200 a second, 0:00:05 left",
        "sitestats: 5,000 of 5,000 websites in 0:00:30",
    ]


def test_a_short_call_writes_nothing_to_a_log(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first line comes after ten seconds, and the last only after a first. A
    terminal that can't write over a line is a log too.
    """
    monkeypatch.setenv("TERM", "dumb")
    for log in (io.StringIO(), terminal):
        with bar(log, "websites") as show:
            show(2, 2)
        assert log.getvalue() == ""


# --- nowhere ----------------------------------------------------------------------


class Broken(Terminal):
    """A terminal that has gone."""

    def write(self, text: str, /) -> int:
        raise BrokenPipeError


def test_nothing_is_shown_without_a_standard_error(terminal: Terminal) -> None:
    """With a standard error that is closed, or was when Python began, a call goes on
    and shows nothing.
    """
    terminal.close()
    for stream in (terminal, None):
        with redirect_stderr(stream), showing(True, "websites") as show:  # noqa: FBT003 - what the user gives
            assert show is None


def test_a_terminal_or_a_log_that_has_gone(clock: Clock) -> None:
    """What is closed under way ends no call."""
    with bar(Broken(), "websites") as show:
        show(1, 2)
    log = io.StringIO()
    with bar(log, "websites", clock=clock) as show:
        log.close()
        clock.now += 20
        show(1, 2)


# --- a notebook -------------------------------------------------------------------


# What the session of the documentation has.
@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="needs IPython")
def test_a_notebook_has_one_output_that_is_updated(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    clock: Clock,
) -> None:
    """In a kernel's shell the first text is a new output, the others update it, the
    last one is the end, and nothing goes to a stream; two bars are two outputs.
    """
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    # The shell writes a profile, and puts its own module in the place of this one.
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    # As a kernel configures it.
    config = Config({"IPKernelApp": {}, "HistoryManager": {"enabled": False}})
    shell = InteractiveShell.instance(config=config)
    shell.display_pub = published = CapturingDisplayPublisher()
    try:
        for _ in range(2):
            with bar(sys.stderr, "websites", clock=clock) as show:
                for done in range(1, 721):
                    show(done, None)
                clock.now += 15
        with bar(sys.stderr, "websites"):
            """A call that does nothing has no output."""
    finally:
        InteractiveShell.clear_instance()
    outputs = published.outputs
    assert [output["update"] for output in outputs] == [False, True] * 2
    assert len({output["transient"]["display_id"] for output in outputs}) == 2
    text = "720 websites so far, 48 a second"
    assert outputs[-1]["data"] == {"text/plain": text}
    assert capsys.readouterr() == ("", "")


# --- what a caller may give -------------------------------------------------------


def test_what_progress_may_be() -> None:
    """A function is called as it is, None and False show nothing, and what is not a
    kind of progress is refused.
    """
    for progress, shown in ((print, print), (None, None), (False, None)):
        with showing(progress, "websites") as show:
            assert show is shown
    for wrong in ("yes", 1):
        with pytest.raises(ConfigurationError, match="takes \\(done, total\\)"):
            showing(wrong, "websites")  # type: ignore[arg-type]  # wrong on purpose
