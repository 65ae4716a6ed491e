"""HTML of results in notebooks: everything escaped, nothing left out silently."""

from __future__ import annotations

import datetime as dt
import io
from typing import Any

import matplotlib as mpl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from attacks import ATTACKS
from html_pages import assert_harmless, pages_of
from sample_tables import sample_tables, website
from sitestats import Entries, HistogramEntry, ListEntry, StatsQuery
from sitestats._results.comparison import changes_of
from sitestats._results.websites import WebsiteList
from sitestats.analysis._description import Signed
from sitestats.analysis._html import _cell
from sitestats.emulator import Emulator

mpl.use("agg")


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_visitors_write_is_text(attack: str) -> None:
    """A path or a referrer is shown as text, and makes no tag and no attribute."""
    page = assert_harmless(pages_of(attack, "/")._repr_html_())
    shown = "".join(page.texts).replace("\ufffd", "\x00")
    assert attack in shown
    referrers = Entries(
        [ListEntry(attack, 1, 1)], name="referrers", entry_type=ListEntry
    )
    assert_harmless(referrers._repr_html_())
    assert_harmless(changes_of(pages_of(attack), pages_of("/"))._repr_html_())


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("name", ["hostname", "path", "timezone"])
def test_what_a_response_says_of_itself_is_text(name: str, attack: str) -> None:
    """Website, page and zone of a response are shown as text too."""
    from sitestats import Stats
    from sitestats._query.builder import requested

    query = StatsQuery("example.com").fields("pageviews")
    day = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    stats = Stats(
        query=query,
        first_day=day.date(),
        last_day=day.date(),
        requested=requested(query),
        values={"pageviews": 3},
        **{name: attack},
    )
    for result in (stats, stats.compare_to(stats)):
        shown = "".join(assert_harmless(result._repr_html_()).texts)
        assert attack in shown.replace("\ufffd", "\x00")


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_the_service_writes_is_text(attack: str) -> None:
    """Websites, plans, reports and failures show labels and messages as text."""
    for result in sample_tables(attack):
        shown = "".join(assert_harmless(result._repr_html_()).texts)
        shown = " ".join(shown.replace("\ufffd", "\x00").split())
        # A difference has it as a string, an error on one line.
        forms = {" ".join(attack.split()), repr(attack)[1:-1]}
        assert any(form in shown for form in forms)


@given(st.text(st.characters(codec="utf-8")))
def test_no_text_makes_a_tag(text: str) -> None:
    """Whatever a path is, the page has the same tags."""
    assert_harmless(pages_of(text)._repr_html_())


def test_a_lone_surrogate_is_shown_as_an_escape() -> None:
    """A lone surrogate, which UTF-8 has not, is escaped in HTML and plots."""
    entries = pages_of("/\ud800")
    assert r"/\ud800" in entries._repr_html_().encode().decode()
    axes: Any = entries.plot()
    axes.figure.canvas.draw()
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [r"/\ud800"]


def test_half_a_letter_in_a_label_is_shown_as_an_escape() -> None:
    """A label that was cut within an emoji is escaped in HTML and in terminals."""
    websites = WebsiteList([website("example.com", label="shop \ud83d")])
    assert r"shop \ud83d" in websites._repr_html_().encode().decode()
    console = Console(file=io.TextIOWrapper(io.BytesIO(), "utf-8"), record=True)
    console.print(websites)
    assert r"shop \ud83d" in console.export_text()


def test_websites_are_a_table() -> None:
    """Websites show what tells them apart; a long list has a count of the others."""
    sites = WebsiteList(website(f"n{number}.example") for number in range(25))
    assert sites == tuple(sites)
    html = sites._repr_html_()
    assert "<td class='text'>n9.example</td>" in html
    assert "<td>1,234,567</td>" in html
    assert "n10.example" not in html
    assert "… 15 more; page views and events in 30 days" in html
    assert "none" in WebsiteList()._repr_html_()


def histogram(*, partial: bool) -> Entries[HistogramEntry]:
    """Two days, the last of them partial."""
    return Entries(
        [
            HistogramEntry(dt.date(2026, 1, 1), 3, 2),
            HistogramEntry(dt.date(2026, 1, 2), 1, 1, partial=partial),
        ],
        name="histogram",
        entry_type=HistogramEntry,
    )


def test_the_bucket_that_is_not_over_is_drawn_so() -> None:
    """The partial bucket differs in the chart, and a note says why."""
    open_ended = histogram(partial=True)._repr_html_()
    assert "class='part'" in open_ended
    assert open_ended.count("class='open'") == 1
    assert "not over yet" in open_ended
    whole = histogram(partial=False)._repr_html_()
    assert "class='part'" not in whole
    assert "class='open'" not in whole
    assert "not over yet" not in whole


def months() -> Entries[HistogramEntry]:
    """Three months, of which the period has parts of the first and the last."""
    return Entries(
        [
            HistogramEntry(dt.date(2026, 8, 1), 9, 9, clipped=True),
            HistogramEntry(dt.date(2026, 9, 1), 28, 9),
            HistogramEntry(dt.date(2026, 10, 1), 5, 5, partial=True, clipped=True),
        ],
        name="histogram",
        entry_type=HistogramEntry,
    )


def test_a_bucket_that_the_period_cuts_is_drawn_as_not_whole() -> None:
    """A month that the period cuts is shaded, and its note and tooltip say why."""
    shown = months()._repr_html_()
    assert shown.count("class='part'") == shown.count("class='open'") == 2
    why = "cut by the period or cut by the period, not over yet"
    assert f"shaded and dashed: {why}" in shown
    assert "9 visitors, cut by the period</title>" in shown
    assert "5 visitors, cut by the period, not over yet</title>" in shown


def test_a_whole_result_and_a_comparison() -> None:
    """A result shows totals, chart and lists; a comparison both periods."""
    fields = ("pageviews", "visitors", "histogram", "pages", "seconds_on_page")
    query = StatsQuery("semicomplete.com").fields(*fields).all_events().last(days=4)
    with Emulator.demo().client() as client:
        stats = client.stats.get(query)
        shown = "".join(assert_harmless(stats._repr_html_()).texts)
        comparison = client.stats.compare(query)
    for text in ("1,586", "/projects/xdotool/", "download", "page views", "UTC"):
        assert text in shown
    shown = "".join(assert_harmless(comparison._repr_html_()).texts)
    assert "against" in shown


@pytest.mark.parametrize(
    ("change", "kind"), [(1, "up"), (0.5, "up"), (0, ""), (-0.5, "down"), (-1, "down")]
)
def test_a_difference_is_shown_as_up_or_down(change: float, kind: str) -> None:
    """The smallest difference has a colour, and none has none."""
    shown = f" class='{kind}'" if kind else ""
    assert _cell(Signed("some", change), "text") == f"<td{shown}>some</td>"
