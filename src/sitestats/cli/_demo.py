"""``sitestats demo``: list, add and query websites of an emulator, over HTTP."""

from __future__ import annotations

import os
from typing import Any, Final

import click
from rich.syntax import Syntax

from ._output import make_console

PROGRAM: Final = """\
from sitestats import Client, StatsQuery

with Client() as client:  # address and credentials: see the settings below
    websites = client.websites.list()
    added = client.websites.add("shop.example", timezone="Europe/Amsterdam")
    query = (
        StatsQuery(websites[0].hostname)
        .fields("pageviews", "visitors", "histogram", "pages", "countries",
                "referrers")
        .all_events()
        .last(days=7)
    )
    stats = client.stats.get(query)
"""

_SETTINGS: Final = """\
export SITESTATS_BASE_URL=https://…    # the service's address
export SITESTATS_API_KEY=…             # both are in your account's settings
export SITESTATS_USER_ID=…
"""


@click.command(
    epilog="""\b
    Example:
      sitestats demo
    """
)
@click.option(
    "--top",
    type=click.IntRange(1),
    default=8,
    help="The most lines of a table.",
)
def demo(top: int) -> None:
    """Show real traffic, read over HTTP from the emulator.

    The emulator is a local stand-in of the service. Nothing leaves this machine,
    and no account is needed.
    """
    from sitestats.analysis import Display
    from sitestats.analysis._console import table_of_rows
    from sitestats.emulator import Emulator

    emulator = Emulator.demo()
    console = make_console()
    names: dict[str, Any] = {}
    with emulator.serve(port=0) as address:
        console.print(f"The emulator, a local stand-in, serves at {address}.\n")
        for name in os.environ:
            if name.startswith("SITESTATS_"):
                del os.environ[name]
        os.environ |= {
            "SITESTATS_BASE_URL": address,
            "SITESTATS_API_KEY": emulator.api_key,
            "SITESTATS_USER_ID": emulator.user_id,
            "NO_PROXY": "*",
        }
        exec(PROGRAM, names)  # noqa: S102 - so that what is shown is what ran
    websites, added = names["websites"], names["added"]
    headings = {
        "hostname": "website",
        "timezone": "time zone",
        "is_public": "public",
        "label": "",
    }
    table = table_of_rows([website.to_dict() for website in websites], headings)
    console.print("It has these websites:")
    console.print(table)
    console.print()
    console.print(f"Added {added.hostname}, in {added.timezone}.\n")
    console.print(Display(names["stats"], rows=top))
    for line, program, language in (
        ("This Python program does the same:", PROGRAM, "python"),
        ("To run it with the real service, set these first:", _SETTINGS, "bash"),
    ):
        console.print(f"\n{line}\n", style="bold")
        console.print(Syntax(program.rstrip(), language, background_color="default"))
