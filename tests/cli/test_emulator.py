"""``sitestats emulator``: it serves until it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

import sitestats

if TYPE_CHECKING:
    from commands import Run


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT for a child there")
@pytest.mark.parametrize(
    ("given", "more"),
    [
        ([], []),
        (
            [
                *("--api-key", "my_key", "--allow-host", "stand-in"),
                *("--cors", "http://localhost:5173", "--made-up", "2"),
            ],
            ["shop.example", "blog.example"],
        ),
    ],
    ids=["own", "given"],
)
def test_the_emulator_serves_until_it_is_interrupted(
    given: list[str], more: list[str], tmp_path: Path
) -> None:
    """It prints settings for a shell, and serves with them.

    A key in the environment may be real: it is neither taken nor shown.
    """
    rows = tmp_path / "rows.csv"
    rows.write_text("hostname,path\nmine.example,/\n", "utf-8")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "sitestats", "emulator", "--port", "0"),
            *("--load", str(rows), "--website", "other.example", *given),
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
    assert not given or settings["SITESTATS_API_KEY"] == "my_key"
    with sitestats.Client(
        settings["SITESTATS_BASE_URL"],
        api_key=settings["SITESTATS_API_KEY"],
        user_id=settings["SITESTATS_USER_ID"],
        proxy=None,
    ) as client:
        names = [site.hostname for site in client.websites.list()]
        assert names == [*more, "mine.example", "other.example"]
    address = settings["SITESTATS_BASE_URL"]
    allowed = "stand-in" if given else "localhost"
    for host in ("localhost", "stand-in", "evil.example"):
        response = httpx.get(
            f"{address}/x.json", headers={"Host": host}, trust_env=False
        )
        assert response.status_code == (404 if host in {"localhost", allowed} else 421)
        if response.status_code == 404:
            cors = response.headers.get("access-control-allow-origin")
            assert cors == ("http://localhost:5173" if given else None)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "stop it with Ctrl-C" in err
    assert "Traceback" not in err


def test_an_origin_that_is_none_is_one_line(run: Run) -> None:
    """A wrong --cors is an error of one line before anything is served."""
    done = run("emulator", "--empty", "--port", 0, "--cors", "localhost")
    assert done.code == 2
    assert done.err.startswith("sitestats: cors is '*', or an origin ")
