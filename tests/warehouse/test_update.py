"""A DuckDB file that grows: what is in its tables after one update, and after more."""

from __future__ import annotations

import datetime as dt
import io
import json
import shutil
from pathlib import Path
from typing import Any

import dlt
import pytest
from dlt.common.runtime import anon_tracker

from sitestats import (
    AuthenticationError,
    BusyError,
    ConfigurationError,
    QueryError,
    SiteStatsWarning,
    StatsQuery,
)
from sitestats.emulator import Emulator
from sitestats.warehouse import Update, forget, read_coverage, sitestats_source, update
from sitestats.warehouse._pipeline import stored_cursors
from updates import FIRST, LISTS, NOW, pipeline, query, run, tables, ticking

pytestmark = [pytest.mark.slow, pytest.mark.once]

DAY = dt.timedelta(days=1)


@pytest.mark.long
def test_the_progress_of_an_update_lasts_over_its_loads(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bar counts the days of all loads of an update and is there until its end, so
    also while dlt loads; a load that is no update's ends its own.
    """
    monkeypatch.setenv("TERM", "xterm")
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    report = run(tmp_path / "one", emulator, max_requests=7, progress=True)
    assert len(report.loads) == 2
    bars = terminal.getvalue().split("\r")
    assert bars[1].endswith("1 of 13 requests")
    assert "] 13 of 13 requests" in bars[-3]
    assert [bar.strip() for bar in bars].count("") == len(("first", "blank", "end"))
    terminal.seek(0)
    terminal.truncate()
    source = sitestats_source(
        first_day=FIRST,
        client=emulator.client(),
        max_requests=4,
        progress=True,
        now=ticking(NOW),
    )
    for _ in range(2):
        pipeline(tmp_path / "other").run(source)
    bars = terminal.getvalue().split("\r")
    assert [bar.strip() for bar in bars].count("") == 5
    assert "] 8 of 13 requests" in bars[-3]


def test_a_website_that_fails_is_caught_up(
    emulator: Emulator, loaded: tuple[Path, Update], tmp_path: Path
) -> None:
    """A locked website, one that is not there, a day that fails and a zone that nobody
    knows are reported, and cost no other website anything; later runs read what is
    missing.
    """
    mine = Emulator.made_up(3, days=5, now=NOW)
    mine.change_website("blog.example", locked=True)
    mine.fail_next(
        times=None,
        status=500,
        when=lambda request: (
            request.path == "/docs.example.json"
            and request.params["start"] == "2026-03-02"
        ),
    )
    names = ["shop.example", "blog.example", "docs.example", "nobody.example"]
    report = run(tmp_path, mine, hostnames=names, max_requests=4)
    assert len(report.loads) > 1
    errors = {name: cursor.error for name, cursor in report.failed.items()}
    assert sorted(errors) == ["blog.example", "docs.example", "nobody.example"]
    assert str(errors["blog.example"]).startswith("WebsiteLockedError: ")
    assert str(errors["docs.example"]).startswith("2026-03-02: ServerError: ")
    assert str(errors["nobody.example"]).startswith("NotFoundError: ")
    coverage = query(tmp_path, "SELECT hostname, through, behind FROM coverage")
    assert sorted(coverage) == [
        ("blog.example", None, 4),
        ("docs.example", dt.date(2026, 3, 1), 1),
        ("shop.example", dt.date(2026, 3, 4), 0),
    ]
    mine.clear_faults()
    mine.change_website("blog.example", locked=False)
    mine.forget_requests()
    report = run(tmp_path, mine, hostnames=names[:3])
    assert report.failed == {}
    # The list; two histograms, since websites have days that may have changed; the lag
    # of these, the missing day, the four of the third.
    assert len(mine.requests) == 1 + 2 + 2 + 1 + 4
    assert mine.websites == emulator.websites
    assert tables(tmp_path) == tables(loaded[0])


def test_the_destination_knows_how_far_it_is(emulator: Emulator, folder: Path) -> None:
    """Without the pipeline's folder, as in a new container, or after a load that was
    thrown away, a run requests what is not in the destination, and nothing else.
    """
    before = tables(folder)
    shutil.rmtree(folder / "pipelines")
    assert {*read_coverage(pipeline(folder))} == {*emulator.websites}
    emulator = Emulator.made_up(3, days=5, now=NOW)
    emulator.now = NOW + DAY
    source = sitestats_source(
        first_day=FIRST,
        lists=LISTS,
        client=emulator.client(),
        max_requests=4,
        now=ticking(NOW + DAY),
    )
    lost = pipeline(folder)
    lost.extract(source)
    lost.normalize()
    shutil.rmtree(Path(lost.working_dir, "load"))
    assert tables(folder) == before
    # The same source, whose requests of before count for nothing.
    emulator.forget_requests()
    report = update(pipeline(folder), source)
    # A histogram of each website, the day of the lag, and the new one.
    assert len(emulator.requests) == report.requests == 3 * 3
    through = "SELECT DISTINCT through - (timezone = 'Asia/Tokyo')::INT FROM coverage"
    assert query(folder, through) == [(dt.date(2026, 3, 5),)]


@pytest.mark.filterwarnings("ignore:the response's period")
def test_a_day_that_is_not_over_is_never_final(tmp_path: Path) -> None:
    """By the service's clock: what it has of such a day is stored, and read again. The
    response about another day is not stored at all.
    """
    emulator = Emulator.made_up(1, days=5, now=NOW + DAY)
    fields = ("pageviews", "visitors", "seconds_on_page", "pages")
    query = StatsQuery("shop.example").fields(*fields).all_events()
    body = emulator.client().stats.get(query.on(FIRST)).body
    emulator.fail_next(
        body=body, when=lambda request: request.params.get("start") == "2026-03-03"
    )
    emulator.now = NOW
    later = ticking(NOW + DAY)
    report = run(tmp_path, emulator, now=later)
    assert str(report.failed["shop.example"].error) == (
        "2026-03-03: ResponseError: the response is about another day: 2026-03-01"
    )
    partial = "SELECT first_day FROM days WHERE partial"
    assert query_days(tmp_path, partial) == [5]
    assert query_days(tmp_path, "SELECT first_day FROM days") == [1, 2, 4, 5]
    assert query_days(tmp_path, "SELECT through FROM coverage") == [2]
    emulator.now = NOW + DAY
    assert run(tmp_path, emulator, now=later, lag=0).failed == {}
    assert query_days(tmp_path, partial) == []
    assert query_days(tmp_path, "SELECT through FROM coverage") == [5]


def query_days(folder: Path, sql: str) -> list[int]:
    """The days of the month that *sql* finds."""
    return sorted(day.day for (day,) in query(folder, sql))


@pytest.mark.filterwarnings("ignore:the response")
def test_bad_data_of_a_website_is_its_own(tmp_path: Path) -> None:
    """A listed name or zone that no query takes, a number that no table has, and an
    error that no text can be are in the coverage of their website; all others load.
    """
    mine = Emulator.made_up(3, days=2, now=NOW)
    body: Any = mine.client().request("GET", "/api/websites")
    one = body["websites"][0]
    bad = {"localhost": "UTC", "a b": "UTC", "x\ud800.example": "UTC", "z.test": "utc"}
    body["websites"] += [
        {**one, "hostname": name, "timezone": zone, "pageviews": 2**63}
        for name, zone in bad.items()
    ]
    mine.fail_next(times=None, body=body, path="/api/websites")
    large = mine.client().stats.get(
        StatsQuery("blog.example")
        .fields("pageviews", "visitors", "seconds_on_page", "pages")
        .all_events()
        .on(dt.date(2026, 3, 4))
    )
    numbers = {**json.loads(large.body), "visitors": 2**63}
    mine.fail_next(times=None, body=numbers, path="/blog.example.json")
    error = {"ok": False, "error": "no \ud800 \0"}
    mine.fail_next(times=None, status=500, body=error, path="/docs.example.json")
    report = run(tmp_path, mine, first_day=dt.date(2026, 3, 4))
    errors = dict(query(tmp_path, "SELECT hostname, error FROM coverage"))
    assert errors.pop("shop.example") is None
    assert {*errors} == {"localhost", "a b", "x?.example", "z.test"} | {
        "blog.example",
        "docs.example",
    }
    assert str(errors["localhost"]).startswith("QueryError: ")
    assert errors["blog.example"] == (
        "2026-03-04: ResponseError: a number does not fit into 64 bits: days.visitors"
    )
    assert str(errors["docs.example"]).startswith("2026-03-04: ServerError: no ")
    assert len(report.failed) == 6
    rows = query(tmp_path, "SELECT DISTINCT hostname FROM days")
    assert rows == [("shop.example",)]
    large_ones = "SELECT count(*) FROM websites WHERE pageviews IS NULL"
    assert query(tmp_path, large_ones) == [(4,)]


@pytest.mark.long
def test_totals_alone_come_from_histograms(folder: Path) -> None:
    """Without lists a website is one request, which replaces no median, and an earlier
    first day reads what is before; with a list again, a day of which the histogram
    shows that it is empty needs no request of its own.
    """
    mine = Emulator.made_up(3, days=5, now=NOW)
    mine.now = NOW + DAY
    medians = "SELECT hostname, first_day, seconds_on_page FROM days ORDER BY 1, 2"
    before = query(folder, medians)
    # The day of the lag has a median, so it is requested by itself.
    with pytest.warns(SiteStatsWarning, match="no rows in events, pages, which earli"):
        assert run(folder, mine, lists=()).requests == 3 * 2
    new = {row for row in query(folder, medians) if row not in before}
    assert len(new) == 3
    assert {median for _, _, median in new} == {None}
    assert len(query(folder, medians)) == len(before) + 3
    earlier = FIRST - 3 * DAY
    assert run(folder, mine, lists=(), first_day=earlier).requests == 3
    assert len(query(folder, medians)) == len(before) + 3 * 4
    report = run(folder, mine, lists=["pages"], first_day=earlier)
    # Two have traffic on one of the earlier days.
    assert (report.requests, report.failed) == (3 + 2, {})
    there = query(folder, "SELECT DISTINCT hostname, first_day FROM pages")
    assert len(there) == len(before) + 2


@pytest.mark.long
def test_a_day_that_changed_late_is_read_again(tmp_path: Path) -> None:
    """Page views that the service counts later are found by the histogram, and the day
    is read, and no other; a histogram that lacks days is reported.
    """
    mine = Emulator(now=NOW)
    moment = "2026-03-01T10:00:00Z"
    mine.load([{"path": "/a", "added_iso": moment}], hostname="example.com")
    run(tmp_path, mine, lag=0)
    assert run(tmp_path, mine, lag=0).requests == 1
    mine.load([{"path": "/b", "added_iso": moment}], hostname="example.com")
    assert run(tmp_path, mine, lag=0).requests == 2
    pages = "SELECT value FROM pages ORDER BY rank"
    assert query(tmp_path, pages) == [("/a",), ("/b",)]
    mine.now = NOW + 4 * DAY
    mine.fail_next(status=500, when=lambda request: "histogram" in str(request.params))
    with pytest.warns(SiteStatsWarning, match="histograms of 1 website failed, or"):
        assert run(tmp_path, mine, lag=0).requests == 1 + 4


@pytest.mark.long
def test_a_website_that_moved_west_has_no_hour_twice(tmp_path: Path) -> None:
    """The rows of days that are not over in the new zone go, from all tables; while
    the website fails, all stay.
    """
    mine = Emulator(now=NOW)
    mine.add_website("example.com", timezone="Asia/Tokyo")
    begin = dt.datetime(2026, 2, 28, tzinfo=dt.UTC)
    hours = [begin + n * dt.timedelta(hours=1) for n in range(5 * 24)]
    mine.load(
        [{"path": "/a", "added_iso": str(hour)} for hour in hours],
        hostname="example.com",
    )
    run(tmp_path, mine)
    last = "SELECT max(first_day), sum(pageviews) FROM "
    assert query(tmp_path, last + "days") == query(tmp_path, last + "pages")
    mine.change_website("example.com", timezone="America/Los_Angeles", locked=True)
    before = tables(tmp_path)["days"]
    run(tmp_path, mine)
    assert tables(tmp_path)["days"] == before
    mine.change_website("example.com", locked=False)
    run(tmp_path, mine, lists=["pages"])
    run(tmp_path / "whole", mine, lists=["pages"])
    assert tables(tmp_path)["days"] == tables(tmp_path / "whole")["days"] != before
    assert tables(tmp_path)["pages"] == tables(tmp_path / "whole")["pages"]


def test_a_deleted_website_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A website that is not listed any more keeps its rows, and is not counted; once it
    is forgotten, its days are all there is of it.
    """
    fewer = Emulator.made_up(2, days=5, now=NOW)
    report = run(folder, fewer)
    assert {*report.websites} == {*fewer.websites}
    told = "SELECT through, behind, error FROM coverage WHERE hostname = 'docs.example'"
    ((through, behind, error),) = query(folder, told)
    assert (through, behind) == (dt.date(2026, 3, 5), None)
    assert error == "the service does not list this website any more"
    forget(pipeline(folder), ["docs.example"])
    assert query(folder, told) == []
    assert {*read_coverage(pipeline(folder))} == {*fewer.websites}
    assert {*stored_cursors(pipeline(folder))} == {*fewer.websites}
    rows = query(folder, "SELECT count(*) FROM days WHERE hostname = 'docs.example'")
    assert rows == [(5,)]


def test_a_second_run_ends_with_a_message(folder: Path, emulator: Emulator) -> None:
    """Two runs at once: the second is refused before it requests anything, and how far
    each website is comes from the file of the last load, if there is one.
    """
    emulator.forget_requests()
    second = pipeline(folder)
    source = sitestats_source(first_day=FIRST, client=emulator.client())
    refused = []
    stored = folder / "pipelines" / "sitestats.coverage.json"
    assert stored.exists()

    def interfere(_done: int, _total: int | None) -> None:
        with pytest.raises(BusyError) as raised:
            update(second, source)
        refused.append(str(raised.value))
        if stored.exists():
            with pytest.warns(SiteStatsWarning, match="coverage as of 2026-03-05 20:"):
                assert {*read_coverage(second)} == {*emulator.websites}
            stored.unlink()
        with pytest.raises(BusyError):
            read_coverage(second)

    run(folder, emulator, progress=interfere)
    assert len(refused) == 6
    assert refused[0].startswith("another run uses the pipeline 'sitestats'")
    assert len(emulator.requests) == 1 + 6


def test_a_first_day_in_the_future_is_refused(folder: Path, emulator: Emulator) -> None:
    """It changes nothing; and a dataset whose state has such a day goes on with the
    days that it has.
    """
    future = dt.date(2033, 1, 1)
    before = tables(folder)
    with pytest.raises(ConfigurationError, match="2033-01-01 is in the future"):
        run(folder, emulator, first_day=future)
    assert tables(folder) == before
    made = pipeline(folder)
    made.sync_destination()
    with made.managed_state(extract_state=True) as state:
        state["sources"]["sitestats"]["resources"]["days"]["since"] = str(future)
    made.normalize()
    made.load()
    tomorrow = Emulator.made_up(3, days=6, now=NOW + DAY)
    report = run(folder, tomorrow, first_day=None)
    assert report.requests
    assert {site.first for site in report.websites.values()} == {FIRST}
    assert {site.behind(FIRST + 4 * DAY) for site in report.websites.values()} == {0}


def test_wrong_values_are_refused(tmp_path: Path) -> None:
    """What can't be right is refused before a pipeline is touched."""
    client = Emulator.demo().client()
    with pytest.raises(QueryError, match="no table 'pags'; there are pages, "):
        sitestats_source(first_day=FIRST, client=client, lists=["pags"])
    with pytest.raises(ConfigurationError, match="lag is 0 days or more, not -1"):
        sitestats_source(first_day=FIRST, client=client, lag=-1)
    with pytest.raises(QueryError, match="host"):
        sitestats_source(first_day=FIRST, client=client, hostnames=["a b"])


def test_the_source_is_configured_as_dlts_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first day and the credentials can come from dlt's configuration, and an error
    of the service is raised as itself.
    """
    emulator = Emulator.made_up(1, days=2, now=NOW)
    with emulator.serve() as address:
        for name, value in {
            "FIRST_DAY": "2026-03-04",
            "BASE_URL": address,
            "API_KEY": emulator.api_key,
            "USER_ID": emulator.user_id,
        }.items():
            monkeypatch.setenv(f"SOURCES__SITESTATS__{name}", value)
        source = sitestats_source(lists=["pages"], now=lambda: NOW)
        assert update(pipeline(tmp_path), source).requests == 1
        emulator.fail_next(status=401)
        with pytest.raises(AuthenticationError):
            update(pipeline(tmp_path), sitestats_source(now=lambda: NOW))


@pytest.mark.usefixtures("loaded")
def test_telemetry_is_off() -> None:
    """Nothing is sent about how dlt is used: after an update, it knows no address."""
    assert anon_tracker._ANON_TRACKER_ENDPOINT is None
    assert not dlt.current.run_context().runtime_config.dlthub_telemetry
