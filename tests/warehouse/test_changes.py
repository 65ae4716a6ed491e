"""Past days that change: what is read again, what is told, and what is not believed."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inside import locked
from sitestats import BusyError, InvalidInputError, SiteStatsWarning, StatsQuery
from sitestats.emulator import Emulator
from sitestats.warehouse import Coverage, Update, read_coverage, read_status, verify
from warehouse.updates import FIRST, NOW, Dataset, pipeline, query, run, tables

DAY = dt.timedelta(days=1)
SITE = "example.com"


def visits(day: dt.date, number: int, **more: Any) -> list[dict[str, Any]]:
    """So many page views at noon of *day*."""
    row = {"path": "/", "added_iso": f"{day}T12:00:00Z", **more}
    return [row] * number


def service(now: dt.datetime, views: dict[int, int], events: int = 0) -> Emulator:
    """A service with so many page views on days counted from the first of March, and
    so many events on the first.
    """
    emulator = Emulator(now=now)
    emulator.add_website(SITE)
    for number, count in views.items():
        emulator.load(visits(FIRST + (number - 1) * DAY, count), hostname=SITE)
    rows = visits(FIRST, events, datapoint="signup")
    emulator.load(rows, hostname=SITE)
    return emulator


def night(number: int) -> dt.datetime:
    """The evening of so many days after the first one."""
    return NOW + (number - 1) * DAY


def views_of(dataset: Dataset) -> dict[int, int]:
    """The page views of each day in the table, as ``service`` takes them."""
    rows = dataset.rows("days", "first_day", "pageviews")
    return {(day - FIRST).days + 1: count for day, count in rows if count}


HISTOGRAM = StatsQuery(SITE).timezone("UTC").fields("histogram")
OF_A_DAY = (
    StatsQuery(SITE)
    .timezone("UTC")
    .fields("pageviews", "visitors", "seconds_on_page", "pages")
    .all_events()
)


def change(
    emulator: Emulator, query: StatsQuery, *, lasts: bool = False, **changes: Any
) -> None:
    """Have the response to *query* differ by these *changes*. If that *lasts*, all
    responses with its last field are the same, whatever day they are about.
    """
    body = json.loads(emulator.client().stats.get(query).body) | changes
    params = query.params()
    *_, field = params["fields"].split(",")

    def is_meant(request: Any) -> bool:
        found = request.params
        return (
            field in found.get("fields", "").split(",")
            and found.get("interval") == params.get("interval")
            and (lasts or found["start"] == params["start"])
        )

    times = None if lasts else 1
    emulator.fail_next(times, status=200, body=body, when=is_meant)


@pytest.mark.parametrize("lists", [[], ["pages"], ["pages", "events"], ["months"]])
def test_a_fall_to_nothing_is_not_believed_at_once(lists: list[str]) -> None:
    """The rows of the website stay for two nights, are named, and go in the third; a
    night that shows them again forgets it.
    """
    busy, nothing = {1: 150, 2: 3, 3: 120, 4: 90}, dict[int, int]()
    dataset = Dataset()
    dataset.update(service(night(1), busy), lists=lists)
    for number in (2, 3):
        found = dataset.update(service(night(number), nothing))[SITE]
        assert views_of(dataset) == busy
        assert len(found.held) == 4
        assert "4 days from 2026-03-01 to 2026-03-04 fell from 363" in str(found.doubt)
        # A second update of the night is not another night.
        dataset.update(service(night(number), nothing))
        assert views_of(dataset) == busy
    coverage = dataset.update(service(night(4), busy))[SITE]
    assert (coverage.held, coverage.error, views_of(dataset)) == ({}, None, busy)
    for number in (5, 6, 7):
        coverage = dataset.update(service(night(number), nothing))[SITE]
    assert (coverage.held, views_of(dataset)) == ({}, nothing)
    if "months" in lists:
        assert dataset.sums("months") == {}


def test_it_is_believed_if_you_say_so() -> None:
    """A fall that you accept is believed at once, and is told."""
    dataset = Dataset()
    dataset.update(service(night(1), {1: 150}), lists=["pages"])
    coverage = dataset.update(service(night(1), {}), accept_changes=True)[SITE]
    assert (coverage.held, views_of(dataset)) == ({}, {})


def test_a_changed_day_is_watched_as_a_new_one() -> None:
    """Few page views fall to nothing for a night: the oldest of the days comes back,
    although it is 31 days old by then.
    """
    first = FIRST - 29 * DAY
    few = dict.fromkeys(range(-28, 5), 5)
    dataset = Dataset()
    dataset.update(service(night(1), few), lists=[], first_day=first)
    dataset.update(service(night(2), {}))
    assert sum(views_of(dataset).values()) < sum(few.values())
    dataset.update(service(night(3), few))
    assert views_of(dataset) == few


@pytest.mark.long
@pytest.mark.parametrize("name", ["pages", "events"])
def test_a_list_that_loses_everything_is_not_believed_at_once(
    name: str, tmp_path: Path
) -> None:
    """While the page views of its day stay: its rows stay, and are told. A night that
    shows them again forgets it, and you may say that it is right.
    """
    day = FIRST if name == "events" else FIRST + 3 * DAY

    def update_at(number: int, *, broken: bool = True, **options: Any) -> Update:
        events = 0 if broken and name == "events" else 5
        emulator = service(night(number), {1: 2, 4: 3}, events=events)
        if broken:
            change(emulator, OF_A_DAY.on(day), **{name: []})
        return run(tmp_path, emulator, refresh=[f"{SITE}:{day}"], **options)

    def number_of_rows() -> int:
        sql = f"SELECT count(*) FROM {name} WHERE first_day = '{day}'"
        return int(query(tmp_path, sql)[0][0])

    update_at(1, broken=False)
    (doubt,) = update_at(2).doubts
    assert f"1 day from {day} to {day} lost all of {name}: the stored rows" in doubt
    assert number_of_rows() == 1
    assert update_at(3, broken=False).doubts == ()
    assert read_coverage(pipeline(tmp_path))[SITE].held == {}
    assert update_at(4, accept_changes=True).doubts == ()
    assert number_of_rows() == 0
    assert verify(pipeline(tmp_path)).differences == ()


def test_a_month_without_page_views_of_days_that_have_some_is_a_problem() -> None:
    """Its row stays, and it is read again."""
    dataset = Dataset()
    dataset.update(service(night(1), {1: 2}), lists=["months"])
    before = dataset.sums("months")
    emulator = service(night(2), {1: 2})
    months = HISTOGRAM.interval("month").between(FIRST, FIRST + 4 * DAY)
    nothing = {"date": str(FIRST), "pageviews": 0, "visitors": 0}
    change(emulator, months, histogram=[nothing])
    coverage = dataset.update(emulator)[SITE]
    assert "2026-03 has no page views, but its days have some" in str(coverage.error)
    assert dataset.sums("months") == before
    assert dataset.update(emulator)[SITE].error is None


@pytest.mark.long
@pytest.mark.parametrize("name", ["refresh", "list"])
def test_a_day_that_nobody_watches_any_more_does_not_fall_either(
    name: str, tmp_path: Path
) -> None:
    """Its rows stay if it is read again on request, or for a new list."""
    first = FIRST - 50 * DAY
    options: dict[str, Any] = {"lists": ["pages"], "first_day": first}
    run(tmp_path, service(NOW, {-45: 200, -44: 30}), **options)
    if name == "refresh":
        options["refresh"] = [f"{SITE}:{first}..{first + 10 * DAY}"]
    else:
        options["lists"] = ["pages", "countries"]
    report = run(tmp_path, service(NOW, {}), **options)
    assert "fell from 2" in report.doubts[0]
    assert query(tmp_path, "SELECT sum(pageviews) FROM days")[0][0] >= 200
    assert read_coverage(pipeline(tmp_path))[SITE].held


def test_late_events_are_found_by_their_sum() -> None:
    """They come without a page view, into one request that is sent anyway. If sums of
    days are never those of a period, they are looked at once.
    """
    dataset, views = Dataset(), {1: 2, 2: 2, 3: 2, 4: 2}
    dataset.update(service(night(1), views, events=1), lists=["events"])
    dataset.update(service(night(2), views, events=1))
    late = service(night(3), views, events=4)
    dataset.update(late)
    assert dataset.rows("events", "name", "total") == [("signup", 4)]
    # The list, the histogram, the day of the lag, the new day, and four days again.
    assert len(late.requests) == 1 + 1 + 2 + 4
    odd = service(night(3), views, events=4)
    days = HISTOGRAM.all_events().between(FIRST, FIRST + 4 * DAY)
    change(odd, days, lasts=True, events=[{"name": "signup", "total": 9}])
    coverage = dataset.update(odd)[SITE]
    assert not coverage.events_add_up
    again = service(night(3), views, events=4)
    dataset.update(again)
    assert len(again.requests) == 1 + 1 + 1


def test_days_are_read_again_on_request() -> None:
    """The named days are read again, and no others. What can't be meant is refused."""
    views = {1: 2, 2: 2, 3: 2, 4: 2}
    emulator, dataset = service(NOW, views), Dataset()
    dataset.update(emulator, lists=["pages"])
    for refresh, requests in (
        ([f"{SITE}:2026-03-02..2026-03-03"], 1 + 1 + 3),
        ([f"{SITE}:2026-03-02"], 1 + 1 + 2),
        # A day that is not over can't be read.
        ([f"{SITE}:2026-03-03..today"], 1 + 1 + 2),
        (["all"], 1 + 1 + 4),
    ):
        dataset.update(emulator, lists=["pages"], refresh=refresh)
        assert len(emulator.requests) == requests, refresh
    for text, why in (
        ("other.example", "no website 'other.example'"),
        (f"{SITE}:2026-02-01", "the dataset begins on 2026-03-01"),
        (f"{SITE}:2026-03-03..2026-03-01", "2026-03-01 is before 2026-03-03"),
        (f"{SITE}:2026-03-05", "2026-03-05 is not over"),
        (f"{SITE}:May", "'May' is not a day"),
        ("2026-03-02", "'2026-03-02' names no website"),
    ):
        with pytest.raises(InvalidInputError, match=why):
            dataset.update(emulator, lists=["pages"], refresh=[text])


