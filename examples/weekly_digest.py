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

    print(f"{hostname}, {week.now.first_day} to {week.now.last_day}")
    print(f"against {week.before.first_day} to {week.before.last_day}\n")
    for name, change in week.totals.items():
        # A number that a response lacks is not known, which is not 0.
        now = "unknown" if change.now is None else f"{change.now:,.0f}"
        percent = "" if change.percent is None else f" ({change.percent:+.0f} %)"
        print(f"{now:>8} {name}{percent}")
    if "pages" in week.now:
        print("\ntop pages")
        for page in week.now.pages[:5]:
            print(f"{page.pageviews:>8,} {page.value}")
    if "referrers" in week:
        print("\nnew or growing referrers")
        growing = [
            (more, referrer.value or "(unknown)")
            for referrer in week["referrers"].of("new", "up")
            if (more := referrer.visitors.absolute) is not None
        ]
        for more, value in sorted(growing, key=lambda row: -row[0])[:5]:
            print(f"{more:>+8,.0f} {value}")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    main(sys.argv[1])
