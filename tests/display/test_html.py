"""HTML of results in notebooks: everything escaped, nothing left out silently."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from display.inside import column_of
from display.sample_tables import ATTACKS, attacked, website
from displayed import assert_harmless, pages_of
from plotted import daily, entries_of
from sitestats import HistogramEntry, StatsQuery, WebsiteList
from sitestats.emulator import Emulator
from sitestats.types import Table

GREEN, RED = "#16a34a", "#dc2626"


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_others_write_is_text(attack: str) -> None:
    """A path, a zone, a label or a message is shown as text: no tag, no attribute."""
    for result in attacked(attack):
        shown = "".join(assert_harmless(result._repr_html_()).texts)
        shown = " ".join(shown.replace("\ufffd", "\x00").split())
        # A difference has it as a string, an error on one line.
        forms = {" ".join(attack.split()), repr(attack)[1:-1]}
        assert any(form in shown for form in forms)


@given(st.text(st.characters(codec="utf-8")))
def test_no_text_makes_a_tag(text: str) -> None:
    """Whatever a path is, the page has the same tags, and shows it."""
    page = assert_harmless(pages_of(text)._repr_html_())
    assert page.tags == assert_harmless(pages_of("/")._repr_html_()).tags
    shown = "".join("".join(page.texts).replace("\ufffd", "\x00").split())
    assert "".join(text.replace("\ufffd", "\x00").split()) in shown


def test_half_a_letter_is_shown_as_an_escape() -> None:
    """A label that was cut within an emoji can't be written as UTF-8."""
    websites = WebsiteList([website("example.com", label="shop \ud83d")])
    assert r"shop \ud83d" in websites._repr_html_().encode().decode()
    assert r"/\ud800" in pages_of("/\ud800")._repr_html_().encode().decode()


def test_websites_are_a_table() -> None:
    """Websites show what tells them apart; a long list has a count of the others. One
    alone says, too, for how long its page views are an estimate.
    """
    sites = WebsiteList(website(f"n{number}.example") for number in range(25))
    html = sites._repr_html_()
    assert ">n9.example</td>" in html
    assert "white-space:nowrap'>1,234,567</td>" in html
    assert "n10.example" not in html
    assert "… 15 more; page views and events in 30 days" in html
    assert "page views and events in 30 days" in sites[0]._repr_html_()
    assert "none" in WebsiteList()._repr_html_()


def test_only_long_texts_take_several_lines() -> None:
    """A column of days or of zones is not broken into lines, one of messages is."""
    query = StatsQuery("semicomplete.com").fields("visitors").on("2026-10-01")
    queries = [query, query.website("nobody.example").on("2026-10-02")]
    with Emulator.demo().client() as client:
        html = client.stats.get_many(queries).collect()._repr_html_()
    assert html.count("white-space:nowrap'>2026-10-0") == 4
    assert re.search("overflow-wrap:anywhere[^>]*'>NotFoundError: ", html)


def test_a_bar_that_is_not_whole_is_drawn_so() -> None:
    """A month that the period cuts, or that is not over, is dashed, and its note and
    tooltip say why.
    """
    months = [
        HistogramEntry(dt.date(2026, 8, 1), 9, 9, clipped=True),
        HistogramEntry(dt.date(2026, 9, 1), 28, 9),
        HistogramEntry(dt.date(2026, 10, 1), 5, 5, partial=True, clipped=True),
    ]
    shown = entries_of(months, HistogramEntry)._repr_html_()
    assert shown.count("px dashed ") == 2
    assert "dashed: cut by the period or not over yet" in shown
    assert "9 visitors, cut by the period' style" in shown
    assert "5 visitors, cut by the period, not over yet' style" in shown
    assert " dashed " not in daily(2)._repr_html_()


@pytest.mark.parametrize(
    ("change", "colour"),
    [(1, GREEN), (0.5, GREEN), (0, None), (-0.5, RED), (-1, RED)],
)
def test_a_difference_is_shown_as_up_or_down(change: float, colour: str | None) -> None:
    """The smallest difference has a colour, and none has none."""
    html = Table("totals", [column_of("change", [change])])._repr_html_()
    (cell,) = re.findall("<tbody><tr>(.*?)</tr>", html)
    assert {*re.findall("#[0-9a-f]{6}", cell)} == {colour} - {None}
