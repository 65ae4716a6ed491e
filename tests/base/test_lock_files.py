"""Lock files: one process at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from children import import_of
from inside import locked
from sitestats import BusyError

pytestmark = pytest.mark.compat


def test_a_file_is_locked_until_its_process_ends(tmp_path: Path) -> None:
    """A second lock is refused, in this process and in another one; after the end,
    however it came, it is not. The file of another user may not be locked.
    """
    path = str(tmp_path / "lock")
    program = (
        f"import os, sys; {import_of(locked)} as locked\n"
        "with locked(sys.argv[1], busy='wait'): os._exit(7)"
    )
    other = [sys.executable, "-c", program, path]
    with locked(path, busy="wait"):
        with pytest.raises(BusyError, match="wait"), locked(path, busy="wait"):
            pass
        done = subprocess.run(other, check=False, capture_output=True, text=True)
        assert "BusyError: wait" in done.stderr
    assert subprocess.run(other, check=False).returncode == 7
    with locked(path, busy="wait"):
        assert Path(path).stat().st_mode & 0o077 == 0
    with (
        pytest.raises(OSError, match="irectory") as caught,
        locked(str(tmp_path), busy="wait"),
    ):
        pass
    assert caught.value.filename == str(tmp_path)
