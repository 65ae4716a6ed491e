"""The source of a warehouse: its rows and requests, without a destination."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections import Counter
from typing import Any

import pytest

from sitestats import (
    ConfigurationError,
    InvalidInputError,
    SiteStatsWarning,
    StatsQuery,
)
from sitestats.emulator import Emulator
from sitestats.warehouse import Coverage, Estimate, sitestats_source
from warehouse.inside import set_most_held, slow_down
from warehouse.updates import FIRST, NOW, Dataset

DAY = dt.timedelta(days=1)
SITE = "example.com"


def at(number: int) -> dt.date:
    """The day of that number, from 1."""
    return FIRST + (number - 1) * DAY


class World:
    """One website, its visits, and what they add up to."""

    def __init__(self) -> None:
        self.emulator = Emulator(now=NOW)
        self.emulator.add_website(SITE)
        self.views: list[tuple[dt.date, str]] = []

    def visit(self, day: dt.date, *paths: str) -> None:
        """Let pages be viewed at noon of *day*."""
        self.views += [(day, path) for path in paths]
        rows = [{"path": path, "added_iso": f"{day}T12:00:00Z"} for path in paths]
        self.emulator.load(rows, hostname=SITE)

    def check(self, dataset: Dataset) -> None:
        """The tables have what plain Python counts."""
        now = self.emulator.now
        assert now is not None
        over = [(day, path) for day, path in self.views if day < now.date()]
        found = dataset.rows("pages", "first_day", "value", "pageviews")
        assert found == sorted((*key, n) for key, n in Counter(over).items())
        days = Counter((SITE, day) for day, _ in over)
        assert dataset.sums("days") == dataset.sums("pages") == days
        months = Counter((SITE, day.replace(day=1)) for day, _ in over)
        if "months" in dataset.state["lists"]:
            assert dataset.sums("months") == months


def test_a_list_that_was_loaded_stays_true() -> None:
    """An update that names no list, or another one, fills those that are there: late
    visits are in all of them.
    """
    world, dataset = World(), Dataset()
    world.visit(at(1), "/a")
    dataset.update(world.emulator, lists=["pages"])
    world.visit(at(1), "/b")
    for lists in ([], ["months"], None, ["pages"]):
        dataset.update(world.emulator, lists=lists)
        world.check(dataset)
    world.visit(at(2), "/c")
    dataset.update(world.emulator, lists=["events"], lag=0)
    world.check(dataset)
    assert dataset.state["lists"] == ["events", "months", "pages"]


def test_a_new_list_reads_all_days_anew() -> None:
    """Days that no histogram watches any more are read, too, after a question."""
    world, dataset = World(), Dataset()
    first = at(1) - 60 * DAY
    world.visit(first, "/a")
    dataset.update(world.emulator, lists=[], first_day=first)
    assert len(world.emulator.requests) == 2
    world.visit(first, "/b")
    asked: list[Estimate] = []
    dataset.update(
        world.emulator, lists=["pages"], approve=lambda e: not asked.append(e)
    )
    assert asked == [Estimate(requests=1 + 64, last_requests=1)]
    world.check(dataset)


def test_another_zone_reads_all_days_anew() -> None:
    """They are other days then; while the website fails, all stay."""
    world, dataset = World(), Dataset()
    world.visit(at(1), "/a")
    dataset.update(world.emulator, lists=["pages", "events"])
    world.emulator.change_website(SITE, timezone="Asia/Tokyo", locked=True)
    assert dataset.update(world.emulator)[SITE].timezone == "UTC"
    world.emulator.change_website(SITE, locked=False)
    assert dataset.update(world.emulator)[SITE].through == at(5)
    assert {*dataset.rows("days", "timezone")} == {("Asia/Tokyo",)}
    world.check(dataset)


def test_an_earlier_first_day_reads_the_days_before_and_a_later_one_nothing() -> None:
    """It neither reads the others anew, nor forgets what failed; loads that end early
    continue, from the latest of the days before.
    """
    world, dataset = World(), Dataset()
    world.visit(at(1), "/a")
    world.emulator.fail_next(
        status=500, when=lambda request: request.params.get("end") == str(at(1))
    )
    coverage = dataset.update(world.emulator, lists=["pages", "events"])[SITE]
    assert (coverage.failed, coverage.through) == ((at(1),), None)
    coverage = dataset.update(world.emulator, first_day=at(3))[SITE]
    assert (coverage.first, coverage.through) == (FIRST, at(4))
    world.check(dataset)
    world.visit(at(-3), "/b")
    # A histogram, the day of the lag, and the latest of the four days before.
    options: Any = {"first_day": at(-3), "concurrency": 1}
    with pytest.MonkeyPatch.context() as patch:
        slow_down(patch)
        coverage = dataset.update(world.emulator, max_seconds=3, **options)[SITE]
    assert len(world.emulator.requests) == 1 + 3
    assert (coverage.read_from, coverage.through) == (at(0), None)
    assert coverage.behind(at(5)) == 1 + 3
    coverage = dataset.update(world.emulator, **options)[SITE]
    assert len(world.emulator.requests) == 1 + 2 + 3
    assert (coverage.first, coverage.through) == (at(-3), at(4))
    world.check(dataset)
    dataset.update(world.emulator, first_day=None)
    assert len(world.emulator.requests) == 1 + 1 + 1


def test_a_first_day_in_the_future_is_refused() -> None:
    """It would read nothing, night after night; and so would none."""
    world, dataset = World(), Dataset()
    for first_day, message in (
        (None, "needs a first day"),
        (dt.date(2033, 1, 1), "2033-01-01 is in the future"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            dataset.update(world.emulator, first_day=first_day)
    assert dataset.state == {}
    dataset.update(world.emulator, lists=["pages"])
    before = dataset.state
    with pytest.raises(ConfigurationError, match="2033-01-01 is in the future"):
        dataset.update(world.emulator, first_day=dt.date(2033, 1, 1))
    assert dataset.state == before


def test_an_update_of_named_websites_adds_no_list() -> None:
    """It would make the next night read all websites anew."""
    world, dataset = World(), Dataset()
    world.emulator.add_website("other.example")
    dataset.update(world.emulator, lists=["pages"])
    with pytest.raises(ConfigurationError, match="has no events, months"):
        dataset.update(
            world.emulator, hostnames=[SITE], lists=["months", "pages", "events"]
        )
    for lists in (["pages"], [], None):
        dataset.update(world.emulator, hostnames=[SITE], lists=lists)
        assert {request.path for request in world.emulator.requests} == {
            "/api/websites",
            f"/{SITE}.json",
        }
    assert dataset.state["lists"] == ["pages"]


def test_one_website_has_one_name() -> None:
    """However the service lists it, and however it is named."""
    emulator, dataset = Emulator(now=NOW), Dataset()
    emulator.add_website("xn--bcher-kva.example")
    body: Any = emulator.client().request("GET", "/api/websites")
    for name in ("B\u00fccher.Example", "xn--bcher-kva.example"):
        body["websites"][0]["hostname"] = name
        emulator.fail_next(body=body, path="/api/websites")
        dataset.update(emulator, lists=["pages"])
        dataset.update(emulator, hostnames=["b\u00fccher.example", "BÜCHER.example"])
    assert [*dataset.state["coverage"]] == ["xn--bcher-kva.example"]
    assert [*dataset.tables["websites"]] == [("xn--bcher-kva.example", None)]
    assert len(dataset.tables["days"]) == 4


def test_a_website_that_is_listed_twice_is_told() -> None:
    """Its first entry counts, with its zone."""
    emulator, dataset = Emulator.made_up(2, days=5, now=NOW), Dataset()
    body: Any = emulator.client().request("GET", "/api/websites")
    name, zone = (body["websites"][0][key] for key in ("hostname", "timezone"))
    body["websites"].append({**body["websites"][0], "timezone": "Asia/Tokyo"})
    emulator.fail_next(body=body, path="/api/websites")
    with pytest.warns(SiteStatsWarning, match=f"websites has {name} twice: the first"):
        coverage = dataset.update(emulator, lists=[])
    assert coverage[name].timezone == zone
    assert (name, zone) in dataset.rows("websites", "hostname", "timezone")
    assert len(dataset.rows("websites", "hostname")) == 2


LISTS = ([], ["pages"], ["months"], ["pages", "months"], None)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))]
)
def test_any_sequence_of_nights_has_the_sums_of_plain_python(seed: int) -> None:
    """Whatever lists, lags and first days were named, whatever visits came late, failed
    or was killed.
    """
    luck, world, dataset = random.Random(seed), World(), Dataset()
    given: dict[str, Any] = {"lists": ["pages"], "first_day": FIRST}
    for _ in range(7):
        now = world.emulator.now
        assert now is not None
        for _ in range(luck.randrange(4)):
            late = now.date() - luck.randrange(6) * DAY
            world.visit(max(FIRST, late), luck.choice(["/a", "/b"]))
        if failing := luck.randrange(4):
            world.emulator.fail_next(times=failing, status=500, path=f"/{SITE}.json")
        dataset.update(world.emulator, killed=luck.random() < 0.2, **given)
        world.emulator.clear_faults()
        given = {
            "lists": luck.choice(LISTS),
            "lag": luck.randrange(3),
            "first_day": FIRST + luck.randrange(-9, 9) * DAY,
        }
        given["first_day"] = min(given["first_day"], now.date())
        world.emulator.now = now + luck.randrange(3) * DAY
    for _ in range(3):
        coverage = dataset.update(world.emulator, first_day=FIRST, lists=["pages"])
    assert coverage[SITE].error is None
    world.check(dataset)


def test_totals_alone_come_from_histograms() -> None:
    """They need one request for each website and year, and one for its months."""
    emulator, dataset = Emulator.made_up(3, days=9, now=NOW), Dataset()
    first = FIRST - 400 * DAY
    dataset.update(emulator, lists=[], first_day=first)
    assert len(emulator.requests) == 1 + 3 * 2
    assert len(dataset.rows("days", "hostname")) == 3 * 404 + 1
    dataset.update(emulator, lists=["months"])
    assert len(emulator.requests) == 1 + 3 + 3
    months = dataset.rows("months", "hostname", "first_day", "visitors")
    assert len(months) == 3 * 15
    query = StatsQuery("shop.example").fields("visitors")
    for hostname, month, visitors in months:
        end = min((month + 31 * DAY).replace(day=1) - DAY, at(4))
        if hostname == "shop.example":
            own = emulator.client().stats.get(query.between(month, end))
            assert own.visitors == visitors


@pytest.mark.filterwarnings("ignore:.*left out")
def test_a_month_settles_once_it_is_over() -> None:
    """Each night reads the month of its days, the one before on the first, and those
    that could not be read.
    """
    world, dataset = World(), Dataset()
    world.visit(at(1), "/a")
    first, lists = dt.date(2026, 2, 10), ["pages", "months"]
    february = dt.date(2026, 2, 1)
    query = StatsQuery(SITE).fields("histogram").interval("month")
    months = world.emulator.client().stats.get(query.between(february, at(4)))
    body = json.loads(months.body)
    body["histogram"][0]["visitors"] = "0"
    world.emulator.fail_next(
        body=body, when=lambda request: request.params.get("interval") == "month"
    )
    coverage = dataset.update(world.emulator, lists=lists, first_day=first)[SITE]
    assert "$.histogram[0].visitors" in str(coverage.error)
    columns = ("first_day", "pageviews", "partial")
    assert dataset.rows("months", *columns) == [(FIRST, 1, True)]
    dataset.update(world.emulator)
    assert dataset.rows("months", *columns) == [(february, 0, False), (FIRST, 1, True)]
    world.visit(at(31), "/a")
    world.emulator.now = dt.datetime(2026, 4, 1, 12, tzinfo=dt.UTC)
    dataset.update(world.emulator)
    assert dataset.rows("months", *columns)[1:] == [(FIRST, 2, False)]
    # Late, and read after the new days.
    world.visit(at(20), "/b")
    world.emulator.now += 2 * DAY
    dataset.update(world.emulator, lag=0)
    assert dataset.rows("months", *columns)[1] == (FIRST, 3, False)


@pytest.mark.filterwarnings("ignore:.*(the response|left out)")
def test_days_end_by_the_clock_of_the_service() -> None:
    """This machine may be far ahead, as here. A day that is not over by the response
    about it is not stored, and a response about another day is none. A day is read
    again until all of it can be read.
    """
    world, dataset = World(), Dataset()
    assert world.emulator.now < dt.datetime.now(dt.UTC)
    coverage = dataset.update(world.emulator, lists=["events"])[SITE]
    assert coverage.through == at(4)
    coverage = dataset.update(world.emulator, now=lambda: NOW + DAY)[SITE]
    assert coverage.through == at(4)
    assert max(dataset.rows("days", "first_day")) == (at(4),)
    query = StatsQuery(SITE).fields("pageviews", "visitors", "seconds_on_page")
    get = world.emulator.client().stats.get
    other = json.loads(get(query.all_events().on(at(1))).body)
    this = json.loads(get(query.all_events().on(at(4))).body)
    entries = [{"name": "a", "total": 1}, {"name": "b", "total": "x"}]
    for body, why in (
        (other, "another day: 2026-03-01"),
        (this | {"events": 7}, "$.events: expected an array"),
        (this | {"events": entries}, "$.events[1].total: expected an integer"),
    ):
        world.emulator.fail_next(
            body=body, when=lambda request: request.params.get("start") == str(at(4))
        )
        coverage = dataset.update(world.emulator)[SITE]
        assert coverage.failed == (at(4),)
        assert why in str(coverage.error)
        assert dataset.update(world.emulator)[SITE].error is None


def test_a_day_without_page_views_needs_no_request() -> None:
    """A histogram shows it, and the day replaces what there was of it; one that fails
    is the error of its website, whose days are requested one by one.
    """
    world, dataset = World(), Dataset()
    world.visit(at(2), "/a", "/b")
    dataset.update(world.emulator, lists=["pages"])
    assert len(world.emulator.requests) == 1 + 1 + 1
    fewer = World()
    fewer.visit(at(2), "/b")
    dataset.update(fewer.emulator)
    fewer.check(dataset)
    fewer.emulator.fail_next(
        status=500, when=lambda request: request.params.get("fields") == "histogram"
    )
    coverage = Dataset().update(fewer.emulator, lists=["pages"])[SITE]
    assert (len(fewer.emulator.requests), coverage.through) == (1 + 1 + 4, at(4))
    assert str(coverage.error).startswith("2026-03-01: ServerError: ")


def test_a_website_that_fails_costs_no_other_one_anything() -> None:
    """One that is locked, one whose name or zone no query takes, one that nobody knows
    and one that is not listed any more.
    """
    emulator, dataset = Emulator.made_up(3, days=2, now=NOW), Dataset()
    body: Any = emulator.client().request("GET", "/api/websites")
    one = body["websites"][0]
    bad = {"localhost": "UTC", "x\ud800.example": "UTC", "z.test": "utc"}
    more = [{**one, "hostname": name, "timezone": zone} for name, zone in bad.items()]
    emulator.fail_next(
        body={**body, "websites": body["websites"] + more}, path="/api/websites"
    )
    emulator.change_website("blog.example", locked=True)
    error = {"ok": False, "error": "no \ud800 \0"}
    emulator.fail_next(times=None, status=500, body=error, path="/docs.example.json")
    coverage = dataset.update(emulator, lists=["events"])
    assert coverage["shop.example"].error is None
    errors = {name: str(site.error) for name, site in coverage.items() if site.error}
    assert {"x?.example", "z.test"} <= errors.keys()
    assert errors["localhost"].startswith("InvalidInputError: ")
    assert errors["blog.example"].startswith("WebsiteLockedError: ")
    assert coverage["blog.example"].lasting
    assert errors["docs.example"].startswith("2026-03-01: ServerError: no ")
    told = dict(dataset.rows("coverage", "hostname", "behind"))
    assert (told["shop.example"], told["z.test"]) == (0, 4)
    dataset.update(emulator, hostnames=["nobody.example"])
    assert "nobody.example" not in dataset.state["coverage"]
    # Half of the list is gone, which is not believed at once.
    gone = dataset.update(emulator, accept_changes=True)["z.test"]
    assert (gone.listed, gone.lasting) == (False, True)
    told = dict(dataset.rows("coverage", "hostname", "behind"))
    assert (told["shop.example"], told["z.test"]) == (0, None)


def test_rows_leave_while_others_are_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory holds a bounded number of rows of each table, however many come."""
    set_most_held(monkeypatch, 4)
    state: dict[str, Any] = {}
    monkeypatch.setattr("dlt.current.resource_state", lambda: state)
    emulator, seen = Emulator(now=NOW), list[str]()
    for name in ("one.test", "two.test"):
        emulator.add_website(name)
    source = sitestats_source(
        client=emulator.client(),
        first_day=FIRST,
        lists=["events"],
        concurrency=1,
        progress=lambda _done, _total: seen.append("request"),
    )
    # Lazily: a row is taken from the source when the list wants it.
    seen.extend(f"{rows.num_rows} rows" for rows in source.resources["days"])
    requests = ["request"] * 4
    assert seen[:12] == [*requests, "4 rows", "4 rows"] * 2
    # The tables are empty then; at last come coverage and the update itself.
    assert seen[12:] == ["0 rows", "0 rows", "2 rows", "1 rows"]


