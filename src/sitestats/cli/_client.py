"""Options that configure the client: address, account, timeouts, retries.

A credential is never an argument: arguments show in the list of processes.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ._completion import one_of
from ._help import together

if TYPE_CHECKING:
    from sitestats import Client

_LONG_PAUSE = 1
"""The seconds from which a pause is shown in a terminal."""


def _profile_names() -> list[str]:
    from sitestats import profile_names

    return profile_names()


class _Lines(logging.Handler):
    """Writes the library's records to standard error, where none has a secret."""

    def emit(self, record: logging.LogRecord) -> None:
        from ._exits import one_line

        # In a terminal there may be a bar, which is drawn anew.
        begin = "\r" if sys.stderr.isatty() else ""
        click.echo(f"{begin}sitestats: {one_line(record.getMessage())}", err=True)


def _log(ctx: click.Context, _option: click.Parameter, verbose: int) -> None:
    level = ("", "info", "debug")[min(verbose, 2)]
    level = level or os.environ.get("SITESTATS_LOG", "")
    if level.lower() not in {"", "info", "debug"}:
        raise click.UsageError(f"SITESTATS_LOG is info or debug, not {level}")
    logger, handler = logging.getLogger("sitestats"), _Lines()
    ctx.call_on_close(partial(logger.setLevel, logger.level))
    if level:
        logger.setLevel(level.upper())
    elif sys.stderr.isatty():
        # Who waits at a terminal sees for what.
        logger.setLevel(logging.INFO)
        handler.addFilter(lambda record: getattr(record, "seconds", 0) >= _LONG_PAUSE)
    else:
        return
    logger.addHandler(handler)
    ctx.call_on_close(partial(logger.removeHandler, handler))


client_options = together(
    click.option(
        "--base-url",
        metavar="URL",
        help="The service's address; SITESTATS_BASE_URL when left out. The "
        "credentials of the environment, or of the profile, are sent there.",
    ),
    click.option(
        "--profile",
        metavar="NAME",
        shell_complete=one_of(_profile_names),
        help="The account, by its name in the file of profiles; SITESTATS_PROFILE "
        "when left out.",
    ),
    click.option(
        "--key-file",
        metavar="FILE",
        help="A file that holds the API key; SITESTATS_API_KEY_FILE when left out.",
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
    click.option(
        "-v",
        "--verbose",
        count=True,
        show_default=False,
        expose_value=False,
        callback=_log,
        help="Write retries and pauses to standard error; -vv writes every attempt. "
        "SITESTATS_LOG=info and SITESTATS_LOG=debug do the same.",
    ),
)
NAMES = ("base_url", "profile", "key_file", "timeout", "total_timeout", "retries")


def make_client(options: dict[str, Any], *, read_only: bool = True) -> Client:
    """Make a client; its options are removed from *options*.

    One that is not *read_only* must be allowed to write.
    """
    from sitestats import ReadOnlyError

    if not read_only and _without_key(options).read_only:
        source = "SITESTATS_READ_ONLY"
        if (profile := _profile(options)) is not None:
            source = f"the profile {profile!r}, or {source},"
        raise ReadOnlyError(f"{source} allows to read only: nothing was requested")
    names = (*NAMES, "store")
    given = {name: options.pop(name) for name in names if name in options}
    return _client(given, read_only=read_only)


def base_address(options: Mapping[str, Any]) -> str:
    """The service's address, from the options, the profile or the environment."""
    return _without_key(options).base_url


def _without_key(options: Mapping[str, Any]) -> Client:
    """A client that sends nothing, for which no command runs that prints a key."""
    given = {name: options[name] for name in ("base_url", "profile")}
    return _client(given, api_key=None)


def _client(options: Mapping[str, Any], **more: Any) -> Client:
    from sitestats import Client

    profile = _profile(options)
    given = {n: value for n, value in options.items() if value is not None} | more
    given.pop("profile", None)
    if (path := given.pop("key_file", None)) is not None and "api_key" not in given:
        from sitestats._common.secret import read_key_file

        given["api_key"] = read_key_file(path, "key_file")
    if profile is not None:
        return Client.from_profile(profile, **given)
    if "api_key" in more:
        return Client(**given, user_id=None)
    return Client.from_env(**given)


def _profile(options: Mapping[str, Any]) -> str | None:
    """The name of the profile that is chosen; None where the environment has the
    account.
    """
    name: str | None = options["profile"]
    if name is None:
        name = os.environ.get("SITESTATS_PROFILE")
        account = ("SITESTATS_BASE_URL", "SITESTATS_API_KEY", "SITESTATS_USER_ID")
        others = [n for n, text in os.environ.items() if text and n.startswith(account)]
        if name and others:
            raise click.UsageError(
                f"SITESTATS_PROFILE is set, and so is {' and '.join(others)}, perhaps "
                "of another account: unset the one or the other, or choose by --profile"
            )
    return name or None
