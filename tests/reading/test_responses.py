"""Responses become models, or errors that name what is wrong."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_responses import REQUEST, entry, http_response, read_response, stats_json
from inside import FIELDS, LISTS, read_added, read_json, read_jsonp, read_websites
from sitestats import (
    AuthenticationError,
    EventCount,
    FieldNotRequestedError,
    InvalidResponseError,
    PageEntry,
    SiteStatsError,
    StatsQuery,
    StatusError,
)

QUERY = StatsQuery("example.com")
TOTALS = QUERY.fields("pageviews", "visitors")
GOOD = stats_json(pageviews=66, visitors=41)

# The two responses of version 5 that are public.
ONE_PAGE = (
    b'{"ok":true,"docs":"https://docs.simpleanalytics.com/api","info":"false",'
    b'"hostname":"de.serlo.org","url":"https://de.serlo.org",'
    b'"path":"/mathe/1555/zylinder","start":"2023-04-25T22:00:00.000Z",'
    b'"end":"2023-05-26T22:59:59.999Z","version":5,"timezone":"Europe/Berlin",'
    b'"pages":[{"value":"/mathe/1555/zylinder","pageviews":695,"visitors":397}],'
    b'"generated_in_ms":860}'
)
ALL_PAGES = (
    b'{"ok":true,"docs":"https://docs.simpleanalytics.com/api","info":"false",'
    b'"hostname":"blog.simpleanalytics.com","url":"https://blog.simpleanalytics.com",'
    b'"path":"*","start":"2021-01-01T00:00:00.000Z","end":"2021-01-06T23:59:59.999Z",'
    b'"version":5,"timezone":"UTC","pageviews":66,"visitors":41,"pages":['
    b'{"value":"/","pageviews":36,"visitors":28},'
    b'{"value":"/practical-privacy-tips-for-your-business","pageviews":2,'
    b'"visitors":2}],"generated_in_ms":398}'
)


# --- good responses -----------------------------------------------------------------


def test_a_real_response_about_one_page() -> None:
    """Every value of the response is there, with its own type."""
    query = StatsQuery("de.serlo.org").path("/mathe/1555/zylinder").version(5)
    stats = read_response(query.fields("pages").timezone("Europe/Berlin"), ONE_PAGE)
    assert [*stats.pages] == [PageEntry("/mathe/1555/zylinder", 695, 397)]
    assert (stats.hostname, stats.path) == ("de.serlo.org", "/mathe/1555/zylinder")
    assert (stats.version, stats.timezone) == (5, "Europe/Berlin")
    assert stats.generated_in_ms == 860
    assert stats.start == dt.datetime(2023, 4, 25, 22, tzinfo=dt.UTC)
    assert stats.end == dt.datetime(2023, 5, 26, 22, 59, 59, 999_000, tzinfo=dt.UTC)
    assert stats.extra == {}
    assert stats.body == ONE_PAGE


def test_a_real_response_about_a_website() -> None:
    """Totals and pages are typed, and nothing warns."""
    query = StatsQuery("blog.simpleanalytics.com").version(5)
    stats = read_response(query.fields("pageviews", "visitors", "pages"), ALL_PAGES)
    assert (stats.pageviews, stats.visitors, len(stats.pages)) == (66, 41, 2)
    assert stats.path == "*"


def test_a_response_with_every_field() -> None:
    """Each of the fifteen fields and the events has its plain type."""
    data = stats_json(
        **{name: [entry(name, 5, 4), entry(None)] for name in LISTS},
        pageviews=66,
        visitors=41,
        pages=[entry("/a", 5, 4, seconds_on_page=12)],
        histogram=[{"date": "2026-11-20", "pageviews": 3, "visitors": 2}],
        seconds_on_page=30.5,
        events=[{"name": "signup", "total": 7}],
    )
    stats = read_response(QUERY.fields(*FIELDS).events("signup"), data)
    assert stats.requested == (*FIELDS, "events")
    assert len(FIELDS) == 15
    assert all(name in stats for name in stats.requested)
    assert (stats.pageviews, stats.visitors) == (66, 41)
    assert [one.to_dict() for one in stats.pages] == data["pages"]
    assert (stats.pages[0].seconds_on_page, stats.seconds_on_page) == (12.0, 30.5)
    assert stats.histogram[0].date == dt.date(2026, 11, 20)
    assert [*stats.events] == [EventCount("signup", 7)]
    for name in LISTS:
        first, second = getattr(stats, name)
        assert (first.value, first.pageviews, first.visitors) == (name, 5, 4)
        assert second.value is None


def test_what_was_not_requested_is_in_raw_alone() -> None:
    """A field that was not requested is no attribute, and its type is not checked."""
    stats = read_response(
        QUERY.fields("visitors"), stats_json(visitors=41, pages="?", events=7)
    )
    assert "pages" not in stats
    assert "pages" not in stats.extra
    assert stats.raw()["pages"] == "?"
    with pytest.raises(FieldNotRequestedError, match="pages"):
        _ = stats.pages


def test_a_response_without_an_envelope() -> None:
    """Keys that the response lacks are None, as the document shows no envelope."""
    stats = read_response(TOTALS, {"pageviews": 66, "visitors": 41})
    assert stats.visitors == 41
    envelope = (stats.hostname, stats.path, stats.timezone, stats.version)
    assert (*envelope, stats.start, stats.end, stats.generated_in_ms) == (None,) * 7


def test_a_list_as_long_as_its_limit_is_truncated() -> None:
    """The limit is that of lists; that of all events is a thousand. The histogram and
    events by their names have none.
    """
    names = [f"event{number}" for number in range(1000)]
    data = stats_json(
        countries=[entry()] * 50,
        histogram=[
            {"date": f"{year}-11-20", "pageviews": 3, "visitors": 2}
            for year in range(1977, 2027)
        ],
        events=[{"name": name, "total": 1} for name in names],
    )
    query = QUERY.fields("countries", "histogram")
    for limit, truncated in ((49, True), (50, True), (51, False)):
        stats = read_response(query.limit(limit), data)
        assert stats.countries.truncated is truncated
        assert not stats.histogram.truncated
    assert not read_response(QUERY.events(*names), data).events.truncated
    assert read_response(QUERY.all_events(), data).events.truncated
    del data["events"][0]
    assert not read_response(QUERY.all_events(), data).events.truncated


def test_seconds_may_be_left_out() -> None:
    """Seconds are None where there were too few visits, in the root and in entries."""
    query = QUERY.fields("pages", "seconds_on_page")
    for page in (entry(), entry(seconds_on_page=None)):
        stats = read_response(query, stats_json(pages=[page]))
        assert stats.seconds_on_page is None
        assert stats.pages[0].seconds_on_page is None


NOON = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
TODAY = stats_json(histogram=[{"date": "2026-11-20", "pageviews": 3, "visitors": 2}])


@pytest.mark.parametrize(
    ("headers", "received", "partial"),
    [
        ({"date": "Fri, 20 Nov 2026 12:00:00 GMT"}, None, True),
        ({"date": "Sat, 21 Nov 2026 12:00:00 GMT"}, None, False),
        ({}, NOON, True),
        ({}, NOON + dt.timedelta(days=1), False),
        ({}, None, False),
    ],
)
def test_the_service_s_clock_marks_the_current_day(
    headers: dict[str, Any], received: dt.datetime | None, *, partial: bool
) -> None:
    """It is the Date of a response; a stored one is read as of a given moment."""
    query = QUERY.fields("histogram").between("2026-10-20", "2026-11-20")
    stats = read_response(query, TODAY, received=received, **headers)
    assert stats.histogram[0].partial is partial
    assert stats.partial is partial


def test_a_period_that_is_not_over() -> None:
    """A result is partial until its period ends, also without a histogram."""

    def at(date: str, data: Any = GOOD) -> bool:
        return read_response(TOTALS, data, date=date).partial

    assert at("Fri, 20 Nov 2026 23:59:59 GMT")
    assert not at("Sat, 21 Nov 2026 00:00:00 GMT")
    # Unknown where the response has no end, or there is no clock.
    endless = {**GOOD, "end": None}
    assert not at("Fri, 20 Nov 2026 23:59:59 GMT", endless)
    assert not read_response(TOTALS, GOOD).partial


# --- older versions -----------------------------------------------------------------

VERSION_1 = {
    "timezone": "UTC",
    "pageviews": 66,
    "visits": [{"date": "2026-11-20", "pageviews": 3}],
    "agents": [{"count": 1, "browser_name": "Firefox"}],
}
VERSION_2: dict[str, Any] = {
    "ok": True,
    "error": None,
    "visits": [{"date": "2026-11-20", "pageviews": 3, "uniques": 2}],
    "pages": [{"value": "/", "visits": 3, "uniqueVisits": 2}],
}


def test_version_1_gives_its_total() -> None:
    """It has the total that was requested; raw() has the rest."""
    stats = read_response(TOTALS.version(1), VERSION_1)
    assert stats.pageviews == 66
    with pytest.raises(FieldNotRequestedError, match="has 'visitors' in another form"):
        _ = stats.visitors
    assert stats.raw() == VERSION_1
    assert set(stats.extra) == {"visits", "agents"}
    with pytest.raises(FieldNotRequestedError, match="was not requested"):
        _ = stats.pages


@pytest.mark.parametrize("version", [2, 3, 4])
def test_lists_of_older_versions_are_in_raw_alone(version: int) -> None:
    """Their shape is not documented (section 9); totals of the same name are typed."""
    query = QUERY.version(version).fields("visitors", "pages")
    pages = [*VERSION_2["pages"], entry("/a")]
    stats = read_response(query, {**VERSION_2, "pages": pages, "visitors": 41})
    assert stats.visitors == 41
    assert stats.problems == ()
    with pytest.raises(FieldNotRequestedError, match="has 'pages' in another form"):
        _ = stats.pages
    assert stats.raw()["pages"] == pages


# --- no responses ---------------------------------------------------------------------


def test_a_deep_body_does_not_end_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where deep JSON would end Python itself, it is refused before it is decoded."""
    monkeypatch.setattr("sys.platform", "emscripten")
    response = http_response(b'{"a":' * 500 + b"1" + b"}" * 500)
    with pytest.raises(InvalidResponseError, match="nested too deeply"):
        read_json(response, REQUEST)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"<!doctype html><title>App</title>", "a page of HTML, not JSON"),
        (b"\xef\xbb\xbf <html>", "a page of HTML, not JSON"),
        (b'{"pageviews": 66, "visit', "not JSON"),
        (b'{"pageviews": NaN}', "holds NaN"),
        (b"[-Infinity]", "holds -Infinity"),
        (b'{"pageviews": "\xff"}', "not JSON: .*0xff"),
        (b'{"a": "\xed\xa0\x80"}', "not JSON"),
        ('{"a": 1}'.encode("utf-16"), "not JSON"),
        # Python 3.14 goes deeper than the versions before.
        (b"[" * 1_000_000, "not JSON"),
        (b"1" * 5000, "not JSON: Exceeds the limit"),
        (b"show({})", "not JSON"),
    ],
    ids=lambda value: ascii(value[:40]) if isinstance(value, bytes) else value,
)
def test_a_body_that_is_no_json(body: bytes, why: str) -> None:
    """The error names why a body is no JSON, for each kind of response."""
    response = http_response(body)
    for reader in (
        lambda: read_response(TOTALS, body),
        lambda: read_websites(response, REQUEST),
        lambda: read_json(response, REQUEST),
        lambda: read_added(response, REQUEST, ("example.com", None, False)),
    ):
        with pytest.raises(InvalidResponseError, match=why) as caught:
            reader()
        assert caught.value.body == body


