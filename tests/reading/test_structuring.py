"""What of a response is read, and what is left out: by JSON paths, strictly."""

from __future__ import annotations

import copy
import datetime as dt
import json
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_responses import (
    REQUEST,
    entry,
    http_response,
    left_out,
    problems,
    read_response,
    stats_json,
)
from inside import FIELDS, read_added, read_websites
from sitestats import (
    HistogramEntry,
    InvalidResponseError,
    PageEntry,
    SiteStatsError,
    SiteStatsWarning,
    StatsQuery,
    WebsiteList,
)

QUERY = StatsQuery("example.com")
DAY = {"date": "2026-11-20", "pageviews": 3, "visitors": 2}
FULL = stats_json(
    pageviews=66,
    visitors=41,
    histogram=[{**DAY, "hour": 9}],
    pages=[entry("/", seconds_on_page=12.5), entry("/a", seconds_on_page=None)],
    countries=[entry("NL"), entry(None, 1, 1)],
    referrers=[entry("google")],
    utm_terms=[],
    seconds_on_page=30,
    events=[{"name": "signup", "total": 7}],
    __visitors="prose about visitors",
)
ALL = QUERY.fields(*(name for name in FIELDS if name in FULL)).all_events()


def wrong(**fields: Any) -> list[str]:
    """What is left out of a response with these fields."""
    return left_out(ALL, {**FULL, **fields})


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "the boolean true"),
        (1.0, "the number 1.0"),
        ("12", "the string '12'"),
        ([1], "an array"),
        ({}, "an object"),
    ],
)
def test_nothing_but_an_integer_is_an_integer(value: Any, kind: str) -> None:
    """Null, booleans, other numbers and strings are not converted."""
    assert wrong(visitors=value) == [f"$.visitors: expected an integer, got {kind}"]


@pytest.mark.parametrize("value", [True, "12", "12.5", [], 10**400, -1, -0.5])
def test_nothing_but_a_number_is_a_number(value: Any) -> None:
    """An integer is a number, and nothing else is; nor are fewer than 0 seconds."""
    (problem,) = wrong(seconds_on_page=value)
    assert problem.startswith("$.seconds_on_page: ")
    assert read_response(ALL, FULL).seconds_on_page == 30.0


@pytest.mark.parametrize("number", ["9223372036854775808", "-1", "1e400", "-1e400"])
def test_numbers_that_nothing_can_hold_are_problems(number: str) -> None:
    """Neither frames nor JSON have integers beyond 64 bits or infinities, and there are
    no fewer than 0 visitors; what can't be held stays text where any value may be.
    """
    page = entry("/b", "NUMBER", seconds_on_page=1)
    data = {
        **FULL,
        "visitors": "NUMBER",
        "pages": [*FULL["pages"], page],
        "x": ["NUMBER"],
    }
    body = json.dumps(data).replace('"NUMBER"', number).encode()
    with pytest.warns(SiteStatsWarning):
        stats = read_response(ALL, body)
    wheres = [one.where for one in stats.problems]
    assert wheres == ["$.visitors", "$.pages[2].pageviews"]
    assert stats.pages.incomplete
    assert not stats.countries.incomplete
    json.dumps([stats.to_dict(), stats.raw(), stats.extra], allow_nan=False)
    if "e" in number:
        assert wrong(seconds_on_page=number)
        assert stats.extra["x"] == [number]
    assert read_response(ALL, {**FULL, "visitors": 2**63 - 1}).visitors == 2**63 - 1


def test_a_wrong_field_leaves_the_others() -> None:
    """It is named by its path, when it is warned of and when it is read."""
    data = {**FULL, "visitors": "41", "pages": {"/": 3}, "events": 7}
    assert (
        left_out(ALL, data)[0] == "$.visitors: expected an integer, got the string '41'"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SiteStatsWarning)
        stats = read_response(ALL, data)
    assert (stats.pageviews, stats.countries["NL"].visitors) == (66, 2)
    assert [one.where for one in stats.problems] == [
        "$.visitors",
        "$.pages",
        "$.events",
    ]
    assert "visitors" not in stats
    assert stats.to_dict()["pageviews"] == 66
    with pytest.raises(
        InvalidResponseError, match=r"\$\.pages: expected an array, got an o"
    ):
        _ = stats.pages
    with pytest.raises(
        InvalidResponseError, match=r"\$\.visitors: expected an integer"
    ):
        _ = stats.visitors
    assert stats.raw()["visitors"] == "41"


