"""What a run of ``ensure`` reports when it is interrupted: the report so far."""

from __future__ import annotations

import anyio
import pytest

from sitestats import AuthenticationError, ConnectionFailedError, WebsiteSpec
from sitestats.emulator import Emulator, RecordedRequest
from sitestats.provisioning import ProvisioningReport

SPECS = [WebsiteSpec(f"{name}.example") for name in "abc"]


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
    (report,) = reports
    assert str(report.stopped) == "interrupted"
    assert [item.state for item in report.items] == ["added", "unknown", "not_tried"]
    assert report.complete is False


def test_an_error_of_the_service_is_no_interruption() -> None:
    """A run that could not begin, or that ends by itself, is not interrupted."""
    reports: list[ProvisioningReport] = []
    emulator = Emulator()
    with emulator.client(retries=0) as client:
        emulator.fail_next(status=401)
        with pytest.raises(AuthenticationError):
            client.websites.ensure(SPECS, interrupted=reports.append)
        emulator.fail_next(method="POST", reset=True)
        report = client.websites.ensure(SPECS, interrupted=reports.append)
    assert isinstance(report.items[0].error, ConnectionFailedError)
    assert reports == []
