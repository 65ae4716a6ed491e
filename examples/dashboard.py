"""Print the numbers of many websites, requested concurrently with ``AsyncClient``.

Reads SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID. The arguments are
host names; by default all websites of the user::

    python examples/dashboard.py example.com shop.example.com
"""

from __future__ import annotations

import asyncio
import sys

from sitestats import AsyncClient, StatsQuery


async def main(*hostnames: str) -> None:
    """Print the numbers of *hostnames*, or of every website."""
    query = StatsQuery("example.com").fields("pageviews", "visitors").last(days=30)
    async with AsyncClient() as client:
        queries = query.each(websites=hostnames or await client.websites.list())
        print(f"{'last 30 days':<32} {'pageviews':>9} {'visitors':>9}")
        async with client.stats.get_many(queries, in_order=True) as stream:
            async for outcome in stream:
                if outcome.error is None:
                    stats = outcome.stats
                    numbers = f"{stats.pageviews:>9,} {stats.visitors:>9,}"
                    print(f"{stats.hostname:<32} {numbers}")
                else:
                    print(f"{outcome.query.hostname:<32} {outcome.error}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