def test_a_response_of_which_nothing_is_left_is_an_error() -> None:
    """Where all that was requested is wrong or missing there is no result."""
    query = QUERY.fields("visitors", "countries")
    assert problems(query, stats_json(visitors="41", countries=["NL"])) == [
        "$.visitors: expected an integer, got the string '41'",
        "$.countries[0]: expected an object, got the string 'NL'",
    ]


@pytest.mark.parametrize(
    ("name", "odd", "problem"),
    [
        ("countries", "NL", ": expected an object, got the string 'NL'"),
        ("countries", None, ": expected an object, got null"),
        ("countries", {"value": "NL", "visitors": 2}, ".pageviews: is missing"),
        ("countries", {"pageviews": 3, "visitors": 2}, ".value: is missing"),
        ("countries", entry(7), ".value: expected a string, got the number 7"),
        ("pages", entry("/", None), ".pageviews: expected an integer, got null"),
        (
            "pages",
            entry("/", 1.5),
            ".pageviews: expected an integer, got the number 1.5",
        ),
        ("pages", entry(None), ".value: expected a string, got null"),
        ("events", {"name": "x"}, ".total: is missing"),
        ("events", {"name": None, "total": 1}, ".name: expected a string, got null"),
        (
            "histogram",
            {**DAY, "date": None},
            ".date: expected a date as 2026-03-01, got null",
        ),
        (
            "histogram",
            {**DAY, "date": "?"},
            ".date: expected a date as 2026-03-01, got the string '?'",
        ),
    ],
)
def test_a_wrong_entry_leaves_the_rest_of_its_list(
    name: str, odd: Any, problem: str
) -> None:
    """One of thousands is no reason to lose the others, whatever it is."""
    rows = [*FULL[name], odd, odd]
    found = wrong(**{name: rows})
    place = len(FULL[name])
    assert found == [f"$.{name}[{place}]{problem}", f"$.{name}[{place + 1}]{problem}"]
    with pytest.warns(SiteStatsWarning, match=f"some entries of .*'{name}' are left"):
        stats = read_response(ALL, {**FULL, name: rows})
    assert len(getattr(stats, name)) == len(FULL[name])


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ([], "an array"),
        ("text", "the string 'text'"),
        (7, "the number 7"),
        (None, "null"),
        (True, "the boolean true"),
    ],
)
def test_json_that_is_no_object(data: Any, shown: str) -> None:
    """Statistics that are no JSON object raise."""
    assert problems(ALL, data) == [f"$: expected an object, got {shown}"]


def test_odd_entries_are_read() -> None:
    """Unknown keys and half of a surrogate pair do not matter."""
    pages = [entry("/\ud800", more={}, seconds_on_page=None)]
    stats = read_response(ALL, {**FULL, "pages": pages})
    assert stats.pages[0].value == "/\ud800"
    assert stats.countries["NL"].to_dict() == entry("NL", seconds_on_page=None)
    assert stats.countries[1].value is None


def test_seconds_are_read_only_when_they_were_requested() -> None:
    """Seconds that were not requested are in raw() alone, whatever their type."""
    data = stats_json(pages=[entry(seconds_on_page="soon")])
    assert [*read_response(QUERY.fields("pages"), data).pages] == [PageEntry("/", 3, 2)]
    (problem,) = wrong(pages=[*FULL["pages"], entry(seconds_on_page="soon")])
    where, what = "$.pages[2].seconds_on_page", "expected a number"
    assert problem == f"{where}: {what}, got the string 'soon'"
    (problem,) = wrong(pages=[*FULL["pages"], entry(seconds_on_page=-0.5)])
    assert problem == f"{where}: expected a number from 0, got the number -0.5"


