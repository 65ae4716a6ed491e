"""What holds for every test: no network, and examples that are run.

The code blocks of the README and of the documentation, and the examples of the
docstrings, are tests too. They find ``client``, which asks ``emulator``, and
the package's public names; the examples of one file share one namespace.
"""

from __future__ import annotations

import asyncio
import doctest
import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from _pytest._code.code import Traceback
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.integration.pytest import SybilItem
from sybil.parsers import markdown, myst
from sybil.parsers.doctest import DocTestParser
from sybil.sybil import SybilCollection

# Reserved, so that looking them up never finds anything (RFC 6761).
NEVER_FOUND = (".invalid", ".test", ".example")


class NetworkForbiddenError(BaseException):
    """A test reached for the network.

    Not an Exception, so that no code under test takes it for a failed
    connection and goes on.
    """


def is_here(host: object) -> bool:
    """Whether *host* is this machine by loopback, so that no packet leaves it."""
    if isinstance(host, bytes):
        host = host.decode()
    # None and an empty name stand for this machine, where they stand at all.
    if host in {None, "", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Refuse every connection but loopback's, and every look-up of a name."""
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


# Sybil takes every failure for one of an example, and breaks pytest at another:
# at a warning that became an error once the example was over.
sybils_filter = SybilItem._traceback_filter  # noqa: SLF001 -- see above


def filter_traceback(
    self: SybilItem, excinfo: pytest.ExceptionInfo[BaseException]
) -> Traceback:
    """What to show of a traceback: the example's part, or all where there is none."""
    try:
        return sybils_filter(self, excinfo)
    except IndexError:
        return excinfo.traceback


SybilItem._traceback_filter = filter_traceback  # type: ignore[method-assign]  # noqa: SLF001 -- see above


def open_example(namespace: dict[str, Any]) -> None:
    """Give the examples of one file what they may use."""
    # Here, so that tests that run no example need not the emulator's extra.
    import sitestats
    from sitestats.emulator import Emulator

    emulator = Emulator.demo()
    client = emulator.client()
    namespace.update((name, getattr(sitestats, name)) for name in sitestats.__all__)
    namespace.update(asyncio=asyncio, emulator=emulator, client=client)
    # Again, since an example may give `client` another meaning.
    namespace["__client__"] = client


def close_example(namespace: dict[str, Any]) -> None:
    """Close the clients that the examples of one file left open, and forget all."""
    from sitestats import Client

    for value in namespace.values():
        if isinstance(value, Client):
            value.close()
    # pytest keeps the documents to its end, and with them the databases.
    namespace.clear()


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
            excludes=["docs/_build/**"],
            setup=open_example,
            teardown=close_example,
        ),
        Sybil(
            [DocTestParser(doctest.ELLIPSIS)],
            patterns=["src/*/*.py", "src/*/*/*.py"],
            document_types={".py": PythonDocStringDocument},
            setup=open_example,
            teardown=close_example,
        ),
    ]
).pytest()
