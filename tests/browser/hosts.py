"""Pyodide in node or in Chromium, which runs the code that tests give it.

A server on loopback has Pyodide, an index of wheels, and the pages. A program that runs
Pyodide takes one piece of code after another from it, and reports what comes of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, SimpleQueue
from textwrap import dedent
from typing import Any, Final
from urllib.parse import unquote

from chromium import FLAGS, find_chromium

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = Path(os.environ["PYODIDE"]) if "PYODIDE" in os.environ else None
"""What `nox -s browser` has fetched: a folder of packages of npm, and of wheels."""
LONGEST: Final = 600
"""Seconds that Pyodide may take for a piece of code: the tests there take minutes."""
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
}

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


def wheels() -> dict[str, Path]:
    """The wheels of the index, by their names."""
    return {path.name: path for path in fetched("wheels").glob("*.whl")}


def normal(wheel: str) -> str:
    """The name of a wheel's project, as an index has it."""
    return wheel.partition("-")[0].lower().replace("_", "-")


class Hosts:
    """The server, and the code that waits to be run."""

    def __init__(self) -> None:
        self.jobs = SimpleQueue[dict[str, Any]]()
        self.results = SimpleQueue[Any]()
        self.pages: dict[str, str] = {"run.html": PAGE}
        """Pages by their names, beside what is in folders."""
        self.begin = ""
        """What all code begins with."""
        hosts = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hosts.respond(self, unquote(self.path).strip("/"))

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                hosts.results.put(json.loads(self.rfile.read(length)))
                hosts.send(self, b"{}", ".json")

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def send(self, handler: Any, body: bytes, ending: str, status: int = 200) -> None:
        """Send a response that pages of other origins may read, too."""
        handler.send_response(status)
        kind = TYPES.get(ending, "application/octet-stream")
        handler.send_header("content-type", kind)
        handler.send_header("content-length", str(len(body)))
        handler.send_header("access-control-allow-origin", "*")
        handler.end_headers()
        handler.wfile.write(body)

    def respond(self, handler: Any, path: str) -> None:
        """Respond with a page, a file, a list of wheels, or the next piece of code."""
        folder, _, name = path.rpartition("/")
        if path in self.pages:
            self.send(handler, self.pages[path].encode(), ".html")
        elif path == "job":
            self.send(handler, json.dumps(self.jobs.get()).encode(), ".json")
        elif path == "run.mjs":
            self.send(handler, Path(__file__).with_name(path).read_bytes(), ".mjs")
        elif path == "pyodide/pyodide-lock.json":
            self.send(handler, json.dumps(self.lock()).encode(), ".json")
        elif folder == "simple":
            links = (
                f'<a href="/wheels/{wheel}">{wheel}</a>'
                for wheel in wheels()
                if normal(wheel) == name
            )
            self.send(handler, "".join(links).encode(), ".html")
        elif name in wheels():
            self.send(handler, wheels()[name].read_bytes(), ".whl")
        elif folder == "pyodide":
            file = fetched("node_modules/pyodide") / name
            self.send(handler, file.read_bytes(), file.suffix)
        else:
            self.send(handler, b"", "", 404)

    def lock(self) -> dict[str, Any]:
        """The list of Pyodide's own packages: micropip, from the index here."""
        file = fetched("node_modules/pyodide/pyodide-lock.json")
        lock: dict[str, Any] = json.loads(file.read_text("utf-8"))
        own = dict[str, Any]()
        for wheel, path in wheels().items():
            if (name := normal(wheel)) in {"micropip", "packaging"}:
                digest = sha256(path.read_bytes()).hexdigest()
                found = {"file_name": wheel, "sha256": digest}
                own[name] = lock["packages"][name] | found
        return {**lock, "packages": own}

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
def node() -> Iterator[Hosts]:
    """Pyodide in node, with the files of this project in the folder /project."""
    hosts = Hosts()
    program = Path(__file__).with_name("in_node.mjs")
    command = [fetched("node_modules/.bin/node"), program]
    pyodide = fetched("node_modules/pyodide/pyodide.mjs")
    with running(hosts, [*command, pyodide, hosts.address, ROOT, fetched("cache")]):
        yield hosts


@contextmanager
def chromium(profile: Path) -> Iterator[Hosts]:
    """Pyodide in a page of Chromium."""
    hosts = Hosts()
    with opened(hosts, "run.html", profile):
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
