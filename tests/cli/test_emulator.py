"""``sitestats emulator``: it serves until it is interrupted."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sitestats
from cli.inside import end_at_once
from commands import start
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from commands import Run


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT for a child there")
def test_the_emulator_serves_until_it_is_interrupted() -> None:
    """It prints settings for a shell, serves with them, and -v writes each request.

    A key in the environment may be real: it is neither taken nor shown.
    """
    process = start(
        *("emulator", "--port", "0", "--empty", "--verbose"),
        SITESTATS_API_KEY="real_key",
    )
    assert process.stdout is not None
    settings = dict(
        process.stdout.readline().removeprefix("export ").strip().split("=", 1)
        for _ in range(3)
    )
    assert settings["SITESTATS_API_KEY"] != "real_key"
    with sitestats.Client(
        settings["SITESTATS_BASE_URL"],
        api_key=settings["SITESTATS_API_KEY"],
        user_id=settings["SITESTATS_USER_ID"],
        proxy=None,
    ) as client:
        # A request is written after its response, and before the next one is read.
        assert [len(client.websites.list()) for _ in range(2)] == [0, 0]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "stop it with Ctrl-C" in err
    assert "\nsitestats: GET /api/websites {} 200\n" in err
    assert "Traceback" not in err


def test_what_can_t_be_served_is_one_line(run: Run) -> None:
    """A port in use, or a failure that is none, is an error of one line."""
    with Emulator().serve() as address:
        port = address.rpartition(":")[2]
        done = run("emulator", "--empty", "--port", port)
    assert (done.code, done.out) == (2, "")
    assert f"--port {port} can't be used" in done.err
    for option, words in (
        ("--fail=503", "write 503:5%"),
        ("--fail=reset:some", "write 503:5%"),
        ("--fail=700:5%", "status must be 200 to 599"),
        ("--fail=503:1.2.3%", "write 503:5%"),
        ("--fail=503:200%", "at most 100% of the responses"),
    ):
        done = run("emulator", "--empty", "--port", 0, option)
        assert (done.code, words in done.err) == (2, True), option
        assert done.err.count("\n") <= 2


Serve = Callable[..., Emulator]


@pytest.fixture
def serve(run: Run, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """The emulator that the command would serve with these options."""
    served: list[Emulator] = []
    end_at_once(monkeypatch)

    def serve(emulator: Emulator, port: int) -> AbstractContextManager[str]:
        served.append(emulator)
        return nullcontext(f"http://127.0.0.1:{port}")

    def command(*options: object) -> Emulator:
        done = run("emulator", "--port", 0, *options)
        assert done.code == 0, done.err
        assert f"export SITESTATS_API_KEY={served[-1].api_key}\n" in done.out
        return served[-1]

    monkeypatch.setattr(Emulator, "serve", serve)
    return command


def test_failures_share_the_responses(run: Run, serve: Serve) -> None:
    """Each failure has its share of all responses, whichever other ones there are."""
    emulator = serve("--empty", "--fail", "503:50%", "--fail", "429:50%")
    with emulator.client(retries=0) as client:
        for _ in range(40):
            with pytest.raises(sitestats.StatusError):
                client.websites.list()
    done = run("emulator", "--fail", "503:60%", "--fail", "429:50%")
    assert (done.code, "add up to more than 100%" in done.err) == (2, True)


def test_what_a_file_has_is_told(run: Run, serve: Serve, tmp_path: Path) -> None:
    """The number of rows, of robots, and the columns that are left out."""
    serve("--empty")
    rows = tmp_path / "rows.csv"
    rows.write_text("hostname,is_robot,viewport\na.example,,1\na.example,t,2\n")
    told = "rows.csv: 1 rows loaded, 1 of robots left out, 1 columns left out: viewport"
    assert told in run("emulator", "--port", 0, "--load", rows).err


def test_websites_of_the_emulator(serve: Serve, tmp_path: Path) -> None:
    """The websites are the demo's, made up, or from files."""
    rows = tmp_path / "rows.csv"
    rows.write_text("hostname,path\nmine.example,/\n", "utf-8")
    assert [*serve("--load", rows).websites] == ["mine.example"]
    made_up = serve("--api-key", "my_key", "--made-up", 2, "--load", rows)
    names = ["shop.example", "blog.example", "mine.example"]
    assert ([*made_up.websites], made_up.api_key) == (names, "my_key")
    assert "semicomplete.com" in serve().websites


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("503:100%", sitestats.ServerError),
        ("reset:100%", sitestats.TransportError),
        ("garbage:100%", sitestats.InvalidResponseError),
        ("503:0%", None),
    ],
)
def test_a_part_of_the_responses_fails(
    serve: Serve, kind: str, error: type[Exception] | None
) -> None:
    """``--fail`` lets a part of the responses fail, as ``fail_next`` does."""
    emulator = serve("--empty", "--fail", kind, "--latency", 0.001)
    expected = nullcontext() if error is None else pytest.raises(error)
    with emulator.client(retries=0) as client, expected:
        assert len(client.websites.list()) == 0
