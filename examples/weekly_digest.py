"""Print the last seven days compared with those before, as text for a mail.

Reads SITESTATS_BASE_URL and SITESTATS_API_KEY. The argument is a host name::

    python examples/weekly_digest.py example.com
"""

from __future__ import annotations

import sys

from sitestats import Client, StatsQuery


def main(hostname: str) -> None:
    """Print the digest of *hostname*."""
    query = (
        StatsQuery(hostname)
        .fields("pageviews", "visitors", "pages", "referrers")
        .last(days=7)
        .limit(100)
    )
    with Client() as client:
        week = client.stats.compare(query)

    print(f"{hostname}, the last seven days\n")
    for name, change in week.totals.items():
        percent = "" if change.percent is None else f" ({change.percent:+.0f} %)"
        print(f"{change.now or 0:>8,.0f} {name}{percent}")
    print("\ntop pages")
    for page in week.now.pages[:5]:
        print(f"{page.pageviews:>8,} {page.value}")
    print("\nnew or growing referrers")
    growing = sorted(
        week["referrers"].of("new", "up"),
        key=lambda referrer: referrer.visitors.absolute or 0,
        reverse=True,
    )
    for referrer in growing[:5]:
        print(f"{referrer.visitors.absolute or 0:>+8,.0f} {referrer.value or '(none)'}")


if __name__ == "__main__":
    main(sys.argv[1])
