"""An emulator behind a transport that fails, at every point of an add's exchange."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import anyio.lowlevel
import attrs
import httpx

from sitestats import AsyncClient, Client, RetryPolicy, WebsiteSpec
from sitestats.emulator import Emulator, RecordedRequest
from sitestats.provisioning import ProvisioningReport
from sitestats.provisioning._journal import state_folder

Variant = Literal["blocking", "asyncio", "trio"]
VARIANTS: Final[tuple[Variant, ...]] = ("blocking", "asyncio", "trio")


class Killed(BaseException):
    """The process ends here: no code after it runs."""


@attrs.frozen
class Fault:
    """Where one add fails."""

    breaks: Callable[[httpx.Request], BaseException] | None = None
    """The transport raises this before the service gets the request."""
    raises_after: Callable[[httpx.Request], BaseException] | None = None
    """The transport raises this after the service has responded."""
    service: Mapping[str, Any] | None = None
    """The arguments of the emulator's ``fail_next``."""
    is_certain: bool = False
    """Whether the client knows the outcome without reading the list."""


def _raise(
    kind: type[httpx.TransportError],
) -> Callable[[httpx.Request], BaseException]:
    return lambda request: kind("the connection broke", request=request)


def _kill(_request: httpx.Request) -> BaseException:
    return Killed()


NO: Final = {"ok": False, "success": False, "error": "No"}

FAULTS: Final[dict[str, Fault]] = {
    # Before anything is sent: retried, until the retries are used up.
    "not connected": Fault(breaks=_raise(httpx.ConnectError), is_certain=True),
    "connected too late": Fault(breaks=_raise(httpx.ConnectTimeout), is_certain=True),
    # While the request is sent.
    "broken while sending": Fault(breaks=_raise(httpx.WriteError)),
    "too slow to send": Fault(breaks=_raise(httpx.WriteTimeout)),
    # After it was sent, before or after the website was added.
    "reset before it was added": Fault(service={"reset": True}),
    "reset after it was added": Fault(service={"reset": True, "processed": True}),
    "response too late": Fault(raises_after=_raise(httpx.ReadTimeout)),
    "closed instead of a response": Fault(
        raises_after=_raise(httpx.RemoteProtocolError)
    ),
    # In the middle of the response.
    "cut off before the body": Fault(service={"cut_off": 0}),
    "cut off within the body": Fault(service={"cut_off": 20}),
    # A complete response without an outcome.
    "failed": Fault(service={"status": 500}),
    "failed after it was added": Fault(service={"status": 503, "processed": True}),
    "gateway gave up": Fault(
        service={"status": 504, "processed": True, "body": "<html>Late</html>"}
    ),
    "garbage": Fault(service={"garbage": True, "processed": True}),
    "a page of HTML": Fault(service={"body": "<html></html>", "processed": True}),
    "an empty object": Fault(service={"body": {}, "processed": True}),
    # A complete error response.
    "refused": Fault(service={"status": 400, "body": NO}, is_certain=True),
    "refused with 200": Fault(service={"status": 200, "body": NO}, is_certain=True),
    "forbidden": Fault(service={"status": 403, "body": NO}, is_certain=True),
    "too many": Fault(
        service={"status": 429, "body": NO, "retry_after": 0}, is_certain=True
    ),
    "redirected": Fault(
        service={"redirect": "https://other.example/"}, is_certain=True
    ),
}
KILLS: Final[dict[str, Fault]] = {
    "killed before it was sent": Fault(breaks=_kill),
    "killed before the response": Fault(raises_after=_kill),
}


class FaultyTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends requests to an emulator, with faults by host name."""

    def __init__(self, emulator: Emulator, faults: Mapping[str, Fault]) -> None:
        self._inner = emulator.transport()
        self._faults = faults

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        fault = self._fault(request)
        if fault.breaks is not None:
            raise fault.breaks(request)
        response = self._inner.handle_request(request)
        if fault.raises_after is not None:
            raise fault.raises_after(request)
        return response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        fault = self._fault(request)
        await anyio.lowlevel.checkpoint()
        if fault.breaks is not None:
            raise fault.breaks(request)
        response = await self._inner.handle_async_request(request)
        if fault.raises_after is not None:
            raise fault.raises_after(request)
        return response

    def _fault(self, request: httpx.Request) -> Fault:
        if request.method != "POST":
            return Fault()
        hostname = json.loads(request.read())["hostname"]
        return self._faults.get(hostname, Fault())


class EnsureRunner:
    """Runs ``ensure`` against an emulator."""

    def __init__(self) -> None:
        self.emulator = Emulator()
        self.runs = 0
        self.too_many: list[str] = []
        """Host names that were sent although the website existed."""

    def reset(self) -> None:
        """Remove every website: much quicker than a new emulator."""
        self.emulator._core.service.websites = {}
        self.emulator.forget_requests()
        self.emulator.clear_faults()
        self.too_many.clear()

    def ensure(
        self,
        specs: list[WebsiteSpec],
        faults: Mapping[str, Fault] | None = None,
        *,
        variant: Variant = "blocking",
        journal: Path | None = None,
        lists_that_fail: tuple[int, int] = (0, 0),
    ) -> ProvisioningReport:
        """Run ``ensure`` once, and check what holds for every run.

        Args:
            specs: The websites.
            faults: The faults of adds, by host name.
            variant: The kind of client.
            journal: The journal's path.
            lists_that_fail: How many requests for the list succeed, and how many
                fail after those.
        """
        faults = faults or {}
        self.runs += 1
        emulator = self.emulator
        emulator.clear_faults()
        emulator.forget_requests()
        for hostname, fault in faults.items():
            if fault.service is not None:
                about = f'"{hostname}"'.encode()
                emulator.fail_next(
                    **fault.service, when=lambda r, about=about: about in r.body
                )
        emulator.fail_next(None, status=500, when=_nth_list(*lists_that_fail))
        emulator.fail_next(None, status=500, when=self._check_add)
        options: dict[str, Any] = {
            "base_url": "http://service.test",
            "api_key": emulator.api_key,
            "user_id": emulator.user_id,
            "retries": RetryPolicy(retries=1, wait_initial=0.0),
        }
        try:
            report = _run(
                specs, options, variant, journal, FaultyTransport(emulator, faults)
            )
        finally:
            sent = [
                json.loads(request.body)["hostname"]
                for request in emulator.requests
                if request.method == "POST"
            ]
            assert len(sent) == len(set(sent)), "sent twice within a run"
            assert not self.too_many, "sent although it existed"
        assert [item.spec for item in report.items] == specs
        for item in report.items:
            exists = item.hostname in emulator.websites
            assert item.state == "unknown" or exists == (
                item.state in {"added", "present", "differing"}
            )
        return report

    def _check_add(self, request: RecordedRequest) -> bool:
        if request.method == "POST":
            hostname = json.loads(request.body)["hostname"]
            if hostname in self.emulator.websites:
                self.too_many.append(hostname)
        return False


def _nth_list(succeeding: int, failing: int) -> Callable[[RecordedRequest], bool]:
    seen = 0

    def fails(request: RecordedRequest) -> bool:
        nonlocal seen
        if request.method != "GET":
            return False
        seen += 1
        return succeeding < seen <= succeeding + failing

    return fails


def _run(
    specs: list[WebsiteSpec],
    options: dict[str, Any],
    variant: Variant,
    journal: Path | None,
    transport: FaultyTransport,
) -> ProvisioningReport:
    if variant == "blocking":
        sends = httpx.Client(transport=transport, trust_env=False)
        with sends, Client(**options, http_client=sends) as client:
            return client.websites.ensure(specs, journal=journal)

    async def main() -> ProvisioningReport:
        sends = httpx.AsyncClient(transport=transport, trust_env=False)
        async with sends, AsyncClient(**options, http_client=sends) as client:
            return await client.websites.ensure(specs, journal=journal)

    return anyio.run(main, backend=variant)


def let_time_pass(*journals: Path) -> None:
    """Make all adds in *journals* and in the state folder those of a day ago."""
    for journal in (*journals, *state_folder().glob("*.journal")):
        records = [json.loads(line) for line in journal.read_bytes().splitlines()]
        for record in records:
            if "at" in record:
                record["at"] -= 86_400
        journal.write_text("".join(f"{json.dumps(record)}\n" for record in records))
