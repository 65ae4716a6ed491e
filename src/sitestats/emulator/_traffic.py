"""Made-up traffic: seasons, weekends, growth, a campaign and a launch.

It is made of visits, a few hundred of each sort, and of a plan that says how many of
which sort each website has on each day. So a year of many websites takes little time,
and is the same in every run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args
from zoneinfo import ZoneInfo

import attrs

from ._periods import DAY, SECOND, midnight
from ._rows import Rows, Share

T = TypeVar("T")

Sort: TypeAlias = Literal[
    "early", "late", "early weekend", "late weekend", "campaign", "launch"
]
"""A sort of visits: as they are in the beginning or in the end, on a working day or a
weekend; by the campaign; and because of the launch."""

SORTS: Final[tuple[Sort, ...]] = get_args(Sort)
VISITS: Final = 500
"""How many visits there are of each sort and kind of website."""
STEPS: Final = 90
"""How many events there are besides, which lead to the one that a website wants."""

CAMPAIGN: Final = (-48, -21)
"""The first and the last day of the campaign that each third website has, counted from
the last day."""
LAUNCH: Final = -110
"""The day of the launch that each fourth website has, counted from the last day."""
USUAL_RATE: Final = 0.02
"""How many visits end in the event that the website wants."""
RATES: Final[Mapping[Sort, float]] = {"campaign": 0.08, "launch": 0.04}
"""The rate of the sorts that have another one."""


@attrs.frozen
class Kind:
    """A kind of website: what it has, and when its visitors come."""

    name: str
    months: Sequence[float]
    """How busy it is at the beginning of each month, January first."""
    weekend: float
    """How busy a day of the weekend is, compared with another."""
    hours: Sequence[int]
    """How busy it is in each of eight times of three hours of a working day."""
    pages: Mapping[str, Sequence[int]]
    """How often each page is read, at the beginning and at the end."""
    offer: str
    """The page of the campaign."""
    events: Sequence[str]
    """The event that it wants, after the two that lead to it."""
    detail: str
    """The column of what is known of such events."""
    detail_values: Sequence[str]


@cache
def read_table() -> dict[str, Any]:
    """What the traffic is made of, from ``data/traffic.toml``."""
    path = files("sitestats.emulator").joinpath("data/traffic.toml")
    table = tomllib.loads(path.read_text("utf-8"))
    return {**table, "kinds": [Kind(**one) for one in table["kinds"]]}


@attrs.frozen
class Site:
    """One of the websites."""

    number: int

    @property
    def kind(self) -> Kind:
        """What it is."""
        kinds: Sequence[Kind] = read_table()["kinds"]
        return kinds[self.number % len(kinds)]

    @property
    def hostname(self) -> str:
        """Its host name, which is reserved for examples."""
        turn = self.number // len(read_table()["kinds"])
        return f"{self.kind.name}{turn + 1 if turn else ''}.example"

    @property
    def timezone(self) -> str:
        """Its own time zone."""
        zones: Sequence[str] = read_table()["zones"]
        return zones[self.number % len(zones)]

    @property
    def views(self) -> float:
        """Its page views on the first day, apart from seasons and weekends."""
        return 600 / (5 + self.number)


def load(rows: Rows, sites: Sequence[Site], now: datetime, days: int) -> None:
    """Load the traffic of *days* days, which end yesterday, into empty *rows*."""
    sorts: list[tuple[Kind, Sort]] = [
        (kind, sort) for kind in read_table()["kinds"][: len(sites)] for sort in SORTS
    ]
    rows.load((visit for one in sorts for visit in _visits(*one)), undated=now)
    places = {
        (kind.name, sort): (VISITS + STEPS) * n for n, (kind, sort) in enumerate(sorts)
    }
    shares: list[Share] = []
    for site in sites:
        for moments, sort, first, count in _plan(site, now, days):
            visits = places[site.kind.name, sort]
            steps = round(count * RATES.get(sort, USUAL_RATE) * 6)
            shares += [
                Share(site.hostname, *moments, visits, VISITS, first, count),
                Share(site.hostname, *moments, visits + VISITS, STEPS, first, steps),
            ]
    rows.spread(shares)


def _visits(kind: Kind, sort: Sort) -> Iterator[dict[str, object]]:
    """Visits of one sort, at times of a day that stands for all."""
    random = Random(f"{kind.name} {sort}")  # noqa: S311 - the same in every run
    end = 0 if sort.startswith("early") else 1
    table = read_table()
    hours = table["weekend_hours"] if sort.endswith("weekend") else kind.hours
    pages = {path: often[end] for path, often in kind.pages.items()}
    if sort == "campaign":
        pages = {kind.offer: 6, "/": 2}
    elif sort == "launch":
        pages = {"/new": 5, "/": 2}
    devices = {device: often[end] for device, often in table["devices"].items()}
    referrers = table["launched" if sort == "launch" else "referrers"]
    channels = [channel["visit"] for channel in table["channels"]]
    often_by = [channel["often"] for channel in table["channels"]]
    for number in range(VISITS + STEPS):
        hour = 3 * _pick(random, dict(enumerate(hours))) + int(3 * random.random())
        minute, second = int(60 * random.random()), int(60 * random.random())
        device = _pick(random, devices)
        agent: str = _pick(random, table["agents"][device])
        browser, system = agent.split(" on ")
        referrer = _pick(random, referrers)
        visit: dict[str, object] = {
            "hostname": "visits.example",
            "added_iso": f"1970-01-01T{hour:02}:{minute:02}:{second:02}Z",
            "path": _pick(random, pages),
            "is_unique": random.random() < 0.55,  # noqa: PLR2004 - a made-up share
            "duration_seconds": int(2 + 60 * random.random() * random.random() * 3),
            "device_type": device,
            "browser_name": browser,
            "os_name": system,
            "country_code": _pick(random, table["countries"]),
            "document_referrer": referrer,
        }
        if sort == "campaign":
            (channel,) = random.choices(channels, often_by)
            visit |= {**channel, "utm_campaign": kind.offer.removeprefix("/")}
        if number >= VISITS or random.random() < RATES.get(sort, USUAL_RATE):
            values = kind.detail_values
            # Of three events before the last one, two are the first step.
            step = 2 if number < VISITS else int(number % 3 == 0)
            visit |= {
                "datapoint": kind.events[step],
                kind.detail: random.choice(values),
            }
        yield visit


def _pick(random: Random, often: Mapping[T, float]) -> T:
    return random.choices([*often], [*often.values()])[0]


def _plan(
    site: Site, now: datetime, days: int
) -> Iterator[tuple[tuple[int, int], Sort, int, int]]:
    """How many visits of which sort there are on each day.

    Yields the start and the length of the day as a ``Share`` has them, the sort, the
    first visit, and how many there are.
    """
    random = Random(site.hostname)  # noqa: S311 - the same in every run
    zone = ZoneInfo(site.timezone)
    last = now.astimezone(zone).date() - DAY
    growths = read_table()["growth"]
    growth = growths[site.number % len(growths)]
    start = midnight(last - days * DAY + DAY, zone)
    for back in range(1 - days, 1):
        day = last + back * DAY
        end = midnight(day + DAY, zone)
        moments = (
            round(start.replace(tzinfo=UTC).timestamp()) * 1_000_000,
            (end - start) // SECOND,
        )
        start = end
        passed = 1 + back / days
        usual = site.views * _season(site.kind, day) * (1 + passed * (growth - 1))
        usual *= 0.85 + 0.3 * random.random()
        is_weekend = day.weekday() >= 5  # noqa: PLR2004 - Saturday
        usual *= site.kind.weekend if is_weekend else 1
        early, late = usual * (1 - passed), usual * passed
        counts: dict[Sort, float] = {"early": early, "late": late}
        if is_weekend:
            counts = {"early weekend": early, "late weekend": late}
        if site.number % 3 == 0 and CAMPAIGN[0] <= back <= CAMPAIGN[1]:
            counts["campaign"] = 0.4 * usual
        if site.number % 4 == 0 and back >= LAUNCH:
            counts["launch"] = usual * (0.15 + 2 / (1 + back - LAUNCH))
        for sort, count in counts.items():
            yield moments, sort, int(VISITS * random.random()), round(count)


def _season(kind: Kind, day: date) -> float:
    """How busy *day* is: between the beginnings of two months, in a straight line."""
    before, after = kind.months[day.month - 1], kind.months[day.month % 12]
    return before + (after - before) * (day.day - 1) / 31
