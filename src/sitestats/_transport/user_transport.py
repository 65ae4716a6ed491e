"""Check a transport or a client of httpx that the user gives."""

from __future__ import annotations

import httpx

from sitestats._common.errors import ConfigurationError


def check_given(transport: object, http_client: object, *, asynchronous: bool) -> None:
    """Refuse what can't send, when the client is made.

    Raises:
        ConfigurationError: One of the two is given, and is none.
    """
    prefix, user, sends = "", "a Client", "handle_request"
    if asynchronous:
        prefix, user, sends = "Async", "an AsyncClient", "handle_async_request"
    if http_client is not None:
        wanted = httpx.AsyncClient if asynchronous else httpx.Client
        if not isinstance(http_client, wanted):
            raise ConfigurationError(
                f"http_client is an httpx.{prefix}Client; {_advice(http_client)}"
            )
    elif not _has(transport, sends):
        raise ConfigurationError(
            f"transport is a transport of httpx, for {user} such as "
            f"httpx.{prefix}HTTPTransport(); {_advice(transport)}"
        )


def _has(value: object, method: str) -> bool:
    # By its method: a wrapper may be of any class.
    return not isinstance(value, type) and callable(getattr(value, method, None))


def _advice(value: object) -> str:
    name = type(value).__name__
    if isinstance(value, type):
        return "a class is none: give an instance of it"
    if isinstance(value, httpx.Client):
        return "an httpx.Client is for a Client, as http_client="
    if isinstance(value, httpx.AsyncClient):
        return "an httpx.AsyncClient is for an AsyncClient, as http_client="
    if _has(value, "handle_request"):
        return f"the {name} is for a Client, as transport="
    if _has(value, "handle_async_request"):
        return f"the {name} is for an AsyncClient, as transport="
    return f"a value of type {name} is none"
