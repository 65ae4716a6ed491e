"""``sitestats emulator`` and ``sitestats demo``: a local service, for tests."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

import sitestats

from ._options import command, other, verbose_option
from ._output import make_console, print_table

_ROUNDING: Final = 1e-9
"""How far shares of responses may be from their sum."""


@command()
# 7483 spells "SITE" on the keys of a telephone, and is not a web framework's default.
@other(
    "--port NUMBER",
    "The port on 127.0.0.1, by default 7483; 0 selects a free one.",
    type=click.IntRange(0, 65535),
    default=7483,
)
@other(
    "--load FILE...",
    "A file with page views and events in the columns of the raw export; may be "
    "repeated. The demo's websites are left out then.",
    name="rows",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@other(
    "--made-up NUMBER",
    "The number of websites with a year of made-up traffic, in place of the demo's.",
    type=click.IntRange(1, 1000),
)
# A made-up key of a local emulator is not a secret. A real key must not be an argument,
# since it would show in the list of processes.
@other("--api-key KEY", "A made-up key that it accepts.")
@other("--empty", "Leave the demo's websites out.")
@other(
    "--fail KIND:PERCENT...",
    "A part of the responses that fails: 503:5%, reset:1% or garbage:1%; may be "
    "repeated.",
    name="failures",
)
@other(
    "--visitors-return",
    "Model visitors who return on other days, so that days don't add up.",
)
@other(
    "--latency SECONDS",
    "A pause before each response.",
    type=click.FloatRange(0),
    default=0.0,
)
@verbose_option("sitestats_emulator", "Write a line for each request.")
def emulator(
    port: int,
    rows: tuple[Path, ...],
    *,
    made_up: int | None,
    empty: bool,
    failures: tuple[str, ...],
    latency: float,
    **settings: Any,
) -> None:
    """Run a local service for tests, until Ctrl-C.

    It prints the settings that the library and these commands need to use it.
    Without --api-key it makes one. It prints the key, so it never uses the
    key of the environment, which may be real.

    \b
    Examples:
      sitestats emulator
      sitestats emulator --port 8080 --load export.csv.gz --api-key made-up
      sitestats emulator --made-up 40 --fail 503:5% --latency 0.2
    """
    from sitestats.emulator import Emulator

    make = Emulator if rows or empty else Emulator.demo
    if made_up is not None:
        make = partial(Emulator.made_up, made_up)
        click.echo(f"making up the traffic of {made_up:,} websites …", err=True)
    try:
        service = make(**settings)
        for path in rows:
            click.echo(f"{path.name}: {service.load(path)}", err=True)
        for failure in _failures(failures):
            service.fail_next(None, **failure, latency=latency)
        if latency:
            service.fail_next(None, latency=latency)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with ExitStack() as stack:
        try:
            address = stack.enter_context(service.serve(port=port))
        except OSError as error:
            message = f"--port {port} can't be used: {error.strerror or error}"
            raise click.UsageError(message) from None
        click.echo(
            f"export SITESTATS_BASE_URL={address}\n"
            f"export SITESTATS_API_KEY={service.api_key}\n"
            f"export SITESTATS_USER_ID={service.user_id}"
        )
        names = [*service.websites]
        more = f" and {len(names) - 5:,} more" if names[5:] else ""
        click.echo(
            f"serving {', '.join(names[:5]) or 'no website yet'}{more}; "
            "stop it with Ctrl-C",
            err=True,
        )
        _wait()


def _wait() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        click.echo(err=True)


def _failures(texts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """How, and how often, responses fail, as ``fail_next`` takes it."""
    left = 1.0
    for text in texts:
        match = re.fullmatch(r"([0-9]{3}|reset|garbage):([0-9]+(\.[0-9]+)?)%", text)
        if match is None:
            raise ValueError(
                f"{text!r} is not a failure: write 503:5%, reset:1% or garbage:1%"
            )
        share = float(match[2]) / 100
        if share > 1:
            raise ValueError(f"{text!r}: at most 100% of the responses can fail")
        # Each failure has its share of all responses, and can only be chosen where no
        # earlier one was.
        if share > left + _ROUNDING:
            raise ValueError("the failures add up to more than 100%")
        kind = {"status": int(match[1])} if match[1].isdecimal() else {match[1]: True}
        yield {**kind, "when": partial(_happens, share / max(left, share, _ROUNDING))}
        left -= share


def _happens(probability: float, _request: object) -> bool:
    return random.random() < probability  # noqa: S311 - no secret


@command()
def demo() -> None:
    """Show real traffic, read over HTTP from the emulator.

    The emulator is a local service, for tests. Nothing leaves this machine, and no
    account is needed.

    \b
    Example:
      sitestats demo
    """
    from sitestats.analysis import Display
    from sitestats.emulator import Emulator

    emulator, console = Emulator.demo(), make_console()
    every = sitestats.StatsQuery("semicomplete.com").all_events().last(days=7)
    query = every.fields("pageviews", "visitors", "histogram", "pages", "countries")
    keys: dict[str, Any] = {"api_key": emulator.api_key, "user_id": emulator.user_id}
    with (
        emulator.serve(port=0) as address,
        sitestats.Client(address, proxy=None, **keys) as client,
    ):
        console.print(f"The emulator, a local service, serves at {address}:\n")
        headings = {"hostname": "website", "timezone": "time zone", "is_public": ""}
        print_table([site.to_dict() for site in client.websites.list()], headings)
        console.print(f"\n{query}\n".replace(").", ")\n  ."), style="bold")
        console.print(Display(client.stats.get(query), rows=8))
