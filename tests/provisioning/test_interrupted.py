"""What a run of ``ensure`` reports when it is interrupted: the report so far."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from sitestats import ConnectionFailedError, WebsiteSpec
from sitestats.emulator import Emulator, RecordedRequest
from sitestats.provisioning import ProvisioningReport

SPECS = [WebsiteSpec(f"{name}.example") for name in "abc"]


class Stop(BaseException):
    """Ends a run as Ctrl-C would."""


def stop_after_one(done: int, total: int | None) -> None:
    """Progress that stops after the first website."""
    assert total == 3
    if done == 1:
        raise Stop


def states(reports: list[ProvisioningReport]) -> list[str]:
    """The states of the one report."""
    (report,) = reports
    assert str(report.stopped) == "interrupted"
    return [item.state for item in report.items]


def test_an_interrupted_run_has_a_report() -> None:
    """What was added before Ctrl-C is in a report, and the exception goes on."""
    reports: list[ProvisioningReport] = []
    emulator = Emulator()
    with emulator.client() as client, pytest.raises(Stop):
        client.websites.ensure(
            SPECS, progress=stop_after_one, interrupted=reports.append
        )
    assert states(reports) == ["added", "not_tried", "not_tried"]
    assert emulator.websites == ("a.example",)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_cancelled_run_has_a_report(backend: str) -> None:
    """After a cancellation the add that was under way is unknown."""
    reports: list[ProvisioningReport] = []
    emulator = Emulator()

    async def main() -> None:
        sent = anyio.Event()

        def is_second(request: RecordedRequest) -> bool:
            if b'"b.example"' in request.body:
                sent.set()
            return sent.is_set()

        emulator.fail_next(latency=60, when=is_second)

        async def ensure() -> None:
            async with emulator.async_client() as client:
                await client.websites.ensure(SPECS, interrupted=reports.append)

        async with anyio.create_task_group() as group:
            group.start_soon(ensure)
            await sent.wait()
            group.cancel_scope.cancel()

    anyio.run(main, backend=backend)
    assert states(reports) == ["added", "unknown", "not_tried"]
    assert reports[0].complete is False


@pytest.mark.parametrize("fault", [{"status": 401}, {"reset": True}])
def test_an_error_of_the_service_is_no_interruption(fault: dict[str, Any]) -> None:
    """A run that could not begin, or that ends by itself, is not interrupted."""
    reports: list[ProvisioningReport] = []
    emulator = Emulator()
    emulator.fail_next(method="POST" if "reset" in fault else "GET", **fault)
    with emulator.client(retries=0) as client:
        if "reset" in fault:
            report = client.websites.ensure(SPECS, interrupted=reports.append)
            assert isinstance(report.items[0].error, ConnectionFailedError)
        else:
            with pytest.raises(Exception, match="401"):
                client.websites.ensure(SPECS, interrupted=reports.append)
    assert reports == []
