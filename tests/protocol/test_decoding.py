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
from sitestats import (
    HistogramEntry,
    PageEntry,
    ResponseError,
    ServiceError,
    SiteStatsError,
    SiteStatsWarning,
    StatsQuery,
)
from sitestats._common.fields import FIELDS
from sitestats._protocol.responses import read_added, read_websites

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
        (True, "a boolean"),
        (1.0, "a number"),
        ("12", "a string"),
        ([1], "an array"),
        ({}, "an object"),
    ],
)
def test_nothing_but_an_integer_is_an_integer(value: Any, kind: str) -> None:
    """Null, booleans, other numbers and strings are not converted."""
    assert wrong(visitors=value) == [f"$.visitors: expected an integer, got {kind}"]


@pytest.mark.parametrize("value", [True, "12", "12.5", [], 10**400])
def test_nothing_but_a_number_is_a_number(value: Any) -> None:
    """An integer is a number, and nothing else is."""
    (problem,) = wrong(seconds_on_page=value)
    assert problem.startswith("$.seconds_on_page: ")
    assert read_response(ALL, FULL).seconds_on_page == 30.0


def test_a_wrong_field_leaves_the_others() -> None:
    """It is named by its path, when it is warned of and when it is read."""
    data = {**FULL, "visitors": "41", "pages": {"/": 3}, "events": 7}
    assert left_out(ALL, data)[0] == "$.visitors: expected an integer, got a string"
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
    with pytest.raises(ResponseError, match=r"\$\.pages: expected an array, got an o"):
        _ = stats.pages
    with pytest.raises(ResponseError, match=r"\$\.visitors: expected an integer"):
        _ = stats.visitors
    assert stats.raw()["visitors"] == "41"


def test_a_response_of_which_nothing_is_left_is_an_error() -> None:
    """Where all that was requested is wrong or missing there is no result."""
    query = QUERY.fields("visitors", "countries")
    assert problems(query, stats_json(visitors="41", countries=["NL"])) == [
        "$.visitors: expected an integer, got a string",
        "$.countries[0]: expected an object, got a string",
    ]


@pytest.mark.parametrize(
    ("name", "odd", "problem"),
    [
        ("countries", "NL", ": expected an object, got a string"),
        ("countries", None, ": expected an object, got null"),
        ("countries", {"value": "NL"}, ".pageviews: is missing"),
        ("countries", {"pageviews": 3, "visitors": 2}, ".value: is missing"),
        ("countries", entry(7), ".value: expected a string or null, got an integer"),
        ("pages", entry("/", None), ".pageviews: expected an integer, got null"),
        ("pages", entry("/", 1.5), ".pageviews: expected an integer, got a number"),
        ("pages", entry(None), ".value: expected a string, got null"),
        ("events", {"name": "x"}, ".total: is missing"),
        ("events", {"name": None, "total": 1}, ".name: expected a string, got null"),
        ("histogram", {**DAY, "date": None}, ".date: expected a date, got null"),
        ("histogram", {**DAY, "date": "?"}, ".date: invalid"),
        ("histogram", {**DAY, "hour": "9"}, ".hour: expected an integer or null"),
    ],
)
def test_a_wrong_entry_leaves_the_rest_of_its_list(
    name: str, odd: Any, problem: str
) -> None:
    """One of thousands is no reason to lose the others, whatever it is."""
    rows = [*FULL[name], odd, odd]
    (found,) = wrong(**{name: rows})
    assert found.startswith(f"$.{name}[{len(FULL[name])}]{problem}")
    with pytest.warns(SiteStatsWarning, match=f"some entries of .*'{name}' are left"):
        stats = read_response(ALL, {**FULL, name: rows})
    assert len(getattr(stats, name)) == len(FULL[name])


def test_a_list_of_which_every_entry_is_wrong_can_not_be_read() -> None:
    """It would look as if there were none."""
    with pytest.warns(SiteStatsWarning):
        stats = read_response(ALL, {**FULL, "countries": ["NL", "DE"]})
    assert "countries" not in stats
    with pytest.raises(ResponseError, match=r"\$\.countries\[0\]"):
        _ = stats.countries


@pytest.mark.parametrize("data", [[], "text", 7, None, True])
def test_json_that_is_no_object(data: Any) -> None:
    """Statistics that are no JSON object raise."""
    assert problems(ALL, data) == ["$: expected an object"]


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
    assert problem.startswith("$.pages[2].seconds_on_page: expected a number or null")


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2026-11-20", dt.date(2026, 11, 20)),
        ("2026-11-20T09:00:00.000Z", dt.date(2026, 11, 20)),
        ("2026-11", dt.date(2026, 11, 1)),
        ("2026", dt.date(2026, 1, 1)),
    ],
)
@pytest.mark.parametrize("interval", ["day", "week", "month", "year"])
def test_a_date_of_the_histogram_may_have_any_precision(
    date: str, expected: dt.date, interval: Any
) -> None:
    """Section 2.3 does not show the entries of the histogram."""
    query = QUERY.fields("histogram").interval(interval)
    data = stats_json(histogram=[{**DAY, "date": date}], start=None, end=None)
    (found,) = read_response(query, data).histogram
    assert isinstance(found, HistogramEntry)
    assert found.date == expected


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


