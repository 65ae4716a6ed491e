"""Traffic for an emulator: the real traffic of the demo, and made-up traffic.

Made-up traffic copies a few hundred visits of each kind of website. A plan has the
number of copies for each website and day, by season, weekday and growth. So a year of
many websites takes little time, and is the same in every run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import as_file, files
from itertools import chain, product, repeat, starmap
from random import Random
from typing import Any, Final
from zoneinfo import ZoneInfo

import attrs

from ._loading import Columns, read
from ._periods import DAY, MICROSECOND, micros, midnight
from ._rows import Rows, Tables, pick

DEMO: Final = "semicomplete.com"
PARTS: Final = {
    "blog.semicomplete.com": "/blog",
    "projects.semicomplete.com": "/projects",
}
"""Websites that are parts of the demo's traffic, and the start of their paths."""


def load_demo(rows: Rows, now: datetime) -> None:
    """Load real traffic of four days of 2015, moved to end yesterday."""
    moved = (now.astimezone(UTC).date() - DAY - date(2015, 5, 20)) // MICROSECOND
    rows.tables = {
        key: table
        | {
            name: [cell + moved for cell in table[name]]
            for name in ("ts", "metadata.hour_date")
        }
        for key, table in _demo().items()
    }


@cache
def _demo() -> Tables:
    """The demo's rows, read once for all emulators of the process."""
    rows = Rows()
    with as_file(files("sitestats.emulator") / "data" / "semicomplete.csv.gz") as path:
        columns, _ = read(path, hostname=DEMO, undated=datetime.now(UTC))
    rows.add(columns)
    for hostname, prefix in PARTS.items():
        places = [
            n for n, path in enumerate(columns["path"]) if path.startswith(prefix)
        ]
        names = list(repeat(hostname, len(places)))
        rows.add(pick(columns, places) | {"hostname": names})
    return rows.tables


# --- made-up traffic ------------------------------------------------------------------

VISITS: Final = 500
"""The number of visits to copy, for each kind of website, with and without campaign."""
STEPS: Final = 90
"""The number of earlier events to copy, which lead to the website's goal."""
CAMPAIGN: Final = (-48, -21)
"""The first and last day of the campaign of every third website, counted from the last
day."""
LAUNCH: Final = -110
"""The day of the launch of every fourth website, counted from the last day."""
RATES: Final = {False: 0.02, True: 0.08}
"""The share of visits that reach the website's goal, without and with a campaign."""


@attrs.frozen
class Kind:
    """A kind of website: its pages, its events and its busy times."""

    name: str
    weekend: float
    """The traffic of a day of the weekend, relative to a weekday."""
    hours: Sequence[int]
    """The relative traffic in each three hours of the day."""
    pages: Mapping[str, int]
    """The relative traffic of each page."""
    offer: str
    """The page of the campaign."""
    events: Sequence[str]
    """Two events that lead to the goal, and the goal."""
    detail: str
    """The metadata column of the goal."""
    detail_values: Sequence[str]


@cache
def read_table() -> dict[str, Any]:
    """The numbers behind the traffic, from ``data/traffic.toml``."""
    with files("sitestats.emulator").joinpath("data/traffic.toml").open("rb") as file:
        table = tomllib.load(file)
    return {**table, "kinds": [Kind(**kind) for kind in table["kinds"]]}


@attrs.frozen
class Site:
    """One of the made-up websites."""

    number: int
    kind: Kind
    hostname: str
    """A name that is reserved for examples."""
    timezone: str


def make_sites(count: int) -> Iterator[Site]:
    """This many websites, with the kinds and the zones in turn."""
    kinds, zones = read_table()["kinds"], read_table()["zones"]
    for number in range(count):
        turn, place = divmod(number, len(kinds))
        hostname = f"{kinds[place].name}{turn + 1 if turn else ''}.example"
        yield Site(number, kinds[place], hostname, zones[number % len(zones)])


