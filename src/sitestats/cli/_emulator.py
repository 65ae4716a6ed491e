"""``sitestats emulator``: serve the emulator on a local port."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import click

from ._exits import Code, fail


@click.command(
    epilog="""\b
    Examples:
      sitestats emulator
      sitestats emulator --port 8080 --load export.csv.gz --api-key made-up
      sitestats emulator --empty --website example.com
      sitestats emulator --made-up 40
    """,
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    help="The port on 127.0.0.1; 0 selects a free one.",
)
@click.option(
    "--load",
    "rows",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="A file with page views and events in the columns of the raw export; may be "
    "repeated. The demo's websites are left out then.",
)
@click.option(
    "--website",
    "hostnames",
    multiple=True,
    metavar="HOST",
    help="A website to set up, private and in UTC; may be repeated.",
)
@click.option(
    "--made-up",
    "made_up",
    type=click.IntRange(1, 1000),
    metavar="NUMBER",
    help="The number of websites with a year of made-up traffic, in place of the "
    "demo's.",
)
# A made-up key of a local emulator is no secret. A real key must not be an argument,
# since it would show in the list of processes.
@click.option("--api-key", metavar="KEY", help="A made-up key that it accepts.")
@click.option("--user-id", metavar="ID", help="A made-up user ID that it accepts.")
@click.option("--empty", is_flag=True, help="Leave the demo's websites out.")
@click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="Another name by which programs reach it, such as a container's; may be "
    "repeated. Addresses and localhost need none.",
)
@click.option(
    "--cors",
    metavar="ORIGIN",
    help="The origin whose pages may read the responses in a browser, such as "
    "http://localhost:5173; * for every one. No page may when left out.",
)
def emulator(
    port: int,
    rows: tuple[Path, ...],
    hostnames: tuple[str, ...],
    api_key: str | None,
    user_id: str | None,
    *,
    made_up: int | None,
    empty: bool,
    allowed_hosts: tuple[str, ...],
    cors: str | None,
) -> None:
    """Run a local stand-in of the service, until Ctrl-C.

    It prints the settings that the library and these commands need to use it.
    Without --api-key and --user-id it makes its own. It never uses those of the
    environment, which may be real, because it prints them.
    """
    from sitestats.emulator import Emulator

    make = Emulator if rows or empty else Emulator.demo
    if made_up is not None:
        make = partial(Emulator.made_up, made_up)
    try:
        service = make(api_key=api_key, user_id=user_id)
        for path in rows:
            service.load(path)
        for hostname in hostnames:
            if hostname not in service.websites:
                service.add_website(hostname)
        serving = service.serve(port=port, allowed_hosts=allowed_hosts, cors=cors)
    except ValueError as error:
        fail([str(error)], Code.WRONG_USE)
    with serving as address:
        click.echo(f"export SITESTATS_BASE_URL={address}")
        click.echo(f"export SITESTATS_API_KEY={service.api_key}")
        click.echo(f"export SITESTATS_USER_ID={service.user_id}")
        click.echo(
            f"serving {', '.join(service.websites) or 'no website yet'}; "
            "stop it with Ctrl-C",
            err=True,
        )
        _wait()


def _wait() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        click.echo(err=True)