@given(st.data(), st.sampled_from(["hour", "day", "week", "month", "year"]))
def test_any_json_is_statistics_or_one_of_our_errors(
    data: st.DataObject, interval: Any
) -> None:
    """What is as the document says is read as it is, whatever stands beside it."""
    changed = copy.deepcopy(FULL)
    for _ in range(data.draw(st.integers(0, 3))):
        path = data.draw(st.sampled_from(places(changed)[1:]))
        parent: Any = changed
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = copy.deepcopy(data.draw(ODD))
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
        for row in getattr(stats, name).to_dicts() if name in stats else ():
            del row[{"events": "total"}.get(name, "seconds_on_page")]
            assert any(
                isinstance(one, dict) and row.items() <= one.items()
                for one in sent[name]
            )


BODIES: dict[str, Callable[[int], bytes]] = {
    "zeros": lambda n: b'{"pages":[%s]}' % b",".join([b"0"] * n),
    "empty entries": lambda n: b'{"pages":[%s]}' % b",".join([b"{}"] * n),
    "empty days": lambda n: b'{"histogram":[%s]}' % b",".join([b"{}"] * n),
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
    with pytest.raises(ResponseError) as caught:
        read(http_response(data), REQUEST, **more)
    return [f"{one.where}: {one.message}" for one in caught.value.problems]


def test_every_wrong_value_of_a_list_of_websites_is_named() -> None:
    """A list that lacks a website would have it added a second time."""
    second = {**WEBSITE, "pageviews": "1200", "is_public": None}
    del second["timezone"]
    assert refused(read_websites, {"websites": [WEBSITE, second, None]}) == [
        "$.websites[1].is_public: expected a boolean, got null",
        "$.websites[1].timezone: is missing",
        "$.websites[1].pageviews: expected an integer, got a string",
        "$.websites[2]: expected an object, got null",
    ]
    assert refused(read_websites, {}) == ["$.websites: expected an array"]
    assert refused(read_websites, 7) == ["$: expected an array"]
    for name in WEBSITE:
        (problem,) = refused(read_websites, [{**WEBSITE, name: 1.5}])
        assert problem.startswith(f"$[0].{name}: expected ")


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
        assert plain.to_dict() == {**WEBSITE, "extra": {}}
    assert len(read_websites(http_response([]), REQUEST)) == 0


def test_the_result_of_adding_is_read_strictly() -> None:
    """Problems name the document's keys, not our attributes."""
    asked = {"asked": ("example.com", None, False)}
    response = http_response({**ADDED, "customDomain": "x.example.com", "plan": "team"})
    added = read_added(response, REQUEST, **asked)
    assert (added.valid_dns, added.custom_domain) == (True, "x.example.com")
    assert added.extra == {"plan": "team"}
    for name in ADDED.keys() - {"ok", "success"}:
        (problem,) = refused(read_added, {**ADDED, name: 1.5}, **asked)
        assert problem.startswith(f"$.{name}: expected ")
    assert refused(read_added, ["example.com"], **asked) == [
        "$: expected an object, got an array"
    ]


def add(data: Any, timezone: str | None = None, *, public: bool = False) -> Any:
    """The website that a client reads from this response to adding it."""
    asked = "example.com", timezone, public
    return read_added(http_response(data), REQUEST, asked)


def test_a_website_was_added_as_requested() -> None:
    """Without a difference nothing warns."""
    added = add({**ADDED, "hostname": "Example.com"}, timezone="Etc/UTC")
    assert (added.hostname, added.differences) == ("Example.com", ())


def test_a_website_was_added_with_differences() -> None:
    """Differences are listed and warned about, and raise nothing: it was added."""
    with pytest.warns(SiteStatsWarning) as caught:
        added = add(
            {**ADDED, "hostname": "other.example"}, timezone="Europe/Paris", public=True
        )
    assert added.timezone == "UTC"
    wheres = [one.where for one in added.differences]
    assert wheres == ["hostname", "timezone", "public"]
    assert len(caught) == 1
    assert all(where in str(caught[0].message) for where in wheres)


def test_an_unreadable_result_says_that_the_website_was_added() -> None:
    """The error says that the website was added, so that nobody repeats it."""
    with pytest.raises(ResponseError, match="was added") as caught:
        add({**ADDED, "validDNS": None})
    assert [one.where for one in caught.value.problems] == ["$.validDNS"]
    for name in ("ok", "success"):
        with pytest.raises(ServiceError):
            add({**ADDED, name: False})
