"""Made-up traffic: seasons, weekends, growth, a campaign and a launch.

It is made of visits, a few hundred of each sort, and of a plan that says how many of
which sort each website has on each day. So a year of many websites takes little time,
and is the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from random import Random
from typing import Final, Literal, TypeAlias, TypeVar, get_args
from zoneinfo import ZoneInfo

import attrs

from ._periods import DAY, EPOCH, SECOND, midnight
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
    pages: Mapping[str, tuple[int, int]]
    """How often each page is read, at the beginning and at the end."""
    offer: str
    """The page of the campaign."""
    events: tuple[str, str, str]
    """The event that it wants, after the two that lead to it."""


_SALE: Final = ("cart", "checkout", "purchase")
_SIGNUP: Final = ("pricing", "form", "signup")
_METADATA: Final[Mapping[tuple[str, str, str], tuple[str, tuple[str, ...]]]] = {
    _SALE: ("metadata.customer_text", ("new", "new", "returning")),
    _SIGNUP: ("metadata.plan_text", ("free", "free", "free", "pro")),
}
"""What is known of such events, and the values."""
_OFFICE: Final = (1, 1, 4, 14, 15, 13, 6, 3)
_EVENING: Final = (2, 1, 3, 6, 8, 9, 15, 12)
_LATE_START: Final = (4, 1, 1, 7, 11, 11, 12, 8)

KINDS: Final = (
    Kind(
        "shop",
        (0.8, 0.7, 0.8, 0.9, 0.9, 0.8, 0.7, 0.7, 0.9, 1.1, 1.4, 2.0),
        1.3,
        _EVENING,
        {
            "/": (30, 26),
            "/boots": (16, 9),
            "/coats": (12, 10),
            "/bicycles": (4, 18),
            "/tents": (9, 5),
            "/gift-cards": (2, 7),
            "/cart": (14, 13),
            "/delivery": (8, 7),
            "/about": (5, 5),
        },
        "/sale",
        _SALE,
    ),
    Kind(
        "blog",
        (1.1, 1.1, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 1.0, 1.1, 1.1, 0.8),
        0.8,
        _EVENING,
        {
            "/": (28, 22),
            "/posts/a-garden-in-winter": (18, 6),
            "/posts/bread-without-kneading": (6, 20),
            "/posts/ten-walks": (12, 10),
            "/posts/mending-a-chair": (3, 14),
            "/posts/on-quiet": (10, 6),
            "/archive": (12, 11),
            "/about": (11, 11),
        },
        "/newsletter",
        _SIGNUP,
    ),
    Kind(
        "docs",
        (1.0, 1.1, 1.1, 1.1, 1.0, 1.0, 0.8, 0.7, 1.0, 1.1, 1.1, 0.7),
        0.35,
        _OFFICE,
        {
            "/": (18, 15),
            "/install": (16, 15),
            "/guide": (18, 16),
            "/reference": (20, 19),
            "/guide/plugins": (3, 13),
            "/guide/upgrade": (12, 4),
            "/faq": (13, 9),
            "/changes": (0, 9),
        },
        "/training",
        _SIGNUP,
    ),
    Kind(
        "travel",
        (1.0, 0.9, 0.9, 1.0, 1.2, 1.5, 1.7, 1.4, 1.0, 0.7, 0.6, 0.8),
        1.15,
        _EVENING,
        {
            "/": (24, 20),
            "/islands": (18, 10),
            "/by-train": (4, 22),
            "/mountains": (14, 13),
            "/cities": (16, 12),
            "/weekends": (8, 10),
            "/book": (10, 9),
            "/about": (6, 4),
        },
        "/early-booking",
        _SALE,
    ),
    Kind(
        "news",
        (1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 1.0, 1.0, 1.1, 1.0),
        0.7,
        (2, 2, 12, 13, 10, 9, 11, 6),
        {
            "/": (40, 34),
            "/weather": (10, 15),
            "/sport": (16, 14),
            "/local": (12, 18),
            "/culture": (10, 8),
            "/letters": (7, 3),
            "/podcast": (1, 5),
            "/about": (4, 3),
        },
        "/subscribe",
        _SIGNUP,
    ),
)
"""The websites are of these, in turn."""

ZONES: Final = (
    "Europe/Amsterdam",
    "America/New_York",
    "Asia/Tokyo",
    "Europe/London",
    "America/Sao_Paulo",
    "Australia/Sydney",
    "UTC",
)
_MICROSECOND: Final = timedelta(microseconds=1)
GROWTH: Final = (1.5, 0.8, 1.2, 2.2, 1.0, 0.6, 1.3, 1.8)
"""How many times the views of the first day the last one has, apart from seasons."""

_DEVICES: Final = {
    "mobile": (44, 61),
    "desktop": (46, 34),
    "tablet": (9, 4),
    "tv": (1, 1),
}
_AGENTS: Final = {
    "mobile": {
        ("Safari", "iOS"): 9,
        ("Chrome", "Android"): 10,
        ("Firefox", "Android"): 1,
    },
    "desktop": {
        ("Chrome", "Windows"): 9,
        ("Edge", "Windows"): 4,
        ("Safari", "macOS"): 4,
        ("Firefox", "Linux"): 2,
    },
    "tablet": {("Safari", "iOS"): 3, ("Chrome", "Android"): 1},
    "tv": {("Chrome", "Android"): 1},
}
_COUNTRIES: Final = {
    "US": 24,
    "NL": 18,
    "DE": 14,
    "GB": 12,
    "FR": 8,
    "JP": 7,
    "BR": 6,
    "AU": 4,
    "ES": 3,
    "PL": 2,
    "SE": 2,
}
_REFERRERS: Final = {
    "": 38,
    "https://www.google.com/": 40,
    "https://duckduckgo.com/": 8,
    "https://www.bing.com/": 6,
    "https://links.example/page": 8,
}
_CHANNELS: Final = {
    ("newsletter", "email", ""): 5,
    ("google", "cpc", "https://www.google.com/"): 4,
    ("social", "post", "https://social.example/"): 3,
}
_LAUNCHED: Final = {
    "https://links.example/page": 5,
    "https://news.example/item": 8,
    "": 3,
}


@attrs.frozen
class Site:
    """One of the websites."""

    number: int

    @property
    def kind(self) -> Kind:
        """What it is."""
        return KINDS[self.number % len(KINDS)]

    @property
    def hostname(self) -> str:
        """Its host name, which is reserved for examples."""
        turn = self.number // len(KINDS)
        return f"{self.kind.name}{turn + 1 if turn else ''}.example"

    @property
    def timezone(self) -> str:
        """Its own time zone."""
        return ZONES[self.number % len(ZONES)]

    @property
    def views(self) -> float:
        """Its page views on the first day, apart from seasons and weekends."""
        return 600 / (5 + self.number)


def load(rows: Rows, sites: Sequence[Site], now: datetime, days: int) -> None:
    """Load the traffic of *days* days, which end yesterday, into empty *rows*."""
    sorts: list[tuple[Kind, Sort]] = [
        (kind, sort) for kind in KINDS[: len(sites)] for sort in SORTS
    ]
    rows.load((visit for one in sorts for visit in _visits(*one)), now=now)
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
    hours = _LATE_START if sort.endswith("weekend") else kind.hours
    pages = {path: often[end] for path, often in kind.pages.items()}
    if sort == "campaign":
        pages = {kind.offer: 6, "/": 2}
    elif sort == "launch":
        pages = {"/new": 5, "/": 2}
    devices = {device: often[end] for device, often in _DEVICES.items()}
    for number in range(VISITS + STEPS):
        hour = 3 * _pick(random, dict(enumerate(hours))) + int(3 * random.random())
        minute, second = int(60 * random.random()), int(60 * random.random())
        device = _pick(random, devices)
        browser, system = _pick(random, _AGENTS[device])
        referrer = _pick(random, _LAUNCHED if sort == "launch" else _REFERRERS)
        visit: dict[str, object] = {
            "hostname": "visits.example",
            "added_iso": f"1970-01-01T{hour:02}:{minute:02}:{second:02}Z",
            "path": _pick(random, pages),
            "is_unique": random.random() < 0.55,  # noqa: PLR2004 - a made-up share
            "duration_seconds": int(2 + 60 * random.random() * random.random() * 3),
            "device_type": device,
            "browser_name": browser,
            "os_name": system,
            "country_code": _pick(random, _COUNTRIES),
            "document_referrer": referrer,
        }
        if sort == "campaign":
            source, medium, referrer = _pick(random, _CHANNELS)
            visit |= {
                "utm_source": source,
                "utm_medium": medium,
                "utm_campaign": kind.offer.removeprefix("/"),
                "document_referrer": referrer,
            }
        if number >= VISITS or random.random() < RATES.get(sort, USUAL_RATE):
            name, values = _METADATA[kind.events]
            # Of three events before the last one, two are the first step.
            step = 2 if number < VISITS else int(number % 3 == 0)
            visit |= {"datapoint": kind.events[step], name: random.choice(values)}
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
    growth = GROWTH[site.number % len(GROWTH)]
    start = midnight(last - days * DAY + DAY, zone)
    for back in range(1 - days, 1):
        day = last + back * DAY
        end = midnight(day + DAY, zone)
        moments = (start - EPOCH) // _MICROSECOND, (end - start) // SECOND
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
