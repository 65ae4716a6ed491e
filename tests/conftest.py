"""Hypothesis profiles, markers, order of tests, coverage, Ctrl-C, faked responses."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from respx import MockRouter

# Plain runs, and those of CI, which try more, find the same on every machine: whoever
# tries the project should not be the one who meets a rare failure. The other two look
# in new places.
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    max_examples=20,
    # A slow machine is no reason to fail.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("brief", settings.get_profile("ci"), max_examples=8)
settings.register_profile("dev", deadline=None, max_examples=200)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=5_000,
    suppress_health_check=[HealthCheck.too_slow],
)
PROFILE = "ci" if "CI" in os.environ else "brief"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", PROFILE))

# A shell makes what it runs in the background deaf to Ctrl-C, and programs that the
# tests start would be, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The processes of pytest-xdist are measured. What the tests start there is not:
# several are about the memory or the time that a program takes.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


@pytest.fixture
def routes() -> Iterator[MockRouter]:
    """Routes of respx: what clients send to a service, and what it responds.

    A request that no route matches fails the test, and so does a route without one.
    """
    from both_clients import faked

    with faked() as routes:
        yield routes


# What is made of httpx, httptools, anyio and sockets; of msgspec, cattrs and dateutil;
# of click and rich; of DuckDB and SQLite; of pandas, polars, Arrow, matplotlib and dlt.
COMPAT = (
    *("README.md", "docs/reports.md", "docs/frames-and-plots.md"),
    *("docs/testing-your-code.md", "tests/display/test_excel"),
    *("tests/display/test_frames", "tests/display/test_plots"),
    *("tests/cli/test_app", "tests/cli/test_stats"),
    *("tests/client/test_document", "tests/client/test_get_many"),
    *("tests/emulator/test_numbers", "tests/emulator/test_server"),
    *("tests/reading/test_responses", "tests/query/test_periods"),
    *("tests/store/test_sqlite", "tests/transport/test_pool"),
    *("tests/transport/test_reading", "tests/transport/test_seen_by"),
    *("tests/transport/test_tls", "tests/warehouse/test_update"),
)
LONG = ("src/sitestats/warehouse/_update.py",)
"""Examples that load into a database, as shorter tests do."""
BUDGET = 2.0
"""Seconds of a processor that a test may take without the marker ``long``."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests, and put slow ones first, so that all processes end together."""
    for item in items:
        if item.nodeid.startswith(LONG):
            item.add_marker("long")
        if item.nodeid.startswith(COMPAT) and not item.get_closest_marker("long"):
            item.add_marker("compat")

    def place(item: pytest.Item) -> int:
        long, slow = map(item.get_closest_marker, ("long", "slow"))
        return 0 if long else 1 if slow else 2

    items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note what a test takes of a processor, where that is too much."""
    began = time.process_time()
    try:
        return (yield)
    finally:
        took = time.process_time() - began
        if took > BUDGET and not item.get_closest_marker("long"):
            item.user_properties.append(("seconds", took))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that need the marker ``long``, or less work."""
    for report in terminalreporter.getreports("passed"):
        for seconds in dict(report.user_properties).values():
            line = f"{seconds:.1f} s of a processor, and not long: {report.nodeid}"
            terminalreporter.write_line(line)