def test_a_private_website_without_a_key() -> None:
    """When the data is missing, the error says that a key may be needed."""
    with pytest.raises(InvalidResponseError, match="API key"):
        read_response(TOTALS, stats_json())


# --- custom endpoints -----------------------------------------------------------------


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(VALUES)
def test_a_custom_endpoint_returns_plain_json(data: Any) -> None:
    """Any JSON is returned as it is, null included."""
    if not isinstance(data, dict) or False not in (data.get("ok"), data.get("success")):
        assert read_json(http_response(data), REQUEST) == data


def test_odd_responses_of_a_custom_endpoint() -> None:
    """Of equal keys the last counts, a byte order mark is skipped, and half of an emoji
    is read. 204 is None, and an error response raises.
    """
    body = b'\xef\xbb\xbf{"a": "x", "a": "\\ud800"} '
    assert read_json(http_response(body), REQUEST) == {"a": "\ud800"}
    assert read_json(http_response(b"", 204), REQUEST) is None
    with pytest.raises(StatusError):
        read_json(http_response({"ok": False}), REQUEST)


@given(st.binary())
def test_any_bytes_are_json_or_one_of_our_errors(body: bytes) -> None:
    """What is read is what the standard library reads."""
    try:
        value = read_json(http_response(body), REQUEST)
    except SiteStatsError:
        return
    assert value == json.loads(body)


