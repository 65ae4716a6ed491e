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

    print(f"{hostname}, {stats.first_day} to {stats.last_day}")
    # What a response lacks is not in the result, although it was requested.
    if "visitors" in stats:
        print(f"{stats.visitors:,} visitors")
    if "histogram" in stats:
        for day in stats.histogram:
            print(f"  {day.date:%a %d %b}  {'█' * (day.visitors // 10)} {day.visitors}")
    if "pages" in stats:
        print("top pages")
        for page in stats.pages:
            # There is no median where there were too few visits, which is not 0 s.
            median = page.seconds_on_page
            seconds = "unknown" if median is None else f"{median:.0f} s"
            print(f"  {page.pageviews:>5} {page.value}  {seconds}")
    if "referrers" in stats:
        print("top referrers")
        for referrer in stats.referrers:
            print(f"  {referrer.visitors:>5} {referrer.value or '(unknown)'}")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    main(sys.argv[1])