def test_a_much_shorter_list_is_not_believed_at_once() -> None:
    """The websites count as listed for two nights; an empty list is always told."""
    many = [f"w{number}.example" for number in range(8)]

    def listing(number: int, names: list[str]) -> Emulator:
        emulator = Emulator(now=night(number))
        for name in names:
            emulator.add_website(name)
        return emulator

    dataset = Dataset()
    dataset.update(listing(1, many), lists=[])
    for number in (2, 3):
        coverage = dataset.update(listing(number, many[:3]))
        assert all(site.listed for site in coverage.values())
        assert "lists 3 websites, and not 5 of the 8" in dataset.state["doubt"]
    coverage = dataset.update(listing(4, many[:3]))
    assert sum(site.listed for site in coverage.values()) == 3
    assert dataset.state["doubt"] is None
    # One website that is gone is not a surprise.
    coverage = dataset.update(listing(5, many[:2]))
    assert sum(site.listed for site in coverage.values()) == 2
    # It is, if half are gone.
    dataset.update(listing(6, many[:1]))
    assert "lists 1 website, and not 1 of the 2" in dataset.state["doubt"]
    empty = Dataset()
    empty.update(listing(1, []))
    assert "no website: is it the right account?" in empty.state["doubt"]


@pytest.mark.long
def test_a_doubt_is_known_while_the_warehouse_is_in_use(tmp_path: Path) -> None:
    """The file beside it has what the last update did not believe, too."""
    run(tmp_path, Emulator(now=NOW), lists=["pages"])
    lock = tmp_path / "pipelines" / "sitestats.lock"
    with (
        locked(str(lock), busy="not seen"),
        pytest.warns(SiteStatsWarning, match="coverage as of "),
    ):
        status = read_status(pipeline(tmp_path))
    assert status.doubt == "the service lists no website: is it the right account?"
    # As a power failure, or another program, has left it.
    for text in ("", "[]", "{", '{"coverage": 5, "has_lock": true}'):
        copy = tmp_path / "pipelines" / "sitestats.coverage.json"
        copy.write_text(text, "utf-8")
        with locked(str(lock), busy="not seen"), pytest.raises(BusyError):
            read_status(pipeline(tmp_path))


