"""Forked children that end within a time, and programs of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable


def import_of(function: Callable[..., object]) -> str:
    """The statement by which a program of its own imports *function*."""
    return f"from {function.__module__} import {function.__name__}"


CHANGED = """\
import sys
from importlib.util import find_spec, module_from_spec

name = "{module}"
spec = find_spec(name)
text = open(spec.origin, encoding="utf-8").read()
{change}
module = sys.modules[name] = module_from_spec(spec)
exec(compile(text, spec.origin, "exec"), vars(module))
"""


def run_changed(
    module: str, change: str, program: str, argument: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run *program*, with its *argument*, in a new interpreter in which *module* has
    another text: what *change* makes of ``text``.
    """
    loading = CHANGED.format(module=module, change=textwrap.dedent(change))
    text = loading + textwrap.dedent(program)
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text, argument],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


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
