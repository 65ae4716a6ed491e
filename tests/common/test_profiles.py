"""Where a client gets its key from: variables, files, commands, profiles."""

from __future__ import annotations

import os
import pickle
import stat
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import secret_search
from same_text import SameText
from sitestats import (
    AsyncClient,
    Client,
    ConfigurationError,
    ReadOnlyError,
    SiteStatsWarning,
)
from sitestats._common.key_file import is_open_to_others
from sitestats._common.profiles import run_key_command
from sitestats.emulator import Emulator

BASE = "https://stats.example"
KEY = "sa_api_key_0123456789abcdefghijklmn"
CLIENTS = pytest.mark.parametrize("cls", [Client, AsyncClient])
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment with a base address alone, and a configuration folder."""
    for name in [name for name in os.environ if name.startswith("SITESTATS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SITESTATS_BASE_URL", BASE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return monkeypatch


def key_of(client: Any) -> str | None:
    """The key that *client* sends."""
    key = client._settings.api_key
    return None if key is None else key.reveal()


def refused(call: Callable[[], object]) -> str:
    """The message of the error of *call*, which shows no key."""
    with pytest.raises(ConfigurationError) as caught:
        call()
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


# --- a file -----------------------------------------------------------------------


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
        # TMPDIR may be below a private folder, where no file is open to others.
        if not all(one.stat().st_mode & stat.S_IXOTH for one in folder.parents):
            pytest.skip("the folder of temporary files is closed to others")
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


# --- read-only --------------------------------------------------------------------


@pytest.mark.parametrize("value", ["1", "true", "YES", "on"])
def test_a_variable_makes_every_client_read_only(
    value: str, environment: pytest.MonkeyPatch
) -> None:
    """With SITESTATS_READ_ONLY no client writes, whatever its arguments are."""
    environment.setenv("SITESTATS_READ_ONLY", value)
    emulator = Emulator()
    clients = [emulator.client(), emulator.client(read_only=False)]
    clients.append(clients[0].with_options(retries=1))
    for client in clients:
        with pytest.raises(ReadOnlyError, match="SITESTATS_READ_ONLY allows to read"):
            client.websites.add("example.com")
        with pytest.raises(ReadOnlyError, match="SITESTATS_READ_ONLY allows to read"):
            client.websites.ensure([])
    assert emulator.requests == ()


def test_a_pickle_obeys_the_variable_too(environment: pytest.MonkeyPatch) -> None:
    """A client stays read-only in a process without the variable, and becomes it in
    one with it.
    """
    writing = pickle.dumps(Client())
    environment.setenv("SITESTATS_READ_ONLY", "1")
    reading = pickle.dumps(Client.from_env())
    assert pickle.loads(writing)._settings.read_only
    environment.delenv("SITESTATS_READ_ONLY")
    assert pickle.loads(reading)._settings.read_only


def test_the_variable_is_yes_or_no(environment: pytest.MonkeyPatch) -> None:
    """A value that is neither is an error: a typo must not allow to write."""
    for value in ("0", "False", "no", "OFF", ""):
        environment.setenv("SITESTATS_READ_ONLY", value)
        assert not Client()._settings.read_only
    environment.setenv("SITESTATS_READ_ONLY", "maybe")
    assert "SITESTATS_READ_ONLY is 1 or 0" in refused(Client)


# --- profiles ---------------------------------------------------------------------


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write the file of the profiles."""

    def write(text: str) -> Path:
        folder = tmp_path / "config" / "sitestats"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text, "utf-8")
        return folder

    return write


TWO = f"""
[profiles.work]
base_url = "https://work.example"
key_file = "work.key"
user_id = "sa_user_id_work"

[profiles.home]
base_url = "https://home.example"
key_command = [{sys.executable!r}, "-c", "print('home_key\\\\nmore of the entry')"]
read_only = true
"""


@CLIENTS
def test_two_accounts(
    cls: Any, write: Callable[[str], Path], environment: pytest.MonkeyPatch
) -> None:
    """Each profile has its own address and credentials, none of the environment's."""
    (write(TWO) / "work.key").write_text(f"{KEY}\n", "utf-8")
    environment.setenv("SITESTATS_API_KEY", "env_key")
    environment.setenv("SITESTATS_USER_ID", "env_user")
    work, home = cls.from_profile("work", retries=7), cls.from_profile("home")
    assert (str(work._settings.base), key_of(work)) == ("https://work.example", KEY)
    assert work._settings.user_id.reveal() == "sa_user_id_work"
    assert work._settings.retry.retries == 7
    assert (str(home._settings.base), key_of(home)) == (
        "https://home.example",
        "home_key",
    )
    assert home._settings.user_id is None
    assert (work._settings.read_only, home._settings.read_only) == (False, True)
    assert cls.from_profile("home", read_only=False)._settings.read_only
    environment.setenv("SITESTATS_PROFILE", "work")
    assert key_of(cls.from_profile()) == KEY
    assert key_of(cls()) == "env_key"
    refused(lambda: pickle.dumps(work))


