"""Lock files whose name is removed while they are opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sitestats import BusyError
from sitestats._common import lock_files


@pytest.mark.parametrize("times", [1, 5])
def test_a_file_that_is_removed_before_it_is_locked_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """The file that is locked is the one that others find under its name."""
    path = tmp_path / "lock"
    lock = lock_files._lock
    left = times

    def removed_before(file: lock_files.FileIO) -> None:
        nonlocal left
        if left:
            left -= 1
            path.unlink()
        lock(file)

    monkeypatch.setattr(lock_files, "_lock", removed_before)
    with lock_files.locked(str(path), busy="busy") as file:
        assert left == 0
        assert os.path.samestat(os.fstat(file.fileno()), path.stat())
        with pytest.raises(BusyError), lock_files.locked(str(path), busy="busy"):
            pass
