"""Run many queries in the worker processes of Dask, with a pickled client.

Reads SITESTATS_BASE_URL and SITESTATS_API_KEY, which the workers inherit: a client
is pickled without its key, and reads it again when it is unpickled. The clients of
one process share their connections. The argument is a host name::

    python examples/many_with_dask.py example.com

On one machine, ``client.stats.get_many`` is simpler; Dask is for a cluster.
"""

from __future__ import annotations

import sys

# Dask has no types, so pyright checks this program less strictly.
# pyright: basic
from dask.delayed import delayed

from sitestats import Client, StatsQuery


def visitors(client: Client, query: StatsQuery) -> tuple[str, int]:
    """Return one query's day and visitors."""
    stats = client.stats.get(query)
    return query.params()["start"], stats.visitors


def main(hostname: str) -> None:
    """Print the visitors of each of the last ten days."""
    query = StatsQuery(hostname).fields("visitors")
    with Client() as client:
        task = delayed(visitors)
        tasks = [task(client, query.on(f"today-{days}d")) for days in range(1, 11)]
        results = delayed(list)(tasks).compute(scheduler="processes", num_workers=2)
    for day, count in results:
        print(f"{day:>10} {count:>6,}")


if __name__ == "__main__":
    main(sys.argv[1])