# --- JSONP ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'show({"ok":true})',
        '/**/ typeof show === "function" && show({"ok":true});\n',
        'show ( {"value":"show() and more)"} ) ;',
        '\ufeffshow({"pages":["\\ud800ü"]});',
    ],
)
def test_jsonp_is_given_as_it_was_served(text: str) -> None:
    """JSONP text is returned unchanged, however it is wrapped."""
    body = text.encode()
    assert read_jsonp(http_response(body), REQUEST, "show") == text.lstrip("\ufeff")


@pytest.mark.parametrize(
    "text",
    [
        'show({"ok":false,"error":"No Api-Key found"});',
        '{"ok":false,"error":"No Api-Key found"}',
    ],
)
@pytest.mark.parametrize("status", [200, 400])
def test_a_wrapped_failure_is_unwrapped(text: str, status: int) -> None:
    """An error response raises whether it is wrapped in JSONP or not."""
    with pytest.raises(AuthenticationError, match="No Api-Key found"):
        read_jsonp(http_response(text.encode(), status), REQUEST, "show")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"ok":true}',
        b'other({"ok":true})',
        b'a.show({"ok":true})',
        b"show(",
        b"show()",
        b"show([])",
        b"show({)",
        b'show({"a":"\xff"})',
        b"<html>show()</html>",
    ],
)
def test_what_is_not_jsonp(body: bytes) -> None:
    """A text that would not call the function with an object raises."""
    with pytest.raises(InvalidResponseError):
        read_jsonp(http_response(body), REQUEST, "show")


@given(
    st.binary(max_size=40)
    | st.dictionaries(st.text(max_size=4), st.integers())
    .map(json.dumps)
    .map(str.encode),
    st.sampled_from([200, 200, 404]),
)
def test_any_bytes_are_jsonp_or_one_of_our_errors(body: bytes, status: int) -> None:
    """No bytes raise anything else."""
    try:
        text = read_jsonp(
            http_response(b"show(" + body + b")", status), REQUEST, "show"
        )
    except SiteStatsError:
        return
    assert text.startswith("show(")
