"""Pyodide in node or in Chromium, which runs the code that tests give it.

A server on loopback has Pyodide, an index of wheels, and the pages. A program that runs
Pyodide takes one piece of code after another from it, and reports what comes of it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, SimpleQueue
from textwrap import dedent
from typing import Any, Final

from chromium import FLAGS, find_chromium

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = Path(os.environ["PYODIDE"]) if "PYODIDE" in os.environ else None
"""What `nox -s browser` has fetched: a folder of packages of npm, and of wheels."""
LONGEST: Final = 600
"""Seconds that Pyodide may take for a piece of code: the tests there take minutes."""
SETUP: Final = """
import micropip
micropip.set_index_urls(index)
await micropip.install(packages)
"""
BEGIN: Final = """
from sitestats import *
query = StatsQuery("shop.example").fields("pageviews", "pages").last(days=30)
"""
PAGE: Final = """<!doctype html><title>runs Pyodide</title><script type="module">
import { run } from "./run.mjs";
await run("./pyodide/pyodide.mjs", location.href);
</script>"""


def fetched(name: str) -> Path:
    """A folder of what `nox -s browser` has fetched."""
    assert FOLDER is not None, "run these tests by `nox -s browser`"
    return FOLDER / name


class Handler(SimpleHTTPRequestHandler):
    """Serves the files of a folder, hands out code, and takes what comes of it."""

    hosts: Hosts

    def end_headers(self) -> None:
        # Pages of other origins read them, too.
        self.send_header("access-control-allow-origin", "*")
        super().end_headers()

    def do_GET(self) -> None:
        if self.path == "/job":
            self.send(json.dumps(self.hosts.jobs.get()).encode())
        else:
            super().do_GET()

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        self.hosts.results.put(json.loads(self.rfile.read(length)))
        self.send(b"{}")

    def send(self, body: bytes) -> None:
        """Send JSON."""
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


class Hosts:
    """The server of a folder, and the code that waits to be run."""

    def __init__(self, folder: Path) -> None:
        self.jobs = SimpleQueue[dict[str, Any]]()
        self.results = SimpleQueue[Any]()
        self.begin = ""
        """What all code begins with."""
        self.folder = folder
        folder.mkdir()
        shutil.copytree(fetched("node_modules/pyodide"), folder / "pyodide")
        # Pyodide's own packages lie beside it, and a page has this one.
        for wheels in (folder / "pyodide", folder):
            shutil.copytree(fetched("wheels"), wheels, dirs_exist_ok=True)
        shutil.copy(Path(__file__).with_name("run.mjs"), folder)
        (folder / "run.html").write_text(PAGE, "utf-8")
        self.write_lists()
        served: Any = type("Served", (Handler,), {"hosts": self})
        handler = partial(served, directory=str(folder))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def write_lists(self) -> None:
        """List the wheels: of Pyodide's own packages those of micropip, and all in an
        index.
        """
        file = self.folder / "pyodide" / "pyodide-lock.json"
        lock: dict[str, Any] = json.loads(file.read_text("utf-8"))
        own = dict[str, Any]()
        for wheel in self.folder.glob("*.whl"):
            name = wheel.name.partition("-")[0].lower().replace("_", "-")
            page = self.folder / "simple" / name / "index.html"
            page.parent.mkdir(parents=True)
            page.write_text(f'<a href="/{wheel.name}">{wheel.name}</a>', "utf-8")
            if name in {"micropip", "packaging"}:
                found = {"file_name": wheel.name}
                found["sha256"] = sha256(wheel.read_bytes()).hexdigest()
                own[name] = lock["packages"][name] | found
        file.write_text(json.dumps({**lock, "packages": own}), "utf-8")

    def run(self, code: str, **values: Any) -> Any:
        """What Python in Pyodide makes of *code*: the value of its last line.

        Raises:
            AssertionError: It raised an error, whose text that has.
        """
        self.jobs.put({"code": self.begin + dedent(code), "values": values})
        result = self.result()
        assert "error" not in result, result["error"]
        return result.get("value")

    def result(self) -> Any:
        """What is reported next."""
        try:
            return self.results.get(timeout=LONGEST)
        except Empty:
            raise AssertionError(f"nothing came within {LONGEST} seconds") from None


@contextmanager
def node(folder: Path) -> Iterator[Hosts]:
    """Pyodide in node, with the files of this project in the folder /project."""
    hosts = Hosts(folder / "served")
    program = Path(__file__).with_name("in_node.mjs")
    command = [fetched("node_modules/.bin/node"), program]
    pyodide = fetched("node_modules/pyodide/pyodide.mjs")
    with running(hosts, [*command, pyodide, hosts.address, ROOT, fetched("cache")]):
        yield hosts


@contextmanager
def chromium(folder: Path) -> Iterator[Hosts]:
    """Pyodide in a page of Chromium."""
    hosts = Hosts(folder / "served")
    with opened(hosts, "run.html", folder / "profile"):
        yield hosts


@contextmanager
def opened(hosts: Hosts, page: str, profile: Path) -> Iterator[None]:
    """Have Chromium open one of the pages."""
    # Without a port of its own for debugging it would end as soon as the page is there.
    flags = *FLAGS, f"--user-data-dir={profile}", "--remote-debugging-port=0"
    with running(hosts, [find_chromium(), *flags, f"{hosts.address}/{page}"]):
        yield


@contextmanager
def running(hosts: Hosts, command: list[Any]) -> Iterator[None]:
    """Run a program until the end of the block."""
    process = subprocess.Popen(
        [*map(str, command)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield
    finally:
        os.killpg(process.pid, 15)
        process.wait(20)
        hosts.server.shutdown()
        hosts.server.server_close()


def prepare(hosts: Hosts, *packages: str) -> None:
    """Install the package into Pyodide, as a user does, and *packages* for tests."""
    index = [f"{hosts.address}/simple"]
    hosts.run(SETUP, index=index, packages=["sitestats", *packages])
    hosts.begin = BEGIN
