"""Client variants: sync, and async on asyncio and trio; runs fault cases with each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import anyio

from faults import CASE_OPTIONS, Case, FaultServer, authority
from sitestats import AsyncClient, Client, NotFoundError, RetryPolicy, Stats, StatsQuery

VARIANTS = ("blocking", "asyncio", "trio")
API_KEY = "sa_api_key_0123456789abcdefghijklmn"
USER_ID = "sa_user_id_00000000-0000-4000-8000-000000000000"
QUICK = RetryPolicy(retries=2, wait_initial=0.01, wait_max=0.02)
QUERY = StatsQuery("example.com").fields("pageviews")
AT_ONCE = 40
"""How many cases run at the same time."""

# Each takes a client and gives what the client gives, awaitable or not.
CALLS: dict[str, Callable[[Any], Any]] = {
    "get": lambda client: client.stats.get(QUERY),
    "get twice": lambda client: client.stats.get(QUERY),
    "add": lambda client: client.websites.add("example.com"),
    "post much": lambda client: client.request(
        "POST", "/api/custom", json="x" * 32 * 1024 * 1024
    ),
}


@dataclass
class Run:
    """The outcome of one case."""

    value: Any = None
    error: Exception | None = None
    seconds: float = 0.0

    @property
    def gave(self) -> str:
        """The name of the error's class, or ``"value"``."""
        return "value" if self.error is None else type(self.error).__name__


def run_cases(
    variant: str, cases: Iterable[Case], server: FaultServer, *, at_once: int = AT_ONCE
) -> dict[str, Run]:
    """Run the cases concurrently with one client variant; the results by case name."""
    cases = list(cases)
    if variant == "blocking":
        with ThreadPoolExecutor(at_once) as pool:
            runs = pool.map(lambda case: _run(case, server), cases)
            return {case.name: run for case, run in zip(cases, runs, strict=True)}
    return anyio.run(_run_all, cases, server, at_once, backend=variant)


async def _run_all(
    cases: list[Case], server: FaultServer, at_once: int
) -> dict[str, Run]:
    runs: dict[str, Run] = {}
    limiter = anyio.CapacityLimiter(at_once)

    async def run(case: Case) -> None:
        async with limiter:
            runs[case.name] = await _run_async(case, server)

    async with anyio.create_task_group() as group:
        for case in cases:
            group.start_soon(run, case)
    return runs


def _run(case: Case, server: FaultServer) -> Run:
    call, run = CALLS[case.call], Run()
    with Client(**_options(case, server)) as client:
        if case.call == "get twice":
            call(client)
        start = time.monotonic()
        try:
            run.value = call(client)
        except Exception as error:  # noqa: BLE001 - it is what came of the case
            run.error = error
        run.seconds = time.monotonic() - start
    return run


async def _run_async(case: Case, server: FaultServer) -> Run:
    call, run = CALLS[case.call], Run()
    async with AsyncClient(**_options(case, server)) as client:
        if case.call == "get twice":
            await call(client)
        start = time.monotonic()
        try:
            run.value = await call(client)
        except Exception as error:  # noqa: BLE001 - it is what came of the case
            run.error = error
        run.seconds = time.monotonic() - start
    return run


def _options(case: Case, server: FaultServer) -> dict[str, Any]:
    options = {
        "base_url": server[case.name].origin,
        "api_key": API_KEY,
        "user_id": USER_ID,
        "retries": QUICK,
        "verify": str(authority()),
        "proxy": None,
        **CASE_OPTIONS,
        **case.options,
    }
    options.pop("scheme", None)
    return options


# --- for spawned processes, which import them by name --------------------------------


def get_in_another_process(client: Client, query: StatsQuery) -> Stats:
    """Request statistics with a client that was unpickled here."""
    return client.stats.get(query)


def fail_in_another_process() -> None:
    """Raise an error that the parent is to unpickle."""
    raise NotFoundError("no such website", status=404, body=b"{}")