def test_a_profile_without_a_key_reads_what_is_public(
    write: Callable[[str], Path],
) -> None:
    """A profile may have an address alone."""
    write(f"[profiles.public]\nbase_url = '{BASE}'")
    assert key_of(Client.from_profile("public")) is None


WRONG = {
    "empty": "",
    "no profile": "[profiles]",
    "another table": "[profile.work]",
    "no table": "profiles = 3",
    "a text": "[profiles]\nwork = 'a_key_of_mine'",
    "no address": "[profiles.work]",
    "a number as address": "[profiles.work]\nbase_url = 3",
    "an address without a scheme": "[profiles.work]\nbase_url = 'work.example'",
    "a password in the address": (
        f"[profiles.work]\nbase_url = 'https://u:{KEY}@x.example'"
    ),
    **{
        setting: f"[profiles.work]\nbase_url = '{BASE}'\n{setting}"
        for setting in (
            f"api_key = '{KEY}'",
            f"keyfile = '{KEY}'",
            f"user_id = 'a {KEY}'",
            f"key_file = '{KEY}'",
            "key_file = ''",
            f"key_command = 'echo {KEY}'",
            "key_command = []",
            "read_only = 'yes'",
            "key_file = 'x'\nkey_command = ['x']",
        )
    },
}


@pytest.mark.parametrize(
    "text", WRONG.values(), ids=[name.replace(KEY, "KEY") for name in WRONG]
)
def test_a_profile_that_is_wrong(
    text: str, write: Callable[[str], Path], same_text: SameText
) -> None:
    """Each mistake is an error that names the file and the setting, and no value."""
    folder = str(write(text))
    message = refused(lambda: Client.from_profile("work"))
    same_text(message.replace(folder, "…"))


def test_a_file_that_is_no_toml(write: Callable[[str], Path]) -> None:
    """A mistake of TOML is an error with the file's name and the parser's words."""
    file = write("[profiles.work") / "config.toml"
    message = f"the file of profiles, {file}, is not valid TOML: "
    assert refused(lambda: Client.from_profile("work")).startswith(message)
    file.write_bytes(b"\xff")
    assert refused(lambda: Client.from_profile("work")).endswith("is not in UTF-8")


def test_a_profile_that_is_not_there(
    write: Callable[[str], Path],
    same_text: SameText,
    environment: pytest.MonkeyPatch,
) -> None:
    """A name that is wrong gets the known ones; without a file its path is said."""
    same_text(refused(Client.from_profile))
    same_text(refused(lambda: Client.from_profile("work")))
    folder = str(write(TWO))
    environment.setenv("SITESTATS_PROFILE", "werk")
    same_text(refused(Client.from_profile).replace(folder, "…"))


def test_the_file_is_in_the_home_folder(
    write: Callable[[str], Path], environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without XDG_CONFIG_HOME, or with a relative one, it is in ~/.config."""
    write("[profiles.a]\nbase_url = 'https://a.example'")
    (tmp_path / "config").rename(tmp_path / ".config")
    environment.setenv("HOME", str(tmp_path))
    environment.setenv("USERPROFILE", str(tmp_path))
    environment.delenv("APPDATA", raising=False)
    for folder in ("", "relative"):
        environment.setenv("XDG_CONFIG_HOME", folder)
        assert repr(Client.from_profile("a")) == "Client('https://a.example')"


# --- commands ---------------------------------------------------------------------


def python(code: str) -> tuple[str, ...]:
    """A command that runs *code*."""
    return (sys.executable, "-c", code)


def test_no_shell_reads_the_command() -> None:
    """An argument is passed as it is, whatever characters it has."""
    command = (*python("import sys; print(sys.argv[1])"), "$HOME;`id`|*")
    assert run_key_command(command, "x").reveal() == "$HOME;`id`|*"


def test_a_command_that_fails(
    same_text: SameText, capfd: pytest.CaptureFixture[str]
) -> None:
    """What it says on standard error is shown, and what it prints is not."""
    code = f"import sys; print('{KEY}'); sys.exit('no such entry')"
    same_text(
        refused(lambda: run_key_command(python(code), "key_command")).replace(
            repr(sys.executable), "…"
        )
    )
    assert capfd.readouterr() == ("", "no such entry\n")
    same_text(refused(lambda: run_key_command(("/nowhere/pass", KEY), "key_command")))


@POSIX
def test_a_command_has_a_limit_of_time() -> None:
    """A command that hangs is ended, also where a child keeps its output open."""
    for command in (
        python("import time; time.sleep(3600)"),
        ("sh", "-c", "sleep 20 & echo too_late; exit 0"),
    ):
        message = refused(lambda c=command: run_key_command(c, "x", seconds=0.3))
        assert message.endswith("was ended, since it took longer than 0.3 seconds")


@POSIX
def test_a_command_that_prints_without_an_end() -> None:
    """A command that prints more than any key is ended."""
    assert "'yes' failed" in refused(lambda: run_key_command(("yes", "x" * 99), "x"))