@pytest.mark.filterwarnings("ignore:1 value of the list of websites")
def test_a_list_that_could_not_be_read_as_a_whole_takes_nobody_away() -> None:
    """An entry without a readable name says nothing of the others."""
    emulator, dataset = Emulator.made_up(2, days=5, now=NOW), Dataset()
    dataset.update(emulator, lists=[])
    body: Any = emulator.client().request("GET", "/api/websites")
    body["websites"][0]["hostname"] = 7
    emulator.fail_next(None, body=body, path="/api/websites")
    coverage = dataset.update(emulator)
    assert [site.listed for site in coverage.values()] == [True, True]


def test_an_update_of_named_websites_says_nothing_of_the_others() -> None:
    """A public website of somebody else is in no list, and not gone for that."""
    emulator, dataset = Emulator.made_up(2, days=5, now=NOW), Dataset()
    nothing = {"success": True, "websites": []}
    emulator.fail_next(None, body=nothing, path="/api/websites")
    first, second = emulator.websites
    dataset.update(emulator, hostnames=[first], lists=[])
    coverage = dataset.update(emulator, hostnames=[second])
    assert {name: site.listed for name, site in coverage.items()} == {
        first: True,
        second: True,
    }


def test_a_response_in_another_zone_is_refused() -> None:
    """Its days begin and end at other times, whether it is about a day or has a
    histogram.
    """
    for lists in ([], ["pages"]):
        emulator, dataset = service(NOW, {1: 2}), Dataset()
        emulator.change_website(SITE, timezone="Europe/Amsterdam")
        for asked in (HISTOGRAM, OF_A_DAY):
            change(emulator, asked.timezone("Asia/Tokyo").on(FIRST), lasts=True)
        coverage = dataset.update(emulator, lists=lists)[SITE]
        assert "time zone 'Asia/Tokyo', but Europe/Amsterdam" in str(coverage.error)
        assert dataset.rows("days", "timezone") == []


