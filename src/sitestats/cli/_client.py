"""Options that configure the client: address, timeouts, retries; never credentials."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from sitestats import Client
from sitestats._common.settings import (
    API_KEY_VARIABLE,
    BASE_URL_VARIABLE,
    USER_ID_VARIABLE,
)

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--base-url",
        metavar="URL",
        help="The service's address; SITESTATS_BASE_URL when left out. The "
        "credentials of the environment are sent there.",
    ),
    click.option(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="For connecting and for each read; 30 when left out.",
    ),
    click.option(
        "--total-timeout",
        type=float,
        metavar="SECONDS",
        help="For one request with its retries; 120 when left out.",
    ),
    click.option(
        "--retries",
        type=int,
        metavar="N",
        help="How often a request is retried; 2 when left out.",
    ),
)
NAMES = ("base_url", "timeout", "total_timeout", "retries")


def client_options(command: F) -> F:
    """Give *command* the options that ``make_client`` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def make_client(
    options: dict[str, Any], *, read_only: bool = True, admin: bool = False
) -> Client:
    """Make a client; its options are removed from *options*.

    With *admin* the credentials that the Admin API needs must be set.
    """
    base_address(options)
    if admin:
        _check_credentials()
    given = {name: options.pop(name) for name in (*NAMES, "store") if name in options}
    base_url = given.pop("base_url")
    chosen = {name: value for name, value in given.items() if value is not None}
    if base_url is None:
        return Client(read_only=read_only, **chosen)
    return Client.from_env(base_url, read_only=read_only, **chosen)


def base_address(options: Mapping[str, Any]) -> str:
    """The service's address, from the options or the environment."""
    address = options["base_url"] or os.environ.get(BASE_URL_VARIABLE)
    if not address:
        raise click.UsageError(
            f"there is no base address: give --base-url, or set {BASE_URL_VARIABLE}"
        )
    return address


def _check_credentials() -> None:
    missing = {
        variable: noun
        for variable, noun in (
            (API_KEY_VARIABLE, "an API key"),
            (USER_ID_VARIABLE, "a user ID"),
        )
        if not os.environ.get(variable)
    }
    if missing:
        raise click.UsageError(
            f"this command needs {' and '.join(missing.values())}: set "
            f"{' and '.join(missing)}"
        )
