"""``sitestats check`` and ``sitestats profiles``: whether a set-up works."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from sitestats import profile_names
from sitestats._common.text import plain

from ._client import client_options, make_client
from ._exits import Code, code_of, exit_with, for_shell, tell
from ._options import command, format_option
from ._output import print_json

if TYPE_CHECKING:
    from sitestats import SetupReport
    from sitestats.conformance import ServiceComparison


@command(
    epilog="""\b
    Examples:
      sitestats check
      sitestats check --profile work --format json
      sitestats check --compare example.com
    """
)
@click.argument("hostname", metavar="[HOST]", required=False)
@click.option(
    "--compare",
    metavar="HOST",
    help="Compare the service with the emulator too: some 60 requests about HOST, "
    "all of them reads. It takes about a minute. JSON has no key, no host name and "
    "none of your numbers.",
)
@format_option("table", "json")
@client_options
def check(
    hostname: str | None, compare: str | None, output: str, **options: Any
) -> None:
    """Check whether the set-up works.

    It prints where the address and the credentials are from, and whether the service
    can be reached and accepts the key. It only reads. Without a user ID, a key can only
    be checked with a private website: name it as HOST.
    """
    with make_client(options) as client:
        found = client.check(hostname or compare)
        if output == "table" or compare is None or not found.ok:
            _print(found, output)
        if not found.ok:
            exit_with(code_of(found.error) if found.error else Code.WRONG_USE)
        if compare is None:
            return
        from sitestats.conformance import compare_service

        tell("comparing, which takes about a minute")
        compared = compare_service(client, compare)
    _print(compared, output)
    exit_with(Code.TRY_LATER if compared.ended else Code.OK)
    exit_with(Code.DIFFERS if compared.different else Code.OK)


def _print(found: SetupReport | ServiceComparison, output: str) -> None:
    if output == "json":
        print_json(found.to_dict())
    else:
        click.echo("\n".join(map(plain, for_shell(found).splitlines())))


@command(
    epilog="""\b
    Example:
      sitestats profiles
    """
)
def profiles() -> None:
    """List the profiles of several accounts.

    The one that SITESTATS_PROFILE names has a *.
    """
    names = profile_names()
    for name in names:
        mark = "*" if name == os.environ.get("SITESTATS_PROFILE") else " "
        click.echo(f"{mark} {plain(name)}")
    if not names:
        tell("no profiles are set up")