@pytest.mark.parametrize(
    ("interval", "zone", "date", "expected"),
    [
        ("month", "UTC", "2026-11", "2026-11-01"),
        ("year", "UTC", "2026", "2026-01-01"),
        ("day", "UTC", "2026-11", None),
        ("month", "UTC", "2026", None),
        ("day", "UTC", "2026-11-20T09:00:00.000Z", "2026-11-20"),
        ("day", "Europe/Amsterdam", "2026-11-20T09:30:00", "2026-11-20"),
        ("day", "Europe/Amsterdam", "2026-11-19T23:00:00.000Z", "2026-11-20"),
        ("day", "Europe/Amsterdam", "2026-11-20T00:00:00.000Z", "2026-11-20"),
        # A midnight that is an hour late, as ends of periods were seen.
        ("day", "Europe/Amsterdam", "2026-06-30T23:00:00.000Z", "2026-07-01"),
        ("week", "Europe/Amsterdam", "2026-11-20T00:00:00+01:00", "2026-11-20"),
        ("day", "America/New_York", "2026-11-20T05:00:00.000Z", "2026-11-20"),
        # This day, or the evening before it.
        ("day", "America/New_York", "2026-11-20T00:00:00.000Z", None),
        ("day", "Moon/Crater", "2026-11-20T00:00:00.000Z", None),
        ("day", "Europe/Amsterdam", "9999-12-31T23:00:00.000Z", None),
    ],
)
def test_a_date_of_the_histogram_is_a_day_of_the_response_s_zone(
    interval: Any, zone: str, date: str, expected: str | None
) -> None:
    """Section 2.3 does not show its entries: a month, a year or a moment stands for a
    day as far as that is certain, whether the response or the query names the zone.
    """
    query = QUERY.fields("visitors", "histogram").interval(interval)
    rows = [{**DAY, "date": date}]
    for named, asked in ((zone, query), (None, query.extra_param("timezone", zone))):
        data = stats_json(visitors=2, timezone=named, start=None, end=None)
        if expected is None:
            (problem,) = left_out(asked, {**data, "histogram": rows})
            assert problem.startswith("$.histogram[0].date: ")
        else:
            (found,) = read_response(asked, {**data, "histogram": rows}).histogram
            assert isinstance(found, HistogramEntry)
            assert found.date.isoformat() == expected


SIMPLE = [None, True, False, 0, 7, -1, 10**30, 10**400, 1.0, 1.5, 1e308]
TEXTS = ["", "12", "/", "true", "2026-11-20", "9999-12-31", "\ud800"]
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [*SIMPLE, *TEXTS, [], ["/"], [None], [[]], {}, {"value": "/"}]
)


def places(value: Any) -> list[tuple[Any, ...]]:
    """The path of every value within a JSON value."""
    items = value.items() if isinstance(value, dict) else []
    if isinstance(value, list):
        items = enumerate(value)
    return [(), *((key, *rest) for key, inner in items for rest in places(inner))]


def with_odd_values(data: st.DataObject) -> Any:
    """A whole response with up to three values of another kind."""
    changed = copy.deepcopy(FULL)
    for _ in range(data.draw(st.integers(0, 3))):
        path = data.draw(st.sampled_from(places(changed)[1:]))
        parent: Any = changed
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = copy.deepcopy(data.draw(ODD))
    return changed


INTERVALS = st.sampled_from(["hour", "day", "week", "month", "year"])


@given(st.data(), INTERVALS)
def test_any_json_is_statistics_or_one_of_our_errors(
    data: st.DataObject, interval: Any
) -> None:
    """What is as the document says is read as it is, whatever stands beside it."""
    changed = with_odd_values(data)
    query = ALL.interval(interval)
    moment = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SiteStatsWarning)
        try:
            stats = read_response(query, changed, received=moment)
        except SiteStatsError:
            return
    assert json.dumps(stats.to_dict())
    assert repr(stats)
    sent = json.loads(json.dumps(changed))
    for name in ("pageviews", "visitors"):
        # 1 == True == 1.0, and the reprs differ.
        assert name not in stats or repr(getattr(stats, name)) == repr(sent[name])
    for name in ("pages", "countries", "events"):
        for read in getattr(stats, name) if name in stats else ():
            row = read.to_dict()
            del row[{"events": "total"}.get(name, "seconds_on_page")]
            rows = (one.items() for one in sent[name] if isinstance(one, dict))
            assert any(row.items() <= one for one in rows)


