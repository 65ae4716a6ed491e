"""Count the lines of the package that have run, to guide the choice of inputs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Self

import sitestats

_PACKAGE = str(Path(sitestats.__file__).parent)
_TOOL = 4
"""An ID of ``sys.monitoring`` that is reserved for no other tool."""


class Reached:
    """Counts the lines of the package that run within its ``with`` block.

    From Python 3.12 on, monitoring is switched off for each line that has run, so
    it costs nothing after a while. Before, each call is traced, which doubles the
    time, so only one input in eight is traced.
    """

    def __init__(self) -> None:
        self.lines = 0
        self._before = sys.gettrace()
        self._missing: dict[CodeType, set[int]] = {}

    def __enter__(self) -> Self:
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            monitoring.use_tool_id(_TOOL, "fuzz")
            monitoring.register_callback(_TOOL, monitoring.events.LINE, self._line)
            monitoring.set_events(_TOOL, monitoring.events.LINE)
        return self

    def begin(self, number: int) -> None:
        """Trace the input of this number, if it is one of those that are traced."""
        if sys.version_info < (3, 12):
            sys.settrace(None if number % 8 else self._called)

    def __exit__(self, *_: object) -> None:
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            monitoring.set_events(_TOOL, 0)
            monitoring.free_tool_id(_TOOL)
        else:
            sys.settrace(self._before)

    def _line(self, code: CodeType, _line: int) -> Any:
        if code.co_filename.startswith(_PACKAGE):
            self.lines += 1
        return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]  # new in 3.12

    def _called(self, frame: FrameType, _event: str, _arg: object) -> Any:
        code = frame.f_code
        missing = self._missing.get(code)
        if missing is None:
            ours = code.co_filename.startswith(_PACKAGE)
            lines = {line for *_, line in code.co_lines() if line} if ours else set()
            self._missing[code] = missing = lines - {code.co_firstlineno}
        return self._traced if missing else None

    def _traced(self, frame: FrameType, event: str, _arg: object) -> Any:
        missing = self._missing[frame.f_code]
        if event == "line" and frame.f_lineno in missing:
            missing.remove(frame.f_lineno)
            self.lines += 1
        return self._traced