def test_a_warning_names_the_website_and_the_day() -> None:
    """Of two hundred websites, one is meant."""
    emulator = service(NOW, {4: 2})
    change(emulator, OF_A_DAY.on(FIRST + 3 * DAY), path="/other")
    with pytest.warns(SiteStatsWarning, match="example.com: 2026-03-04: .*page"):
        Dataset().update(emulator, lists=["pages"], first_day=FIRST + 3 * DAY)


def test_an_entry_that_is_twice_in_a_list_is_a_problem() -> None:
    """It is one row, and the day is read again."""
    emulator, dataset = service(NOW, {4: 3}), Dataset()
    entry = {"value": "/", "pageviews": 3, "visitors": 0, "seconds_on_page": None}
    change(emulator, OF_A_DAY.on(FIRST + 3 * DAY), pages=[entry, entry])
    coverage = dataset.update(emulator, lists=["pages"])[SITE]
    assert "$.pages: has '/' twice" in str(coverage.error)
    assert dataset.rows("pages", "rank", "value", "pageviews") == [(1, "/", 3)]
    assert dataset.update(emulator)[SITE].error is None


@pytest.mark.parametrize("first_day", ["today-4d", "2026-03-01", FIRST])
def test_a_first_day_is_a_date_or_a_word(first_day: object) -> None:
    """It counts from the present of the service."""
    coverage = Dataset().update(service(NOW, {}), lists=[], first_day=first_day)[SITE]
    assert coverage.first == FIRST
    for wrong in ("May", NOW, 20260301, "last-month"):
        with pytest.raises(InvalidInputError, match="is not a day"):
            Dataset().update(service(NOW, {}), lists=[], first_day=wrong)


BROKEN = {
    "DELETE FROM pages WHERE first_day = '2026-03-02'": ("pages", 1),
    "UPDATE days SET pageviews = 0 WHERE first_day = '2026-03-02'": ("days", 1),
    "DELETE FROM days WHERE first_day = '2026-03-02'": ("days", 1),
    "INSERT INTO events SELECT * REPLACE (9 AS rank) FROM events": ("events", 1),
    "INSERT INTO days BY NAME SELECT * FROM days": ("days", 4),
    "DELETE FROM months": ("months", 1),
    "UPDATE months SET pageviews = pageviews - 1": ("months", 1),
}


@pytest.fixture(scope="module")
def updated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Emulator]:
    """The folder of a warehouse, and its service."""
    emulator = service(NOW, {1: 2, 2: 3, 4: 1}, events=2)
    folder = tmp_path_factory.mktemp("updated")
    run(folder, emulator)
    return folder, emulator


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(sql, marks=() if number == 0 else pytest.mark.long)
        for number, sql in enumerate(BROKEN)
    ],
)
def test_what_is_not_there_is_found_and_read_again(
    updated: tuple[Path, Emulator], sql: str, tmp_path: Path
) -> None:
    """Each difference names website, day and table; the refresh that it proposes mends
    it, and the status knows of it meanwhile.
    """
    folder = shutil.copytree(updated[0], tmp_path / "copy")
    table, number = BROKEN[sql]
    made = pipeline(folder)
    before = tables(folder)
    with duckdb.connect(folder / "sitestats.duckdb") as connection:
        connection.execute("SET schema = 'web'")
        connection.execute(sql)
    found = verify(made)
    assert table in {each.table for each in found.differences}
    assert len(found.differences) >= number
    assert {each.hostname for each in found.differences} == {SITE}
    assert json.loads(json.dumps(found.to_dict()))["refresh"] == [*found.refresh]
    status = read_status(made)
    assert status.verified is not None
    assert status.verified.days.keys() == {SITE}
    run(folder, updated[1], refresh=found.refresh)
    status = read_status(made)
    assert status.verified is not None
    assert status.verified.days == {}
    assert verify(made).differences == ()
    assert tables(folder) == before


def test_each_update_is_on_record(updated: tuple[Path, Emulator]) -> None:
    """A table has its requests, the changed days and the problems."""
    sql = "SELECT requests, websites, failed, days_changed, problems FROM runs"
    assert query(updated[0], sql) == [(5, 1, 0, 0, None)]


def test_coverage_comes_back_from_the_state() -> None:
    """So do its days, which are keys of objects in JSON."""
    dataset = Dataset()
    dataset.update(service(night(1), {1: 150}, events=3), lists=["events"])
    coverage = dataset.update(service(night(2), {}))[SITE]
    assert coverage.held
    assert Coverage.from_state(json.loads(json.dumps(coverage.to_state()))) == coverage
