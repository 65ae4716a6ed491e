"""What both clients share: options, views, and the end of a client."""

from __future__ import annotations

import gc
import warnings
from typing import Any

import pytest

from client_calls import QUICK, TOTALS, ClientVariant
from sitestats import Client, ServerError
from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow


def test_a_view_shares_the_connections(run: ClientVariant) -> None:
    """with_options changes the limits of the view only, and shares its connections."""

    def call(client: Any) -> Any:
        view = client.with_options(retries=0, timeout=5.0, total_timeout=9.0)
        assert view._sender is client._sender
        assert client._settings.retry == QUICK
        return view.stats.get(TOTALS)

    run.emulator.fail_next(status=503)
    with pytest.raises(ServerError):
        run(call)


def test_a_client_that_was_never_closed(emulator: Emulator) -> None:
    """A client that is dropped with open connections warns, and does no I/O."""
    with emulator.serve() as address:
        client = Client(address)
        client.stats.get(TOTALS)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del client
            gc.collect()
            assert any("never closed" in str(warning.message) for warning in caught)
            # A caught warning keeps the client, whose sockets warn as well.
            caught.clear()
            gc.collect()


def test_a_client_that_was_never_used() -> None:
    """A client that opened no connection is dropped without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Client("https://analytics.example")
        gc.collect()
