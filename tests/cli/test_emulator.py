"""``sitestats emulator``: it serves until it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sitestats
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from commands import Run


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT for a child there")
@pytest.mark.parametrize(
    ("options", "more"),
    [
        ("", []),
        (
            "--api-key my_key --made-up 2 --latency 0.001 --fail 503:0%",
            ["shop.example", "blog.example"],
        ),
    ],
)
def test_the_emulator_serves_until_it_is_interrupted(
    options: str, more: list[str], tmp_path: Path
) -> None:
    """It prints settings for a shell, and serves with them.

    A key in the environment may be real: it is neither taken nor shown.
    """
    rows = tmp_path / "rows.csv"
    rows.write_text("hostname,path\nmine.example,/\n", "utf-8")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "sitestats", "emulator", "--port", "0"),
            *("--load", str(rows), "--website", "other.example", *options.split()),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1", "SITESTATS_API_KEY": "real_key"},
    )
    assert process.stdout is not None
    settings = dict(
        process.stdout.readline().removeprefix("export ").strip().split("=", 1)
        for _ in range(3)
    )
    assert settings["SITESTATS_API_KEY"] != "real_key"
    assert not options or settings["SITESTATS_API_KEY"] == "my_key"
    with sitestats.Client(
        settings["SITESTATS_BASE_URL"],
        api_key=settings["SITESTATS_API_KEY"],
        user_id=settings["SITESTATS_USER_ID"],
        proxy=None,
    ) as client:
        names = [site.hostname for site in client.websites.list()]
        assert names == [*more, "mine.example", "other.example"]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "stop it with Ctrl-C" in err
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
    ):
        done = run("emulator", "--empty", "--port", 0, option)
        assert (done.code, words in done.err) == (2, True), option
        assert done.err.count("\n") <= 2


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("503:100%", sitestats.ServerError),
        ("reset:100%", sitestats.TransportError),
        ("garbage:100%", sitestats.ResponseError),
    ],
)
def test_a_part_of_the_responses_fails(
    kind: str, error: type[Exception], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The emulator that it serves fails as ``fail_next`` lets it."""
    served: list[Emulator] = []
    monkeypatch.setattr("sitestats.cli._emulator._wait", lambda: None)

    def serve(emulator: Emulator, port: int) -> AbstractContextManager[str]:
        served.append(emulator)
        return nullcontext(f"http://127.0.0.1:{port}")

    monkeypatch.setattr(Emulator, "serve", serve)
    run("emulator", "--empty", "--port", 0, "--fail", kind, "--latency", 0.001)
    with served[0].client(retries=0) as client, pytest.raises(error):
        client.websites.list()
