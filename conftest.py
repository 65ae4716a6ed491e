"""For every test: no network, no files at home, and the documentation as tests.

Tests are also the code blocks of the README and the documentation, and the examples of
docstrings. They can use ``emulator``, its ``client``, and the package's public names.
The examples of one file share one namespace.
"""

from __future__ import annotations

import asyncio
import atexit
import doctest
import gc
import ipaddress
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import certifi
import pytest
from _pytest._code.code import Traceback
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.integration.pytest import SybilItem
from sybil.parsers import markdown, myst
from sybil.parsers.doctest import DocTestParser
from sybil.sybil import SybilCollection

# What runs of `ensure` lock and write is in a folder of the test run, also in programs
# that the tests start, and never in the home folder.
STATE = pytest.StashKey[str]()
END = "-----END CERTIFICATE-----\n"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Know a setting of pyproject.toml that pytest has from version 9."""
    name = "faulthandler_exit_on_timeout"
    parser.addini(name, "End the process of a test that hangs.", "bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Make the state folder of the tests, and a short list of certificates."""
    config.stash[STATE] = tempfile.mkdtemp(prefix="sitestats-state-")
    os.environ["XDG_STATE_HOME"] = config.stash[STATE]
    # Each client reads the list, and all of certifi's would take 20 ms.
    first, _, _ = Path(certifi.where()).read_text("utf-8").partition(END)
    authority = Path(config.stash[STATE], "authority.pem")
    authority.write_text(first + END, encoding="utf-8")
    os.environ["SSL_CERT_FILE"] = str(authority)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage meanwhile: all tests stay, and to look takes seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of each garbage collection: there are many."""
    gc.freeze()
    # Libraries report what is left at the very end.
    atexit.register(gc.unfreeze)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the state folder of the tests."""
    shutil.rmtree(config.stash[STATE], ignore_errors=True)


# Reserved names that never resolve (RFC 6761).
NEVER_FOUND = (".invalid", ".test", ".example")


class NetworkForbiddenError(BaseException):
    """A test tried to use the network.

    It is not an Exception, so that no code under test handles it as a failed
    connection.
    """


def is_here(host: object) -> bool:
    """Whether *host* is a loopback address, so that no packet leaves the machine."""
    if isinstance(host, bytes):
        host = host.decode()
    # None and an empty name mean this machine.
    if host in {None, "", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Refuse all connections except to loopback, and all DNS look-ups."""
    look_up = socket.getaddrinfo

    def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
        def connect(self: socket.socket, address: Any) -> Any:
            if self.family in {socket.AF_INET, socket.AF_INET6}:
                refuse(address[0])
            return method(self, address)

        return connect

    def refuse(host: object) -> None:
        if not is_here(host):
            message = f"a test connects to {host!r}; only loopback is allowed"
            raise NetworkForbiddenError(message)

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if name.rstrip(".").endswith(NEVER_FOUND):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        refuse(host)
        return look_up(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


# Sybil expects the frame of an example in every traceback. A warning that becomes an
# error after the example has none, and pytest would crash.
sybils_filter = SybilItem._traceback_filter  # noqa: SLF001 -- see above


def filter_traceback(
    self: SybilItem, excinfo: pytest.ExceptionInfo[BaseException]
) -> Traceback:
    """The part of a traceback to show: that of the example, or else all."""
    try:
        return sybils_filter(self, excinfo)
    except IndexError:
        return excinfo.traceback


SybilItem._traceback_filter = filter_traceback  # type: ignore[method-assign]  # noqa: SLF001 -- see above


def open_example(namespace: dict[str, Any]) -> None:
    """Set up the namespace for the examples of one file."""
    import sitestats
    from sitestats.emulator import Emulator

    emulator = Emulator.demo()
    client = emulator.client()
    namespace.update(
        (name, getattr(sitestats, name)) for name in vars(sitestats)["__all__"]
    )
    namespace.update(asyncio=asyncio, emulator=emulator, client=client)
    # A second name for it, since an example may assign to `client`.
    namespace["__client__"] = client


def close_example(namespace: dict[str, Any]) -> None:
    """Close the clients and plots of one file's examples, and clear its namespace."""
    from sitestats import Client

    for value in namespace.values():
        if isinstance(value, Client):
            value.close()
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    # pytest keeps the namespaces until it ends, and with them the databases.
    namespace.clear()


# The extra "warehouse" is not in every environment.
WITHOUT_DLT = find_spec("dlt") is None

pytest_collect_file = SybilCollection(
    [
        Sybil(
            [
                markdown.PythonCodeBlockParser(doctest_optionflags=doctest.ELLIPSIS),
                markdown.SkipParser(),
            ],
            patterns=["README.md"],
            setup=open_example,
            teardown=close_example,
        ),
        Sybil(
            [
                myst.PythonCodeBlockParser(doctest_optionflags=doctest.ELLIPSIS),
                myst.DocTestDirectiveParser(),
                myst.SkipParser(),
            ],
            patterns=["docs/*.md", "docs/**/*.md"],
            excludes=["docs/_build/**", *["docs/warehouse.md"] * WITHOUT_DLT],
            setup=open_example,
            teardown=close_example,
        ),
        Sybil(
            [DocTestParser(doctest.ELLIPSIS)],
            patterns=["src/*/*.py", "src/*/*/*.py"],
            excludes=["src/sitestats/warehouse/*.py"] * WITHOUT_DLT,
            document_types={".py": PythonDocStringDocument},
            setup=open_example,
            teardown=close_example,
        ),
    ]
).pytest()
