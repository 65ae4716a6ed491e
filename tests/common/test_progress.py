"""Progress bars, for terminals and for logs."""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from sitestats import ConfigurationError
from sitestats._common.progress import showing


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, total: int | None
) -> str:
    """The output of a bar for a thousand steps."""
    monkeypatch.setattr("sys.stderr", stream)
    with showing(True, "websites") as show:  # noqa: FBT003 - what the user gives
        assert show is not None
        for done in range(1, 1001):
            show(done, total)
    return stream.getvalue()


def test_a_terminal_has_a_line_that_is_redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal one line is redrawn, at most a hundred times, and completed."""
    text = shown(monkeypatch, Terminal(), 1000)
    drawings = text.split("\r")
    assert len(drawings) == 102
    assert drawings[-1] == f"[{'#' * 30}] websites 1,000 of 1,000\n"
    assert len({len(drawing) for drawing in drawings[-20:-1]}) == 1


def test_a_log_has_a_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal there is one line for each tenth."""
    lines = shown(monkeypatch, io.StringIO(), 1000).splitlines()
    assert lines == [f"websites {done:,} of 1,000" for done in range(100, 1001, 100)]


def test_a_detail_is_shown_behind_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A detail that becomes shorter leaves nothing of the longer one, and the line of a
    large number fits into a terminal.
    """
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    details = iter(["5,000 websites to go, at least 50 min", "done"])
    with showing(True, "days", lambda: next(details)) as show:  # noqa: FBT003 - what the user gives
        assert show is not None
        show(1, 2_750_000)
        show(2_750_000, 2_750_000)
    _, first, second = stream.getvalue().split("\r")
    assert first.endswith("days 1 of 2,750,000, 5,000 websites to go, at least 50 min")
    assert len(first) < 80
    assert second.rstrip() == f"[{'#' * 10}] days 2,750,000 of 2,750,000, done"
    assert len(second) == len(first) + len("\n")


# What nox -s notebooks has, which also runs this.
@pytest.mark.skipif(
    importlib.util.find_spec("IPython") is None, reason="for nox -s notebooks"
)
def test_a_notebook_has_one_output_that_is_updated(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a kernel's shell the first text is a new output, the others update it, and
    nothing goes to a stream; two bars are two outputs.
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
            with showing(True, "websites") as show:  # noqa: FBT003 - what the user gives
                assert show is not None
                for done in range(1, 721):
                    show(done, 720)
    finally:
        InteractiveShell.clear_instance()
    outputs = published.outputs
    assert [output["update"] for output in outputs] == [False, *[True] * 100] * 2
    assert len({output["transient"]["display_id"] for output in outputs}) == 2
    assert outputs[-1]["data"] == {"text/plain": f"[{'#' * 30}] websites 720 of 720"}
    assert capsys.readouterr() == ("", "")


def test_a_total_may_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a total the bar shows the number of steps done."""
    assert shown(monkeypatch, io.StringIO(), None).splitlines()[-1] == "websites 1,000"


def test_the_line_ends_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failure the traceback starts on a line of its own."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    with pytest.raises(KeyboardInterrupt), showing(True, "websites") as show:  # noqa: FBT003, PT012 - what the user gives; the bar is drawn, then broken off
        assert show is not None
        show(1, 2)
        raise KeyboardInterrupt
    assert stream.getvalue().endswith("websites 1 of 2\n")


def test_a_function_is_called_as_it_is() -> None:
    """A callback is called with the numbers."""
    calls: list[tuple[int, int | None]] = []
    with showing(lambda *numbers: calls.append(numbers), "websites") as show:
        assert show is not None
        show(1, 2)
    assert calls == [(1, 2)]


@pytest.mark.parametrize("progress", [None, False])
def test_none_shows_nothing(progress: Any) -> None:
    """Without progress nothing is called."""
    with showing(progress, "websites") as show:
        assert show is None


@pytest.mark.parametrize("progress", ["yes", 1])
def test_anything_else_is_refused(progress: Any) -> None:
    """A value that is no kind of progress is refused."""
    with (
        pytest.raises(ConfigurationError, match="takes \\(done, total\\)"),
        showing(progress, "websites"),
    ):
        pass
