"""``sitestats check`` and ``sitestats profiles``: whether a set-up works."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from sitestats import profile_names
from sitestats._common.text import plain

from ._advice import in_a_shell
from ._client import client_options, make_client
from ._exits import Code, code_of, one_line
from ._output import print_json

if TYPE_CHECKING:
    from sitestats import Client, SetupReport
    from sitestats.conformance import ServiceComparison


@click.command(
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
    "which read. It takes about a minute.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    default="sitestats-check.json",
    help="The file for what --compare finds. It has no key, no host name and none of "
    "your numbers.",
)
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json"]),
    default="table",
    help="The format of the output.",
)
@client_options
def check(
    hostname: str | None,
    compare: str | None,
    report: Path,
    output: str,
    **options: Any,
) -> None:
    """Check whether the set-up works.

    It prints where the address and the credentials are from, and tells whether the
    service can be reached and takes the key. It sends a few requests that read. Without
    a user ID a key can only be checked by a private website: name it as HOST.
    """
    with make_client(options) as client:
        found = client.check(hostname or compare)
        rows = (
            attrs.evolve(row, text=one_line(in_a_shell(row.text))) for row in found.rows
        )
        found = attrs.evolve(found, rows=(*rows,))
        if output == "table" or compare is None:
            _print(found, output)
        if found.error is not None:
            raise click.exceptions.Exit(code_of(found.error))
        if compare is not None:
            raise click.exceptions.Exit(_compare(client, compare, report, output))
    if not found.ok:
        raise click.exceptions.Exit(Code.WRONG_USE)


def _print(found: SetupReport | ServiceComparison, output: str) -> None:
    if output == "json":
        print_json(found.to_dict())
    for line in str(found).splitlines() if output == "table" else ():
        click.echo(plain(line))


def _compare(client: Client, hostname: str, report: Path, output: str) -> Code:
    """Compare the service with the emulator, and write the report."""
    from sitestats.conformance import compare_service

    click.echo("sitestats: comparing, which takes about a minute", err=True)
    found = compare_service(client, hostname)
    report.write_text(json.dumps(found.to_dict(), indent=2) + "\n", "utf-8")
    _print(found, output)
    click.echo(f"sitestats: the report is in {report}", err=True)
    if found.different:
        return Code.DIFFERING
    return Code.TRY_LATER if found.ended else Code.OK


@click.command(
    epilog="""\b
    Example:
      sitestats profiles
    """
)
def profiles() -> None:
    """List the profiles of several accounts.

    It is a line each. The one that SITESTATS_PROFILE names has a *.
    """
    names = profile_names()
    for name in names:
        mark = "*" if name == os.environ.get("SITESTATS_PROFILE") else " "
        click.echo(f"{mark} {one_line(name)}")
    if not names:
        click.echo("sitestats: there are no profiles", err=True)