def load_made_up(rows: Rows, sites: Sequence[Site], now: datetime, days: int) -> None:
    """Load the traffic of *days* days, which end yesterday."""
    sorts = [*product(read_table()["kinds"][: len(sites)], RATES)]
    visits, _ = read(
        chain.from_iterable(starmap(_visits, sorts)), hostname=None, undated=now
    )
    for site in sites:
        places: list[int] = []
        times: list[int] = []
        for (start, end), campaign, first, count in _plan(site, now, days):
            place = (VISITS + STEPS) * sorts.index((site.kind, campaign))
            steps = round(count * RATES[campaign] * 6)
            chosen = [place + n % VISITS for n in range(first, first + count)]
            place += VISITS
            chosen += [place + n % STEPS for n in range(first, first + steps)]
            places += chosen
            # A day may be shorter or longer than the visits' own, the first of 1970.
            times += [
                start + visits["ts"][n] * (end - start) // 86_400_000_000
                for n in chosen
            ]
        names = list(repeat(site.hostname, len(times)))
        own: Columns = {"ts": times, "hostname": names}
        rows.add(pick(visits, places) | own)


def _visits(kind: Kind, campaign: bool) -> Iterator[dict[str, object]]:  # noqa: FBT001
    """Visits of a kind of website: usual visits, or visits of a campaign."""
    random = Random(f"{kind.name} {campaign}")  # noqa: S311 - the same in every run
    table = read_table()
    for number in range(VISITS + STEPS):
        hour = 3 * _pick(random, dict(enumerate(kind.hours))) + int(3 * random.random())
        minute, second = int(60 * random.random()), int(60 * random.random())
        device = _pick(random, table["devices"])
        browser, system = _pick(random, table["agents"][device]).split(" on ")
        visit: dict[str, object] = {
            "hostname": "visits.example",
            "added_iso": f"1970-01-01T{hour:02}:{minute:02}:{second:02}Z",
            "path": _pick(random, {kind.offer: 6, "/": 2} if campaign else kind.pages),
            "is_unique": random.random() < 0.55,  # noqa: PLR2004 - a made-up share
            "duration_seconds": int(2 + 60 * random.random() * random.random() * 3),
            "device_type": device,
            "browser_name": browser,
            "os_name": system,
            "country_code": _pick(random, table["countries"]),
            "document_referrer": _pick(random, table["referrers"]),
        }
        if campaign:
            channel = _pick(
                random, {n: c["often"] for n, c in table["channels"].items()}
            )
            visit |= table["channels"][channel]["visit"]
            visit["utm_campaign"] = kind.offer.removeprefix("/")
        if number >= VISITS or random.random() < RATES[campaign]:
            # Two of three events before the last one are the first step.
            step = 2 if number < VISITS else int(number % 3 == 0)
            visit["datapoint"] = kind.events[step]
            visit[kind.detail] = random.choice(kind.detail_values)
        yield visit


def _pick(random: Random, often: Mapping[Any, float]) -> Any:
    return random.choices([*often], [*often.values()])[0]


def _plan(
    site: Site, now: datetime, days: int
) -> Iterator[tuple[tuple[int, int], bool, int, int]]:
    """The visits of each day.

    Yields the start and the end of the day in microseconds since 1970, whether the
    visits are from a campaign, the first visit, and their number.
    """
    random = Random(site.hostname)  # noqa: S311 - the same in every run
    zone = ZoneInfo(site.timezone)
    last = now.astimezone(zone).date() - DAY
    growth = read_table()["growth"][site.number % len(read_table()["growth"])]
    end = midnight(last - days * DAY + DAY, zone)
    for back in range(1 - days, 1):
        day = last + back * DAY
        start, end = end, midnight(day + DAY, zone)
        moments = micros(start), micros(end)
        usual = 600 / (5 + site.number) * _season(day) * (0.85 + 0.3 * random.random())
        usual *= 1 + (1 + back / days) * (growth - 1)
        if day.weekday() >= 5:  # noqa: PLR2004 - Saturday
            usual *= site.kind.weekend
        if site.number % 4 == 0 and back >= LAUNCH:
            usual *= 1.15 + 2 / (1 + back - LAUNCH)
        yield moments, False, int(VISITS * random.random()), round(usual)
        if site.number % 3 == 0 and CAMPAIGN[0] <= back <= CAMPAIGN[1]:
            yield moments, True, int(VISITS * random.random()), round(0.4 * usual)


def _season(day: date) -> float:
    """The relative traffic of *day*, interpolated between two months."""
    months: Sequence[float] = read_table()["months"]
    before, after = months[day.month - 1], months[day.month % 12]
    return before + (after - before) * (day.day - 1) / 31
