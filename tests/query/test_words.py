"""Words from elsewhere: an error about a name says what to type here."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from importlib.resources import files
from operator import attrgetter
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sitestats
from sitestats import (
    AsyncClient,
    Client,
    InvalidInputError,
    SiteStatsError,
    StatsQuery,
    StatusError,
)
from sitestats.analysis import Page
from sitestats.emulator import Emulator

QUERY: Any = StatsQuery("shop.example").fields("pageviews", "histogram", "pages")
CLIENT: Any = Emulator.made_up(1, days=9).client()
STATS: Any = CLIENT.stats.get(QUERY.last(days=7))
OUTCOMES: Any = CLIENT.stats.get_many([QUERY.last(days=7)]).collect()
COMPARISON: Any = CLIENT.stats.compare(QUERY.last(days=3))
FRAME: Any = CLIENT.websites.list().to_pandas()
PACKAGE: Any = sitestats
ERROR: Any = StatusError("no", status_code=404)
ADDRESS: Any = "https://x.example"

CALLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: QUERY.filter(country="NL"), "use .where(country="),
    (lambda: QUERY.date_range("a", "b"), "use .between("),
    (lambda: QUERY.period("30d"), "use .last(days=30)"),
    (lambda: QUERY.groupBy("page"), ".fields('countries')"),
    (lambda: QUERY.orderBy("views"), "sort_values"),
    (lambda: QUERY.execute, "client.stats.get(query)"),
    (lambda: QUERY.referrers, ".fields('referrers')"),
    (lambda: QUERY.delete, "nothing in them can be changed"),
    (lambda: QUERY.time_zone("UTC"), "did you mean .timezone?"),
    (lambda: QUERY.fields("sessions"), "counts no sessions"),
    (lambda: QUERY.fields("screenPageViews"), "did you mean 'pageviews'?"),
    (lambda: QUERY.fields("page_path"), "did you mean 'pages'?"),
    (lambda: QUERY.fields("eventCount"), ".events("),
    (lambda: QUERY.fields("bounceRate"), "does not count bounces"),
    (lambda: QUERY.fields("vistors"), "did you mean 'visitors'?"),
    (lambda: QUERY.fields("visitors,pages"), ".fields('visitors', 'pages')"),
    (lambda: QUERY.fields("*"), "name each field"),
    (QUERY.fields, "name each field"),
    (lambda: QUERY.fields("nb_visits"), "counts no sessions"),
    (lambda: QUERY.fields("visit:source"), "the nearest is 'referrers'"),
    (lambda: QUERY.fields("sum(pageviews)"), "the nearest is 'pageviews'"),
    (lambda: QUERY.fields("firstUserMedium"), "the nearest is 'utm_mediums'"),
    (lambda: QUERY.fields("entry_page"), "does not follow visitors"),
    (lambda: QUERY.fields("impressions"), "has no searches"),
    (lambda: QUERY.fields("visit_duration"), "does not measure visits"),
    (lambda: QUERY.fields("last_30_days"), "use .last(days=30)"),
    (lambda: QUERY.fields("realtime"), "does not say who is there now"),
    (lambda: QUERY.fields("visitors", by="country"), "request a list"),
    (lambda: QUERY.fields("visitors", period="30d"), "use .last(days=30)"),
    (lambda: QUERY.fields("visitors", limit=10), ".limit(100)"),
    (lambda: QUERY.fields(metrics=["visitors"]), "name each field"),
    (lambda: QUERY.fields("hourly"), ".fields('histogram').interval('hour')"),
    (lambda: QUERY.hourly, ".fields('histogram').interval('hour')"),
    (lambda: QUERY.by_week, ".fields('histogram').interval('week')"),
    (lambda: QUERY.this_month, ".during('this-month')"),
    (lambda: QUERY.last30days, "use .last(days=30)"),
    (lambda: QUERY.set_limit(5), "did you mean .limit?"),
    (lambda: QUERY.get, "client.stats.get(query)"),
    (lambda: QUERY.having("visitors > 10"), "no filter compares numbers"),
    # A name that is but a little like it would lead astray.
    (lambda: QUERY.distinct, "StatsQuery has no 'distinct': it has "),
    (lambda: QUERY.where(not_country="NL"), "no filter leaves anything out"),
    (lambda: QUERY.where(plan="pro"), ".where_metadata(plan="),
    (lambda: QUERY.where(**{"event:page": "/a"}), ".where(page="),
    (lambda: QUERY.where(channel="Email"), ".where(referrer="),
    (lambda: QUERY.where(entry_page="/a"), "does not follow visitors"),
    (lambda: QUERY.where(user_type="new"), "new visitors"),
    (lambda: QUERY.where_metadata("plan='pro'"), ".where_metadata(plan='pro')"),
    (lambda: QUERY.where_metadata(plan=["a", "b"]), "query.each(metadata={'plan'"),
    (lambda: QUERY.where(**{"metadata.plan": "pro"}), ".where_metadata(plan="),
    (lambda: QUERY.where(event="signup"), ".events("),
    (lambda: QUERY.where(pagePath="/a"), "page="),
    (lambda: QUERY.where(device="mobile"), "device_type="),
    (lambda: QUERY.where(page__contains="blog"), "'*…*'"),
    (lambda: QUERY.where(contry="NL"), "did you mean 'country'?"),
    (lambda: QUERY.where(country=["NL", "BE"]), "query.each(country=[…])"),
    (lambda: QUERY.where("country", "NL"), ".where(country='NL'"),
    (lambda: QUERY.where(device_type="phone"), "did you mean 'mobile'?"),
    (lambda: QUERY.interval("daily"), "did you mean 'day'?"),
    (lambda: QUERY.interval("W-MON"), "did you mean 'week'?"),
    (lambda: QUERY.interval("quarter"), "query.each('quarter')"),
    (lambda: QUERY.interval("15min"), "an hour is the shortest"),
    (lambda: QUERY.interval("dayofweek"), "day_of_week"),
    (lambda: QUERY.quarterly, "query.each('quarter')"),
    (lambda: QUERY.limit(10, offset=10), "no further pages"),
    (lambda: QUERY.timezone(ZoneInfo("Asia/Tokyo")), "'Asia/Tokyo'"),
    (lambda: QUERY.each("country"), ".each(country=['NL', 'BE'])"),
    (lambda: QUERY.each(by="month"), "use unit="),
    (lambda: QUERY.each(websites=FRAME), "frame['hostname']"),
    (lambda: QUERY.last("30d"), ".last(days=30)"),
    (lambda: QUERY.last("month"), ".during('last-month')"),
    (lambda: QUERY.last("day"), ".on('yesterday')"),
    (lambda: QUERY.last(timedelta(days=7)), ".last(days=7)"),
    (lambda: QUERY.last(days=7, include_today=True), "today=True"),
    (lambda: QUERY.last(7, 8), ".last(weeks=4)"),
    (lambda: QUERY.during("30d"), ".last(days=30)"),
    (lambda: QUERY.during("last_12_months"), ".last(months=12)"),
    (lambda: QUERY.during("last 2 years"), ".last(months=24)"),
    (lambda: QUERY.during("ytd"), ".during('this-year')"),
    (lambda: QUERY.during("month-to-date"), ".during('this-month')"),
    (lambda: QUERY.during("last7"), ".last(days=7)"),
    (lambda: QUERY.during("P30D"), ".last(days=30)"),
    (lambda: QUERY.during("last_2_quarters"), ".last(months=6)"),
    (lambda: QUERY.during("30"), ".last(days=30)"),
    (lambda: QUERY.during("0d"), ".on('today')"),
    (lambda: QUERY.during("previousQuarter"), ".during('last-quarter')"),
    (lambda: QUERY.during("24h"), "a period has whole days"),
    (lambda: QUERY.during("realtime"), ".on('today')"),
    (lambda: QUERY.during("last monday"), "'today-3d'"),
    (lambda: QUERY.during("next week"), "the last day is 'today'"),
    (lambda: QUERY.during("March"), "name the year"),
    (lambda: QUERY.during("2026-W9"), ".during('2026-W09')"),
    (lambda: QUERY.during("202610"), ".during('2026-10')"),
    (lambda: QUERY.during(timedelta(days=7)), ".last(days=7)"),
    (lambda: QUERY.during("2026-10-01", "2026-10-31"), ".between("),
    (lambda: QUERY.during(["2026-10-01", "2026-10-31"]), ".between("),
    (lambda: QUERY.during("2026-10-01..2026-10-31"), "'2026-10-01', '2026-10-31'"),
    (lambda: QUERY.during("Q3 2026"), ".during('2026-Q3')"),
    (lambda: QUERY.during("October 2026"), ".during('2026-10')"),
    (lambda: QUERY.on("2026-10"), ".during('2026-10')"),
    (lambda: QUERY.on("last month"), ".during('last-month')"),
    (lambda: QUERY.on("Today"), "use 'today'"),
    (lambda: QUERY.on("today+1d"), "the last day is 'today'"),
    (lambda: QUERY.on("yesterday-7d"), "use 'today-8d'"),
    (lambda: QUERY.on("2 weeks ago"), "use 'today-14d'"),
    (lambda: QUERY.on("yesteday"), "did you mean 'yesterday'?"),
    (lambda: QUERY.on("2026/10/31"), "use '2026-10-31'"),
    (lambda: QUERY.on("20261031"), "use '2026-10-31'"),
    (lambda: QUERY.on("2026-10-31T23:59:59Z"), "use '2026-10-31'"),
    # The day and the month may be either.
    (lambda: QUERY.on("01-02-2026"), "'YYYY-MM-DD'"),
    (lambda: QUERY.on("2026-10-01", "2026-10-31"), ".between("),
    (lambda: QUERY.since(timedelta(days=7)), "'today-7d'"),
    (lambda: QUERY.between("30daysAgo", "yesterday"), "'today-30d'"),
    (QUERY.previous, "'week'"),
    (lambda: QUERY.previous("yoy"), "did you mean 'year'?"),
    (lambda: StatsQuery("x.example", fields=["visitors"]), ".fields('visitors')"),
    (StatsQuery, "StatsQuery('example.com')"),
    (lambda: StatsQuery(site="x.example"), "host name first"),
    (lambda: CLIENT.stats.get("x.example", fields=["visitors"]), "StatsQuery("),
    (lambda: CLIENT.stats.get("x.example", "visitors"), "StatsQuery("),
    (lambda: CLIENT.stats.get([QUERY]), ".get_many(queries)"),
    (lambda: CLIENT.stats.get_many([QUERY]).to_pandas(), ".collect().to_pandas()"),
    (lambda: CLIENT.stats.get_many([QUERY]).plot(), ".collect()"),
    (lambda: CLIENT.stats.compare(QUERY, period="yoy"), "against="),
    (lambda: CLIENT.stats.compare(QUERY, "yoy"), "'previous-year'"),
    (lambda: CLIENT.stats.timeseries, ".fields('histogram')"),
    (lambda: CLIENT.stats.compare(QUERY, "30d"), "use query.last(days=30)"),
    (lambda: CLIENT.stats.compare(QUERY, "qoq"), "'previous-quarter'"),
    (lambda: CLIENT(QUERY), "client.stats.get("),
    (lambda: CLIENT["shop.example"], "client.stats.get("),
    (lambda: QUERY["visitors"], "use .fields('visitors')"),
    (lambda: QUERY[0], "read a value by its name"),
    (lambda: STATS["views"], "use .pageviews"),
    (lambda: CLIENT.run_report, "client.stats.get("),
    (lambda: CLIENT.breakdown, ".fields('countries'))"),
    (lambda: CLIENT.stats.breakdown, ".fields('countries'))"),
    (lambda: CLIENT.sites, "client.websites.list()"),
    (lambda: CLIENT.stats.realtime("x"), ".get(query.on('today'))"),
    (lambda: CLIENT.stats.events("x"), ".events('signup')"),
    (lambda: CLIENT.countries, ".fields('countries'))"),
    (lambda: CLIENT.websites.delete("x"), "the service's own pages"),
    (lambda: CLIENT.websites.create("x"), ".add('example.com'"),
    (lambda: CLIENT.websites("x"), "use .list()"),
    (lambda: CLIENT.websites.list("x"), ".list()['example.com']"),
    (lambda: CLIENT.websites.add("x.example", tz="UTC"), "use timezone="),
    (lambda: CLIENT.websites.ensure(["x.example"], public=True), "WebsiteSpec("),
    (lambda: CLIENT.websites.list().names, "website.hostname for"),
    (lambda: CLIENT.websites.list()[0].stats, "StatsQuery(website)"),
    (lambda: QUERY.pinned(timezonee="UTC"), "it takes timezone, now"),
    (lambda: QUERY.each(websitess=["a.example"]), "did you mean 'websites'?"),
    (lambda: CLIENT.request("GET", "/a", paramz={}), "it takes method, path, params"),
    (lambda: CLIENT.with_options(timeoutt=3), "it takes timeout, total_timeout"),
    (lambda: CLIENT.stats.get_jsonp(QUERY, callbackk="a"), "it takes query, callback"),
    (lambda: STATS.to_html(rowz=3), "it takes rows"),
    (lambda: STATS.plot(fieldd="pages"), "did you mean 'field'?"),
    (lambda: Page("x").titlee, "did you mean .title?"),
    (lambda: STATS.views, "use .pageviews"),
    (lambda: STATS.bounce_rate, "does not count bounces"),
    (lambda: STATS.to_csv("x"), ".to_pandas().to_csv("),
    (lambda: STATS.to_pandas(pages=True), "name one list"),
    (lambda: STATS.pages[0].path, "use .value"),
    (lambda: STATS.histogram[0].day, "use .date"),
    (lambda: STATS.pages.visitors, "use .column('visitors')"),
    (lambda: STATS.pages.first, "[:10]"),
    (lambda: COMPARISON.visitors, "use .totals['visitors']"),
    (lambda: COMPARISON.pages, "use comparison['pages']"),
    (lambda: COMPARISON.totals.visitors, "what was compared is ['pageviews']"),
    (lambda: COMPARISON.previous, "use .before"),
    (lambda: COMPARISON.total, "use .totals['visitors']"),
    (lambda: COMPARISON.totals["pageviews"].change, "use .percent"),
    (lambda: OUTCOMES[0].hostname, "use .query.hostname"),
    (lambda: COMPARISON["pages"][0].change, ".visitors.percent"),
    (lambda: OUTCOMES.visitors, ".to_pandas()['visitors']"),
    (lambda: OUTCOMES[0].pages, "use .stats.pages"),
    (lambda: OUTCOMES.results, "use .succeeded"),
    (lambda: PACKAGE.Query, "use StatsQuery("),
    (lambda: PACKAGE.NotFound, "did you mean NotFoundError?"),
    (lambda: PACKAGE.HTTPError, "use StatusError"),
    (lambda: STATS.plot(figsize=(9, 4)), "ax="),
    (lambda: STATS.pages.sort_values("x"), ".to_pandas("),
    (lambda: OUTCOMES.plot("pages"), "stats.plot("),
    (lambda: OUTCOMES.to_pandas("x"), "pages"),
    (lambda: OUTCOMES.to_pandas("page"), "did you mean 'pages'?"),
    (lambda: ERROR.status, "use .status_code"),
    (lambda: ERROR.nothing, ".status_code"),
    (lambda: Client(ADDRESS, "key"), "api_key="),
    (lambda: Client(ADDRESS, token="key"), "use api_key="),
    (lambda: Client(url=ADDRESS), "use base_url="),
    (lambda: AsyncClient(ADDRESS, max_retries=3), "use retries="),
    (lambda: Client(ADDRESS, nothing=3), "it has base_url, api_key"),
]


@pytest.mark.parametrize(("call", "words"), CALLS)
def test_a_word_from_elsewhere(call: Callable[[], Any], words: str) -> None:
    """The error about a call of another tool says what to type, before any list of the
    names that there are; it names no private class and no private name.
    """
    with pytest.raises((AttributeError, SiteStatsError, TypeError)) as it:
        call()
    text = str(it.value)
    assert words in text
    assert "Collected" not in text
    assert "Base" not in text
    assert " ._" not in text
    assert getattr(it.value, "obj", None) is None


def test_what_is_told_of_a_client_exists() -> None:
    """Where an error says to use a method of a client, the client has it."""
    words = files("sitestats").joinpath("words.toml").read_text("utf-8")
    told = {*re.findall(r"client\.(\w+(?:\.\w+)?)\(", words)}
    assert {"request", "stats.get", "websites.list"} <= told
    for path in told:
        assert callable(attrgetter(path)(CLIENT)), path


def test_a_key_at_a_wrong_place_is_in_no_frame() -> None:
    """A key that is given by another word is in no line and no local variable of the
    package.
    """
    for call in (
        lambda: Client(ADDRESS, "sa_key_1234567890"),
        lambda: Client(ADDRESS, token="sa_key_1234567890"),
        lambda: CLIENT.with_options(token="sa_key_1234567890"),
        lambda: CLIENT.request("GET", "/a", headers={"Api-Key": "sa_key_1234567890"}),
    ):
        with pytest.raises(TypeError, match="Client") as it:
            call()
        trace = it.value.__traceback__
        while trace is not None:
            if "sitestats/_" in trace.tb_frame.f_code.co_filename:
                assert "sa_key_1234567890" not in repr(trace.tb_frame.f_locals)
            trace = trace.tb_next
        assert "sa_key_1234567890" not in str(it.value)


@example(date(2000, 1, 2), "%Y/%m/%d")
@given(st.dates(), st.sampled_from(["%Y/%m/%d", "%d %B %Y", "%B %-d, %Y", "%Y%m%d"]))
def test_a_day_in_another_form_is_told_as_it_is_sent(day: date, form: str) -> None:
    """The error about a day that people write otherwise has that day, and no other."""
    with pytest.raises(InvalidInputError) as it:
        QUERY.on(day.strftime(form))
    assert day.year < 1000 or f"use {day.isoformat()!r}" in str(it.value)


@pytest.mark.anyio
async def test_an_awaited_call_says_the_same() -> None:
    """The asynchronous client explains the arguments of its calls, too."""
    async with Emulator.made_up(1, days=9).async_client() as client:
        stats: Any = client.stats
        with pytest.raises(TypeError, match=r"AsyncStatsAPI.get.* StatsQuery"):
            await stats.get("x.example", fields=["visitors"])
