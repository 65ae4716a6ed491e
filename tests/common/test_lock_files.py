"""Lock files: one process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sitestats import BusyError
from sitestats._common.lock_files import locked

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no flock")


def test_a_file_is_locked_until_its_process_ends(tmp_path: Path) -> None:
    """A second opening is refused; one after the end, however it came, is not."""
    path = str(tmp_path / "lock")
    with locked(path, busy="wait") as file:
        file.write(b"more")
        with pytest.raises(BusyError, match="wait"), locked(path, busy="wait"):
            pass
    program = (
        "import os, sys; from sitestats._common.lock_files import locked\n"
        "with locked(sys.argv[1], busy='') as file: os._exit(7)"
    )
    done = subprocess.run([sys.executable, "-c", program, path], check=False)
    assert done.returncode == 7
    with locked(path, busy="wait") as file:
        file.seek(0)
        assert file.readall() == b"more"
    assert Path(path).stat().st_mode & 0o077 == 0
