"""A key in a file, as Docker and Kubernetes mount secrets."""

from __future__ import annotations

import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import secret_search
from client_keys import CLIENTS, KEY, POSIX, key_of, refused
from same_text import SameText
from sitestats import Client, ConfigurationError, SiteStatsWarning
from sitestats._common.key_file import is_open_to_others

BASE = "https://stats.example"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment with a base address alone, and a configuration folder."""
    for name in [name for name in os.environ if name.startswith("SITESTATS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SITESTATS_BASE_URL", BASE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return monkeypatch


@CLIENTS
@pytest.mark.parametrize("end", ["", "\n", "\r\n", " \n\n"])
@pytest.mark.parametrize("begin", ["", "\ufeff"])
def test_the_key_is_in_a_file(
    cls: Any,
    begin: str,
    end: str,
    tmp_path: Path,
    environment: pytest.MonkeyPatch,
) -> None:
    """A file's key is used without its line end, and without a byte order mark."""
    (tmp_path / "key").write_text(f"{begin}{KEY}{end}", "utf-8", newline="")
    environment.setenv("SITESTATS_API_KEY_FILE", str(tmp_path / "key"))
    environment.setenv("SITESTATS_API_KEY", "")
    assert key_of(cls()) == KEY
    assert key_of(cls.from_env("https://other.example")) == KEY
    assert key_of(cls("https://other.example")) is None
    assert key_of(cls(api_key="mine")) == "mine"


def test_the_user_id_is_in_a_file(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    """The user ID can be in a file too."""
    (tmp_path / "user").write_text("sa_user_id_1\n", "utf-8")
    environment.setenv("SITESTATS_USER_ID_FILE", str(tmp_path / "user"))
    user = Client()._settings.user_id
    assert user is not None
    assert user.reveal() == "sa_user_id_1"


@POSIX
def test_the_file_is_a_pipe(environment: pytest.MonkeyPatch) -> None:
    """What a shell makes of <(pass show x) is read too."""
    reading, writing = os.pipe()
    os.write(writing, f"{KEY}\n".encode())
    os.close(writing)
    environment.setenv("SITESTATS_API_KEY_FILE", f"/dev/fd/{reading}")
    assert key_of(Client()) == KEY
    os.close(reading)


@pytest.mark.parametrize("content", ["", "\n", f"{KEY}\n{KEY}", f'"{KEY} "', "\xff"])
def test_a_file_without_a_key(
    content: str, tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    """What is no key is refused with the variable's name, and not shown."""
    (tmp_path / "key").write_bytes(content.encode("latin-1"))
    environment.setenv("SITESTATS_API_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(ConfigurationError) as caught:
        Client()
    assert str(caught.value).startswith("SITESTATS_API_KEY_FILE is not usable: ")
    assert KEY not in secret_search.shown_by(caught.value)


@POSIX
def test_a_file_that_can_t_be_read(
    tmp_path: Path, environment: pytest.MonkeyPatch, same_text: SameText
) -> None:
    """The error names the variable and the path; a key in place of a path it does not
    show, and a device without an end it does not read for ever.
    """
    for path in (str(tmp_path), str(tmp_path / "none"), KEY, "/dev/zero"):
        environment.setenv("SITESTATS_API_KEY_FILE", path)
        same_text(refused(Client).replace(str(tmp_path), "…"))


def test_a_key_and_a_file_are_an_error(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    """Which of the two is meant is not guessed. With an argument neither is."""
    environment.setenv("SITESTATS_API_KEY", KEY)
    environment.setenv("SITESTATS_API_KEY_FILE", str(tmp_path / "key"))
    for call in (Client, lambda: Client.from_env(BASE)):
        assert refused(call) == (
            "SITESTATS_API_KEY and SITESTATS_API_KEY_FILE are both set: unset one of "
            "the two"
        )
    assert key_of(Client(api_key=None)) is None


def test_a_pickle_reads_the_file_again(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    """A client that has its key from a file is pickled without it."""
    (tmp_path / "key").write_text(KEY, "utf-8")
    environment.setenv("SITESTATS_API_KEY_FILE", str(tmp_path / "key"))
    data = pickle.dumps(Client())
    assert KEY.encode() not in data
    (tmp_path / "key").write_text("another_key", "utf-8")
    assert key_of(pickle.loads(data)) == "another_key"


OPEN = 0o755
CLOSED = 0o700


@pytest.mark.parametrize(
    ("mode", "owner", "user", "folders", "is_open"),
    [
        (0o644, 1000, 1000, [OPEN, OPEN], True),
        (0o602, 1000, 1000, [OPEN], True),
        (0o640, 1000, 1000, [OPEN], False),
        (0o600, 1000, 1000, [OPEN], False),
        (0o644, 1000, 1000, [OPEN, CLOSED], False),
        # A secret of Docker or Kubernetes, which root owns.
        (0o444, 0, 0, [OPEN], False),
        (0o644, 0, 1000, [OPEN], False),
    ],
)
def test_only_what_is_certain_is_too_open(
    mode: int,
    owner: int,
    user: int,
    folders: list[int],
    is_open: bool,  # noqa: FBT001 - pytest gives it
) -> None:
    """A file counts as open where another user can get at it, and nowhere else."""
    assert is_open_to_others(mode, owner, user, folders) is is_open


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that each user can enter; the test is none of root's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        if not all(one.stat().st_mode & stat.S_IXOTH for one in folder.parents):
            # No file below a private TMPDIR is open to others.
            pytest.skip("TMPDIR is closed to others")  # so there is nothing to refuse
        is_root = sys.platform != "win32" and os.geteuid() == 0
        if is_root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if is_root:
                os.seteuid(0)


@POSIX
def test_a_file_that_others_can_read_is_a_warning(
    open_folder: Path, environment: pytest.MonkeyPatch
) -> None:
    """A key that other users can read is used, with a warning that says what to do."""
    file = open_folder / "key"
    file.write_text(KEY, "utf-8")
    environment.setenv("SITESTATS_API_KEY_FILE", str(file))
    file.chmod(0o644)
    with pytest.warns(SiteStatsWarning, match="can read or change .*: run chmod 600"):
        assert key_of(Client()) == KEY
    file.chmod(0o600)
    assert key_of(Client()) == KEY
