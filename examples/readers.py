"""Print the visitors of the last seven days, with their pages and referrers.

Reads SITESTATS_BASE_URL and SITESTATS_API_KEY. The argument is a host name::

    python examples/readers.py example.com
"""

from __future__ import annotations

import sys

from sitestats import Client, StatsQuery


def main(hostname: str) -> None:
    """Print the last seven days of *hostname*."""
    query = (
        StatsQuery(hostname)
        .fields("visitors", "histogram", "pages", "referrers", "seconds_on_page")
        .last(days=7)
        .limit(5)
    )
    with Client() as client:
        stats = client.stats.get(query)

    print(f"{stats.visitors:,} visitors of {stats.hostname} ({stats.timezone})")
    for day in stats.histogram:
        print(f"  {day.date:%a %d %b}  {'█' * (day.visitors // 10)} {day.visitors}")
    print("top pages")
    for page in stats.pages:
        print(f"  {page.pageviews:>5} {page.value}  {page.seconds_on_page or 0:.0f} s")
    print("top referrers")
    for referrer in stats.referrers:
        print(f"  {referrer.visitors:>5} {referrer.value or '(unknown)'}")


if __name__ == "__main__":
    main(sys.argv[1])