def test_a_load_is_bounded_and_the_next_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By time, in which it makes one request at least. After a load that was lost, it
    begins where the destination is.
    """
    state: dict[str, Any] = {}
    monkeypatch.setattr("dlt.current.resource_state", lambda: state)
    slow_down(monkeypatch)
    world = World()
    options: Any = {"client": world.emulator.client(), "lists": ["events", "months"]}
    source = sitestats_source(first_day=FIRST, max_seconds=2, **options)
    days = source.resources["days"]
    for total in (3, 5):
        assert list(days)
        assert len(world.emulator.requests) == 1 + total
    assert Coverage.from_state(state["coverage"][SITE]).through == at(4)
    state.clear()
    world.emulator.forget_requests()
    source = sitestats_source(first_day=FIRST, max_seconds=0, **options)
    assert list(source.resources["days"])
    assert len(world.emulator.requests) == 1 + 1


def test_a_large_update_is_warned_of() -> None:
    """It is above 10,000 requests, and twice those of the last update."""
    assert not Estimate(10_000, 0).is_large
    assert not Estimate(20_000, 10_000).is_large
    first = FIRST - 11_000 * DAY
    with pytest.warns(SiteStatsWarning, match="is large: about 11,0"):
        Dataset().update(World().emulator, first_day=first, max_seconds=0)


def test_wrong_values_are_refused() -> None:
    """What can't be right is refused before a pipeline is touched."""
    client = Emulator.demo().client()
    with pytest.raises(ConfigurationError, match="lag is a whole number, 0"):
        sitestats_source(client=client, lag=-1)
    with pytest.raises(InvalidInputError, match="host"):
        sitestats_source(first_day=FIRST, client=client, hostnames=["a b"])
