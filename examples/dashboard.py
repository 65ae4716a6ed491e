"""Print the numbers of many websites, requested concurrently with ``AsyncClient``.

Reads SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID. The arguments are
host names; by default all websites of the user::

    python examples/dashboard.py example.com shop.example.com
"""

from __future__ import annotations

import asyncio
import sys

from sitestats import AsyncClient, ServiceError, StatsQuery


async def line_of(client: AsyncClient, query: StatsQuery) -> str:
    """Format one website's numbers, or the error message."""
    try:
        stats = await client.stats.get(query)
    except ServiceError as error:
        return f"{query.hostname:<32} {error.message}"
    return f"{stats.hostname:<32} {stats.pageviews:>9,} {stats.visitors:>9,}"


async def main(hostnames: list[str]) -> None:
    """Print the numbers of *hostnames*, or of every website."""
    query = StatsQuery("example.com").fields("pageviews", "visitors").last(days=30)
    async with AsyncClient() as client:
        if not hostnames:
            websites = await client.websites.list()
            hostnames = [website.hostname for website in websites]
        lines = [line_of(client, query.website(hostname)) for hostname in hostnames]
        print(f"{'last 30 days':<32} {'pageviews':>9} {'visitors':>9}")
        for line in await asyncio.gather(*lines):
            print(line)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
