"""Both clients behind one blocking interface, so that a test is written once.

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_a_missing_website_is_not_found(variant: str, routes: MockRouter) -> None:
        routes.get("/example.com.json").respond(404)
        with opened(variant) as client, pytest.raises(NotFoundError):
            client.stats.get(QUERY)

The service is faked by respx, whose routes the fixture ``routes`` has, below
``ADDRESS``; or it is an ``Emulator``, which needs no socket either; or an address, such
as that of ``loopback.serve``. In a test of Hypothesis, ``with faked() as routes``
makes them anew for each example.

With "asyncio" and "trio" the client is an ``AsyncClient``, whose calls are awaited by
an event loop in another thread. What it gives is used in the same way: ``with`` and
``for`` work on the outcomes of ``get_many``, and so does ``with_options``.

A test that cancels, or that sends Ctrl-C, needs the loop in its own thread:
``anyio.run(main, backend=variant)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, Self, TypeAlias

import respx
from anyio.from_thread import BlockingPortal, start_blocking_portal

from sitestats import AsyncClient, Client, RetryPolicy, StatsQuery
from sitestats.emulator import Emulator

VARIANTS = ("blocking", "asyncio")
"""For most tests."""
WITH_TRIO = (*VARIANTS, "trio")
"""For cancelling, timeouts, Ctrl-C and TLS, where the loops differ."""

KEY = "sa_api_key_0123456789abcdefghijklmn"
USER = "sa_user_id_00000000-0000-4000-8000-000000000000"
QUICK = RetryPolicy(wait_initial=0.001, wait_max=0.002)
QUERY = StatsQuery("example.com").fields("pageviews")

Service: TypeAlias = str | Emulator

ADDRESS: Final = "https://stats.example"
"""The service that respx fakes: nothing is there."""
GOOD: Final = {"ok": True, "pageviews": 3}
"""What a response to ``QUERY`` has."""

_END = object()


def faked(**options: Any) -> respx.MockRouter:
    """Routes to a service at ``ADDRESS``, while they are open, for every client."""
    return respx.mock(base_url=ADDRESS, **options)


@contextmanager
def opened(variant: str, service: Service = ADDRESS, **options: Any) -> Iterator[Any]:
    """A client of *service*, closed in the end.

    It has a key, a user ID, no proxy, and retries at once; *options* change that.
    """
    with ExitStack() as stack:
        if variant == "blocking":
            yield stack.enter_context(_client(Client, service, options))
            return
        portal = stack.enter_context(start_blocking_portal(variant))
        client = portal.call(_client, AsyncClient, service, options)
        yield stack.enter_context(Awaited(portal, client))


def _client(cls: type[Any], service: Service, options: dict[str, Any]) -> Any:
    options = {"retries": QUICK, **options}
    if isinstance(service, Emulator):
        make = service.client if cls is Client else service.async_client
        return make(**options)
    account = {"api_key": KEY, "user_id": USER}
    return cls(service, **{**account, "proxy": None, **options})


class Awaited:
    """An async object whose calls block: the portal's event loop awaits them."""

    def __init__(self, portal: BlockingPortal, inner: Any) -> None:
        self._portal = portal
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.inner, name)
        if name in {"websites", "stats"}:
            return Awaited(self._portal, value)
        return self._blocking(value) if callable(value) else value

    def _blocking(self, method: Callable[..., Any]) -> Callable[..., Any]:
        async def awaited(*args: Any, **options: Any) -> Any:
            result = method(*args, **options)
            return await result if hasattr(result, "__await__") else result

        def call(*args: Any, **options: Any) -> Any:
            result = self._portal.call(lambda: awaited(*args, **options))
            is_async = isinstance(result, AsyncClient) or hasattr(result, "__aiter__")
            return Awaited(self._portal, result) if is_async else result

        return call

    def __enter__(self) -> Self:
        self._block = self._portal.wrap_async_context_manager(self.inner)
        self._block.__enter__()
        return self

    def __exit__(self, *error: object) -> bool | None:
        return self._block.__exit__(*error)

    def __iter__(self) -> Iterator[Any]:
        async def begin() -> Any:
            return aiter(self.inner)

        async def following(items: Any) -> Any:
            # Not StopAsyncIteration, which can't leave a coroutine.
            return await anext(items, _END)

        items = self._portal.call(begin)
        return iter(lambda: self._portal.call(following, items), _END)
