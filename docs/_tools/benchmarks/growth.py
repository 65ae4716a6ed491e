"""Measure how the time of a work grows with its size, and print it.

    python docs/_tools/benchmarks/growth.py             # some thirty seconds
    python docs/_tools/benchmarks/growth.py --short     # only check that it runs

Each work is done for a number of websites or entries, and for two, four and eight times
as many. What is linear takes twice as long for twice as many; a scan for each of them
would take four times as long. The best of some turns counts, as for the other figures.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from sitestats import (
    Entries,
    ListEntry,
    Outcomes,
    Stats,
    StatsQuery,
    Succeeded,
    Website,
    WebsiteList,
)

DOUBLINGS: Final = 3
QUERY: Final = StatsQuery("example.com").fields("visitors", "pages")
Work = Callable[[], object]


@attrs.frozen
class Growth:
    """The milliseconds of a work for each size."""

    what: str
    times: tuple[float, ...]

    @property
    def factor(self) -> float:
        """How many times as long it takes for twice as many, on average."""
        first, last = self.times[0], self.times[-1]
        factor: float = (last / first) ** (1 / DOUBLINGS)
        return factor


def names(size: int) -> list[str]:
    """The host names of that many websites."""
    return [f"website-{number}.example.com" for number in range(size)]


def websites(size: int) -> list[Website]:
    """That many websites."""
    return [
        Website(
            hostname=name,
            is_public=True,
            timezone="UTC",
            has_ssl=True,
            has_script=True,
            pageviews=30,
            events=0,
        )
        for name in names(size)
    ]


def outcomes(size: int, day: str) -> list[Succeeded]:
    """The result of that many websites on a day."""
    return [
        Succeeded(query, index, Stats.of(query, visitors=index, pages=[("/", 3, 1)]))
        for index, query in enumerate(QUERY.on(day).each(websites=names(size)))
    ]


def entries(size: int) -> list[ListEntry]:
    """That many entries."""
    return [ListEntry(f"entry {number}", 3, 1) for number in range(size)]


def works(size: int) -> Iterator[tuple[str, Work]]:
    """Each work for a size. Each makes its result anew, so that nothing is ready."""
    hostnames = names(size)
    sites, listed = websites(size), entries(size)
    now, before = outcomes(size, "2026-03-02"), outcomes(size, "2026-03-01")

    def look_up(make: Callable[[], Any], keys: list[str]) -> Work:
        def work() -> None:
            result = make()
            for key in keys:
                result[key]

        return work

    def found(make: Callable[[], Any], keys: list[str]) -> Work:
        def work() -> None:
            result = make()
            for key in keys:
                assert key in result

        return work

    def compared() -> Any:
        return Outcomes(now).compare_to(Outcomes(before))

    def countries() -> Entries[ListEntry]:
        return Entries(listed, name="countries", entry_type=ListEntry)

    values = [str(entry.value) for entry in listed]
    yield "each website by its name", look_up(lambda: WebsiteList(sites), hostnames)
    yield "whether each website is listed", found(lambda: WebsiteList(sites), hostnames)
    yield "each outcome by its website", look_up(lambda: Outcomes(now), hostnames)
    yield "each comparison by its website", look_up(compared, hostnames)
    yield "each entry by its value", look_up(countries, values)
    yield "frame of websites", lambda: WebsiteList(sites).to_pandas()
    yield "frame of outcomes", lambda: Outcomes(now).to_pandas()
    yield "frame of a list of outcomes", lambda: Outcomes(now).to_pandas("pages")
    yield "frame of compared websites", lambda: compared().to_pandas()
    yield "frame of a list, compared", lambda: compared().to_pandas("pages")
    yield "rows of compared websites as dicts", lambda: compared().to_dicts()
    yield "HTML of compared websites", lambda: compared()._repr_html_()
    yield "a query for each website", lambda: QUERY.each(websites=sites)


def milliseconds(work: Work, turns: int) -> float:
    """The best turn, in milliseconds of the processor."""
    times: list[float] = []
    for _ in range(turns):
        # So that none pays for the garbage of the one before.
        gc.collect()
        begin = time.process_time()
        work()
        times.append(1000 * (time.process_time() - begin))
    return max(min(times), 0.001)


def growths(sizes: list[int], turns: int) -> list[Growth]:
    """The growth of each work over the sizes."""
    times: dict[str, list[float]] = {}
    for size in sizes:
        for what, work in works(size):
            times.setdefault(what, []).append(milliseconds(work, turns))
    return [Growth(what, tuple(found)) for what, found in times.items()]


def table(found: list[Growth], sizes: list[int]) -> str:
    """The figures as Markdown."""
    head = [
        f"| ms for | {' | '.join(f'{size:,}' for size in sizes)} | for twice as many |",
        f"| --- |{' ---: |' * (len(sizes) + 1)}",
    ]
    rows = [
        f"| {one.what} | {' | '.join(f'{ms:.1f}' for ms in one.times)} | "
        f"{one.factor:.1f} times |"
        for one in found
    ]
    return "\n".join([*head, *rows])


def main() -> None:
    """Run what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="only check that it runs")
    given = parser.parse_args()
    first, turns = (2, 1) if given.short else (1000, 3)
    sizes = [first * 2**doubling for doubling in range(DOUBLINGS + 1)]
    print(table(growths(sizes, turns), sizes))


if __name__ == "__main__":
    main()
