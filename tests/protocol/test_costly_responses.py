"""Small responses that could cost much: calls and memory to read and to show them."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import pickle
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from costs import calls_of, peak_of
from fake_responses import Read, entry, http_response, read_response, reads, stats_json
from faults.bodies import WEBSITE
from faults.responses import repeated, stats
from sitestats import (
    Client,
    Entries,
    HistogramEntry,
    ListEntry,
    ResponseError,
    SiteStatsError,
    SiteStatsWarning,
    StatsQuery,
    Website,
)
from sitestats._protocol.requests import add_request, custom_request, list_request
from sitestats._protocol.responses import read_added, read_json, read_websites
from sitestats._results.websites import WebsiteList
from sitestats._transport.body import Body
from sitestats.emulator import Emulator

pytestmark = [pytest.mark.long, pytest.mark.once]

QUERY = StatsQuery("example.com").fields("pageviews")
PAGES = StatsQuery("example.com").fields("pages")
DAYS = StatsQuery("example.com").fields("histogram")
HOURS = DAYS.interval("hour")
SITE: dict[str, Any] = WEBSITE

Make = Callable[[int], bytes]


def lists(body: bytes) -> WebsiteList:
    """The websites of a list."""
    return read_websites(http_response(body), list_request())


def adds(body: bytes) -> Any:
    """The result of adding a website."""
    request = add_request("example.com", timezone="UTC", public=False)
    return read_added(
        http_response(body),
        request,
        hostname="example.com",
        timezone="UTC",
        public=False,
    )


def calls_custom(body: bytes) -> Any:
    """The JSON of a custom endpoint."""
    return read_json(http_response(body), custom_request("GET", "/api/x"))


def array(name: str, item: bytes) -> Make:
    """Makes statistics with a list of the same items, of a size in bytes."""
    return lambda size: stats(**{name: "?"}).replace(b'"?"', repeated(item, size))


def text(name: str, piece: str) -> Make:
    """Makes statistics with a long text."""
    return lambda size: stats(**{name: piece * (size // len(piece))})


def websites(item: bytes) -> Make:
    """Makes a list of websites."""
    return lambda size: b'{"success":true,"websites":%s}' % repeated(item, size)


ADDED = {
    "ok": True,
    "success": True,
    "customDomain": None,
    "public": False,
    "timezone": "UTC",
    "validDNS": True,
}

REFUSED: dict[str, tuple[Read, Make]] = {
    "zeros for pages": (reads(PAGES), array("pages", b"0")),
    "pages of the wrong types": (reads(PAGES), array("pages", b'{"value":0}')),
    "zeros for days": (reads(DAYS), array("histogram", b"0")),
    "empty days": (reads(DAYS), array("histogram", b"{}")),
    "zeros for hours": (reads(HOURS), array("histogram", b"0")),
    "zeros for events": (reads(QUERY.all_events()), array("events", b"0")),
    "empty paths": (reads(PAGES), array("pages", b'""')),
    "zeros for websites": (lists, websites(b"0")),
    "empty websites": (lists, websites(b"{}")),
    "a long host name": (reads(QUERY), text("hostname", "a")),
    "a long host name of dots": (reads(QUERY), text("hostname", "a.")),
    "a long host name beyond ASCII": (reads(QUERY), text("hostname", "é")),
    "deep lists": (calls_custom, lambda size: b"[" * size + b"]" * size),
    "moderately deep lists": (
        calls_custom,
        lambda size: repeated(b"[" * 200 + b"]" * 200, size),
    ),
}
ACCEPTED: dict[str, tuple[Read, Make]] = {
    "a long path": (reads(QUERY), text("path", "%41")),
    "a long path for a page": (reads(QUERY.path("/contact")), text("path", "%41/")),
    "a long time zone": (reads(QUERY), text("timezone", "a/")),
    "a long start": (reads(QUERY), text("start", "2024")),
    "an added website's long name": (
        adds,
        lambda size: json.dumps({**ADDED, "hostname": "a" * size}).encode(),
    ),
    "an added website's long zone": (
        adds,
        lambda size: json.dumps(
            {**ADDED, "hostname": "b.example", "timezone": "x" * size}
        ).encode(),
    ),
    "a long label": (
        lists,
        lambda size: json.dumps([{**WEBSITE, "label": "x" * size}]).encode(),
    ),
    "much beside a website": (
        lists,
        lambda size: json.dumps([{**WEBSITE, "extra": ["x"] * (size // 5)}]).encode(),
    ),
    "numbers of a custom endpoint": (calls_custom, lambda size: repeated(b"0", size)),
}
SMALL, LARGE = 100_000, 400_000


def outcome(read: Read, body: bytes) -> Any:
    """The model or the error that a response becomes."""
    try:
        return read(body)
    except SiteStatsError as error:
        return error


@pytest.fixture(autouse=True)
def _no_warnings(recwarn: pytest.WarningsRecorder) -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SiteStatsWarning)
        yield


@pytest.mark.parametrize("name", REFUSED | ACCEPTED)
def test_the_cost_does_not_grow(name: str) -> None:
    """Four times as large a response makes as many calls: none for each item of a
    list that is wrong, too long or too deep, and none for each letter of a text.
    """
    read, make = (REFUSED | ACCEPTED)[name]
    small, large = make(SMALL), make(LARGE)
    assert isinstance(outcome(read, small), ResponseError) is (name in REFUSED)
    calls = [calls_of(lambda body=body: outcome(read, body)) for body in (small, large)]
    assert calls[1] < 5_000
    assert calls[1] < calls[0] + 500


@pytest.mark.parametrize("name", REFUSED | ACCEPTED)
def test_the_memory_is_that_of_the_json(name: str) -> None:
    """Reading takes at most some times the memory of json.loads alone."""
    read, make = (REFUSED | ACCEPTED)[name]
    body = make(LARGE)
    outcome(read, body)

    def decode() -> Any:
        try:
            return json.loads(body)
        except RecursionError:
            return None

    assert peak_of(lambda: outcome(read, body)) < 3 * peak_of(decode) + 2_000_000


@pytest.mark.parametrize("name", REFUSED | ACCEPTED)
def test_what_is_shown_is_short(name: str) -> None:
    """The repr, the HTML and the pickled text of what a response becomes are short,
    and making them takes no longer for a long one.
    """
    read, make = (REFUSED | ACCEPTED)[name]
    one = outcome(read, make(SMALL))
    shows: list[Callable[[], str]] = [lambda: repr(one), lambda: str(one)]
    if hasattr(one, "_repr_html_"):
        shows.append(one._repr_html_)
    for show in shows if isinstance(one, (SiteStatsError, *SHOWN)) else []:
        assert len(show()) < 20_000
        assert calls_of(show) < 5_000


SHOWN = (WebsiteList, Website)


def test_reading_stops_after_some_problems() -> None:
    """A gzip of some kilobytes that inflates to a million wrong entries becomes an
    error at once.
    """
    packed = gzip.compress(array("pages", b"0")(2_000_000))
    assert len(packed) < 4_000
    body = Body("gzip", limit=64 * 1024 * 1024)
    body.feed(packed)
    whole = body.finish()
    assert calls_of(lambda: outcome(reads(PAGES), whole)) < 5_000
    error = outcome(reads(PAGES), whole)
    assert [str(problem) for problem in error.problems] == [
        "$.pages: has 1,000,000 entries, and there can be 1,000 at most (section 8)"
    ]


def histogram(count: int) -> Entries[HistogramEntry]:
    """A histogram of *count* days."""
    first = dt.date(1700, 1, 1)
    days = [
        HistogramEntry(first + dt.timedelta(days=n), n, n, partial=True)
        for n in range(count)
    ]
    return Entries(days, name="histogram", entry_type=HistogramEntry)


def test_a_long_histogram_is_shown_in_part() -> None:
    """A chart of 100,000 days has the last 1,000 of them, and says so."""
    long = histogram(100_000)
    # What is imported with the first call is not counted.
    assert "the last" not in histogram(1_000)._repr_html_()
    assert calls_of(long._repr_html_) < 60_000
    html = long._repr_html_()
    assert html.count("class='part'") == 1_000
    assert "the last 1,000 of 100,000" in html
    assert "99,999 page views" in html
    assert "98,999 page views" not in html
    assert len(repr(long)) < 500


def test_a_long_histogram_is_short_in_a_terminal() -> None:
    """A terminal shows the last 1,000 of 100,000 days, on some lines."""
    rich = pytest.importorskip("rich.console")
    console = rich.Console(width=80)
    long = histogram(100_000)
    with console.capture() as capture:
        assert calls_of(lambda: console.print(long)) < 60_000
    assert "the last 1,000 of 100,000" in capture.get()
    assert capture.get().count("\n") < 40


def test_long_texts_are_cut_where_they_are_shown() -> None:
    """A text of a megabyte is a thousand letters in a repr, a table and a page."""
    long = "/" + "x" * 1_000_000
    page = ListEntry(long, 3, 2)
    pages = Entries([page] * 3, name="pages", entry_type=ListEntry)
    assert len(repr(page)) < 1_100
    assert len(repr(pages)) < 3_500
    assert len(pages._repr_html_()) < 10_000
    assert page.value == long
    assert pickle.loads(pickle.dumps(page)) == page
    data = stats_json(pages=[entry()], hostname="example.com", path=long, timezone=long)
    stats = read_response(PAGES, data)
    assert len(repr(stats)) < 500
    assert len(stats._repr_html_()) < 10_000


def test_long_lists_of_websites_are_cut_where_they_are_shown() -> None:
    """The repr of 10,000 websites has 100 of them; a shorter one has them all."""
    one = Website(**SITE)
    long = WebsiteList([one] * 10_000)
    assert repr(long).count("Website(") == 100
    assert repr(long).endswith("… 9,900 more)")
    assert "… 9,990 more" in long._repr_html_()
    assert repr(WebsiteList([one, one])) == f"({one!r}, {one!r})"
    assert len(long) == 10_000


def test_the_repr_of_a_website_is_that_of_its_values() -> None:
    """The repr of a website names each value, nested ones as far as they are short."""
    extra = {"a": [1, {"b": None}], "c": {"d": list(range(100))}, "e": [[[["deep"]]]]}
    shown = repr(Website(**SITE, extra=extra))
    assert shown.startswith("Website(hostname='example.com', is_public=False, ")
    assert "'a': [1, {'b': None}]" in shown
    assert "18, 19, '…']" in shown
    assert "'e': [['…']]" in shown


def test_what_is_decoded_can_be_pickled_anywhere() -> None:
    """Values as deep as a response may have them are pickled by a deep caller."""

    def under(work: Callable[[], Any], frames: int) -> Any:
        return work() if not frames else under(work, frames - 1)

    deep = b"[" * 90 + b"]" * 90
    sites = lists(
        json.dumps([{**WEBSITE, "x": "?"}]).replace('"?"', deep.decode()).encode()
    )
    assert under(lambda: pickle.loads(pickle.dumps(sites)), 400) == sites
    with pytest.raises(ResponseError, match="nested too deeply"):
        calls_custom(b"[" * 101 + b"0" + b"]" * 101)
    assert calls_custom(b"[" * 100 + b"0" + b"]" * 100)


@pytest.mark.parametrize("now", [float("nan"), float("inf"), -1e300, 1e18])
def test_a_clock_that_is_out_of_order_breaks_nothing(
    now: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call succeeds where the machine's clock shows no moment."""
    emulator = Emulator.demo()
    with emulator.serve() as address, Client(address, proxy=None) as client:
        monkeypatch.setattr(time, "time", lambda: now)
        query = StatsQuery("semicomplete.com").fields("visitors", "histogram")
        assert client.stats.get(query.last(days=3)).visitors
        monkeypatch.undo()
