"""``sitestats check`` and ``sitestats profiles``: whether a set-up works."""

from __future__ import annotations

import os
from typing import Any

import attrs
import click

from sitestats import profile_names

from ._advice import in_a_shell
from ._client import client_options, make_client
from ._exits import Code, code_of, one_line
from ._output import print_json


@click.command(
    epilog="""\b
    Examples:
      sitestats check
      sitestats check --profile work --format json
    """
)
@click.argument("hostname", metavar="[HOST]", required=False)
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="The format of the output.",
)
@client_options
def check(hostname: str | None, output: str, **options: Any) -> None:
    """Check whether the set-up works.

    It prints where the address and the credentials are from, and tells whether the
    service can be reached and takes the key. It sends a few requests that read. Without
    a user ID a key can only be checked by a private website: name it as HOST.
    """
    with make_client(options) as client:
        report = client.check(hostname)
    rows = [
        attrs.evolve(row, text=one_line(in_a_shell(row.text))) for row in report.rows
    ]
    report = attrs.evolve(report, rows=(*rows,))
    if output == "json":
        print_json(report.to_dict())
    else:
        for row in rows:
            click.echo(str(row))
    if report.error is not None:
        raise click.exceptions.Exit(code_of(report.error))
    if not report.ok:
        raise click.exceptions.Exit(Code.WRONG_USE)


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