def read_or_refused(query: StatsQuery, body: bytes) -> tuple[object, object]:
    """What is read of a body, and the problems of the rest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SiteStatsWarning)
        try:
            stats = read_response(query, body)
        except InvalidResponseError as error:
            return None, error.problems
    return stats.to_dict(), stats.problems


@given(st.data(), INTERVALS)
def test_a_byte_order_mark_changes_nothing(data: st.DataObject, interval: Any) -> None:
    """Lists are decoded in another way after a mark, and mean the same."""
    body = json.dumps(with_odd_values(data)).encode()
    query = ALL.interval(interval)
    marked = b"\xef\xbb\xbf" + body
    assert read_or_refused(query, body) == read_or_refused(query, marked)


def test_a_list_that_is_no_text_is_no_json() -> None:
    """Bytes that are not UTF-8 are found in a list that is decoded late, too."""
    body = b'{"pages": [{"value": "/\xff", "pageviews": 1, "visitors": 1}]}'
    with pytest.raises(InvalidResponseError, match="not JSON"):
        read_response(QUERY.fields("pages"), body)


BODIES: dict[str, Callable[[int], bytes]] = {
    # A problem of each takes longer than reading a byte.
    "zeros": lambda n: b'{"pages":[%s]}' % b",".join([b"0"] * (n // 5)),
    "empty entries": lambda n: b'{"pages":[%s]}' % b",".join([b"{}"] * (n // 5)),
    "empty days": lambda n: b'{"histogram":[%s]}' % b",".join([b"{}"] * (n // 5)),
    "a long path": lambda n: b'{"path":"%s","pages":[]}' % (b"%41" * n),
    "a long zone": lambda n: b'{"timezone":"%s","pages":[]}' % (b"a/" * n),
    "brackets": lambda n: b"[" * n,
    "brackets in an unknown field": lambda n: b'{"x":%s}' % (b"[" * n + b"]" * n),
    "digits": lambda n: b'{"visitors":%s}' % (b"1" * n),
    "quotation marks": lambda n: b"[" * 101 + b'\\"' * n,
    "a page cut off": lambda n: b'<script>push([1,"' + b'[{\\"a\\":' * (n // 8),
    "half of an emoji": lambda n: b'{"x":"\\ud83d%s"}' % (b"a" * n),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_a_body_is_read_or_refused_in_time_that_grows_with_its_length(
    name: str,
) -> None:
    """No body holds the interpreter longer, since no time limit could end that."""
    body = BODIES[name](100_000)
    started = time.thread_time()
    with suppress(SiteStatsError):
        read_response(ALL, body)
    assert time.thread_time() - started < 5


# --- the Admin API ------------------------------------------------------------------

WEBSITE: dict[str, Any] = {
    "hostname": "example.com",
    "is_public": False,
    "timezone": "UTC",
    "has_ssl": True,
    "has_script": True,
    "own_hostname": None,
    "label": "shop",
    "pageviews": 1200,
    "events": 30,
}
ADDED: dict[str, Any] = {
    "ok": True,
    "success": True,
    "hostname": "example.com",
    "customDomain": None,
    "public": False,
    "timezone": "UTC",
    "validDNS": True,
}


def refused(read: Any, data: Any, **more: Any) -> list[str]:
    """The problems of a response of the Admin API."""
    with pytest.raises(InvalidResponseError) as caught:
        read(http_response(data), REQUEST, **more)
    return [f"{one.where}: {one.message}" for one in caught.value.problems]


def listed(data: Any) -> WebsiteList:
    """The websites of this response, of which some values can't be read."""
    with pytest.warns(
        SiteStatsWarning, match="list of websites can't be read"
    ) as caught:
        found = read_websites(http_response(data), REQUEST)
    assert len(caught) == 1
    assert str(found.problems[0]) in str(caught[0].message)
    return found


