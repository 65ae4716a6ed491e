"""The transport of clients in one process: as on a socket, sync and async."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import httpx
import pytest

from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow
TARGET = "/example.com.json?version=6&fields=pageviews&info=false"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_faults_of_async_clients(emulator: Emulator, backend: str) -> None:
    """Latency is awaited, so that many requests can wait at once."""

    async def main() -> None:
        async with httpx.AsyncClient(
            transport=emulator.transport(),
            base_url="http://emulator.test",
            headers={"Api-Key": emulator.api_key},
        ) as client:
            emulator.fail_next(20, latency=60)
            done: list[int] = []

            async def get_stats() -> None:
                done.append((await client.get(TARGET)).status_code)

            async with anyio.create_task_group() as tasks:
                for _ in range(20):
                    tasks.start_soon(get_stats)
                while emulator.faults_left:
                    await anyio.lowlevel.checkpoint()
                assert done == []
                tasks.cancel_scope.cancel()
            emulator.fail_next(latency=0.01)
            await get_stats()
            assert done == [200]
            emulator.fail_next(reset=True)
            with pytest.raises(httpx.ReadError):
                await client.get(TARGET)
            emulator.fail_next(cut_off=3)
            with pytest.raises(httpx.RemoteProtocolError):
                await client.get(TARGET)
            emulator.fail_next(body="123", drip=0.001)
            assert (await client.get(TARGET)).content == b"123"
            emulator.fail_next(latency=30)
            with pytest.raises(httpx.ReadTimeout):
                await client.get(TARGET, timeout=0.01)

    anyio.run(main, backend=backend)
    assert emulator.faults_left == 0
