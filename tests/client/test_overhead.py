"""Overhead that a request avoids: reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest

from both_clients import QUERY, WITH_TRIO
from loopback import counting, served


@pytest.fixture
def unfreed() -> Iterator[Callable[[], list[object]]]:
    """Our objects that the garbage collection had to free."""

    def collected() -> list[object]:
        gc.collect()
        ours = [one for one in gc.garbage if type(one).__module__.startswith(OURS)]
        gc.garbage.clear()
        return ours

    gc.collect()
    gc.disable()
    gc.freeze()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield collected
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


OURS = ("sitestats", "httpx")


@pytest.mark.parametrize("variant", WITH_TRIO)
def test_a_call_leaves_no_cycles(
    variant: str, unfreed: Callable[[], list[object]]
) -> None:
    """A call leaves no reference cycle for the garbage collection."""
    # respx keeps each request, and the response with it.
    with served(variant, counting) as (client, _):
        client.stats.get(QUERY)
        unfreed()
        for _ in range(3):
            client.stats.get(QUERY)
        assert unfreed() == []