def test_a_website_stays_in_the_list_with_what_can_be_read() -> None:
    """Every other value is None and a problem, and there is one warning."""
    second = {**WEBSITE, "pageviews": "1200", "is_public": None, "problems": 7}
    del second["timezone"]
    found = listed({"websites": [WEBSITE, second]})
    assert [f"{one.where}: {one.message}" for one in found.problems] == [
        "$.websites[1].is_public: expected a boolean, got null",
        "$.websites[1].timezone: is missing",
        "$.websites[1].pageviews: expected an integer, got the string '1200'",
    ]
    assert found[1].problems == found.problems
    unknown = dict.fromkeys(("is_public", "timezone", "pageviews"))
    known = found[1].to_dict()
    assert len(known.pop("problems")) == 3
    assert known == {**WEBSITE, **unknown, "extra": {"problems": 7}}
    assert not found.incomplete
    for name in WEBSITE.keys() - {"hostname"}:
        for odd in (
            1.5,
            [],
            {},
            2**63,
            *[None] * (name not in {"own_hostname", "label"}),
        ):
            (website,) = listed([{**WEBSITE, name: odd}])
            known = website.to_dict()
            assert [one["where"] for one in known.pop("problems")] == [f"$[0].{name}"]
            assert known == {**WEBSITE, name: None, "extra": {}}


def test_a_website_without_a_host_name_is_a_problem_of_the_list() -> None:
    """The others are there; where none is left, the list can't be read."""
    for odd in (None, [], *({**WEBSITE, "hostname": name} for name in (None, ""))):
        found = listed([WEBSITE, odd])
        assert found.incomplete
        assert [one.hostname for one in found] == ["example.com"]
        assert found.problems[0].where.startswith("$[1]")
        assert len(refused(read_websites, [odd])) == 1
    assert refused(read_websites, {}) == ["$.websites: expected an array"]
    assert refused(read_websites, 7) == ["$: expected an array"]


def test_websites_come_in_an_object_or_bare() -> None:
    """What the document does not name is in extra, without prose; the label and the own
    host name may be left out.
    """
    more = {**WEBSITE, "team": {"id": 7}, "extra": 1, "__team": "prose"}
    for name in ("label", "own_hostname"):
        del more[name]
    (website,) = read_websites(http_response([more]), REQUEST)
    assert website.extra == {"team": {"id": 7}, "extra": 1}
    assert (website.label, website.own_hostname) == (None, None)
    assert hash(website)
    for data in ([WEBSITE], {"success": True, "websites": [WEBSITE]}):
        (plain,) = read_websites(http_response(data), REQUEST)
        assert plain.to_dict() == {**WEBSITE, "extra": {}, "problems": []}
    assert len(read_websites(http_response([]), REQUEST)) == 0


def test_the_result_of_adding_is_read_strictly() -> None:
    """Problems name the document's keys, not our attributes."""
    asked = {"asked": ("example.com", None, False)}
    added = add({**ADDED, "customDomain": "x.example.com", "plan": "team"})
    assert (added.valid_dns, added.custom_domain) == (True, "x.example.com")
    assert added.extra == {"plan": "team"}
    for name in ADDED.keys() - {"ok", "success"}:
        (problem,) = refused(read_added, {**ADDED, name: 1.5}, **asked, warned=False)
        assert problem.startswith(f"$.{name}: expected ")
    for odd in (["example.com"], {**ADDED, "hostname": ""}):
        with pytest.raises(InvalidResponseError, match="but the website was added"):
            add(odd)


def add(data: Any, timezone: str | None = None, *, public: bool = False) -> Any:
    """The website that a client reads from this response to adding it."""
    asked = "example.com", timezone, public
    return read_added(http_response(data), REQUEST, asked)


def test_a_website_was_added_with_differences() -> None:
    """Differences, and what can't be read, are listed and warned about, and raise
    nothing: it was added. Without a difference nothing warns.
    """
    added = add({**ADDED, "hostname": "Example.com"}, timezone="Etc/UTC")
    assert (added.hostname, added.differences) == ("Example.com", ())
    for name, key in (("timezone",) * 2, ("public",) * 2, ("valid_dns", "validDNS")):
        with pytest.warns(SiteStatsWarning, match=rf"was added, .*\$\.{key}: "):
            added = add({**ADDED, key: None}, timezone="UTC")
        assert (getattr(added, name), added.differences) == (None, ())
        assert [one.where for one in added.problems] == [f"$.{key}"]
    with pytest.warns(SiteStatsWarning) as caught:
        added = add(
            {**ADDED, "hostname": "other.example"}, timezone="Europe/Paris", public=True
        )
    assert added.timezone == "UTC"
    wheres = [one.where for one in added.differences]
    assert wheres == ["hostname", "timezone", "public"]
    assert len(caught) == 1
    assert all(where in str(caught[0].message) for where in wheres)
