"""``sitestats check`` and ``sitestats profiles``: whether a set-up works."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

import sitestats
from sitestats._base.text import plain

from . import _options as options
from ._exits import Code, code_of, exit_with, in_shell_terms, tell
from ._output import print_json

if TYPE_CHECKING:
    from sitestats.conformance import ServiceComparison


@options.command()
@click.argument(
    "hostname",
    metavar="[HOST]",
    required=False,
    shell_complete=options.completed_hosts,
)
@options.other(
    "--compare HOST",
    "Compare the service with the emulator too: some 60 requests about HOST, "
    "all of them reads. It takes about a minute. JSON has no key, no host name and "
    "none of your numbers.",
    shell_complete=options.completed_hosts,
)
@options.format_option("table", "json")
@options.client_options
def check(
    hostname: str | None, compare: str | None, output: str, connect: options.Connect
) -> None:
    """Check whether the set-up works.

    It prints where the address and the credentials are from, and whether the service
    itself responds and accepts the key. What is wrong has a ✗, and what to do. It only
    reads. Without a user ID, a key can only
    be checked with a private website: name it as HOST.

    \b
    Examples:
      sitestats check
      sitestats check --profile work --format json
      sitestats check --compare example.com
    """
    try:
        client = connect()
    except sitestats.ConfigurationError as error:
        # Another command needs no types.
        from sitestats.types import SetupRow

        row = SetupRow("settings", in_shell_terms(error), ok=False)
        _print(sitestats.SetupReport((row,), error), output)
        exit_with(code_of(error))
        return
    with client:
        report = client.check(hostname or compare)
        if output == "table" or compare is None or not report.ok:
            _print(report, output)
        if not report.ok:
            exit_with(code_of(report.error) if report.error else Code.WRONG_USE)
        if compare is None:
            return
        from sitestats.conformance import compare_service

        tell("comparing, which takes about a minute")
        compared = compare_service(client, compare)
    _print(compared, output)
    exit_with(Code.TRY_LATER if compared.ended or compared.failed else Code.OK)
    exit_with(Code.DIFFERS if compared.different else Code.OK)


def _print(report: sitestats.SetupReport | ServiceComparison, output: str) -> None:
    if output == "json":
        print_json(report.to_dict())
    else:
        # The source of the address is the argument of the library.
        text = str(report).replace("from base_url", "from --base-url")
        click.echo("\n".join(map(plain, text.splitlines())))


@options.command()
def profiles() -> None:
    """List the accounts in the configuration file.

    It is sitestats/config.toml in XDG_CONFIG_HOME, or in ~/.config. The profile that
    SITESTATS_PROFILE names has a *.

    \b
    Example:
      sitestats profiles
    """
    names = sitestats.profile_names()
    for name in names:
        mark = "*" if name == os.environ.get("SITESTATS_PROFILE") else " "
        click.echo(f"{mark} {plain(name)}")
    if not names:
        tell("no profiles are set up")
