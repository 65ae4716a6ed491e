"""An emulator on a line that breaks, at every point of the exchange of an add."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import anyio.lowlevel
import attrs
import httpx

from sitestats import AsyncClient, Client, ProvisioningReport, RetryPolicy, WebsiteSpec
from sitestats.emulator import Emulator, RecordedRequest

Way = Literal["blocking", "asyncio", "trio"]
WAYS: Final[tuple[Way, ...]] = ("blocking", "asyncio", "trio")


class Killed(BaseException):
    """The process ends here: nothing that follows is run."""


@attrs.frozen
class Fault:
    """Where one add breaks."""

    breaks: Callable[[httpx.Request], BaseException] | None = None
    """What the line raises before the service sees the request."""
    breaks_behind: Callable[[httpx.Request], BaseException] | None = None
    """What the line raises when the service has answered."""
    service: Mapping[str, Any] | None = None
    """What the service does instead of what it should: see ``fail_next``."""
    is_certain: bool = False
    """Whether the client can know what became of the website at once."""


def _raise(
    kind: type[httpx.TransportError],
) -> Callable[[httpx.Request], BaseException]:
    return lambda request: kind("the line broke", request=request)


def _kill(_request: httpx.Request) -> BaseException:
    return Killed()


NO: Final = {"ok": False, "success": False, "error": "No"}

FAULTS: Final[dict[str, Fault]] = {
    # Before anything is sent: tried again, until the retries are used up.
    "not connected": Fault(breaks=_raise(httpx.ConnectError), is_certain=True),
    "connected too late": Fault(breaks=_raise(httpx.ConnectTimeout), is_certain=True),
    # While the request is sent.
    "broken while sending": Fault(breaks=_raise(httpx.WriteError)),
    "too slow to send": Fault(breaks=_raise(httpx.WriteTimeout)),
    # After it was sent, before or after the service acted.
    "reset before it acted": Fault(service={"reset": True}),
    "reset after it acted": Fault(service={"reset": True, "processed": True}),
    "answered too late": Fault(breaks_behind=_raise(httpx.ReadTimeout)),
    "closed instead of an answer": Fault(
        breaks_behind=_raise(httpx.RemoteProtocolError)
    ),
    # In the middle of the answer.
    "cut off before the body": Fault(service={"cut_off": 0}),
    "cut off within the body": Fault(service={"cut_off": 20}),
    # A whole answer that says nothing about the website.
    "failed": Fault(service={"status": 500}),
    "failed after it acted": Fault(service={"status": 503, "processed": True}),
    "gateway gave up": Fault(
        service={"status": 504, "processed": True, "body": "<html>Late</html>"}
    ),
    "garbage": Fault(service={"garbage": True, "processed": True}),
    "a page of HTML": Fault(service={"body": "<html></html>", "processed": True}),
    "an empty object": Fault(service={"body": {}, "processed": True}),
    # A whole answer that says no.
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
    "killed before the answer": Fault(breaks_behind=_kill),
}


class Line(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Carries requests to an emulator, and breaks where it is told to."""

    def __init__(self, emulator: Emulator, faults: Mapping[str, Fault]) -> None:
        self._inner = emulator.transport()
        self._faults = faults

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        fault = self._fault(request)
        if fault.breaks is not None:
            raise fault.breaks(request)
        response = self._inner.handle_request(request)
        if fault.breaks_behind is not None:
            raise fault.breaks_behind(request)
        return response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        fault = self._fault(request)
        await anyio.lowlevel.checkpoint()
        if fault.breaks is not None:
            raise fault.breaks(request)
        response = await self._inner.handle_async_request(request)
        if fault.breaks_behind is not None:
            raise fault.breaks_behind(request)
        return response

    def _fault(self, request: httpx.Request) -> Fault:
        if request.method != "POST":
            return Fault()
        hostname = json.loads(request.read())["hostname"]
        return self._faults.get(hostname, Fault())


class Bench:
    """An emulator, and the runs of ``ensure`` against it."""

    def __init__(self) -> None:
        self.emulator = Emulator()
        self.runs = 0
        self.too_many: list[str] = []
        """Host names that were sent although the website was there."""

    def reset(self) -> None:
        """Forget every website: much quicker than another emulator."""
        self.emulator._core.service.websites = {}
        self.emulator.forget_requests()
        self.emulator.clear_faults()
        self.too_many.clear()

    def ensure(
        self,
        specs: list[WebsiteSpec],
        faults: Mapping[str, Fault] | None = None,
        *,
        way: Way = "blocking",
        journal: Path | None = None,
        lists_that_fail: tuple[int, int] = (0, 0),
    ) -> ProvisioningReport:
        """Run ``ensure`` once, and check what holds for every run.

        Args:
            specs: The websites.
            faults: What breaks, by host name.
            way: The kind of client.
            journal: The journal's path.
            lists_that_fail: How many lists are read well, and how many fail
                after those.
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
        emulator.fail_next(None, status=500, when=self._watch)
        options: dict[str, Any] = {
            "base_url": "http://service.test",
            "api_key": emulator.api_key,
            "user_id": emulator.user_id,
            "proxy": None,
            "transport": Line(emulator, faults),
            "retries": RetryPolicy(retries=1, wait_initial=0.0),
        }
        try:
            report = _run(specs, options, way, journal)
        finally:
            sent = [
                json.loads(request.body)["hostname"]
                for request in emulator.requests
                if request.method == "POST"
            ]
            assert len(sent) == len(set(sent)), "sent twice within a run"
            assert not self.too_many, "sent although it was there"
        assert [item.spec for item in report.items] == specs
        for item in report.items:
            there = item.hostname in emulator.websites
            assert item.state == "unknown" or there == (
                item.state in {"added", "present", "differing"}
            )
        return report

    def _watch(self, request: RecordedRequest) -> bool:
        if request.method == "POST":
            hostname = json.loads(request.body)["hostname"]
            if hostname in self.emulator.websites:
                self.too_many.append(hostname)
        return False


def _nth_list(well: int, failing: int) -> Callable[[RecordedRequest], bool]:
    seen = 0

    def fails(request: RecordedRequest) -> bool:
        nonlocal seen
        if request.method != "GET":
            return False
        seen += 1
        return well < seen <= well + failing

    return fails


def _run(
    specs: list[WebsiteSpec],
    options: dict[str, Any],
    way: Way,
    journal: Path | None,
) -> ProvisioningReport:
    if way == "blocking":
        with Client(**options) as client:
            return client.websites.ensure(specs, journal=journal)

    async def main() -> ProvisioningReport:
        async with AsyncClient(**options) as client:
            return await client.websites.ensure(specs, journal=journal)

    return anyio.run(main, backend=way)


def let_time_pass(journal: Path) -> None:
    """Move everything in *journal* to a day long ago."""
    records = [json.loads(line) for line in journal.read_bytes().splitlines()]
    for record in records:
        if "at" in record:
            record["at"] = "2026-01-01T00:00:00.000Z"
    journal.write_text("".join(f"{json.dumps(record)}\n" for record in records))
