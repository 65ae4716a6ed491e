"""Add the websites that do not exist yet, and print the result.

Reads SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID. The arguments are a
time zone and host names. Adding can cost money, so no request is sent for an existing
website::

    python examples/add_websites.py Europe/Amsterdam example.com shop.example.com
"""

from __future__ import annotations

import sys

from sitestats import Client, ServiceError, TransportError


def main(timezone: str, *hostnames: str) -> int:
    """Add those of *hostnames* that are missing; return how many failed."""
    failed = 0
    with Client() as client:
        known = {website.hostname for website in client.websites.list()}
        for hostname in hostnames:
            if hostname in known:
                print(f"{hostname}: present")
                continue
            try:
                added = client.websites.add(hostname, timezone=timezone)
            except ServiceError as error:
                print(f"{hostname}: not added, {error.message}")
                failed += 1
            except TransportError as error:
                state = "perhaps added" if error.maybe_sent else "not added"
                print(f"{hostname}: {state}, {error}")
                failed += 1
            else:
                print(f"{added.hostname}: added, {added.timezone}")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
