"""Print the numbers of many websites, requested concurrently with ``AsyncClient``.

Reads SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID. The arguments are
host names; by default all websites of the user::

    python examples/dashboard.py example.com shop.example.com
"""

from __future__ import annotations

import asyncio
import sys

from sitestats import AsyncClient, Stats, StatsQuery
from sitestats.types import TotalName


def number(stats: Stats, name: TotalName) -> str:
    """A total as a text, or "unknown" where the response has none."""
    return f"{getattr(stats, name):,}" if name in stats else "unknown"


async def main(*hostnames: str) -> None:
    """Print the numbers of *hostnames*, or of every website."""
    query = StatsQuery("example.com").fields("pageviews", "visitors").last(days=30)
    async with AsyncClient() as client:
        queries = query.each(websites=hostnames or await client.websites.list())
        print(f"{'last 30 days':<32} {'pageviews':>9} {'visitors':>9}")
        async with client.stats.get_many(queries, in_order=True) as stream:
            async for outcome in stream:
                # The host name of a response can be missing, that of a query can't.
                hostname = outcome.query.hostname
                if outcome.error is None:
                    pageviews = number(outcome.stats, "pageviews")
                    visitors = number(outcome.stats, "visitors")
                    print(f"{hostname:<32} {pageviews:>9} {visitors:>9}")
                else:
                    print(f"{hostname:<32} {outcome.error}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
