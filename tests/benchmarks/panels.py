"""Benchmark of panels: many websites and months, from the queries to one frame."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio

from calls import HEADERS
from measuring import (
    Goal,
    Row,
    Scale,
    Table,
    Work,
    compared,
    held_by,
    in_turn,
    seconds,
    size,
)
from service import body_of, pages, serving
from sitestats import (
    AsyncClient,
    Client,
    Outcome,
    Outcomes,
    Stats,
    StatsQuery,
    Succeeded,
)

if TYPE_CHECKING:
    import pandas as pd

DELAY: Final = 0.05
"""Seconds that the server takes for a response."""
AT_ONCE: Final = 50
PAGES: Final = 50
"""Entries of a list when no limit is set."""
KEY: Final = HEADERS["Api-Key"]


def panel_of(scale: Scale) -> list[StatsQuery]:
    """The pages of each month of 40 websites."""
    days = ("2025-01-01", "2026-06-30") if not scale.short else ("2025-01-01",) * 2
    base = StatsQuery("example.com").fields("pages").between(*days)
    months = [*base.each("month")]
    names = [f"site{number}.example" for number in range(scale.size(40, 5))]
    return [month.website(name) for name in names for month in months]


def _frame(address: str, queries: list[StatsQuery]) -> pd.DataFrame:
    with Client(address, api_key=KEY, max_connections=AT_ONCE) as client:
        outcomes = client.stats.get_many(queries, concurrency=AT_ONCE).collect()
    return outcomes.to_pandas("pages")


async def _frame_async(address: str, queries: list[StatsQuery]) -> pd.DataFrame:
    async with AsyncClient(address, api_key=KEY, max_connections=AT_ONCE) as client:
        outcomes = await client.stats.get_many(queries, concurrency=AT_ONCE).collect()
    return outcomes.to_pandas("pages")


def tables(scale: Scale) -> list[Table]:
    """The time to a frame of a panel, of the frame alone, and what is held."""
    queries = panel_of(scale)
    return [_to_frame(scale, queries), _frames(scale, queries), _held(queries)]


def _to_frame(scale: Scale, queries: list[StatsQuery]) -> Table:
    count = len(queries)
    ideal = count / AT_ONCE * DELAY
    with serving(DELAY, pages(PAGES)) as address:

        def in_loop(backend: str) -> Work:
            work: Any = partial(_frame_async, address, queries)
            return partial(anyio.run, work, backend=backend)

        variants: dict[str, Work] = {
            "asyncio": in_loop("asyncio"),
            "trio": in_loop("trio"),
            "threads": partial(_frame, address, queries),
        }
        bests = in_turn([*variants.values()], scale.rounds(4))
    names = [*variants]
    rows = [
        Row(f"sitestats, {name}", best / ideal, seconds(best))
        for name, best in zip(names, bests, strict=True)
    ]
    what = f"a frame of {count:,} queries of {DELAY * 1000:.0f} ms"
    return Table(
        "From the queries to one frame",
        f"{count:,} queries of {DELAY * 1000:.0f} ms, {AT_ONCE} at a time: the pages "
        "of 40 websites in each of 18 months, collected, and made a pandas data frame "
        f"of {count * PAGES:,} rows.",
        [Row("ideal: the server's time alone", 1.0, seconds(ideal)), *rows],
        [
            Goal(
                f"{what}, {name}",
                best / ideal,
                1.3,
                "The processor reads responses while the server waits, so time that "
                "other programs take shows at once.",
            )
            for name, best in zip(names, bests, strict=True)
        ],
    )


def _frames(scale: Scale, queries: list[StatsQuery]) -> Table:
    entries = scale.size(1000, 20)
    outcomes = Outcomes(
        Succeeded(query, index, _stats(query.limit(entries), entries))
        for index, query in enumerate(queries)
    )
    bests = in_turn(
        [partial(_concatenated, outcomes), partial(outcomes.to_pandas, "pages")],
        scale.rounds(5),
        clock=time.process_time,
    )
    names = ("pandas.concat of single frames", "sitestats, to_pandas of the outcomes")
    return Table(
        "A frame of many outcomes",
        f"A pandas data frame of {len(queries):,} outcomes with {entries:,} pages "
        "each, with the same columns, in processor time.",
        compared(names, bests, seconds),
        [
            Goal(
                f"a frame of {len(queries):,} outcomes beside pandas.concat",
                bests[1] / bests[0],
                0.5,
            )
        ],
    )


def _stats(query: StatsQuery, entries: int) -> Stats:
    start, end = query.params()["start"], query.params()["end"]
    body = body_of(query.hostname, start, end, pages(entries))
    return Stats.from_body(query, body)


def _concatenated(outcomes: Outcomes) -> pd.DataFrame:
    import pandas as pd

    frames: list[pd.DataFrame] = []
    for outcome in outcomes.succeeded:
        stats = outcome.stats
        assert stats.first_day is not None
        assert stats.last_day is not None
        frame = stats.pages.to_pandas()
        frame.insert(0, "hostname", outcome.query.hostname)
        frame.insert(1, "timezone", stats.timezone)
        frame.insert(2, "first_day", pd.Timestamp(stats.first_day))
        frame.insert(3, "last_day", pd.Timestamp(stats.last_day))
        frame["truncated"] = stats.pages.truncated
        frame["query"] = outcome.index
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _held(queries: list[StatsQuery]) -> Table:
    def listed(address: str) -> list[Outcome]:
        with (
            Client(address, api_key=KEY) as client,
            client.stats.get_many(queries) as stream,
        ):
            return [*stream]

    def collected(address: str) -> Outcomes:
        with Client(address, api_key=KEY) as client:
            return client.stats.get_many(queries).collect()

    with serving(members=pages(PAGES)) as address:
        held = [held_by(partial(work, address)) for work in (listed, collected)]
    names = ("a list of the outcomes of a block", "sitestats, collect")
    return Table(
        "What is held",
        f"The memory that {len(queries):,} results with {PAGES} pages each hold, by "
        "tracemalloc, with the bytes of their responses.",
        compared(names, held, size),
        [
            Goal(
                "memory of `collect` beside a list of the outcomes",
                held[1] / held[0],
                1,
            )
        ],
    )
