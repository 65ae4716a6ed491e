"""Forked children that end within a time, and what other programs import."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable


def import_of(function: Callable[..., object]) -> str:
    """The statement by which a program of its own imports *function*."""
    return f"from {function.__module__} import {function.__name__}"


def exit_code(work: Callable[[], object], *, seconds: int = 60) -> int:
    """Fork, and call *work* in the child: 0 when it returned, 1 when it raised, and a
    negative number when the time was up.
    """
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(seconds)
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - the child ends here, whatever happens
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
